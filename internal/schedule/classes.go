package schedule

import (
	"math"
	"time"
)

// RefreshQueues is how many queues Singhal et al. have, UrlQ(1) to UrlQ(10).
const RefreshQueues = 10

// RefreshQueue is the queue UrlQ(n) that a page with this refresh time belongs to, 1
// to RefreshQueues: Singhal et al., eq. 3, with times from (n−1)²·20 units on and
// below n²·20, and the last queue open. The paper's table ends queue 2, and begins
// queue 3, at 40 units, which contradicts eq. 3 and 4 and is taken for a misprint of
// 80. The unit (> 0) is not given; see RefreshUnit.
func RefreshQueue(refresh, unit time.Duration) int {
	n := 1 + int(math.Sqrt(math.Max(0, float64(refresh)/float64(unit))/20))
	// The root may be a hair off at the ends of queues.
	for n > 1 && refresh < queueEnd(n-1, unit) {
		n--
	}
	for refresh >= queueEnd(n, unit) && n < RefreshQueues {
		n++
	}
	return min(n, RefreshQueues)
}

// RefreshUnit makes the queues span what pages are usually visited by: UrlQ(1) up to
// 20 hours, UrlQ(10) from 67 days on.
const RefreshUnit = time.Hour

// RefreshEnd is where queue n, 1 to RefreshQueues, ends; the last does not, and has
// the longest Duration.
func RefreshEnd(n int, unit time.Duration) time.Duration {
	if n >= RefreshQueues {
		return math.MaxInt64
	}
	return queueEnd(n, unit)
}

func queueEnd(n int, unit time.Duration) time.Duration { return times(20*n*n, unit) }

// Activity is a category of pages by how often they change: Singhal et al., §3.
type Activity int

// The categories: pages that change about every so often, or more often.
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

// Activities lists the categories.
func Activities() []Activity {
	all := make([]Activity, activities)
	for i := range all {
		all[i] = Activity(i)
	}
	return all
}

// String is the category's name.
func (a Activity) String() string {
	return [...]string{"6 hours", "12 hours", "daily", "weekly", "fortnightly", "monthly", "others"}[a]
}

// activityEnds are the mean times between two changes at which the categories end:
// half way, as ratios go, to the next one's.
var activityEnds = func() (ends [Others]float64) {
	typical := [...]float64{0.25, 0.5, 1, 7, 14, 30, 60} // days

	for i := range ends {
		ends[i] = math.Sqrt(typical[i] * typical[i+1])
	}
	return ends
}()

// ActivityOf is the category of a page that changes so often a day (≥ 0).
func ActivityOf(rate float64) Activity {
	for i, end := range activityEnds {
		if rate*end >= 1 {
			return Activity(i)
		}
	}
	return Others
}
