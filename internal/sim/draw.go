package sim

import (
	"math"
	"math/rand/v2"
)

// drawing makes random worlds; all its numbers follow from one seed.
type drawing struct{ *rand.Rand }

func newDrawing(seed uint64) drawing { return drawing{rand.New(rand.NewPCG(seed, 0x7265637261776c))} }

// between draws from low to high so that all orders of magnitude are alike.
func (d drawing) between(low, high float64) float64 {
	return low * math.Exp(d.Float64()*math.Log(high/low))
}

// poisson draws the changes of a page that changes at a constant rate, each one
// independent of the others, from start to end.
func (d drawing) poisson(rate, start, end float64) []float64 {
	if rate <= 0 {
		return nil
	}
	changes := make([]float64, 0, int(rate*(end-start)*1.1)+4)
	for t := start + d.ExpFloat64()/rate; t < end; t += d.ExpFloat64() / rate {
		changes = append(changes, t)
	}
	return changes
}

// Pages of the world burst change in spells, with few changes between them.
const (
	burstOn    = 5.0  // days that a spell lasts on average
	burstOff   = 60.0 // days between spells on average
	burstShare = 0.9  // share of the changes that fall into spells
)

// bursts draws the changes of a page that changes rate times a day on average:
// burstShare of the changes in spells. Lengths of spells and pauses are
// exponential, and the page starts in the steady state.
func (d drawing) bursts(rate, start, end float64) []float64 {
	const on = burstOn / (burstOn + burstOff)
	var changes []float64
	within := d.Float64() < on
	for t := start; t < end; within = !within {
		mean, r := burstOff, rate*(1-burstShare)/(1-on)
		if within {
			mean, r = burstOn, rate*burstShare/on
		}
		stop := min(end, t+d.ExpFloat64()*mean)
		changes = append(changes, d.poisson(r, t, stop)...)
		t = stop
	}
	return changes
}

// pareto draws a weight with the tail exponent 1.5, 1 to 100.
func (d drawing) pareto() float64 { return min(100, math.Pow(1-d.Float64(), -1/1.5)) }
