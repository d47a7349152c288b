package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/testsite"
)

// world is a crawl of a generated web in a store. Its methods fail the test.
type world struct {
	store.Store
	t     *testing.T
	id    int64
	name  string
	web   map[string][]string // links of each page, by URL
	hosts map[string]string   // of each page
}

func newWorld(t *testing.T, s store.Store, name string, web testsite.Web, change func(*crawl.Spec)) *world {
	t.Helper()
	w := &world{Store: s, t: t, name: name, web: map[string][]string{}, hosts: map[string]string{}}
	for _, h := range testsite.Generated(web) {
		for _, p := range h.Pages {
			url := "http://" + h.Name + p.Path
			w.hosts[url] = h.Name
			for _, to := range testsite.Outlinks(h, p) {
				w.web[url] = append(w.web[url], "http:"+to)
			}
		}
	}
	spec := crawl.DefaultSpec()
	spec.Name = name
	change(&spec)
	rec, err := s.OpenCrawl(t.Context(), spec)
	w.check(err)
	w.id = rec.ID
	return w
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) register(from int64, level int, urls ...string) {
	w.t.Helper()
	list := make([]store.NewURL, len(urls))
	for i, url := range urls {
		list[i] = store.NewURL{URL: url, Host: w.hosts[url], Level: level}
	}
	_, err := w.RegisterLinks(w.t.Context(), store.RegisterParams{CrawlID: w.id, From: from, URLs: list})
	w.check(err)
}

func (w *world) page(url string) store.PageRecord {
	w.t.Helper()
	pages, err := w.FindPages(w.t.Context(), url, w.name)
	w.check(err)
	if len(pages) != 1 {
		w.t.Fatalf("%d pages of %s", len(pages), url)
	}
	return pages[0]
}

// visit makes the page's next visit, with its links.
func (w *world) visit(p store.PageRecord) {
	w.t.Helper()
	_, err := w.RecordVisit(w.t.Context(), store.RecordParams{
		Visit:    store.VisitRecord{PageID: p.PageID, Visit: p.Visits + 1, Outcome: crawl.OutcomeNew, State: crawl.Active},
		Interval: 24 * time.Hour,
	})
	w.check(err)
	w.register(p.PageID, p.Level+1, w.web[p.URL]...)
}

// visitAll visits pages as admission lets them in, at most n.
func (w *world) visitAll(n int, also func()) {
	w.t.Helper()
	for n > 0 {
		some, err := w.Candidates(w.t.Context(), store.CandidateParams{CrawlID: w.id, Limit: min(n, 20)})
		w.check(err)
		if len(some) == 0 {
			return
		}
		var ids []int64
		for _, p := range some {
			ids = append(ids, p.PageID)
		}
		admitted, err := w.Admit(w.t.Context(), store.AdmitParams{CrawlID: w.id, Admit: ids})
		w.check(err)
		for _, p := range admitted {
			w.visit(p)
		}
		n -= len(admitted)
		also()
	}
}

func (w *world) rank(o RankOptions) store.RankingRecord {
	w.t.Helper()
	rec, err := Rank(w.t.Context(), w.Store, w.id, o)
	w.check(err)
	return rec
}

// pages are those of the crawl in some states, or in all.
func (w *world) pages(states ...crawl.PageState) []store.PageRecord {
	w.t.Helper()
	var all []store.PageRecord
	for {
		f := store.PageFilter{CrawlID: w.id, States: states, Limit: 1000}
		if len(all) > 0 {
			f.After = all[len(all)-1].PageID
		}
		some, err := w.ListPages(w.t.Context(), f)
		w.check(err)
		if all = append(all, some...); len(some) < f.Limit {
			return all
		}
	}
}

// truth is PageRank of mean 1 of the whole web, step by step according to the
// definition.
func truth(web map[string][]string) map[string]float64 {
	out := map[string][]string{}
	for from, links := range web {
		links = slices.Clone(links)
		slices.Sort(links)
		for _, to := range slices.Compact(links) {
			if to != from {
				out[from] = append(out[from], to)
			}
		}
	}
	ranks := map[string]float64{}
	for url := range web {
		ranks[url] = 1
	}
	for range 160 {
		next, restart := map[string]float64{}, 0.0
		for url, r := range ranks {
			restart += 0.15 * r
			for _, to := range out[url] {
				next[to] += 0.85 * r / float64(len(out[url]))
			}
			if len(out[url]) == 0 {
				restart += 0.85 * r
			}
		}
		for url := range ranks {
			ranks[url] = next[url] + restart/float64(len(ranks))
		}
	}
	return ranks
}

func seeds(spec *crawl.Spec) { spec.Limits.Window = 50 }

