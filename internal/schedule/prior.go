package schedule

import (
	"math"
	"time"

	"recrawl/internal/schedule/gamma"
)

// Constants of priors, chosen on recorded traces of change; see docs/policies.md.
const (
	// priorShape is the shape of the belief about a page of which nothing is known:
	// so wide that a change every few hours and none in years are both possible.
	priorShape = 0.7
	// priorRounds is how many rounds lie between two changes of such a page, on
	// average: 20 days for a round of a day. Whoever wants other rounds speaks of
	// other pages, so the prior goes with the round.
	priorRounds = 20
	// A host's mean counts as much as shrinkPages of its pages at the outside mean,
	// and its shape as shapePages of pages at priorShape.
	shrinkPages = 3
	shapePages  = 10
	// leastShape and mostShape bound what a host's pages can make of the shape.
	leastShape, mostShape = 0.15, 20
)

// FirstPrior is the belief about a page of which nothing is known but that it is
// to be visited once a round (> 0) until more is.
func FirstPrior(round time.Duration) gamma.Distribution {
	return gamma.Distribution{A: priorShape, B: priorShape * priorRounds * days(round)}
}

// Population is what the beliefs about a group of pages, say of a host, have in
// common: the means that the group's prior is made of. The zero Population is
// empty. Two of them can be added, so shards can be summed up apart.
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

// Prior is the belief about a page of the group before it was looked at, by
// empirical Bayes: the mean of its pages, drawn towards the mean of the outside
// prior (that of the crawl for a host, FirstPrior for a crawl), and as wide as
// they differ.
//
// The shape a is that of the Gamma distribution with the pages' expected λ and
// ln λ: ln a − ψ(a) = ln E λ − E ln λ. Beliefs that were made under one prior and
// make the next are the two steps of EM (Dempster, Laird and Rubin 1977) for the
// prior under which all looks at the group together are likeliest.
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

// days is a duration in days, the unit of all rates.
func days(d time.Duration) float64 { return d.Hours() / 24 }

// duration is the Duration of so many days, the longest one for what is longer.
func duration(days float64) time.Duration {
	ns := days * float64(day)
	if !(ns < math.MaxInt64) {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
