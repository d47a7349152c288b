package polite

import "time"

// Numbers of a crowd.
const (
	// comersMost is how many requests may come to a full address, for each that may be in
	// flight there. Each takes up one of a worker's activities, which other hosts need.
	comersMost = 6
	// comersTime is how long those that come to a full address should wait there at most.
	comersTime = 2 * time.Second
	// crowdMost bounds the time after which a page asks for a crowded address again.
	crowdMost = time.Minute
	// crowdWeight is how many requests their mean time remembers.
	crowdWeight = 8
)

// Crowd is how much an address has to do.
type Crowd struct {
	Limit int // how many requests may be in flight, 1 or more
	Busy  int // requests in flight, and those that have been let come
	// Took is how long a request there has lately taken in the mean, 0 if unknown.
	Took time.Duration
}

// Pace is the time from the end of one request to the end of the next, on average, while the
// address is full; 0 if unknown.
func (c Crowd) Pace() time.Duration { return c.Took / time.Duration(c.Limit) }

// LetsCome reports whether one more request may come: as many as can be in flight, and, once
// it is known how long they take, as many more as will find a place soon.
func (c Crowd) LetsCome() bool {
	comers := 0
	if pace := c.Pace(); pace > 0 {
		comers = int(min(time.Duration(comersMost*c.Limit), comersTime/pace))
	}
	return c.Busy < c.Limit+comers
}

// Until estimates when one more page may come, after the number of others ahead of it.
func (c Crowd) Until(ahead int, now time.Time) time.Time {
	return now.Add(scale(c.Pace(), float64(ahead+1)))
}

// CrowdWait is how long a page sleeps that has been told to wait until then: a second at
// least, for a shorter timer takes as long, and a minute at most.
func CrowdWait(until, now time.Time) time.Duration {
	return min(max(until.Sub(now), time.Second), crowdMost)
}

// CrowdTook is the mean time of an address's requests after one more that took this long.
func CrowdTook(before, took time.Duration) time.Duration {
	if before <= 0 {
		return took
	}
	return before + (took-before)/crowdWeight
}
