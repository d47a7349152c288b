package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

const (
	// surely is the number of expected changes between two looks above which finding a
	// change is almost certain (95 %) and teaches almost nothing.
	surely = 3
	// settled is the shape above which a belief is so narrow (the rate is known to
	// about a third) that the index alone decides.
	settled = 8
)

// exploratoryLook returns after how many days to look at a page in order to learn its
// rate, when its index would wait for due days. It reports false if the page needs no
// such look. The policy uses it at every other visit.
//
// An objective that gives pages up visits a page less often the faster it seems to
// change. If every look finds a change, the looks cannot tell a page that is just worth
// its visits from one that changes a hundred times as often. Both would be visited now
// and then for ever, at the expense of other pages. A few looks at the most informative
// distance tell them apart. There are none if the page is given up already (due is at
// least most, the longest interval), if its rate is well known, or if the regular
// visits are informative enough.
//
// This is the exploration that an index policy lacks, because the index values a visit
// by its finds and not by its lessons (Feldbaum, "Dual control theory", 1960).
func exploratoryLook(o Objective, g gamma.Distribution, due, most float64) (gap float64, is bool) {
	if !givesUp(o) || g.A >= settled || due >= most || g.Mean()*due <= surely {
		return 0, false
	}
	return gamma.MostInformative / g.Mean(), true
}

// givesUp reports whether the objective gives up pages that change too often.
func givesUp(o Objective) bool {
	_, gives := o.(Fresh)
	return gives
}

// rareIntervals is after how many mean intervals of its crawl a page that is given up is
// looked at all the same, at the latest.
const rareIntervals = 12

// rareLooks says after how many days a page that is given up is looked at again: after most at
// the latest, and after soon, if that is known, where its index leaves it to the longest interval.
// Without most it is never.
type rareLooks struct{ most, soon float64 }

// rareLooksOf returns when a page is looked at that is given up, given the days that there are for
// each visit of a page; 0 if that is not known. A page that was visited a short time ago may have
// been given up for a rush of changes that is over soon, as the first day of a news article is. So
// the first such look comes after an average interval, and each further one after twice as long.
func rareLooksOf(interval float64, b Belief) rareLooks {
	most := rareIntervals * interval
	return rareLooks{most: most, soon: min(most, max(interval, 2*float64(b.LastGap)))}
}

// rarely returns when to visit a page that its index would visit after due days, of at most high.
// A page that is given up may stop changing. From then on its copy could be up to date, for a
// single visit, and only a look can show it. At the longest interval alone that look comes after
// four months, however large the budget: where pages changed often and then no more, Fresh was out
// of date for half as long again as with equal visits for all.
func rarely(o Objective, g gamma.Distribution, due, high float64, look rareLooks) float64 {
	switch {
	case look.most <= 0 || !givesUp(o) || g.Mean()*due <= surely:
		return due
	case due >= high && look.soon > 0:
		return min(due, look.soon)
	}
	return min(due, look.most)
}

// meanInterval returns the mean number of days between two visits of a page with belief
// g, within the bounds low and high.
func meanInterval(o Objective, g gamma.Distribution, threshold, low, high float64, look rareLooks) float64 {
	one, other := intervalsAt(o, g, threshold, low, high, look)
	return (one + other) / 2
}

// intervalsAt returns the two intervals, in days, that alternate for a page with belief g:
// they differ if every other visit is an exploratory look.
func intervalsAt(o Objective, g gamma.Distribution, threshold, low, high float64, look rareLooks) (one, other float64) {
	due := Due(o, g, threshold)
	one = min(max(rarely(o, g, due, high, look), low), high)
	if gap, is := exploratoryLook(o, g, due, high); is {
		return one, max(gap, low)
	}
	return one, one
}

// firstLook returns how many days after its discovery a new page is looked at again,
// when its index would wait for due days. It is at most the distance at which a look is
// most informative, and lies, on a logarithmic scale, near the middle between that and
// a round (> 0).
//
// A page that was just found may have just been made, and new pages change most: in
// eight recorded collections 29 to 620 times as often in their first six hours as on
// average. Waiting for a usual interval would leave those changes unseen all that time.
// A hash of the page shifts the point, so that pages found together do not come due
// together.
func firstLook(page int64, g gamma.Distribution, due, round float64) float64 {
	latest := min(due, gamma.MostInformative/g.Mean())
	if latest <= round {
		return latest
	}
	return round * math.Pow(latest/round, 0.25+0.5*unit(mix(uint64(page))))
}
