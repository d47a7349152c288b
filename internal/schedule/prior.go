package schedule

import (
	"math"
	"time"
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
	leastShape, mostShape = 0.3, 20
)

// FirstPrior is the belief about a page of which nothing is known but that it is
// to be visited once a round (> 0) until more is.
func FirstPrior(round time.Duration) Gamma {
	return Gamma{priorShape, priorShape * priorRounds * days(round)}
}

// Population is what the beliefs about a group of pages, say of a host, have in
// common: the sums that the group's prior is made of. The zero Population is
// empty. Two of them can be added, so shards can be summed up apart.
type Population struct {
	N         int     // pages
	mean      float64 // mean of the beliefs' means
	deviation float64 // sum of squared deviations of the means from it
	variance  float64 // mean of the beliefs' variances
}

// Add counts a page with a belief.
func (p *Population) Add(g Gamma) { p.Merge(Population{N: 1, mean: g.Mean(), variance: g.Variance()}) }

// Merge adds another group (Chan, Golub and LeVeque, "Updating formulae and a
// pairwise algorithm for computing sample variances", 1979, eq. 2.1: without the
// cancellation of sums of squares).
func (p *Population) Merge(o Population) {
	if o.N == 0 {
		return
	}
	n, m := float64(p.N), float64(o.N)
	apart := o.mean - p.mean
	p.N += o.N
	p.mean += apart * m / (n + m)
	p.deviation += o.deviation + apart*apart*n*m/(n+m)
	p.variance += (o.variance - p.variance) * m / (n + m)
}

// Prior is the belief about a page of the group before it was looked at, by
// empirical Bayes: the mean of its pages, drawn towards the mean of the outside
// prior (that of the crawl for a host, FirstPrior for a crawl), and as wide as
// they differ. By the law of total variance the pages' rates vary by the variance
// of the means plus the mean of the variances. Few pages move it little.
func (p Population) Prior(outside Gamma) Gamma {
	n := float64(p.N)
	mean := (shrinkPages*outside.Mean() + n*p.mean) / (shrinkPages + n)
	shape := priorShape
	if p.N > 0 {
		fitted := p.mean * p.mean / (p.deviation/n + p.variance)
		fitted = min(max(fitted, leastShape), mostShape)
		shape = (shapePages*priorShape + n*fitted) / (shapePages + n)
	}
	return Gamma{shape, shape / mean}
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
