package schedule

import (
	"math"
	"time"

	"recrawl/internal/schedule/gamma"
)

// demandOctave is the number of cells per factor of two, in shape, days and weight.
const demandOctave = 4

// lateShare bounds the lateness that plans allow for, as a share of the interval.
const lateShare = 0.25

// Demand sums up beliefs in a histogram, which gives the visits a day that any
// threshold would cost without reading the pages again. Beliefs alike in shape, days
// and weight share a cell and are represented by its geometric mean. Results agree with
// those of the pages to better than 1e-3 (1e-2 for [Fresh], whose exploration begins at
// sharp bounds). The zero Demand is empty. Demands of shards can be merged.
type Demand struct {
	rarest float64      // in days: when pages that are given up are looked at, see [rareLooks]
	cells  []demandCell // in the order of their first pages, so that sums are the same each time
	index  map[demandKey]int
}

// demandsOf returns an empty demand for each group of pages that are planned by s, at hosts
// that are not tight.
func demandsOf(groups []Group, s Steering) []Demand {
	all := make([]Demand, len(groups))
	for i := range all {
		all[i].rarest = rareIntervals * s.Interval
	}
	return all
}

// demandKey is a cell's shape, days and weight, the timetable's period, and the days after which its
// pages are looked at if they are given up.
type demandKey [5]int16

type demandCell struct {
	key           demandKey
	n             float64
	a, b, weights float64 // sums of logarithms
	soon          float64 // sum of days, see [rareLooks]
}

// Add counts a page with a belief and a weight (> 0).
func (c *Demand) Add(g gamma.Distribution, weight float64) { c.addAlike(1, g, weight, Timetable{}, 0) }

// addAlike counts n similar pages (> 0), with their timetable or with none. If they are given up, they are looked at after soon
// days; 0 if that is not known.
func (c *Demand) addAlike(n float64, g gamma.Distribution, weight float64, t Timetable, soon float64) {
	a, b, w := math.Log2(g.A), math.Log2(g.B), math.Log2(weight)
	cellOf := func(x float64) int16 { return int16(math.Floor(min(max(x, -1000), 1000) * demandOctave)) }
	c.add(demandCell{
		key: demandKey{cellOf(a), cellOf(b), cellOf(w), int16(t.Period), cellOf(math.Log2(soon))},
		n:   n, a: n * a, b: n * b, weights: n * w, soon: n * soon,
	})
}

// Merge adds the counts of another demand.
func (c *Demand) Merge(o *Demand) {
	for _, cell := range o.cells {
		c.add(cell)
	}
}

func (c *Demand) add(cell demandCell) {
	i, ok := c.index[cell.key]
	if !ok {
		if c.index == nil {
			c.index = map[demandKey]int{}
		}
		c.index[cell.key] = len(c.cells)
		c.cells = append(c.cells, cell)
		return
	}
	sum := &c.cells[i]
	sum.n += cell.n
	sum.a += cell.a
	sum.b += cell.b
	sum.weights += cell.weights
	sum.soon += cell.soon
}

// Pages returns how many pages were counted.
func (c *Demand) Pages() int {
	n := 0.0
	for i := range c.cells {
		n += c.cells[i].n
	}
	return int(n)
}

// belief returns the belief that represents the cell's pages.
func (c *demandCell) belief() gamma.Distribution {
	return gamma.Distribution{A: math.Exp2(c.a / c.n), B: math.Exp2(c.b / c.n)}
}

// weight returns the weight that represents the cell's pages.
func (c *demandCell) weight() float64 { return math.Exp2(c.weights / c.n) }

// looks returns when the cell's pages are looked at if they are given up.
func (c *demandCell) looks(rarest float64) rareLooks {
	return rareLooks{most: rarest, soon: c.soon / c.n}
}

// interval returns the mean number of days between two visits of the cell's pages, which
// are like a page of weight 1 with belief g.
func (c *demandCell) interval(o Objective, g gamma.Distribution, threshold, low, high, rarest float64) float64 {
	if t := (Timetable{Period: uint8(c.key[3])}); t.Period != 0 {
		if n, worth := t.skips(o, threshold, low); worth {
			return min(max(float64(n)*periods[t.Period].days(), low), high)
		}
	}
	return meanInterval(o, g, threshold, low, high, c.looks(rarest))
}

// Planned returns how many visits a day the pages would get together at a threshold (≥
// 0), with no interval shorter than low (> 0) or longer than high.
func (c *Demand) Planned(o Objective, threshold float64, low, high time.Duration) float64 {
	return c.held(o, threshold, low, high, 0)
}

// held is Planned when every visit comes late by the given time, but by at most
// lateShare of its interval: an outage is no reason to plan more visits.
func (c *Demand) held(o Objective, threshold float64, low, high, late time.Duration) float64 {
	sum := 0.0
	for i := range c.cells {
		cell := &c.cells[i]
		interval := cell.interval(o, cell.belief(), threshold/cell.weight(), days(low), days(high), c.rarest)
		sum += cell.n / (interval + min(days(late), lateShare*interval))
	}
	return sum
}
