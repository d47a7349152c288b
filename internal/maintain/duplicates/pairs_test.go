package duplicates

import (
	"context"
	"errors"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/change/changetest"
)

// contentsOf are the first n contents of a corpus.
func contentsOf(c changetest.Corpus, n int) []change.Content {
	contents := make([]change.Content, n)
	for i := range contents {
		contents[i] = c.Content(i)
	}
	return contents
}

// pagesOf yields contents as pages whose ids have gaps.
func pagesOf(contents []change.Content) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for i, content := range contents {
			if !yield(Page{ID: idOf(i), Content: content}, nil) {
				return
			}
		}
	}
}

func idOf(n int) int64 { return 1000 + 3*int64(n) }

// bruteForce compares each page with each other. Pages with the content of an
// older one are paired with the oldest only.
func bruteForce(contents []change.Content, threshold float64) map[[2]int64]Pair {
	pairs := map[[2]int64]Pair{}
	add := func(p Pair) { pairs[[2]int64{p.A, p.B}] = p }
	oldest := map[uint64]int{}
	for i, content := range contents {
		if first, ok := oldest[content.Exact]; ok {
			add(Pair{idOf(first), idOf(i), true, 1})
			continue
		}
		for _, k := range oldest {
			if r := contents[k].Sketch.Resemblance(content.Sketch); r >= threshold {
				add(Pair{idOf(k), idOf(i), false, r})
			}
		}
		oldest[content.Exact] = i
	}
	return pairs
}

func find(t *testing.T, pages iter.Seq2[Page, error], opts Options) (map[[2]int64]Pair, Stats) {
	t.Helper()
	opts.Dir = t.TempDir()
	found := map[[2]int64]Pair{}
	stats, err := Pairs(t.Context(), pages, opts, func(p Pair) error {
		key := [2]int64{p.A, p.B}
		if _, twice := found[key]; twice || p.A >= p.B {
			t.Errorf("found %+v, or found it before", p)
		}
		found[key] = p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, opts.Dir)
	return found, stats
}

// TestPairsFindWhatBruteForceFinds: no false pairs, and nearly all true ones, even
// if a large part of each page is its site's boilerplate.
func TestPairsFindWhatBruteForceFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many pages")
	}
	t.Parallel()
	const n = 800
	for name, corpus := range map[string]changetest.Corpus{
		"no boilerplate":           {Sites: 5, Shingles: 600, Family: 8, Edit: 0.02},
		"a quarter is boilerplate": {Sites: 5, Shingles: 600, Boilerplate: 0.25, Family: 8, Edit: 0.02},
		"half is boilerplate":      {Sites: 5, Shingles: 600, Boilerplate: 0.5, Family: 8, Edit: 0.02},
		"three quarters are":       {Sites: 5, Shingles: 600, Boilerplate: 0.75, Family: 8, Edit: 0.06},
		"half, of small sites":     {Sites: 40, Shingles: 600, Boilerplate: 0.5, Family: 8, Edit: 0.02},
	} {
		contents := contentsOf(corpus, n)
		all := bruteForce(contents, 0.7)
		for _, threshold := range []float64{0.98, 0.9, 0.75} {
			found, stats := find(t, pagesOf(contents), Options{Threshold: threshold, Memory: 1})
			there, missed := 0, 0
			for key, p := range all {
				if p.Resemblance < threshold {
					continue
				}
				there++
				if found[key] != p {
					missed++
				}
			}
			recall := 1 - float64(missed)/float64(there)
			t.Logf("%s, from %.2f on: %d of %d pairs (%.2f %%), %+v", name, threshold, there-missed, there, 100*recall, stats)
			if recall < 0.999 || len(found) != there-missed || stats.Spilled == 0 {
				t.Errorf("%s, from %.2f on: recall %.4f, %d found of %d", name, threshold, recall, len(found), there)
			}
		}
	}
}

// A cluster with more pages than are paired with each other is found completely.
func TestLargeClusters(t *testing.T) {
	t.Parallel()
	const n = 1000
	corpus := changetest.Corpus{Sites: 1, Shingles: 600, Family: n, Edit: 0.00001}
	found, stats := find(t, pagesOf(contentsOf(corpus, n)), Options{Threshold: 0.95})
	var clusters change.Clusters
	for _, p := range found {
		clusters.Join(p.A, p.B)
	}
	for i := range n {
		if got := clusters.Oldest(idOf(i)); got != idOf(0) {
			t.Fatalf("page %d is in the cluster of %d", idOf(i), got)
		}
	}
	if stats.Compared > fewFirst*n || stats.Common == 0 {
		t.Errorf("%+v", stats)
	}
}

