package polite

import "time"

// Numbers of the calls. In a long line the first few waiters come by themselves, at T.
// The others sleep until a turn calls them.
const (
	// comeAlone is how many waiters of a line come by themselves.
	comeAlone = 2
	// callAhead is how long before its time a waiter may be called at most: as long as it
	// may then wait in the process.
	callAhead = 4 * time.Second
	// maxCalls bounds those who are on their way to a host without a gap.
	maxCalls = Counted
	// spareCall is how much longer than expected a called waiter waits before it comes
	// without its turn: a quarter, and a minute.
	spareCall = time.Minute
)

// Called reports whether a waiter with so many places before it sleeps until it is
// called, instead of coming by itself.
func Called(position int) bool { return position >= comeAlone }

// Uncalled is when a waiter that would be promised at comes without having been called.
// Only a turn that was lost lets it wait so long.
func Uncalled(at, now time.Time) time.Time {
	at = later(at, now)
	return at.Add(min(at.Sub(now)/4, farAhead) + spareCall)
}

// Calls is how many should be there or on their way to a host that is free from free on,
// has so many permits out and then takes one per step: those whose time comes while they
// can wait in the process, and the next one. The second of them is not too early on a
// host that rests for less time than a call takes.
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
	// bookLate is how late a visit must have been for its successor to be booked: who
	// waits for less, waits in the process.
	bookLate = callAhead
	// bookLine is how many revisits must be waiting.
	bookLine = 3
	// bookSpan is how many times as far as its visit was late a page may be due, for its
	// host to be as busy then as it is now.
	bookSpan = 8
)

// Visited is what the record of a visit knows of the next one's wait.
type Visited struct {
	Late    time.Duration // how long after it was due the visit was made
	Due     time.Duration // from now to the next visit
	Waiting int64         // revisits in the host's line
	Step    time.Duration
}

// Waits reports whether the visit waited so long, and its successor is due so soon, that
// it is worth a look at the line whether to book a place.
func (v Visited) Waits() bool { return v.Late > bookLate && v.Due <= bookSpan*v.Late }

// Book decides whether the next visit gets a place in the line at once, because it would
// have to wait when it is due, as this one did. It returns how long after it is due the page
// comes if it is never called.
func Book(v Visited) (uncalled time.Duration, book bool) {
	if !v.Waits() || v.Waiting < bookLine {
		return 0, false
	}
	var epoch time.Time
	return Uncalled(Promise(epoch, int(v.Waiting), v.Step), epoch).Sub(epoch), true
}
