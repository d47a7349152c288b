package rank

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/testsite"
)

// link is a link between page ids.
type link struct{ src, dst int64 }

// build makes the graph of pages with the given hosts, by id, and links in any order.
func build(t interface{ Fatal(args ...any) }, hosts map[int64]int64, links []link) *Graph {
	ids := make([]int64, 0, len(hosts))
	for id := range hosts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	links = slices.Clone(links)
	slices.SortFunc(links, func(a, b link) int {
		if a.src != b.src {
			return int(a.src - b.src)
		}
		return int(a.dst - b.dst)
	})
	b := NewBuilder(0, 0)
	for _, id := range ids {
		if err := b.Page(id, hosts[id]); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range links {
		if err := b.Link(l.src, l.dst); err != nil {
			t.Fatal(err)
		}
	}
	return b.Graph()
}

// worlds draws graphs of up to 40 pages with gaps between their ids.
func drawWorld(t *rapid.T) (map[int64]int64, []link) {
	hosts := map[int64]int64{}
	id := int64(0)
	for range rapid.IntRange(1, 40).Draw(t, "pages") {
		id += rapid.Int64Range(1, 3).Draw(t, "gap")
		hosts[id] = rapid.Int64Range(1, 5).Draw(t, "host")
	}
	end := rapid.Int64Range(1, id+2) // some are no pages
	links := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) link {
		return link{end.Draw(t, "src"), end.Draw(t, "dst")}
	}), 0, 200).Draw(t, "links")
	return hosts, links
}

// dense computes PageRank by solving (I - dG)p = (1-d)v, G being the whole matrix of
// a reader's steps, by Gauss's elimination. p has the sum n.
func dense(hosts map[int64]int64, links []link, seeds []int64, d float64) map[int64]float64 {
	var ids []int64
	for id := range hosts {
		ids = append(ids, id)
	}
	n := len(ids)
	at := map[int64]int{}
	for i, id := range ids {
		at[id] = i
	}
	v := make([]float64, n)
	for i, id := range ids {
		if slices.Contains(seeds, id) {
			v[i] = 1
		}
	}
	if total := sum(v); total == 0 {
		for i := range v {
			v[i] = 1
		}
	}
	for total, i := sum(v), 0; i < n; i++ {
		v[i] *= float64(n) / total
	}
	linked := map[link]bool{}
	out := make([]float64, n)
	for _, l := range links {
		_, from := at[l.src]
		_, to := at[l.dst]
		if from && to && l.src != l.dst && !linked[l] {
			linked[l] = true
			out[at[l.src]]++
		}
	}
	m := make([][]float64, n) // with the right side as the last column
	for i := range m {
		m[i] = make([]float64, n+1)
		m[i][i] = 1
		m[i][n] = (1 - d) * v[i]
		for j := range n {
			switch {
			case out[j] == 0:
				m[i][j] -= d * v[i] / float64(n)
			case linked[link{ids[j], ids[i]}]:
				m[i][j] -= d / out[j]
			}
		}
	}
	for c := range n {
		for r := range n {
			if r == c {
				continue
			}
			f := m[r][c] / m[c][c] // the matrix is diagonally dominant by columns
			for k := c; k <= n; k++ {
				m[r][k] -= f * m[c][k]
			}
		}
	}
	ranks := map[int64]float64{}
	for i, id := range ids {
		ranks[id] = m[i][n] / m[i][i]
	}
	return ranks
}

func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

func TestPageRankIsTheSolution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hosts, links := drawWorld(t)
		d := rapid.Float64Range(0.05, 0.95).Draw(t, "damping")
		seeds := rapid.SliceOfN(rapid.Int64Range(1, 100), 0, 3).Draw(t, "seeds")
		g := build(t, hosts, links)
		res, err := g.PageRank(Params{Damping: d, Seeds: seeds, Tolerance: 1e-11, Rounds: 1000})
		if err != nil {
			t.Fatal(err)
		}
		want := dense(hosts, links, seeds, d)
		for i, r := range res.Ranks {
			if math.Abs(r-want[g.ID(i)]) > 1e-9 {
				t.Fatalf("page %d has rank %v, want %v", g.ID(i), r, want[g.ID(i)])
			}
		}
		if mean := sum(res.Ranks) / float64(g.Pages()); math.Abs(mean-1) > 1e-12 {
			t.Fatalf("the mean is %v", mean)
		}
		if res.Bound > 1e-11 || res.Bound < res.Residual*d {
			t.Fatalf("bound %v after residual %v", res.Bound, res.Residual)
		}
	})
}

