package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"recrawl/internal/schedule"
	"recrawl/internal/sim/optimum"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
)

// changing is a page whose changes are drawn beforehand.
type changing struct {
	site    int
	path    string
	mean    time.Duration // between two changes
	changes []time.Time
}

// drawChanges are pages on two sites that change every 3 seconds to every 900 on
// average, and on a third site, which asks to be left alone between requests,
// every 4.
func drawChanges(from time.Time, n int, length time.Duration) []*changing {
	random := rand.New(rand.NewPCG(2026, 11))
	var pages []*changing
	for i := range n {
		p := &changing{site: i % 2, path: fmt.Sprintf("/p%d", i), mean: time.Duration(3e9 * math.Pow(300, float64(i)/float64(n-1)))}
		if i%8 == 7 {
			p.site, p.mean = 2, 4*time.Second
		}
		for at := from; at.Before(from.Add(length)); {
			at = at.Add(time.Duration(random.ExpFloat64() * float64(p.mean)))
			p.changes = append(p.changes, at)
		}
		pages = append(pages, p)
	}
	return pages
}

// editions returns the number of changes until a time.
func (p *changing) editions(at time.Time) int {
	n, _ := slices.BinarySearchFunc(p.changes, at, time.Time.Compare)
	return n
}

func changingSite(pages []*changing, site int, robots string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, robots) })
	for _, p := range pages {
		if p.site == site {
			mux.HandleFunc(p.path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprintf(w, "<!doctype html><title>%s</title><main><h1>Report</h1><p>This report on %s has its edition number %d.</p></main>",
					p.path, p.path, p.editions(time.Now()))
			})
		}
	}
	return mux
}

