package rank

import (
	"fmt"
	"math"
)

// Defaults of Params.
const (
	// DefaultDamping is the share of readers who follow a link, as in Brin and Page.
	DefaultDamping = 0.85
	// DefaultTolerance is for ranks whose mean is 1.
	DefaultTolerance = 1e-9
	// DefaultRounds is more than any graph needs for that tolerance: with damping d
	// each round removes a share 1-d of the error, so ln(1e-9)/ln(0.85) = 128 rounds
	// are enough.
	DefaultRounds = 200
)

// Params are the parameters of PageRank.
type Params struct {
	// Damping is the share d of readers who follow a link, in (0, 1); the others start
	// again anywhere. 0 is DefaultDamping.
	Damping float64
	// Seeds, if any are pages, are where readers start and start again, all alike, so
	// that pages near them are important (personalised PageRank). By default it is
	// every page.
	Seeds []int64
	// Start is a result for a similar graph in the order of this one's pages, to go on
	// from; 0 where it has none. It only saves rounds. nil means none.
	Start []float64
	// Tolerance is the greatest remaining mean error of a rank; 0 is DefaultTolerance.
	Tolerance float64
	// Rounds bounds the computation; 0 is DefaultRounds.
	Rounds int
}

// Result holds the importance of pages by PageRank.
type Result struct {
	// Ranks are those of the pages in order of ids. Their mean is 1.
	Ranks []float64
	// Rounds is how many times all links were read.
	Rounds int
	// Residual is the mean change of a rank in the last round.
	Residual float64
	// Bound is the greatest mean error that the ranks can have: Residual·d/(1-d), since
	// a round is a contraction by d. It is above the tolerance if the rounds ran out.
	Bound float64
}

// PageRank computes PageRank by the power method: the share of time that a reader
// spends on each page, who follows a link of it with probability d, each as likely
// as the others, and starts again otherwise. On a page without links the reader
// starts again too (Langville and Meyer, "Deeper inside PageRank", 2004, eq. 5.1).
func (g *Graph) PageRank(p Params) (Result, error) {
	d := p.Damping
	if d == 0 {
		d = DefaultDamping
	}
	if !(d > 0 && d < 1) {
		return Result{}, fmt.Errorf("damping %v is not between 0 and 1", d)
	}
	if p.Start != nil && len(p.Start) != len(g.ids) {
		return Result{}, fmt.Errorf("a start of %d pages for a graph of %d", len(p.Start), len(g.ids))
	}
	tolerance, rounds := p.Tolerance, p.Rounds
	if tolerance <= 0 {
		tolerance = DefaultTolerance
	}
	if rounds <= 0 {
		rounds = DefaultRounds
	}
	starts := g.starts(p.Seeds)
	ranks := warm(p.Start, len(g.ids), starts)
	next := make([]float64, len(ranks))
	res := Result{Bound: math.Inf(1)}
	for len(ranks) > 0 && res.Rounds < rounds && res.Bound > tolerance {
		g.round(ranks, next, starts, d)
		sum := 0.0
		for i, r := range ranks {
			sum += math.Abs(next[i] - r)
		}
		res.Rounds++
		res.Residual = sum / float64(len(ranks))
		res.Bound = res.Residual * d / (1 - d)
		ranks, next = next, ranks
	}
	if len(ranks) == 0 {
		res.Bound = 0
	}
	res.Ranks = ranks
	return res, nil
}

// starts are the pages where readers start, by index; nil is all.
func (g *Graph) starts(seeds []int64) []int32 {
	var starts []int32
	seen := map[int32]bool{}
	for _, id := range seeds {
		if i, ok := g.find(id); ok && !seen[i] {
			seen[i] = true
			starts = append(starts, i)
		}
	}
	return starts
}

// warm is the start scaled to a mean of 1; without one readers are at their
// starting pages.
func warm(start []float64, n int, starts []int32) []float64 {
	ranks := make([]float64, n)
	sum := 0.0
	for i, r := range start {
		if r > 0 && !math.IsInf(r, 1) {
			ranks[i] = r
			sum += r
		}
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		clear(ranks)
		spread(ranks, starts, float64(n))
		return ranks
	}
	for i := range ranks {
		ranks[i] *= float64(n) / sum
	}
	return ranks
}

// spread adds an amount to the pages where readers start.
func spread(ranks []float64, starts []int32, sum float64) {
	if starts == nil {
		each := sum / float64(len(ranks))
		for i := range ranks {
			ranks[i] += each
		}
		return
	}
	for _, i := range starts {
		ranks[i] += sum / float64(len(starts))
	}
}

// round is one step of all readers.
func (g *Graph) round(ranks, next []float64, starts []int32, d float64) {
	clear(next)
	stuck := 0.0 // on pages without links
	for i, r := range ranks {
		links := g.links(i)
		if len(links) == 0 {
			stuck += r
			continue
		}
		share := d * r / float64(len(links))
		for _, to := range links {
			next[to] += share
		}
	}
	spread(next, starts, (1-d)*float64(len(ranks))+d*stuck)
}
