package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

const (
	// surely is the number of expected changes between two looks from which on a
	// change is so sure (95 %) that finding it teaches next to nothing.
	surely = 3
	// settled is the shape from which on a belief is so narrow (the rate known to about
	// a third) that the index alone decides.
	settled = 8
)

// earlyLook is how many days after the last visit a page is looked at to learn its
// rate, at every other visit, when its index is worth a visit only after due days.
//
// An objective that gives pages up looks the more seldom the faster a page seems to
// change. Looks that find a change each time cannot tell a page that is just worth
// its visits from one that changes a hundred times as often: both would be visited
// now and then for ever, and what that costs is missing elsewhere. Looks when most
// is learned tell them apart in a few visits. They are not made if the page is given
// up already (due is no less than the longest interval, most), or is known well, or
// if the looks at its turn say enough.
//
// It is the exploration that an index leaves out which values a visit by what it
// finds and not by what it teaches (Feldbaum, "Dual control theory", 1960).
func exploratoryLook(o Objective, g gamma.Distribution, due, most float64) (gap float64, is bool) {
	if _, gives := o.(Fresh); !gives || g.A >= settled || due >= most || g.Mean()*due <= surely {
		return 0, false
	}
	return gamma.MostInformative / g.Mean(), true
}

// meanInterval is the days between two visits, on average, of a page that is believed
// to be g, within the bounds low and high.
func meanInterval(o Objective, g gamma.Distribution, threshold, low, high float64) float64 {
	due := Due(o, g, threshold)
	interval := min(max(due, low), high)
	if gap, is := exploratoryLook(o, g, due, high); is {
		return (interval + max(gap, low)) / 2
	}
	return interval
}

// firstLook is how many days after a page was found it is looked at again, when its
// index would have it wait for due days: no later than when most is learned, and
// somewhere near the middle, by the logarithm, between that and a round (> 0).
//
// A page that was just found may have just been made, and pages change most when they
// are new: in eight recorded collections 29 to 620 times as often in their first six
// hours as on average. A look that waits for a usual interval leaves those changes
// unseen for all of it. The page's own place about the middle parts pages that were
// found together.
func firstLook(page int64, g gamma.Distribution, due, round float64) float64 {
	latest := min(due, gamma.MostInformative/g.Mean())
	if latest <= round {
		return latest
	}
	return round * math.Pow(latest/round, 0.25+0.5*unit(mix(uint64(page))))
}
