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

// Boost returns the factor for the score of a page of some importance: 1 for the average
// page, and little more or less for others, because it must not outweigh the query.
func Boost(importance float64) float64 {
	if importance <= 0 || math.IsNaN(importance) {
		importance = 1 // not ranked yet
	}
	return (1 + math.Log1p(importance)) / (1 + math.Ln2)
}

// RankedMost bounds the pages that are ranked for one query: ranking all pages with a word
// that nearly all have takes seconds and helps nobody.
const RankedMost = 20_000

// MostRanked returns Ranked, or its default.
func (q Query) MostRanked() int {
	if q.Ranked > 0 {
		return q.Ranked
	}
	return RankedMost
}

// mostTerms bounds the work of one query.
const mostTerms = 32

// Term is a word of a query.
type Term struct {
	Word string
	// Prefix: words that begin with it also match.
	Prefix bool
}

// TermsOf reads what a person types: words, and nothing else. No character has a meaning of
// its own.
func TermsOf(words string) []Term {
	var terms []Term
	run := false // the last term was a pair of a run
	for t := range tokens(normal(words)) {
		pair := !t.last && isUnspaced([]rune(t.word)[0])
		if t.last && run { // the pairs before it cover it
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

// RareMost returns how many of all pages may have a term that tells pages apart.
func RareMost(all int) int { return max(all/20, 10) }

// Rare chooses what to search for if no page has all of the terms: those that some pages
// have and most do not, so that "how do I" brings nothing. pages has the number of pages
// with each term, of all pages.
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