// The bound holds in each round, so that the report on a ranking that was cut short
// is true.
func TestPageRankIsWithinItsBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hosts, links := drawWorld(t)
		g := build(t, hosts, links)
		res, err := g.PageRank(Params{Rounds: rapid.IntRange(1, 30).Draw(t, "rounds")})
		if err != nil {
			t.Fatal(err)
		}
		want := dense(hosts, links, nil, DefaultDamping)
		wrong := 0.0
		for i, r := range res.Ranks {
			wrong += math.Abs(r - want[g.ID(i)])
		}
		if mean := wrong / float64(g.Pages()); mean > res.Bound+1e-12 {
			t.Fatalf("mean error %v, bound %v after %d rounds", mean, res.Bound, res.Rounds)
		}
	})
}

// A start changes only the rounds, whatever is in it.
func TestPageRankGoesOnFromAStart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hosts, links := drawWorld(t)
		g := build(t, hosts, links)
		cold, err := g.PageRank(Params{})
		if err != nil {
			t.Fatal(err)
		}
		start := rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Just(0.)), g.Pages(), g.Pages()).Draw(t, "start")
		warm, err := g.PageRank(Params{Start: start})
		if err != nil {
			t.Fatal(err)
		}
		again, err := g.PageRank(Params{Start: cold.Ranks})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range cold.Ranks {
			if math.Abs(warm.Ranks[i]-r) > 1e-7 || math.Abs(again.Ranks[i]-r) > 1e-7 {
				t.Fatalf("ranks %v, from a start %v, from themselves %v", r, warm.Ranks[i], again.Ranks[i])
			}
		}
		if again.Rounds > 1 {
			t.Fatalf("%d rounds from the result itself", again.Rounds)
		}
	})
}

