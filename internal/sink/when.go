package sink

import (
	"regexp"
	"strconv"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
)

// Texts holds the texts of a page before and after a change; Before is "" if there was
// none.
type Texts struct {
	Before, After string
	// Known: the text after the change is kept, and the one before it if there was one.
	Known bool
}

// Text decides by the difference of the texts. A feed.gap has none, and is sent.
func (f Filter) Text(e feed.Event, t Texts) Verdict {
	if f.when == nil || e.Kind == feed.FeedGap {
		return Verdict{true, "no text is asked for"}
	}
	if !t.Known {
		return no("its texts are not kept, so that nothing can be said about them")
	}
	removed, added := differing(lines(t.Before), lines(t.After))
	if w := f.when.Appears; len(w) > 0 && !stands(w, added) {
		return no("no added line has a text that is to appear")
	}
	if w := f.when.Goes; len(w) > 0 && !stands(w, removed) {
		return no("no removed line has a text that is to go")
	}
	if least := f.when.Words; least > 0 {
		if n := changedWords(e, t); n < least {
			return no("%d words changed, fewer than %d", n, least)
		}
	}
	if f.when.Number != nil {
		return crosses(*f.when.Number, t)
	}
	return Verdict{true, "its text changed as is asked for"}
}

// changedWords returns the number of words that came and went, together.
func changedWords(e feed.Event, t Texts) int {
	if e.Diff != nil {
		return e.Diff.WordsAdded + e.Diff.WordsRemoved
	}
	removed, added := differing(strings.Fields(t.Before), strings.Fields(t.After))
	return len(removed) + len(added)
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// differing returns the elements that only one of the lists has, or that it has more often.
func differing(a, b []string) (onlyA, onlyB []string) {
	count := map[string]int{}
	for _, s := range b {
		count[s]++
	}
	for _, s := range a {
		if count[s] > 0 {
			count[s]--
		} else {
			onlyA = append(onlyA, s)
		}
	}
	// Elements left in count are b's own; of equal ones the last are taken for new.
	for i := len(b) - 1; i >= 0; i-- {
		if count[b[i]] > 0 {
			count[b[i]]--
			onlyB = append(onlyB, b[i])
		}
	}
	return onlyA, onlyB
}

// stands reports whether one of the texts stands in a line, whatever its case.
func stands(texts, lines []string) bool {
	for _, line := range lines {
		line = strings.ToLower(line)
		for _, text := range texts {
			if strings.Contains(line, strings.ToLower(text)) {
				return true
			}
		}
	}
	return false
}

// crosses decides by the number that a sink watches.
func crosses(n crawl.SinkNumber, t Texts) Verdict {
	was, before := numberAfter(t.Before, n.After)
	is, now := numberAfter(t.After, n.After)
	switch {
	case !now:
		return no("there is no number after %q", n.After)
	case !before:
		return no("there was no number after %q before", n.After)
	case n.Below != nil && was >= *n.Below && is < *n.Below:
		return Verdict{true, "the number fell below its bound"}
	case n.Above != nil && was <= *n.Above && is > *n.Above:
		return Verdict{true, "the number rose above its bound"}
	}
	return no("the number went from %v to %v, across no bound", was, is)
}

// A number may have spaces that do not break, but no usual ones: "3 4" is two numbers.
var numberRE = regexp.MustCompile("[-\u2212]?[0-9]+(?:[.,'\u2019\u00A0\u202F\u2009][0-9]+)*")

var plainNumber = strings.NewReplacer("\u2212", "-", "'", "", "\u2019", "", "\u00A0", "", "\u202F", "", "\u2009", "")

// numberAfter returns the first number after the first occurrence of the text, ignoring
// case.
func numberAfter(text, after string) (float64, bool) {
	folded := strings.ToLower(text)
	i := strings.Index(folded, strings.ToLower(after))
	if i < 0 {
		return 0, false
	}
	return parseNumber(numberRE.FindString(folded[i+len(strings.ToLower(after)):]))
}

// parseNumber reads a number as people write it in any language. If there are two kinds of
// separators, the last is the decimal one. One that occurs several times, or before exactly
// three digits, separates thousands ("1.299" is 1299, and "0.125" an eighth).
func parseNumber(s string) (float64, bool) {
	if s == "" {
		return 0, false
	}
	s = plainNumber.Replace(s)
	last := strings.LastIndexAny(s, ".,")
	if last >= 0 {
		whole, decimals := s[:last], s[last+1:]
		same := strings.Count(s, s[last:last+1]) > 1
		other := strings.ContainsAny(whole, ".,") && !same
		thousands := same || !other && len(decimals) == 3 && strings.Trim(whole, "-0") != "" && len(strings.TrimPrefix(whole, "-")) <= 3
		whole = strings.NewReplacer(".", "", ",", "").Replace(whole)
		if thousands {
			s = whole + decimals
		} else {
			s = whole + "." + decimals
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}
