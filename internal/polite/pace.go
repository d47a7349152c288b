package polite

import "time"

const (
	// paceMost bounds the time that one request adds to a pace. Longer ones are pauses: a
	// back-off, a paused crawl, workers that were stopped.
	paceMost = callAhead
	// paceWeight is how many requests a pace remembers.
	paceWeight = 4
)

// Pace is the mean time that a host with a line has lately taken from one request to the next,
// after one more, which took this long from the end of the one before, or from when its page
// joined the line. A host takes one request per Step at best. When the engine has more to do
// than it can, it takes fewer, and a waiter that comes by the Step would wait, and ask, for long.
func Pace(before, took time.Duration) time.Duration {
	took = min(max(took, 0), paceMost)
	if before <= 0 {
		return took
	}
	return before + (took-before)/paceWeight
}

// Expected is the time from one request to the next that waiters should count on.
func Expected(step, pace time.Duration) time.Duration { return max(step, pace) }

// Numbers of the polls.
const (
	// PollEvery is how often a waiter in the process checks again without being woken: for
	// changes that only time brings, and for lost wake-ups.
	PollEvery = 500 * time.Millisecond
	// pollSpread keeps the waiters of one host from asking at the same moment when it becomes
	// free: the first one's transaction grants for all of them.
	pollSpread = 2 * time.Millisecond
)

// PollAfter is when a waiter in the process checks again, given its position, the time until
// the next grant (0 if only another call of the gate can bring it about), the time until its
// own, and the expected time from one request to the next. The first waiters keep the host
// busy. The others check about twice until they are the first ones.
func PollAfter(position int, soon, until, step time.Duration) time.Duration {
	first := PollEvery
	if soon > 0 {
		first = min(soon, PollEvery)
	}
	later := scale(max(pollSpread, step/2), float64(position))
	return first + min(later, max(until-Horizon-first, scale(pollSpread, float64(position))))
}