func TestPageRankRefuses(t *testing.T) {
	t.Parallel()
	g := build(t, map[int64]int64{1: 1, 2: 1}, []link{{1, 2}})
	for _, p := range []Params{{Damping: 1}, {Damping: -0.5}, {Damping: math.NaN()}, {Start: []float64{1}}} {
		if _, err := g.PageRank(p); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
	empty, err := NewBuilder(0, 0).Graph().PageRank(Params{})
	if err != nil || len(empty.Ranks) != 0 || empty.Bound != 0 {
		t.Errorf("of no pages: %+v, %v", empty, err)
	}
}

// web is a generated web as a graph: pages have ids in the order of the script.
func web(t testing.TB, w testsite.Web) (*Graph, map[int64]int64, []link) {
	t.Helper()
	hosts, ids := map[int64]int64{}, map[string]int64{}
	script := testsite.Generated(w)
	for h, host := range script {
		for _, p := range host.Pages {
			id := int64(len(ids) + 1)
			ids["//"+host.Name+p.Path] = id
			hosts[id] = int64(h + 1)
		}
	}
	var links []link
	for _, host := range script {
		for _, p := range host.Pages {
			for _, to := range testsite.Outlinks(host, p) {
				links = append(links, link{ids["//"+host.Name+p.Path], ids[to]})
			}
		}
	}
	return build(t, hosts, links), hosts, links
}

func TestPageRankOfAWeb(t *testing.T) {
	t.Parallel()
	for _, seeds := range [][]int64{nil, {1, 2, 50}} {
		g, hosts, links := web(t, testsite.Web{Seed: 3, Hosts: 6, Pages: 300, Links: 5})
		res, err := g.PageRank(Params{Seeds: seeds, Tolerance: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		want := dense(hosts, links, seeds, DefaultDamping)
		for i, r := range res.Ranks {
			if math.Abs(r-want[g.ID(i)]) > 1e-9 {
				t.Fatalf("page %d has rank %v, want %v", g.ID(i), r, want[g.ID(i)])
			}
		}
	}
}

// stepwise is PageRank as its definition says, step by step over a map.
func stepwise(hosts map[int64]int64, links []link) map[int64]float64 {
	out, linked := map[int64][]int64{}, map[link]bool{}
	for _, l := range links {
		if l.src != l.dst && !linked[l] {
			linked[l] = true
			out[l.src] = append(out[l.src], l.dst)
		}
	}
	ranks, n := map[int64]float64{}, float64(len(hosts))
	for id := range hosts {
		ranks[id] = 1
	}
	for range 180 {
		next, restart := map[int64]float64{}, 0.0
		for id, r := range ranks {
			restart += (1 - DefaultDamping) * r
			for _, to := range out[id] {
				next[to] += DefaultDamping * r / float64(len(out[id]))
			}
			if len(out[id]) == 0 {
				restart += DefaultDamping * r
			}
		}
		for id := range ranks {
			ranks[id] = next[id] + restart/n
		}
	}
	return ranks
}

func TestThousandsOfPages(t *testing.T) {
	t.Parallel()
	g, hosts, links := web(t, testsite.Web{Seed: 4, Hosts: 12, Pages: 4000, Links: 8})
	res, err := g.PageRank(Params{Tolerance: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	want, counts := stepwise(hosts, links), count(hosts, links)
	for i, c := range g.Backlinks() {
		if id := g.ID(i); math.Abs(res.Ranks[i]-want[id]) > 1e-9 || c != counts[id] {
			t.Fatalf("page %d: rank %v, want %v; links %+v, want %+v", id, res.Ranks[i], want[id], c, counts[id])
		}
	}
	t.Logf("%d pages, %d links: %d rounds, residual %.2g, mean error below %.2g", g.Pages(), g.Links(), res.Rounds, res.Residual, res.Bound)
}

// BenchmarkPageRank ranks the 1 000 000 pages of a large crawl with 10 links each,
// from nothing and from a result.
func BenchmarkPageRank(b *testing.B) {
	const pages, links = 1_000_000, 10
	n := pages
	if testing.Short() {
		n /= 50
	}
	build := func() *Graph { return synthetic(b, n, links) }
	b.Run("Build", func(b *testing.B) {
		for b.Loop() {
			build()
		}
	})
	g := build()
	var cold Result
	for _, start := range []string{"Cold", "Warm"} {
		b.Run(start, func(b *testing.B) {
			p := Params{}
			if start == "Warm" {
				p.Start = slices.Clone(cold.Ranks)
				for i := range p.Start {
					p.Start[i] *= 1 + 0.01*float64(i%3-1)
				}
			}
			var err error
			var res Result
			for b.Loop() {
				if res, err = g.PageRank(p); err != nil {
					b.Fatal(err)
				}
			}
			if start == "Cold" {
				cold = res
			}
			b.ReportMetric(float64(res.Rounds), "rounds")
		})
	}
	b.Run("Importance", func(b *testing.B) {
		for b.Loop() {
			Importance(cold.Ranks, g.Backlinks())
		}
	})
	b.Logf("%d pages, %d links", g.Pages(), g.Links())
}

// synthetic is a graph whose links prefer low pages.
func synthetic(t testing.TB, pages, links int) *Graph {
	t.Helper()
	b := NewBuilder(pages, pages*links)
	for i := range pages {
		if err := b.Page(int64(i+1), int64(i%1000)); err != nil {
			t.Fatal(err)
		}
	}
	state := uint64(1)
	targets := make([]int64, links)
	for i := range pages {
		for k := range targets {
			state = state*6364136223846793005 + 1442695040888963407
			f := float64(state>>11) / (1 << 53)
			targets[k] = 1 + int64(f*f*f*float64(pages))
		}
		slices.Sort(targets)
		for _, to := range targets {
			if err := b.Link(int64(i+1), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Graph()
}
