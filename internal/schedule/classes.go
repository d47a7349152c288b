package schedule

import (
	"math"
	"time"
)

// RefreshQueues is the number of queues of Singhal et al., UrlQ(1) to UrlQ(10).
const RefreshQueues = 10

// RefreshQueue returns the number n of the queue UrlQ(n), 1 to RefreshQueues, for a
// page with this refresh time (Singhal et al., eq. 3). Queue n holds times from
// (n−1)²·20 units up to, but not including, n²·20; the last queue has no end. The
// paper's table puts the border of queues 2 and 3 at 40 units. That contradicts eq. 3
// and 4 and is taken for a misprint of 80. The paper does not give the unit (> 0); see
// RefreshUnit.
func RefreshQueue(refresh, unit time.Duration) int {
	n := 1 + int(math.Sqrt(math.Max(0, float64(refresh)/float64(unit))/20))
	// Rounding may put the root slightly off at the ends of queues.
	for n > 1 && refresh < queueEnd(n-1, unit) {
		n--
	}
	for refresh >= queueEnd(n, unit) && n < RefreshQueues {
		n++
	}
	return min(n, RefreshQueues)
}

// RefreshUnit is a unit that makes the queues span usual intervals: UrlQ(1) ends at 20
// hours and UrlQ(10) begins at 67 days.
const RefreshUnit = time.Hour

// RefreshEnd returns where queue n, 1 to RefreshQueues, ends. The last queue has no
// end; for it, the longest Duration is returned.
func RefreshEnd(n int, unit time.Duration) time.Duration {
	if n >= RefreshQueues {
		return math.MaxInt64
	}
	return queueEnd(n, unit)
}

func queueEnd(n int, unit time.Duration) time.Duration { return times(20*n*n, unit) }

// Activity is a category of pages by how often they change (Singhal et al., §3).
type Activity int

// The categories: pages that change about this often, or more often.
const (
	SixHourly Activity = iota
	TwelveHourly
	Daily
	Weekly
	Fortnightly
	Monthly
	Others
	activities // how many there are
)

// Activities returns all categories, the most active first.
func Activities() []Activity {
	all := make([]Activity, activities)
	for i := range all {
		all[i] = Activity(i)
	}
	return all
}

// String returns the category's name.
func (a Activity) String() string {
	return [...]string{"6 hours", "12 hours", "daily", "weekly", "fortnightly", "monthly", "others"}[a]
}

// activityEnds has the mean time between two changes, in days, at which each category
// ends: the geometric mean of its typical time and the next category's.
var activityEnds = func() (ends [Others]float64) {
	typical := [...]float64{0.25, 0.5, 1, 7, 14, 30, 60} // days

	for i := range ends {
		ends[i] = math.Sqrt(typical[i] * typical[i+1])
	}
	return ends
}()

// ActivityOf returns the category of a page by its rate of change, in changes a day (≥
// 0).
func ActivityOf(rate float64) Activity {
	for i, end := range activityEnds {
		if rate*end >= 1 {
			return Activity(i)
		}
	}
	return Others
}