// Two crawls of different webs in one store, visited page by page in turn so that
// their links lie between each other: each has the ranks of its own web.
func TestRanksAreThoseOfTheWeb(t *testing.T) {
	t.Parallel()
	s := crawltest.Store(t)
	worlds := []*world{
		newWorld(t, s, "one", testsite.Web{Seed: 1, Hosts: 5, Pages: 200, Links: 5}, seeds),
		newWorld(t, s, "two", testsite.Web{Seed: 2, Hosts: 9, Pages: 250, Links: 7}, seeds),
	}
	for _, w := range worlds {
		w.register(0, 0, "http://site1.localhost/")
		for h := range 9 {
			if url := "http://site" + string(rune('1'+h)) + ".localhost/"; w.web[url] != nil {
				w.register(0, 0, url)
			}
		}
	}
	for range 60 {
		for _, w := range worlds {
			w.visitAll(20, func() {})
		}
	}
	for _, w := range worlds {
		rec := w.rank(RankOptions{Reason: crawl.Reason{Code: "test"}})
		if rec.Pages != len(w.web) || rec.Rounds == 0 || rec.Took <= 0 || len(rec.Top) != store.RankedTop {
			t.Fatalf("ranked %+v of %d pages", rec, len(w.web))
		}
		want := truth(w.web)
		top := map[int64]bool{}
		for _, r := range rec.Top {
			top[r.ID] = true
		}
		least := rec.Top[len(rec.Top)-1].Weight
		for _, p := range w.pages() {
			// Written as they were computed: there was nothing before.
			if math.Abs(p.Rank-want[p.URL]) > 1e-7 {
				t.Fatalf("%s has rank %v, want %v", p.URL, p.Rank, want[p.URL])
			}
			if p.Weight > least && !top[p.PageID] || p.Weight < least && top[p.PageID] {
				t.Errorf("%s of weight %v: among the most important: %t", p.URL, p.Weight, top[p.PageID])
			}
		}
		last, links, err := s.Ranking(t.Context(), w.id)
		w.check(err)
		if !last.At.After(rec.At.Add(-time.Minute)) || last.Links != rec.Links || links != rec.Links || last.Reason.Code != "test" {
			t.Errorf("recorded %+v with %d links in all, want %+v", last, links, rec)
		}
		hosts := w.rankedHosts()
		sum := 0.0
		for _, h := range hosts {
			sum += h.Ranked.Rank
		}
		if len(hosts) != rec.Hosts || math.Abs(sum-float64(rec.Pages)) > 1e-6 {
			t.Errorf("%d hosts of %d, with a rank of %v in all", len(hosts), rec.Hosts, sum)
		}
		if again := w.rank(RankOptions{}); again.Rounds > rec.Rounds/2 {
			t.Errorf("%d rounds, and from the result %d", rec.Rounds, again.Rounds)
		}
	}
}

// failing is a store whose writes of ranks stop after some.
type failing struct {
	store.Store
	left int
}

var errCut = errors.New("cut off")

func (f *failing) SaveRanks(ctx context.Context, id int64, ranks []store.PageRank) error {
	if f.left--; f.left < 0 {
		return errCut
	}
	return f.Store.SaveRanks(ctx, id, ranks[:len(ranks)/2])
}

// A ranking that is cut off while it writes leaves no record, and the next one
// completes it.
func TestCutOffRankings(t *testing.T) {
	t.Parallel()
	s := crawltest.Store(t)
	w := newWorld(t, s, "cut", testsite.Web{Seed: 5, Hosts: 3, Pages: 200, Links: 5}, seeds)
	w.register(0, 0, "http://site1.localhost/", "http://site2.localhost/", "http://site3.localhost/")
	w.visitAll(1000, func() {})
	if _, err := Rank(t.Context(), &failing{s, 0}, w.id, RankOptions{}); !errors.Is(err, errCut) {
		t.Fatalf("ended with %v", err)
	}
	if last, _, err := s.Ranking(t.Context(), w.id); err != nil || !last.At.IsZero() {
		t.Fatalf("recorded %+v, %v", last, err)
	}
	if _, err := Rank(t.Context(), &failing{s, 1}, w.id, RankOptions{}); err != nil {
		t.Fatal(err)
	}
	w.rank(RankOptions{})
	want := truth(w.web)
	for _, p := range w.pages() {
		if math.Abs(p.Rank-want[p.URL]) > 2*store.RankSlack*want[p.URL] {
			t.Fatalf("%s has rank %v, want %v", p.URL, p.Rank, want[p.URL])
		}
	}
}

// A ranking rests after each batch, and ends if that is cut off.
func TestRankingRests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, crawltest.Store(t), "rests", testsite.Web{Hosts: 1, Pages: 1}, seeds)
	urls := make([]store.NewURL, 2*ranksAtOnce+10)
	for i := range urls {
		urls[i] = store.NewURL{URL: fmt.Sprintf("http://a.localhost/%d", i), Host: "a.localhost"}
	}
	_, err := w.Store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: w.id, URLs: urls})
	w.check(err)
	var told []int
	rests, last := 0, 3
	options := RankOptions{
		Progress: func(p RankProgress) {
			if p.Phase == "writing" {
				told = append(told, p.Done)
			}
		},
		Rest: func(context.Context) error {
			if rests++; rests == last {
				return errCut
			}
			return nil
		},
	}
	if _, err := Rank(t.Context(), w.Store, w.id, options); !errors.Is(err, errCut) || rests != 3 || len(told) != 3 {
		t.Errorf("%d rests, told %v: %v", rests, told, err)
	}
	rests, last, told = 0, 0, nil
	if _, err := Rank(t.Context(), w.Store, w.id, options); err != nil || rests != 3 || told[2] != len(urls) {
		t.Errorf("%d rests, told %v: %v", rests, told, err)
	}
}

