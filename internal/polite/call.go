package polite

import "time"

// Numbers of the calls. In a long line the first few waiters come by themselves, at T.
// The others sleep until a turn calls them.
const (
	// comeAlone is how many waiters of a line come by themselves.
	comeAlone = 2
	// callAhead is the longest time before its turn at which a waiter may be called: as
	// long as it may then wait in the process.
	callAhead = 4 * time.Second
	// maxCalls bounds those who are on their way to a host without a gap.
	maxCalls = Counted
	// spareCall is how much longer than expected a called waiter waits before it comes
	// without its turn: a quarter, and a minute.
	spareCall = time.Minute
)

// Called reports whether a waiter with this many places before it sleeps until it
// is called, instead of coming by itself.
func Called(position int) bool { return position >= comeAlone }

// Uncalled is when a waiter that would be promised at comes without being called. Only
// if the turn was lost does it wait that long.
func Uncalled(at, now time.Time) time.Time {
	at = later(at, now)
	return at.Add(min(at.Sub(now)/4, farAhead) + spareCall)
}

// Calls is how many waiters should be present or on their way to a host that is free from
// then on, has granted that many permits and takes one more per step: the next one, and those
// whose time comes while they can wait in the process. On a host that rests for less time
// than a call takes they are two at least.
func Calls(free time.Time, granted int, step, rest time.Duration, now time.Time) int {
	n := 1
	if rest < turnWindow {
		n++
	}
	for n < maxCalls && !Promise(free, granted+n, step).After(now.Add(callAhead)) {
		n++
	}
	return n
}

// Numbers of the bookings.
const (
	// bookLate is how late a visit must have been for its successor to be booked: a
	// page that waits for less, waits in the process.
	bookLate = callAhead
	// bookLine is how many revisits must be waiting.
	bookLine = 3
	// bookSpan bounds how far ahead a page may be due, as a multiple of its last visit's
	// lateness, for its host still to be as busy then as now.
	bookSpan = 8
)

// Visited holds what is known about the next visit's wait when a visit is recorded.
type Visited struct {
	Late    time.Duration // how long after its due time the visit was made
	Due     time.Duration // from now to the next visit
	Waiting int64         // revisits in the host's line
	Step    time.Duration
}

// Waits reports whether the visit waited long enough, and its successor is due soon
// enough, that it is worth checking the line whether to book a place.
func (v Visited) Waits() bool { return v.Late > bookLate && v.Due <= bookSpan*v.Late }

// Book decides whether the next visit gets a place in the line at once, because it would
// have to wait when it is due, as this one did. It returns how long after its due time the
// page comes if it is never called.
func Book(v Visited) (uncalled time.Duration, book bool) {
	if !v.Waits() || v.Waiting < bookLine {
		return 0, false
	}
	var epoch time.Time
	return Uncalled(Promise(epoch, int(v.Waiting), v.Step), epoch).Sub(epoch), true
}