func TestPairsOfFew(t *testing.T) {
	t.Parallel()
	long := change.ContentOf(change.Digests{Raw: "a", Text: "a", Sketch: changetest.Corpus{Sites: 1, Shingles: 300, Family: 1}.Content(0).Sketch})
	short := change.Content{Exact: 7, Sketch: change.NewSketch("a few words")}
	for name, c := range map[string]struct {
		contents []change.Content
		want     []Pair
	}{
		"none":                      {nil, nil},
		"one":                       {[]change.Content{long}, nil},
		"nothing is known":          {[]change.Content{{}, {}}, nil},
		"the same":                  {[]change.Content{long, {}, long, long}, []Pair{{1, 3, true, 1}, {1, 4, true, 1}}},
		"near, of unknown contents": {[]change.Content{{Sketch: long.Sketch}, long}, []Pair{{1, 2, false, 1}}},
		"short, the same":           {[]change.Content{short, short}, []Pair{{1, 2, true, 1}}},
		"short, and not the same":   {[]change.Content{short, {Exact: 8, Sketch: short.Sketch}}, nil},
	} {
		found, _ := find(t, func(yield func(Page, error) bool) {
			for i, content := range c.contents {
				if !yield(Page{ID: int64(i + 1), Content: content}, nil) {
					return
				}
			}
		}, Options{})
		got := slices.SortedFunc(maps.Values(found), func(a, b Pair) int { return int(a.B - b.B) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestPairsFail(t *testing.T) {
	t.Parallel()
	corpus := changetest.Corpus{Sites: 1, Shingles: 300, Family: 4, Edit: 0.01}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	errBroken := errors.New("broken")
	for name, c := range map[string]struct {
		ctx   context.Context
		pages iter.Seq2[Page, error]
		dir   string
		found error
	}{
		"a reader that fails": {t.Context(), func(yield func(Page, error) bool) { yield(Page{}, errBroken) }, "", nil},
		"pages out of order": {t.Context(), func(yield func(Page, error) bool) {
			_ = yield(Page{ID: 2}, nil) && yield(Page{ID: 1}, nil)
		}, "", nil},
		"a caller that fails": {t.Context(), pagesOf(contentsOf(corpus, 100)), "", errBroken},
		"a caller that goes":  {cancelled, pagesOf(make([]change.Content, 20_000)), "", nil},
		"no room":             {t.Context(), pagesOf(contentsOf(corpus, 100)), "/missing", nil},
	} {
		dir := t.TempDir()
		_, err := Pairs(c.ctx, c.pages, Options{Dir: dir + c.dir}, func(Pair) error { return c.found })
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		wantEmpty(t, dir)
	}
}

// TestNoKillLeavesFiles: the files have no names while they are used, so that a kill leaves none.
func TestNoKillLeavesFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file keeps its name")
	}
	dir, found := t.TempDir(), 0
	corpus := changetest.Corpus{Sites: 2, Shingles: 60, Boilerplate: 0.5, Family: 10, Edit: 0.01}
	_, err := Pairs(t.Context(), pagesOf(contentsOf(corpus, 100)), Options{Dir: dir, Threshold: 0.5}, func(Pair) error {
		if found++; found == 1 {
			wantEmpty(t, dir)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d pairs, %v", found, err)
	}
}

// BenchmarkPairs finds the near-duplicates among 100 000 pages, or 10 000 with
// -short, half of whose shingles are boilerplate, and reports the largest heap.
func BenchmarkPairs(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	corpus := changetest.Corpus{Sites: n / 200, Shingles: 600, Boilerplate: 0.5, Family: 10, Edit: 0.01}
	pages := func(yield func(Page, error) bool) {
		for i := 0; i < n && yield(Page{ID: idOf(i), Content: corpus.Content(i)}, nil); i++ {
		}
	}
	before := heap()
	var peak, spilled, near atomic.Int64
	for b.Loop() {
		stop := make(chan struct{})
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for tick := time.NewTicker(20 * time.Millisecond); ; {
				select {
				case <-tick.C:
					peak.Store(max(peak.Load(), heap()-before))
				case <-stop:
					tick.Stop()
					return
				}
			}
		}()
		stats, err := Pairs(b.Context(), pages, Options{Threshold: 0.9, Memory: 32 << 20, Dir: b.TempDir()}, func(Pair) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		close(stop)
		<-watched
		spilled.Store(stats.Spilled)
		near.Store(int64(stats.Near))
	}
	b.ReportMetric(float64(peak.Load())/(1<<20), "peak-MB")
	b.ReportMetric(float64(spilled.Load())/(1<<20), "disk-MB")
	b.ReportMetric(float64(near.Load()), "pairs")
}

// heap is how much memory is taken by objects, and by those not collected yet.
func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}