func TestPersonalisedByTheSeeds(t *testing.T) {
	t.Parallel()
	s := crawltest.Store(t)
	w := newWorld(t, s, "near", testsite.Web{Seed: 6, Hosts: 4, Pages: 300, Links: 3}, seeds)
	w.register(0, 0, "http://site2.localhost/")
	w.visitAll(1000, func() {})
	share := func(o RankOptions) (own float64) {
		all := 0.0
		w.rank(o)
		for _, p := range w.pages() {
			all += p.Rank
			if p.Host == "site2.localhost" {
				own += p.Rank
			}
		}
		return own / all
	}
	anywhere, near := share(RankOptions{}), share(RankOptions{Personalised: true})
	if near < 1.2*anywhere {
		t.Errorf("the seed's host has %.2f of all rank, and %.2f when readers start there", anywhere, near)
	}
}

func TestRankingOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, crawltest.Store(t), "empty", testsite.Web{Hosts: 1, Pages: 1}, seeds)
	var told []RankProgress
	rec := w.rank(RankOptions{Progress: func(p RankProgress) { told = append(told, p) }})
	if rec.Pages != 0 || rec.Links != 0 || len(told) == 0 {
		t.Errorf("ranked %+v, told %v", rec, told)
	}
	if _, err := Rank(t.Context(), w.Store, w.id+100, RankOptions{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("ranking no crawl ended with %v", err)
	}
}

// A host whose pages a trap holds is as important as the few others that it has, even
// if the pages were ranked before they were held.
func TestHeldPagesLendNoImportance(t *testing.T) {
	t.Parallel()
	s := crawltest.Store(t)
	w := newWorld(t, s, "held", testsite.Web{Seed: 7, Hosts: 3, Pages: 24, Links: 4}, seeds)
	w.register(0, 0, "http://site1.localhost/", "http://site2.localhost/", "http://site3.localhost/")
	w.visitAll(1000, func() {})
	entry := "http://trap.localhost/"
	w.hosts[entry] = "trap.localhost"
	w.register(w.page("http://site1.localhost/").PageID, 1, entry)
	w.visitAll(1, func() {})
	const held = 600 // more than half of all links lead there
	months := make([]string, 0, held)
	for i := range held {
		months = append(months, fmt.Sprintf("%scalendar/%d", entry, i))
		w.hosts[months[i]] = "trap.localhost"
	}
	w.register(w.page(entry).PageID, 2, months...)
	before := w.rank(RankOptions{})
	if top := w.topHost(); top != "trap.localhost" {
		t.Fatalf("%s leads while the pages are not held", top)
	}
	traps, err := s.SetTraps(t.Context(), w.id, []store.NewTrap{{Site: "trap.localhost", Host: "trap.localhost", Name: "it", Pattern: []byte("{}"), After: -1}})
	w.check(err)
	var holds []store.Hold
	for _, url := range months {
		holds = append(holds, store.Hold{PageID: w.page(url).PageID, TrapID: traps[0].ID})
	}
	_, err = s.HoldPages(t.Context(), w.id, holds)
	w.check(err)
	rec := w.rank(RankOptions{})
	if rec.Pages != before.Pages-len(months) || rec.Links != before.Links-len(months) {
		t.Errorf("ranked %d pages and %d links, before %d and %d", rec.Pages, rec.Links, before.Pages, before.Links)
	}
	if why, err := RankDue(t.Context(), w.Store, w.id, 24*time.Hour); why != nil || err != nil {
		t.Errorf("it is ranked again at once: %v, %v", why, err)
	}
	for i, h := range w.rankedHosts() {
		if trap := h.Host == "trap.localhost"; trap && (i == 0 || h.Ranked.Rank > 1 || h.Ranked.Pages != 1 || h.Ranked.Inner != 0) {
			t.Errorf("place %d: %+v", i, h.Ranked)
		}
	}
	if p := w.page(months[0]); p.Weight != 0 || p.Rank != 0 {
		t.Errorf("a held page has weight %v and rank %v", p.Weight, p.Rank)
	}
}

// topHost is the most important host.
func (w *world) topHost() string {
	w.t.Helper()
	return w.rankedHosts()[0].Host
}

// rankedHosts are the hosts that the last ranking knows, the most important first.
func (w *world) rankedHosts() []store.HostRecord {
	w.t.Helper()
	hosts, err := w.ListHosts(w.t.Context(), store.HostFilter{CrawlID: w.id, Limit: 1000})
	w.check(err)
	hosts = slices.DeleteFunc(hosts, func(h store.HostRecord) bool { return h.Ranked == nil })
	slices.SortFunc(hosts, func(a, b store.HostRecord) int { return cmp.Compare(b.Ranked.Rank, a.Ranked.Rank) })
	return hosts
}
