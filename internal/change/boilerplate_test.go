package change

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	helpLine   = "Do you still need help? Ask us."
	noticeLine = "We use cookies to improve your experience."
)

// host is a site of pages with different texts, in their last versions.
type host []string

func newHost(pages int, lines ...string) host {
	h := make(host, pages)
	for i := range h {
		h[i] = page(i, lines...)
	}
	return h
}

// page is the text of the i-th page with more lines.
func page(i int, lines ...string) string {
	return strings.Join(append([]string{fmt.Sprintf("Page number %c", 'A'+i), "What it says is its own: " + strings.Repeat(string(rune('a'+i)), 5)}, lines...), "\n")
}

// visit shows a page in its new state and reports whether that is an edit, which is then its
// last version.
func (h host) visit(i int, text string) bool {
	prev, next := Rendering{h[i], at}, Rendering{text, at}
	if noise, _ := CompareRenderings(prev, next); noise {
		return false
	}
	var neighbours []Neighbour
	for j := range h {
		if j != i && len(neighbours) < Neighbours {
			neighbours = append(neighbours, Neighbour{Older: j < i, Text: h[j]})
		}
	}
	p, n, _, found := WithoutBoilerplate(prev, next, neighbours)
	if found {
		if noise, _ := CompareRenderings(p, n); noise {
			return false
		}
	}
	h[i] = text
	return true
}

func TestWithoutBoilerplate(t *testing.T) {
	t.Parallel()
	const pages = 12
	half := newHost(pages)
	for i := range 6 {
		half[i] = page(i, helpLine, "Open on Mondays and Tuesdays")
	}
	few := newHost(4, helpLine)
	cases := []struct {
		name string
		host host
		page int
		next string
		edit bool
	}{
		{"a line of most pages goes", newHost(pages, helpLine), 11, page(11), false},
		{"and comes back", append(newHost(pages-1, helpLine), page(11)), 11, page(11, helpLine), false},
		{"the oldest page tells", newHost(pages, helpLine), 0, page(0), true},
		{"a line that no other page has", newHost(pages), 11, page(11, helpLine), true},
		{"an edit beside it", newHost(pages, helpLine), 11, page(11, "Closed on Mondays."), true},
		{"a line of most pages is worded anew", newHost(pages, helpLine), 11, page(11, "Do you still need help? Call us."), true},
		{"a line of a few pages", append(newHost(4, helpLine), newHost(8)...), 11, page(11, helpLine), true},
		{"too few pages", few, 3, page(3), true},
		{"a price of all pages", newHost(pages, "Entry costs 12 euros today"), 11, page(11), true},
		{"a short line", newHost(pages, "Sold out"), 11, page(11), true},
		{"nothing else left", host{helpLine, helpLine, helpLine, helpLine, helpLine, helpLine}, 5, noticeLine, true},
	}
	for _, c := range cases {
		if got := slices.Clone(c.host).visit(c.page, c.next); got != c.edit {
			t.Errorf("%s: an edit is %v", c.name, got)
		}
	}
	many := make([]string, mostShared+1)
	for i := range many {
		many[i] = "Line of the host " + strings.Repeat("x", i)
	}
	if !newHost(pages, many...).visit(11, page(11)) {
		t.Error("more lines than a notice has are boilerplate")
	}
}

// A line that comes, goes or is reworded on all pages is reported on one of them, in
// whatever order and however often they are visited.
func TestChangesOfAHostAreTold(t *testing.T) {
	t.Parallel()
	const pages = 12
	orders := map[string]func(i int) int{
		"oldest first": func(i int) int { return i }, "youngest first": func(i int) int { return pages - 1 - i },
		"mixed": func(i int) int { return i * 7 % pages },
	}
	for name, order := range orders {
		for _, c := range []struct{ before, after []string }{
			{nil, []string{noticeLine}}, {[]string{noticeLine}, nil}, {[]string{noticeLine}, []string{helpLine}},
		} {
			h, told := newHost(pages, c.before...), 0
			for i := range 3 * pages {
				if n := order(i % pages); h.visit(n, page(n, c.after...)) {
					told++
				}
			}
			if told == 0 {
				t.Errorf("%s: %q became %q and nobody said so", name, c.before, c.after)
			}
			t.Logf("%s: from %q to %q: %d of %d pages tell", name, c.before, c.after, told, pages)
		}
	}
}

// Its gains and risks, in the figures of docs/decisions.md: a help line that is shown at
// every other visit, and a shop where a product's page says whether it can be had.
func TestBoilerplateCostsAndGains(t *testing.T) {
	t.Parallel()
	const pages, rounds = 12, 10
	help, told := newHost(pages, helpLine), 0
	for round := range rounds {
		for i := range pages {
			text := page(i, helpLine)
			if (round+i)%2 == 1 {
				text = page(i)
			}
			if help.visit(i, text) {
				told++
			}
		}
	}
	shop, missed := newHost(pages, "In stock, shipped today"), 0
	for i := range pages {
		if !slices.Clone(shop).visit(i, page(i)) { // this one is sold out: the line is gone
			missed++
		}
	}
	t.Logf("help line: %d of %d flaps told; shop: %d of %d products that are sold out missed", told, pages*rounds-pages/2, missed, pages)
	if told > pages*rounds/3 {
		t.Errorf("%d flaps told", told)
	}
	if missed == 0 {
		t.Error("nothing is missed: then why is it off by default?")
	}
}
