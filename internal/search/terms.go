package search

import (
	"math"
	"slices"
	"strings"
)

// Weights of words by where they stand, beside 1 for the text.
const (
	TitleWeight    = 5
	HeadingsWeight = 2
)

// Boost is what the score of a page of some importance is multiplied with: 1 for the average
// page, and little more or less for others, for it must not beat what is asked for.
func Boost(importance float64) float64 {
	if importance <= 0 || math.IsNaN(importance) {
		importance = 1 // not ranked yet
	}
	return (1 + math.Log1p(importance)) / (1 + math.Ln2)
}

// RankedMost is how many pages of one query are ranked: to rank all that have a word which
// nearly all have takes seconds, and tells nobody anything.
const RankedMost = 20_000

// MostRanked is Ranked, or what it is by default.
func (q Query) MostRanked() int {
	if q.Ranked > 0 {
		return q.Ranked
	}
	return RankedMost
}

// mostTerms bounds the work of one query.
const mostTerms = 32

// Term is a word that is looked for.
type Term struct {
	Word string
	// Prefix: words that begin with it are as good.
	Prefix bool
}

// TermsOf reads what a person types: words, and nothing else. No character has a meaning of
// its own.
func TermsOf(words string) []Term {
	var terms []Term
	run := false // the last term was a pair of a run
	for t := range tokens(normal(words)) {
		pair := !t.last && isUnspaced([]rune(t.word)[0])
		if t.last && run { // the pairs before it say it all
			run = false
			continue
		}
		run = pair
		if term := (Term{t.word, t.last}); !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
		if len(terms) == mostTerms {
			break
		}
	}
	return terms
}

// RareMost is how many pages of so many may have a term that tells pages apart.
func RareMost(all int) int { return max(all/20, 10) }

// Rare chooses what to look for where no page has all of the terms: those that some pages
// have and most do not, so that "how do I" brings nothing. Pages are how many have each
// term, of so many in all.
func Rare(terms []Term, pages []int, all int) []Term {
	var rare []Term
	rarest := -1
	for i, t := range terms {
		if pages[i] == 0 {
			continue
		}
		if rarest < 0 || pages[i] < pages[rarest] {
			rarest = i
		}
		if pages[i] <= RareMost(all) {
			rare = append(rare, t)
		}
	}
	if rare == nil && rarest >= 0 {
		rare = []Term{terms[rarest]}
	}
	return rare
}

// matches reports whether a token is one of the terms.
func matches(t token, terms []Term) bool {
	return slices.ContainsFunc(terms, func(term Term) bool {
		return t.word == term.Word || term.Prefix && strings.HasPrefix(t.word, term.Word)
	})
}
