package maintain

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/testsite"
)

// most are the most important n pages of a web.
func most(web map[string][]string, n int) map[string]bool {
	truth := truth(web)
	urls := slices.SortedFunc(maps.Keys(truth), func(a, b string) int {
		return cmp.Or(cmp.Compare(truth[b], truth[a]), strings.Compare(a, b))
	})
	best := map[string]bool{}
	for _, url := range urls[:n] {
		best[url] = true
	}
	return best
}

// share is how much of the best pages live in the collection, and how many live.
func (w *world) share(best map[string]bool) (share float64, living int) {
	w.t.Helper()
	found := 0
	lives := slices.DeleteFunc(crawl.PageStates(), func(s crawl.PageState) bool { return !s.Lives() })
	for _, p := range w.pages(lives...) {
		living++
		if best[p.URL] {
			found++
		}
	}
	return float64(found) / float64(len(best)), living
}

// rankIfDue ranks as maintenance would.
func (w *world) rankIfDue() {
	w.t.Helper()
	last, links, err := w.Ranking(w.t.Context(), w.id)
	w.check(err)
	now, err := w.Now(w.t.Context())
	w.check(err)
	if due, why := rank.Due(lastOf(last), links, now, 24*time.Hour); due {
		w.rank(RankOptions{Reason: why})
	}
}

// exchange is a day of a full collection: a ranking, the exchange of the share of it
// that a spec allows by default, and the first visits of the pages that came in.
func (w *world) exchange() (swaps int) {
	w.t.Helper()
	w.rank(RankOptions{})
	spec := crawl.DefaultSpec().Rank
	c, err := w.Collection(w.t.Context(), w.id)
	w.check(err)
	options := ReplaceOptions{Margin: spec.Margin, Share: 1, Batch: int(spec.MaxEvictions * float64(c.MaxPages))}
	options.Share += float64(c.Evicted) / float64(c.MaxPages) // the days are short here
	list, err := Replacements(w.t.Context(), w.Store, w.id, options, nil)
	w.check(err)
	for _, swap := range list {
		e, done, err := w.Swap(w.t.Context(), store.SwapParams{CrawlID: w.id, Swap: swap})
		w.check(err)
		if done {
			swaps++
			w.visit(e.By)
		}
	}
	return swaps
}

// A collection of 10 % of a web's pages: how many of the 10 % that matter most are in
// it, by the order in which pages come in. The web is generated, with a known graph;
// the crawl knows only the links of the pages that it has visited.
func TestTheBestPagesAreCollected(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many pages")
	}
	t.Parallel()
	web := testsite.Web{Seed: 11, Hosts: 12, Pages: 3000, Links: 6}
	const places = 300
	s := crawltest.Store(t)
	limited := func(spec *crawl.Spec) { spec.Limits.MaxPages, spec.Limits.Window = places, 16 }
	open := func(name string) *world {
		w := newWorld(t, s, name, web, limited)
		w.register(0, 0, "http://site1.localhost/", "http://site5.localhost/", "http://site9.localhost/")
		return w
	}
	breadth, random, important := open("breadth"), open("random"), open("important")
	best := most(breadth.web, places)

	breadth.visitAll(places, func() {})
	random.visitAtRandom(places, rand.New(rand.NewPCG(1, 1)))
	important.visitAll(places, important.rankIfDue)

	first, living := important.share(best)
	byLevel, n := breadth.share(best)
	byChance, m := random.share(best)
	if living != places || n != places || m != places {
		t.Fatalf("collections of %d, %d and %d pages", living, n, m)
	}
	t.Logf("of the %d most important of %d pages, a collection of %d has: random order %.1f %%, breadth first %.1f %%, by importance %.1f %%",
		len(best), len(breadth.web), places, 100*byChance, 100*byLevel, 100*first)
	after, days, evictions := important.exchangeAll(best)
	t.Logf("and by importance after %d days of exchange, with %d evictions: %.1f %%", days, evictions, 100*after)
	mended, days, evictions := breadth.exchangeAll(best)
	t.Logf("the one that came in breadth first after %d days of exchange, with %d evictions: %.1f %%", days, evictions, 100*mended)
	if first < byLevel+0.15 || first < byChance+0.15 || after < first || mended < byLevel+0.15 {
		t.Error("importance is not clearly ahead")
	}
}

// exchangeAll exchanges pages of a full collection day by day until nobody moves, and
// returns the share of the best pages that it has then.
func (w *world) exchangeAll(best map[string]bool) (share float64, days, evictions int) {
	w.t.Helper()
	rec, err := w.Collection(w.t.Context(), w.id)
	w.check(err)
	for {
		days++
		n := w.exchange()
		evictions += n
		if n > rec.MaxPages/20 || days > 100 || evictions > 2*rec.MaxPages {
			w.t.Fatalf("%d evictions on day %d, %d in all", n, days, evictions)
		}
		living := 0
		if share, living = w.share(best); living != rec.MaxPages {
			w.t.Fatalf("%d pages on day %d", living, days)
		}
		if n == 0 {
			return share, days, evictions
		}
	}
}

// visitAtRandom visits n pages, each drawn from all that are known.
func (w *world) visitAtRandom(n int, rng *rand.Rand) {
	w.t.Helper()
	known := []string{}
	seen := map[string]bool{}
	for _, p := range w.pages() {
		known, seen[p.URL] = append(known, p.URL), true
	}
	for range n {
		i := rng.IntN(len(known))
		url := known[i]
		known = slices.Delete(known, i, i+1)
		admitted, err := w.Admit(w.t.Context(), store.AdmitParams{CrawlID: w.id, Admit: []int64{w.page(url).PageID}})
		w.check(err)
		if len(admitted) != 1 {
			w.t.Fatalf("%s was not admitted", url)
		}
		w.visit(admitted[0])
		for _, to := range w.web[url] {
			if !seen[to] {
				known, seen[to] = append(known, to), true
			}
		}
	}
}
