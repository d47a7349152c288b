package schedule

import (
	"cmp"
	"slices"
	"time"
)

const (
	// moveFactor is the factor by which an interval must have changed for its page to
	// be woken and planned again.
	moveFactor = 2
	// movedShare is the largest share of a period's visits that may be moved in it.
	// Waking a page costs about as much as visiting one.
	movedShare = 0.05
)

// Sleeper is a page that waits for its next visit, with the interval that it would be
// given today. Thresholds, prices, priors and weights move while it sleeps.
type Sleeper struct {
	ID      int64
	Elapsed time.Duration // since its last visit
	Planned time.Duration // from the last visit to the next, as it sleeps now
	Wanted  time.Duration // the same, by current knowledge: the Interval of Replan
}

// Reschedule chooses which sleepers to plan again, by ID. It takes those whose interval
// has changed by more than a factor of two, largest gain first and equal gains by ID,
// and at most 5 % of visits (> 0), the number of visits between two choices, but at least
// one: in a small crawl fewer than twenty visits are made between two choices, and
// otherwise its sleepers would sleep on for up to the longest interval. It does not modify
// sleepers.
func Reschedule(sleepers []Sleeper, visits float64) []int64 {
	type candidate struct {
		id   int64
		gain float64
	}
	var found []candidate
	for _, s := range sleepers {
		if gain := s.Gain(); gain > 0 && s.far() {
			found = append(found, candidate{s.ID, gain})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.id, b.id))
	})
	most := 0
	if visits > 0 {
		most = int(min(max(1, visits*movedShare), float64(len(found))))
	}
	ids := make([]int64, most)
	for i := range ids {
		ids[i] = found[i].id
	}
	return ids
}

// far reports whether the wanted visit is more than a factor of two nearer or farther
// than the planned one. A wanted visit in the past counts as due now.
func (s Sleeper) far() bool {
	to := float64(max(s.Wanted, s.Elapsed, 1))
	ratio := float64(s.Planned) / to
	return ratio > moveFactor || ratio < 1/float64(moveFactor)
}

// Gain returns the benefit of planning the page again, in visits. With the planned
// interval p and the wanted interval w, sleeping p instead of w costs (p/w − 1)² visits
// under the square-root law, where the penalty grows with the square of the interval
// and is worth one visit at w. For the other objectives this is a good approximation
// for p near w.
func (s Sleeper) Gain() float64 {
	loss := func(interval time.Duration) float64 {
		excess := float64(interval)/float64(max(s.Wanted, 1)) - 1
		return excess * excess
	}
	return loss(s.Planned) - loss(max(s.Wanted, s.Elapsed))
}
