package activities_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// copies is the number of pages that each of two equal hosts has.
const copies = 13

// maintained runs a pass of maintenance in which nothing fails.
func (w *world) maintained(page crawl.PageRef) {
	w.t.Helper()
	out := run(w, contract.Maintain, contract.MaintainIn{CrawlID: page.CrawlID, Name: page.Crawl})
	if len(out.Problems) > 0 {
		w.t.Fatalf("maintenance has problems: %v", out.Problems)
	}
}

// duplicates are the crawl's records that are true, as "page = original".
func (w *world) duplicates(page crawl.PageRef) []string {
	w.t.Helper()
	found := must[[]store.DuplicateRecord](w.t)(w.store.ListDuplicates(w.t.Context(), store.DuplicateFilter{CrawlID: page.CrawlID, Limit: 1000}))
	all := []string{}
	for _, d := range found {
		if d.Exact && d.Holds {
			all = append(all, d.Page.URL+" = "+d.Of.URL)
		}
	}
	slices.Sort(all)
	return all
}

// equalHosts are the pages of two hosts with the same contents.
func equalHosts() (urls, pairs []string) {
	for i := range copies {
		original, other := fmt.Sprintf("http://127.0.0.1/%d", i), fmt.Sprintf("http://localhost/%d", i)
		urls, pairs = append(urls, original, other), append(pairs, other+" = "+original)
	}
	slices.Sort(pairs)
	return urls, pairs
}

// TestDuplicatesInAnyOrder: in whatever order they are found, fetched and maintained, all
// pages of two equal hosts are recognised as duplicates, with the same originals, and are
// visited accordingly.
func TestDuplicatesInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 17))
			urls, pairs := equalHosts()
			random.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
			w := newWorld(t)
			pages := w.living(urls)
			body := func(url string) string { return article("topic"+url[len(url)-2:], 200) }
			random.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
			saved := map[string]contract.PlanIn{} // compared, and not recorded yet
			for _, p := range pages {
				in := w.detection(p, 1, body(p.URL))
				out := run(w, contract.DetectChange, in)
				in.Fetch.Outcome = out.Outcome
				saved[p.URL] = contract.PlanIn{Page: p, Visit: 1, Fetch: in.Fetch, Reasons: out.Reasons}
				for url, plan := range saved { // visits at the same time see each other's pages late
					if random.IntN(3) == 0 {
						run(w, contract.PlanRevisit, plan)
						delete(saved, url)
					}
				}
				if random.IntN(6) == 0 {
					w.maintained(p)
				}
			}
			for _, plan := range saved {
				run(w, contract.PlanRevisit, plan)
			}
			w.maintained(pages[0])
			w.wantDuplicates("after the first visits", pages, pairs)
			for _, p := range pages {
				w.planned(p, 2, body(p.URL))
			}
			w.wantDuplicates("after visits without a change", pages, pairs)
			w.flows.rescheduled = nil
			w.maintained(pages[0])
			if len(w.flows.rescheduled) > 0 {
				t.Errorf("a turn that finds nothing new moves %v", w.flows.rescheduled)
			}
		})
	}
}

// wantDuplicates wants these pairs of all pages, and states and times to follow them.
func (w *world) wantDuplicates(when string, pages []crawl.PageRef, pairs []string) {
	w.t.Helper()
	if got := w.duplicates(pages[0]); !slices.Equal(got, pairs) {
		w.t.Errorf("%s: %d pairs: %q", when, len(got), got)
	}
	for _, p := range pages {
		is := w.page(p.URL)
		duplicate := slices.ContainsFunc(pairs, func(pair string) bool { return len(pair) > len(p.URL) && pair[:len(p.URL)+1] == p.URL+" " })
		if duplicate != (is.State == crawl.Duplicate) || duplicate != (time.Until(is.NextAt) > 60*day) {
			w.t.Errorf("%s: %s is %s, next visit in %s", when, p.URL, is.State, time.Until(is.NextAt).Round(time.Hour))
		}
	}
}

// When a page has gone, or is another now, one of its duplicates stands for the
// content, visited at once; when the page is back it is the original again.
func TestDuplicatesAreFreed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/a", "http://localhost/bb", "http://localhost/ccc"})
	a, b, c := pages[0], pages[1], pages[2]
	rain := article("rain", 200)
	for _, p := range []crawl.PageRef{c, b, a} {
		w.planned(p, 1, rain)
	}
	w.maintained(a)
	w.wantDuplicates("at first", pages, []string{b.URL + " = " + a.URL, c.URL + " = " + a.URL})

	w.planned(a, 2, article("sun", 200))
	w.flows.rescheduled = nil
	w.maintained(a)
	w.wantDuplicates("when the original has changed", pages, []string{c.URL + " = " + b.URL})
	if !slices.Contains(w.flows.rescheduled, b.URL) || time.Until(w.page(b.URL).NextAt) > time.Minute {
		t.Errorf("the new original is visited at %s; told are %v", w.page(b.URL).NextAt, w.flows.rescheduled)
	}
	w.planned(b, 2, rain)
	w.planned(a, 3, rain)
	w.maintained(a)
	w.wantDuplicates("when it is back", pages, []string{b.URL + " = " + a.URL, c.URL + " = " + a.URL})
}

// A duplicate whose claim becomes the better one takes over the visits of the other.
func TestOriginalByCanonicalLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/a", "http://localhost/the/original"})
	says := `<link rel=canonical href="http://localhost/the/original">` + article("rain", 200)
	w.planned(pages[1], 1, says)
	w.planned(pages[0], 1, says)
	w.maintained(pages[0])
	w.wantDuplicates("by their own word", pages, []string{"http://localhost/a = http://localhost/the/original"})
}
