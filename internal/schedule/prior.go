package schedule

import (
	"math"
	"time"

	"recrawl/internal/schedule/gamma"
)

// Constants of priors, chosen on recorded traces of change; see docs/policies.md.
const (
	// priorShape is the shape of the belief about an unknown page. It is wide enough
	// for a change every few hours and for none in years.
	priorShape = 0.7
	// priorRounds is how many rounds lie between two changes of such a page, on
	// average: 20 days for a round of a day. The prior scales with the round because a
	// crawl with another round is about pages of another kind.
	priorRounds = 20
	// A host's mean is averaged with the outside mean as if that came from shrinkPages
	// pages, and its shape with priorShape as if that came from shapePages pages.
	shrinkPages = 3
	shapePages  = 10
	// leastShape and mostShape bound the shape that is fitted to a host's pages.
	leastShape, mostShape = 0.15, 20
)

// FirstPrior returns the belief about a page of which only the round (> 0) is known.
func FirstPrior(round time.Duration) gamma.Distribution {
	return gamma.Distribution{A: priorShape, B: priorShape * priorRounds * days(round)}
}

// Population sums up the beliefs about a group of pages, for instance those of a host:
// the means from which the group's prior is made. The zero Population is empty.
// Populations can be merged, so shards can be summed up separately.
type Population struct {
	N    int     // pages
	mean float64 // mean of the expected rates
	log  float64 // mean of the expected logarithms of the rates
}

// Add counts a page with a belief.
func (p *Population) Add(g gamma.Distribution) {
	p.Merge(Population{N: 1, mean: g.Mean(), log: gamma.Digamma(g.A) - math.Log(g.B)})
}

// Merge adds another group.
func (p *Population) Merge(o Population) {
	if o.N == 0 {
		return
	}
	p.N += o.N
	share := float64(o.N) / float64(p.N)
	p.mean += (o.mean - p.mean) * share
	p.log += (o.log - p.log) * share
}

// Prior returns the belief about a page of the group before any look at it, by
// empirical Bayes. Its mean is that of the group's pages, shrunk towards the mean of
// the outside prior (the crawl's for a host, FirstPrior for a crawl). Its width
// reflects how much the pages differ.
//
// The shape a is that of the Gamma distribution with the pages' expected λ and ln λ: ln
// a − ψ(a) = ln E λ − E ln λ. Beliefs made under one prior that in turn make the next
// prior are the two steps of EM (Dempster, Laird and Rubin 1977), which converges to
// the prior of greatest likelihood for all looks at the group.
func (p Population) Prior(outside gamma.Distribution) gamma.Distribution {
	n := float64(p.N)
	mean := (shrinkPages*outside.Mean() + n*p.mean) / (shrinkPages + n)
	shape := priorShape
	if p.N > 0 {
		fitted := min(max(gamma.ShapeOf(math.Log(p.mean)-p.log), leastShape), mostShape)
		shape = (shapePages*priorShape + n*fitted) / (shapePages + n)
	}
	return gamma.Distribution{A: shape, B: shape / mean}
}

const day = 24 * time.Hour

// days converts a duration to days, the unit of all rates.
func days(d time.Duration) float64 { return d.Hours() / 24 }

// duration converts days to a Duration, capped at the longest one.
func duration(days float64) time.Duration {
	ns := days * float64(day)
	if !(ns < math.MaxInt64) {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
