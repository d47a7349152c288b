package polite

import "time"

// Host is the gate's record of a host. Times are the store's clock; a zero time
// means never.
type Host struct {
	BegunAt      time.Time     // begin of the request in flight, zero if there is none
	LastEnd      time.Time     // end of the last request
	LastDuration time.Duration // of the last request
	Last         Demand        // of the crawl that made, or is making, the last request
	Mean         time.Duration // mean duration of a request
	Refusals     float64       // share of the last requests, see Refusals
	CrawlDelay   time.Duration // the site's; 0 for none
	BackoffUntil time.Time
}

// Free is when a host may be asked next.
type Free struct {
	At time.Time
	// Backoff: the host's back-off is the strongest reason for the wait.
	Backoff bool
	// Since is At, or when the host became free if that is past; zero if it was
	// never asked.
	Since time.Time
	// Estimated: a request is in flight, so that At is a guess.
	Estimated bool
	Rest      Rest
}

// NextFree returns the time from which a request for a crawl with the demand next
// may start. A request in flight is expected to take the mean duration, or to end
// now if it has already taken that long.
func NextFree(h Host, next Demand, now time.Time) Free {
	end, duration := h.LastEnd, h.LastDuration
	inFlight := !h.BegunAt.IsZero()
	if inFlight {
		end, duration = later(h.BegunAt.Add(h.Mean), now), max(h.Mean, now.Sub(h.BegunAt))
	}
	free := Free{Estimated: inFlight, Rest: h.Gap(h.Last, next, duration)}
	if !end.IsZero() {
		free.At = end.Add(free.Rest.Length)
	}
	if h.BackoffUntil.After(free.At) && h.BackoffUntil.After(now) {
		free.At, free.Backoff = h.BackoffUntil, true
	}
	free.Since, free.At = free.At, later(free.At, now)
	return free
}

// Step is the time from one start to the next when a line is served with this
// demand.
func (h Host) Step(next Demand) time.Duration {
	return max(h.Gap(next, next, h.Mean).Length+h.Mean, 0)
}

// farAhead bounds a promise: long lines must not overflow a time.
const farAhead = 10 * 365 * 24 * time.Hour

// Promise is T, the latest time for the waiter with this many places before it
// to come: one step for each of them after the host is free.
func Promise(free time.Time, position int, step time.Duration) time.Time {
	return free.Add(min(scale(step, float64(position)), farAhead))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
