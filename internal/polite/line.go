package polite

import (
	"time"

	"recrawl/internal/crawl"
)

// Counted is how far positions are read from the line itself; beyond, they are
// estimated, so that a long line costs no more than a short one.
const Counted = 64

// Anchor remembers how long a waiter's line was at some moment: Ahead were
// waiting in the line of its crawl and class, and Departed had left it by then.
type Anchor struct {
	Ahead, Departed int64
}

// Line counts one crawl's waiters of one class on a host.
type Line struct {
	Crawl    int64
	Class    crawl.Class
	Waiting  int64
	Departed int64 // waiters that have ever left the line
	// Served orders the crawls by when they last had a grant on this host; 0 is
	// never.
	Served int64
}

// Ahead says how many of the waiters in its own line come before a waiter.
// counted is how many the line itself shows, read up to Counted+1. Beyond
// Counted it is the length of the line at the anchor less the departures since.
// When that is used up and the line still shows more than Counted ahead, others
// with a higher rank have come in between: the waiter is taken for the last of
// the line, and the returned anchor says so. It errs on the far side, which
// costs at most a turn; the near side would cost an ask for each step.
func Ahead(counted int, anchor Anchor, own Line) (int, Anchor) {
	if counted <= Counted {
		return counted, anchor
	}
	if left := anchor.Ahead - (own.Departed - anchor.Departed); left > Counted {
		return int(left), anchor
	}
	fresh := Anchor{Ahead: max(own.Waiting-1, Counted+1), Departed: own.Departed}
	return int(fresh.Ahead), fresh
}

// Position is how many places of a host come before a waiter that has ahead
// waiters of its own line before it: all those of lower classes, and, since the
// crawls of a class take turns, as many of each other crawl as it has had turns
// itself by then. granted permits come before everybody.
func Position(own Line, ahead int, lines []Line, granted int) int {
	position := int64(ahead) + int64(granted)
	for _, l := range lines {
		switch {
		case l.Class < own.Class:
			position += l.Waiting
		case l.Class == own.Class && l.Crawl != own.Crawl:
			turns := int64(ahead)
			if l.Served <= own.Served {
				turns++ // it has the first turn
			}
			position += min(l.Waiting, turns)
		}
	}
	return int(position)
}

// Numbers of the turns.
const (
	// turnWindow is how much of the host's next free time is promised anew at once.
	turnWindow = 2 * time.Second
	// MaxTurns bounds the turns of one transaction on a host without a gap.
	MaxTurns = 16
	// turnSlack is how much later than necessary a promise may be: a turn costs a
	// signal, and one for less than a second is not worth it.
	turnSlack = time.Second
	// Grace is how long the head of a line may be late before it is passed over.
	Grace = 30 * time.Second
)

// Slots is how many waiters should be on their way to a host that is served at
// one per step: those that fit the next two seconds, at least one.
func Slots(step time.Duration) int {
	if step <= turnWindow/MaxTurns {
		return MaxTurns
	}
	return max(int(turnWindow/step), 1)
}

// Turn says that the waiter at Index should be promised At, which is earlier
// than it was promised.
type Turn struct {
	Index int
	At    time.Time
}

// Turns looks at the promises of a line's first waiters, in their order, and
// returns those that come too late for a host that is free from free on and
// then takes one per step. A waiter more than Grace late is passed over: it
// takes up no slot.
func Turns(promises []time.Time, free time.Time, step time.Duration, now time.Time) []Turn {
	var turns []Turn
	slot, slots := 0, Slots(step)
	for i, promised := range promises {
		if slot == slots {
			break
		}
		if promised.Before(now.Add(-Grace)) {
			continue
		}
		at := Promise(free, slot, step)
		if promised.After(at.Add(turnSlack)) {
			turns = append(turns, Turn{Index: i, At: at})
		}
		slot++
	}
	return turns
}
