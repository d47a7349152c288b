package trap

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/urlkey"
)

// place is a page of a site: its text besides its links, and these.
type place struct {
	own   string
	links []string
}

// walk is a crawl of one site as the product makes it: by levels, with a window of
// admitted pages, links that are registered some visits late, and a look of the guard
// at the newest pages whenever some are.
type walk struct {
	t       *testing.T
	site    func(u urlkey.URL) place
	pages   []*walked // by id, from 1 on
	byURL   map[urlkey.URL]*walked
	links   map[int64][]int64
	pending []*walked
	traps   []Pattern
	found   []Finding
	// known pages wait for admission, admitted ones for their first visit.
	known, admitted []*walked

	fetched, held int
}

type walked struct {
	Page
	level  int
	place  place
	linked bool // its links are registered
}

const (
	walkWindow  = 16  // limits.window
	walkLag     = 8   // visits until links are registered
	walkPermits = 2   // visits that are under way
	walkSample  = 128 // pages that the guard looks at
)

// crawlSite crawls from a page until nothing waits, or the given number of pages are
// fetched.
func crawlSite(t *testing.T, seed string, most int, site func(u urlkey.URL) place) *walk {
	t.Helper()
	w := &walk{t: t, site: site, byURL: map[urlkey.URL]*walked{}, links: map[int64][]int64{}}
	w.add(canonical(t, seed), nil)
	for w.fetched < most {
		w.admit()
		switch {
		case len(w.admitted) > 0:
			w.visit(w.admitted[0])
			w.admitted = w.admitted[1:]
		case len(w.pending) == 0:
			return w
		}
		if len(w.pending) > walkLag || len(w.admitted) == 0 && len(w.pending) > 0 {
			w.register(w.pending[0])
			w.pending = w.pending[1:]
		}
	}
	return w
}

// admit fills the window with the known pages of the lowest levels.
func (w *walk) admit() {
	slices.SortStableFunc(w.known, func(a, b *walked) int { return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.ID, b.ID)) })
	n := min(len(w.known), walkWindow-len(w.admitted))
	w.admitted, w.known = append(w.admitted, w.known[:n]...), w.known[n:]
	slices.SortStableFunc(w.admitted, func(a, b *walked) int { return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.ID, b.ID)) })
}

func (w *walk) visit(p *walked) {
	w.fetched++
	p.place = w.site(p.URL)
	p.Content, p.Said = true, Says(p.place.own, p.URL, p.place.links)
	w.pending = append(w.pending, p)
}

func (w *walk) register(p *walked) {
	var found []urlkey.URL
	for _, link := range p.place.links {
		to, err := urlkey.Resolve(p.URL, link)
		if err != nil {
			w.t.Fatal(err)
		}
		found = append(found, to)
	}
	// As in the store, a page's links come in the order of their hashes.
	slices.SortFunc(found, func(a, b urlkey.URL) int { return cmp.Compare(hash(a), hash(b)) })
	for _, to := range slices.Compact(found) {
		w.links[p.ID] = append(w.links[p.ID], w.add(to, p).ID)
	}
	p.linked = true
	w.look()
}

func hash(u urlkey.URL) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, u)
	return h.Sum64()
}

func (w *walk) add(u urlkey.URL, on *walked) *walked {
	if p := w.byURL[u]; p != nil {
		return p
	}
	p := &walked{Page: Page{URL: u, ID: int64(len(w.pages) + 1)}}
	if on != nil {
		p.Finder, p.level = on.ID, on.level+1
	}
	w.pages, w.byURL[u] = append(w.pages, p), p
	if !w.taken(p) {
		w.known = append(w.known, p)
	}
	return p
}

// taken reports whether a trap takes a page, and counts it then.
func (w *walk) taken(p *walked) bool {
	held := p.Finder != 0 && slices.ContainsFunc(w.traps, func(t Pattern) bool { return t.Takes(p.URL, w.pages[p.Finder-1].Page) })
	if held {
		w.held++
	}
	return held
}

func (w *walk) look() {
	var sample []Page
	for _, p := range slices.Backward(w.pages) {
		if p.linked && len(sample) < walkSample {
			sample = append(sample, p.Page)
		}
	}
	for _, s := range Suspects(sample) {
		if slices.ContainsFunc(w.traps, func(t Pattern) bool { return t.String() == s.Pattern.String() }) {
			continue
		}
		var links []Link
		for _, from := range s.Pages {
			for _, to := range w.links[from] {
				links = append(links, Link{From: from, To: to, Finder: w.pages[to-1].Finder, URL: w.pages[to-1].URL})
			}
		}
		if f, ok := s.Judge(links); ok {
			w.traps, w.found = append(w.traps, f.Pattern), append(w.found, f)
			w.known = slices.DeleteFunc(w.known, w.taken)
			// Pages that have a permit are visited.
			permits := min(walkPermits, len(w.admitted))
			w.admitted = append(w.admitted[:permits:permits], slices.DeleteFunc(w.admitted[permits:], w.taken)...)
		}
	}
}

// seen is how many of the fetched pages are of a part of the site.
func (w *walk) seen(part func(u urlkey.URL) bool) int {
	n := 0
	for _, p := range w.pages {
		if p.Content && part(p.URL) {
			n++
		}
	}
	return n
}

// TestManyForms: a host may have hundreds of forms of empty pages, and long addresses. The form of a
// link was made anew for each of them, which would take minutes here.
func TestManyForms(t *testing.T) {
	t.Parallel()
	s := Suspect{Pattern: Pattern{Kind: KindOnward, Host: "h.example", Path: []string{"own"}}, Pages: []int64{1}}
	for i := range 300 {
		s.others = append(s.others, Pattern{Kind: KindOnward, Host: "h.example", Path: []string{fmt.Sprintf("form-%c%c", 'a'+i/26, 'a'+i%26)}})
	}
	var query strings.Builder
	for i := range 500 {
		fmt.Fprintf(&query, "name%d=value&", i)
	}
	var links []Link
	for i := range 2000 {
		links = append(links, Link{From: 1, To: int64(i + 2), Finder: 1, URL: canonical(t, fmt.Sprintf("http://h.example/%d?%s", i, query.String()))})
	}
	if f, ok := s.Judge(links); ok {
		t.Errorf("links to other forms make %s", f.Pattern)
	}
	if form := s.emptyForm(canonical(t, "http://h.example/form-cd")); !slices.Equal(form, []string{"form-cd"}) {
		t.Errorf("the form is %q", form)
	}
}