// TestScheduleFollowsThePolicy crawls pages of known rates of change, with seconds for
// days, and compares the plans in the store with the policy's prediction for known rates: that
// pages are planned by their rates, within the budget, and visited at the planned times, not
// before. How many of these visits a busy machine makes in time does not depend on the policy;
// what the sites' logs say of that is only reported. The test checks that the parts work
// together, with room for luck and for late turns; how well the policy learns and how
// exactly it meets its budget is measured without a clock in packages schedule and sim
// (TestTimersMeetTheBudget).
func TestScheduleFollowsThePolicy(t *testing.T) {
	waitsBeside(t, 140)
	// In visits of each page. In the short form luck still shows in what was learned.
	// Plans that followed nothing would have a correlation of 0 ± 0.15.
	learning, measured, count, least, mostOff := 4, 3, 48, 0.7, 0.25
	if long() {
		learning, measured, least, mostOff = 17, 33, 0.9, 0.1
	}
	const gap, crawlDelay, perPage = 20 * time.Millisecond, 2 * time.Second, 18 * time.Second
	pages := drawChanges(time.Now(), count, 2*patience())
	sites := []*site{
		serve(t, changingSite(pages, 0, "")), serve(t, changingSite(pages, 1, "")),
		serve(t, changingSite(pages, 2, "User-agent: *\nCrawl-delay: 2\n")),
	}
	budget := float64(count) / perPage.Seconds() // visits a second
	spec := map[string]any{
		"name": "rates", "scope": map[string]any{"type": "page"},
		"limits":     map[string]any{"window": 1000},
		"politeness": map[string]any{"delay": gap.String(), "factor": 0},
		"revisit": map[string]any{
			"policy": "sqrt", "budget": fmt.Sprintf("%.0f/h", budget*3600),
			"default_interval": perPage.String(), "min_interval": "2s", "max_interval": "2m",
		},
		"maintain_every": "1s",
	}
	var seeds []string
	for _, p := range pages {
		seeds = append(seeds, sites[p.site].url+p.path)
	}
	spec["seeds"] = seeds
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data)
	d.crawlSpec(spec)
	d.await("every page is visited", d.crawled("rates", count, 1))
	d.awaitRequests(learning*count, sites, func() {})
	db, err := sqlite.Open(t.Context(), filepath.Join(data, "recrawl.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var plans []workload
	from := time.Now()
	d.awaitRequests(measured*count, sites, func() { plans = append(plans, plannedIn(t, db, "rates")) })
	to, planned := time.Now(), meanWorkload(plans)

	seen := observe(pages, sites, from, to)
	predicted := predict(pages, budget, []float64{0, 0, 0.9 / crawlDelay.Seconds()})
	rates := planned.of(seeds)
	rank := spearman(predicted, rates)
	t.Logf("visits a second: %.3f planned of %.3f, %.3f made in %s, %.2f s late on average; rank correlation with the policy's prediction %.3f as planned, %.3f as made; %s",
		planned.rate, budget, seen.rate, to.Sub(from).Round(time.Second), planned.late, rank, spearman(predicted, seen.visits), seen.saved(pages))
	t.Logf("explained:\n%s", d.must("explain", seeds[0]))
	if rank < least {
		t.Errorf("rank correlation %.3f, want %v: planned %v, predicted %v", rank, least, rates, predicted)
	}
	if early, all := d.beforeTime("rates", plans); early > all/10 {
		t.Errorf("%d of %d visits came before the time that was planned for them", early, all)
	}
	if off := planned.rate/budget - 1; math.Abs(off) > mostOff {
		t.Errorf("planned %.1f %% off the budget", 100*off)
	}
	for i, gap := range []time.Duration{gap, gap, crawlDelay} {
		sites[i].checkPolite(t, gap)
	}
	d.checkForecast("rates", pages, sites, from, to, seen)
	d.stop()
}

// awaitRequests waits for n more requests at the sites, and calls each every second
// meanwhile.
func (d *dev) awaitRequests(n int, sites []*site, each func()) {
	d.t.Helper()
	total := func() (all int) {
		for _, s := range sites {
			all += len(s.requests())
		}
		return all
	}
	before := total()
	d.awaitEvery(time.Second, "the sites are asked", func() bool { each(); return total() >= before+n })
}

// workload is the planned load of a crawl according to the store, on average over a time.
type workload struct {
	rate  float64            // visits a second
	late  float64            // seconds by which they are late
	pages map[string]float64 // each one's visits a second, by URL
	next  map[string]planned // of one moment
}

// planned is the time of a page's next visit, as of its last one.
type planned struct{ last, next time.Time }

// of returns how often a second each page is to be visited.
func (w workload) of(urls []string) (rates []float64) {
	for _, url := range urls {
		rates = append(rates, w.pages[url])
	}
	return rates
}

func meanWorkload(all []workload) workload {
	mean := workload{pages: map[string]float64{}}
	for _, w := range all {
		mean.rate += w.rate / float64(len(all))
		mean.late += w.late / float64(len(all))
		for url, rate := range w.pages {
			mean.pages[url] += rate / float64(len(all))
		}
	}
	return mean
}

// beforeTime counts the visits of the time of some plans, and those of them that came before
// the time planned for them. Few do: a page that sleeps is planned anew when its interval has
// halved, and no plan need have seen that.
func (d *dev) beforeTime(crawl string, plans []workload) (early, all int) {
	d.t.Helper()
	first := map[string]map[int64]time.Time{} // by URL and last visit: the earliest plan
	for _, w := range plans {
		for url, p := range w.next {
			of := first[url]
			if of == nil {
				of = map[int64]time.Time{}
				first[url] = of
			}
			if known, ok := of[p.last.UnixMicro()]; !ok || p.next.Before(known) {
				of[p.last.UnixMicro()] = p.next
			}
		}
	}
	for url, visits := range d.stored(crawl) { // the newest first
		for i := range visits[:len(visits)-1] {
			if next, ok := first[url][visits[i+1].At.UnixMicro()]; ok {
				all++
				if visits[i].At.Before(next) {
					early++
				}
			}
		}
	}
	return early, all
}

// plannedIn returns the current workload of a crawl in a data folder's store. It allows for
// visits that come late as the policy does: see schedule.Demand.
func plannedIn(t *testing.T, db store.Store, crawl string) workload {
	t.Helper()
	const day, most = 86400, 0.25
	record, err := db.Crawl(t.Context(), crawl)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := db.Entries(t.Context(), store.EntryParams{CrawlID: record.ID, Limit: 10_000, URLs: true})
	if err != nil {
		t.Fatal(err)
	}
	var visits, late float64
	for _, e := range entries {
		interval := e.NextAt.Sub(e.LastAt).Seconds()
		visits += 1 / interval
		late += min(day*float64(schedule.DecodeBelief(e.Belief).Late), most*interval) / interval
	}
	w := workload{late: late / visits, pages: map[string]float64{}, next: map[string]planned{}}
	for _, e := range entries {
		interval := e.NextAt.Sub(e.LastAt).Seconds()
		w.pages[e.URL] = 1 / (interval + min(w.late, most*interval))
		w.rate += w.pages[e.URL]
		w.next[e.URL] = planned{e.LastAt, e.NextAt}
	}
	return w
}

// observed is the sites' record of the measured time.
type observed struct {
	visits []float64 // a second, by page
	rate   float64   // of all
	delay  float64   // seconds that changes waited for a visit, by second
}

func observe(pages []*changing, sites []*site, from, to time.Time) observed {
	o := observed{visits: make([]float64, len(pages))}
	length := to.Sub(from).Seconds()
	for i, p := range pages {
		var looks []time.Time
		for _, r := range sites[p.site].requests() {
			if r.path == p.path {
				looks = append(looks, r.begin)
			}
		}
		a, _ := slices.BinarySearchFunc(looks, from, time.Time.Compare)
		b, _ := slices.BinarySearchFunc(looks, to, time.Time.Compare)
		o.rate += float64(b-a) / length
		// From the last visit before to the first after: finer than a count of few, but
		// too low by the long intervals that are most likely met at the ends.
		a, b = max(a-1, 0), min(b, len(looks)-1)
		o.visits[i] = float64(b-a) / looks[b].Sub(looks[a]).Seconds()
		for _, c := range p.changes {
			next := to
			if j, _ := slices.BinarySearchFunc(looks, c, time.Time.Compare); j < len(looks) {
				next = looks[j]
			}
			if c.After(from) && c.Before(to) {
				o.delay += next.Sub(c).Seconds() / length
			}
		}
	}
	return o
}

// saved returns how many fewer downloads there were than if every page had been visited
// equally often, and changes had waited as long.
func (o observed) saved(pages []*changing) string {
	changes := 0.0
	for _, p := range pages {
		changes += 1 / p.mean.Seconds()
	}
	uniform := changes / (2 * o.delay) // visits a second of each page
	return fmt.Sprintf("changes waited %.2f s on average, which by visiting all pages equally often takes %.3f visits a second: %.0f %% of the downloads are saved",
		o.delay/changes, uniform*float64(len(pages)), 100*(1-o.rate/(uniform*float64(len(pages)))))
}

// predict returns how often a second each page is visited if all rates are known.
func predict(pages []*changing, budget float64, hosts []float64) []float64 {
	const day = 86400
	var elements []optimum.Element
	for _, p := range pages {
		elements = append(elements, optimum.Element{Lambda: day / p.mean.Seconds(), Weight: 1, Host: p.site, Limit: day / 2})
	}
	limits := make([]float64, len(hosts))
	for i, h := range hosts {
		limits[i] = h * day
	}
	visits := optimum.Allocate(schedule.Delay{}, elements, budget*day, limits).Visits
	for i := range visits {
		visits[i] /= day
	}
	return visits
}

// spearman returns the rank correlation of two lists, equal values sharing a rank.
func spearman(x, y []float64) float64 {
	a, b := ranks(x), ranks(y)
	mean := float64(len(a)+1) / 2
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - mean) * (b[i] - mean)
		aa += (a[i] - mean) * (a[i] - mean)
		bb += (b[i] - mean) * (b[i] - mean)
	}
	return ab / math.Sqrt(aa*bb)
}

func ranks(x []float64) []float64 {
	r := make([]float64, len(x))
	for i := range x {
		for j := range x {
			switch {
			case x[j] < x[i]:
				r[i]++
			case x[j] == x[i]:
				r[i] += 0.5
			}
		}
		r[i] += 0.5
	}
	return r
}
