package change_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/quick"

	"recrawl/internal/change"
)

// earlier is a content that is identified by its text.
func earlier(text string) change.Earlier {
	core, timeless := change.CoreDigests(text)
	return change.Earlier{
		Digests:  change.Digests{Raw: "raw " + text, Text: core, Links: "links", TextBytes: int64(len(text))},
		Timeless: timeless,
	}
}

func never(int) (bool, error) { return false, errors.New("nobody asks") }

func TestReturn(t *testing.T) {
	t.Parallel()
	with := func(e change.Earlier, do func(*change.Earlier)) change.Earlier {
		do(&e)
		return e
	}
	a, b := earlier("Low water"), earlier("High water")
	otherLinks := func(e *change.Earlier) { e.Links = "others" }
	withheld := func(e *change.Earlier) { e.Raw, e.Withheld = "", true }
	empty := change.Earlier{Digests: change.Digests{Raw: "1", Text: earlier("").Text}}
	for name, c := range map[string]struct {
		next    change.Earlier
		earlier []change.Earlier
		want    int // -1: none
	}{
		"none before":                {a, nil, -1},
		"others before":              {a, []change.Earlier{b, b}, -1},
		"the one before":             {a, []change.Earlier{a, b}, 0},
		"one before that":            {a, []change.Earlier{b, a}, 1},
		"noise is not compared":      {earlier("Low water\nUpdated 3 minutes ago"), []change.Earlier{b, earlier("Low water\nUpdated 5 minutes ago")}, 1},
		"the same links first":       {a, []change.Earlier{with(a, otherLinks), b, a}, 2},
		"else the latest":            {with(a, otherLinks), []change.Earlier{a, b, a}, 0},
		"kept to withheld":           {a, []change.Earlier{with(a, withheld)}, -1},
		"withheld to kept":           {with(a, withheld), []change.Earlier{a}, -1},
		"withheld to withheld":       {with(a, withheld), []change.Earlier{a, with(a, withheld)}, 1},
		"no text, the same bytes":    {empty, []change.Earlier{a, empty}, 1},
		"no text, other bytes":       {empty, []change.Earlier{with(empty, func(e *change.Earlier) { e.Raw = "2" })}, -1},
		"no text, no bytes known":    {with(empty, withheld), []change.Earlier{with(empty, withheld)}, -1},
		"an unknown text is no text": {with(a, func(e *change.Earlier) { e.Text = "" }), []change.Earlier{with(a, func(e *change.Earlier) { e.Text = "" })}, -1},
		"as far back as remembered":  {a, append(slices.Repeat([]change.Earlier{b}, change.Remembered-2), a), change.Remembered - 2},
		"further than remembered":    {a, append(slices.Repeat([]change.Earlier{b}, change.Remembered-1), a), -1},
	} {
		i, ok, err := change.Return(c.next, c.earlier, never)
		if err != nil || ok != (c.want >= 0) || ok && i != c.want {
			t.Errorf("%s: %d, %v, %v, want %d", name, i, ok, err, c.want)
		}
	}
}

// Clocks are recognised by reading the texts, and no other text is read.
func TestReturnLooksAtClocks(t *testing.T) {
	t.Parallel()
	next := earlier("Low water\n14:05:33")
	before := []change.Earlier{earlier("High water\n13:00:00"), earlier("Low water\n13:00:01"), earlier("Low water\n13:00:02")}
	var asked []int
	i, ok, err := change.Return(next, before, func(i int) (bool, error) {
		asked = append(asked, i)
		return i == 2, nil
	})
	if !ok || i != 2 || err != nil || fmt.Sprint(asked) != "[1 2]" {
		t.Errorf("%d, %v, %v after looks at %v", i, ok, err, asked)
	}
	broken := errors.New("broken")
	if _, ok, err := change.Return(next, before, func(int) (bool, error) { return false, broken }); ok || !errors.Is(err, broken) {
		t.Errorf("%v, %v", ok, err)
	}
	if _, ok, err := change.Return(next, []change.Earlier{earlier("Low water"), earlier("Low water\n14:05:33\n14:05:34")}, never); ok || err != nil {
		t.Errorf("fewer or more clocks: %v, %v", ok, err)
	}
}

// versions plays a page's history in a crawl: how many versions there are after it has
// shown texts in turn.
func versions(texts []string) int {
	var known []change.Earlier // the present one first
	n := 0
	for _, text := range texts {
		next := earlier(text)
		if len(known) > 0 && known[0].Text == next.Text {
			continue
		}
		if i, ok, _ := change.Return(next, known[min(1, len(known)):], never); ok {
			known = slices.Delete(known, i+1, i+2)
		} else {
			n++
		}
		known = slices.Insert(known, 0, next)
	}
	return n
}

// A page that shows no more than a dozen different texts has as many versions, in
// whatever order and however often it shows them.
func TestReturnsAreNoVersions(t *testing.T) {
	t.Parallel()
	bounded := func(shown []uint8, different uint8) bool {
		texts, distinct := make([]string, len(shown)), map[string]bool{}
		for i, n := range shown {
			texts[i] = fmt.Sprintf("wording %c", 'a'+n%(1+different%change.Remembered))
			distinct[texts[i]] = true
		}
		return versions(texts) == len(distinct)
	}
	if err := quick.Check(bounded, nil); err != nil {
		t.Error(err)
	}
	var round []string
	for n := range 3 * (change.Remembered + 1) {
		round = append(round, fmt.Sprintf("wording %c", 'a'+n%(change.Remembered+1)))
	}
	if n := versions(round); n != len(round) {
		t.Errorf("%d versions of %d texts, one more than are remembered, in turn", n, len(round))
	}
}

func TestCoreDigests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b           string
		core, timeless bool // are the same
	}{
		"no clocks":             {"Low water", "Low water", true, true},
		"noise":                 {"Low water\n3 minutes ago", "Low water\n4 minutes ago", true, true},
		"another clock":         {"Low water\n14:05:33", "Low water\n14:05:34", false, true},
		"a clock and a word":    {"Low water\n14:05:33", "High water\n14:05:34", false, false},
		"a clock more":          {"Low water\n14:05:33", "Low water\n14:05:33\n14:05:33", false, false},
		"a clock elsewhere":     {"Low water\n14:05:33", "14:05:33\nLow water", false, false},
		"a number is no clock":  {"Low water\nat 5", "Low water\nat 6", false, true},
		"a text that has none":  {"Low water", "Low water\n14:05:33", false, false},
		"hours in a long line ": {"The harbour opens at 14:05 on all days of the week.", "The harbour opens at 15:05 on all days of the week.", false, true},
	} {
		coreA, timelessA := change.CoreDigests(c.a)
		coreB, timelessB := change.CoreDigests(c.b)
		if (coreA == coreB) != c.core || (timelessA == timelessB) != c.timeless {
			t.Errorf("%s: %.8s %.8s, %.8s %.8s", name, coreA, coreB, timelessA, timelessB)
		}
		if coreA != change.CoreDigest(c.a) {
			t.Errorf("%s: two core digests", name)
		}
	}
	if _, timeless := change.CoreDigests("The harbour opens at 14:05 on all days."); timeless != "" {
		t.Errorf("a sentence has a clock: %s", timeless)
	}
}

func TestReturnReason(t *testing.T) {
	t.Parallel()
	if words, ok := change.Word(change.ReturnReason(7, 9)); !ok || words != "as in version 7" {
		t.Errorf("%q, %v", words, ok)
	}
}
