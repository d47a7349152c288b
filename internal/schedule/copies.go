package schedule

import (
	"math"
	"time"

	"recrawl/internal/schedule/gamma"
)

// Copy describes the copy of a page: the belief about the page, when it was looked at,
// and when its next visit was planned for.
type Copy struct {
	Belief      Belief
	Parameters  Parameters
	Looked, Due time.Time
}

// fitTurns is how many times a prior is fitted to the beliefs that the last one makes.
// Further iterations move it by less than its uncertainty.
const fitTurns = 5

// Priors are the priors of pages whose policies share none, by their round.
type Priors map[time.Duration]gamma.Distribution

// FitPriors returns the priors that fit the looks of the copies with the same round.
// FirstPrior, by which such pages are planned, is for any page, and says less about the
// pages of this crawl.
func FitPriors(copies []Copy) Priors {
	priors := Priors{}
	for range fitTurns {
		shown := map[time.Duration]Population{}
		for _, c := range copies {
			if round := c.Parameters.Round; c.Parameters.Prior.A == 0 && c.Belief.Pairs > 0 {
				prior, fitted := priors[round]
				if !fitted {
					prior = c.Parameters.prior()
				}
				population := shown[round]
				population.Add(c.Belief.Gamma(prior))
				shown[round] = population
			}
		}
		for round, population := range shown {
			priors[round] = population.Prior(FirstPrior(max(round, 1)))
		}
	}
	return priors
}

// Under returns the parameters of a page with its prior, if its policy shares none.
func (priors Priors) Under(p Parameters) Parameters {
	if p.Prior.A == 0 {
		p.Prior = priors[p.Round]
	}
	return p
}

// Fit gives those copies that have no prior the one that fits all of them.
func Fit(copies []Copy) {
	priors := FitPriors(copies)
	for i := range copies {
		copies[i].Parameters = priors.Under(copies[i].Parameters)
	}
}

// Copies sums up how far the copies of pages are expected to be behind the pages. The zero
// Copies has none.
type Copies struct {
	n                                         int
	fresh, squares, planned, age, rate, delay float64
}

// Add counts a copy. If its next visit was due before now, it is expected now.
func (c *Copies) Add(of Copy, now time.Time) {
	next := of.Due
	if now.After(next) {
		next = now
	}
	lag := LagOf(of.Belief, of.Parameters, now.Sub(of.Looked), next.Sub(of.Looked))
	c.Merge(Copies{
		n: 1, fresh: lag.Fresh, squares: lag.Fresh * lag.Fresh, planned: plannedFresh(of.Belief, of.Parameters, of.Due.Sub(of.Looked)),
		age: lag.Age, rate: lag.Rate, delay: lag.Delay,
	})
}

// Merge adds other copies.
func (c *Copies) Merge(o Copies) {
	c.n += o.n
	c.fresh += o.fresh
	c.squares += o.squares
	c.planned += o.planned
	c.age += o.age
	c.rate += o.rate
	c.delay += o.delay
}

// Count returns how many copies there are. All figures are zero if there are none.
func (c Copies) Count() int { return c.n }

// Fresh returns the share of the copies that are expected to be up to date.
func (c Copies) Fresh() float64 { return c.fresh / float64(max(c.n, 1)) }

// Planned returns what Fresh would be on average if each page were visited when it is due.
func (c Copies) Planned() float64 { return c.planned / float64(max(c.n, 1)) }

// Age returns the expected mean time, in days, since the first change that a copy lacks; 0
// counts for none.
func (c Copies) Age() float64 { return c.age / float64(max(c.n, 1)) }

// Delay returns how many days a change is expected to wait for the visit that finds it.
func (c Copies) Delay() float64 {
	if c.rate == 0 {
		return 0
	}
	return c.delay / c.rate
}

// Error returns the standard error of Fresh, if these copies are a sample of many more; 1 if
// there are too few for an estimate.
func (c Copies) Error() float64 {
	if c.n < 2 {
		return 1
	}
	n := float64(c.n)
	return math.Sqrt(max(0, c.squares-c.fresh*c.fresh/n) / (n - 1) / n)
}

// plannedFresh returns the share of the time from a page's last look to its next visit, an
// interval later, in which its copy is expected to be up to date.
func plannedFresh(b Belief, p Parameters, interval time.Duration) float64 {
	apart := days(interval)
	if !(apart > 0) {
		return 1
	}
	return 1 - p.forecast(b).over(b.Gamma(p.prior()), apart).ExpectedAge(apart)/apart
}
