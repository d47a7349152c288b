package schedule

import "time"

// Jitter is the largest share of an interval by which it is moved. Without it, pages
// that were found together would be due together for ever.
const Jitter = 0.05

// driftVisits is the number of visits in a row for which a page's intervals are moved
// in the same direction. With one visit a day, each moved by 0.75 × Jitter on average,
// the time of day goes once round the clock in 32 visits.
const driftVisits = 32

// spread clamps an interval to the bounds and moves it, by at most Jitter and within
// the bounds. If a bound applied, it is returned as a ground.
//
// The move has two purposes. Pages must drift apart; therefore its size is a hash of
// the page and the visit. And a page must not be visited at the same hour every day
// (Bouras et al., §3.1: "the time it visits the same pages changes daily"), which a
// move that averages to zero would not achieve; therefore it is at least half of Jitter
// and keeps its direction for driftVisits visits, with each page's own phase. Over one
// period of both directions no page gains or loses visits.
func (p Parameters) spread(page Page, wanted time.Duration) (interval time.Duration, bound ground) {
	return p.between(p.Floor(), page, wanted)
}

func (p Parameters) between(low time.Duration, page Page, wanted time.Duration) (interval time.Duration, bound ground) {
	centre := wanted
	switch {
	case wanted < low:
		centre, bound = low, because(CodeMin, low.Seconds())
	case wanted > p.Max:
		centre, bound = p.Max, because(CodeMax, p.Max.Seconds())
	}
	// At a bound there is room on one side only: move the centre off it, so that
	// the pages there part too.
	centre = min(centre, time.Duration(float64(p.Max)/(1+Jitter)))
	centre = max(centre, time.Duration(float64(low)/(1-Jitter)))
	moved := time.Duration(float64(centre) * (1 + shift(page.ID, page.Visit)))
	return min(max(moved, low), p.Max), bound
}

// shift returns the share by which the interval after this visit is moved: between half
// of Jitter and Jitter, in the page's present direction.
func shift(page int64, visit int) float64 {
	const phases = 2 * driftVisits
	own := mix(uint64(page))
	size := Jitter/2 + Jitter/2*unit(mix(own+uint64(visit)))
	if (uint64(visit)+own)%phases < driftVisits {
		return -size
	}
	return size
}

// unit maps a hash to [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// mix is the output function of SplitMix64 (Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014, figure 17): a
// bijection whose output bits all depend on all input bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
