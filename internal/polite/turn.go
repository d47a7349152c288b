package polite

import (
	"cmp"
	"time"

	"recrawl/internal/crawl"
)

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

// AgedSlots is how many of the longest waiters should be on their way to such a
// host, and FirstSlots how many of the first visits: those whose shares come within
// its slots or the one after them. None if the next share is further away.
func AgedSlots(l Ledger, step time.Duration) int { return shares(l.AgedIn(), AgeEvery, step) }

// FirstSlots: see AgedSlots.
func FirstSlots(l Ledger, step time.Duration) int { return shares(l.FirstIn(), l.every(), step) }

func shares(in, every int, step time.Duration) int {
	if last := Slots(step); in <= last {
		return 1 + (last-in)/every
	}
	return 0
}

// Head is one of the first waiters of a line.
type Head struct {
	ID       int64
	Class    crawl.Class
	Promised time.Time
}

// Heads are the waiters that may be wanted next, each list in its order and without
// those that cannot be granted a permit.
type Heads struct {
	// Order is the order of the line. It is empty if a waiter is already present for
	// the next grant by that order.
	Order []Head
	// First are first visits, and Eldest the longest waiters.
	First, Eldest []Head
	// Present are already present, and take the next grants by the order.
	Present int
	// Slots is how many waiters, by the order, should be present or on their way; 0 stands
	// for Slots.
	Slots int
}

// Turn says that a waiter should be promised At, which is earlier than it was
// promised.
type Turn struct {
	ID int64
	At time.Time
}

// Turns compares the promises of the waiters that may be wanted next, and returns
// those that come too late for a host that is free from free on, has the given
// number of permits out and then takes one per step. A waiter more than Grace late
// is passed over: it takes up no slot.
func Turns(h Heads, l Ledger, granted int, free time.Time, step time.Duration, now time.Time) []Turn {
	var turns []Turn
	slots, seen := cmp.Or(h.Slots, Slots(step)), map[int64]bool{}
	for slot := range slots + 1 {
		next := h.next(l, slot, seen, now)
		if next.head == nil || slot == slots && !next.share {
			l = l.After(crawl.ClassRevisit, false) // a present waiter takes it
			continue
		}
		seen[next.head.ID] = true
		if at := Promise(free, granted+slot, step); next.head.Promised.After(at.Add(turnSlack)) {
			turns = append(turns, Turn{next.head.ID, at})
		}
		l = l.After(next.head.Class, next.aged)
	}
	return turns
}

// wanted is the waiter that comes next, nil if it is already present, and whether
// it comes by a share, and by that of age.
type wanted struct {
	head        *Head
	share, aged bool
}

// next is the next waiter by the ledger: the one that Choose would choose if all came.
func (h *Heads) next(l Ledger, slot int, seen map[int64]bool, now time.Time) wanted {
	var best wanted
	if slot >= h.Present {
		best.head = firstOf(h.Order, seen, now)
	}
	if first := firstOf(h.First, seen, now); first != nil && l.FirstIn() == 0 && (best.head == nil || best.head.Class != crawl.ClassManual) {
		best = wanted{head: first, share: true}
	}
	eldest := firstOf(h.Eldest, seen, now)
	if eldest != nil && l.AgedIn() == 0 && (best.head == nil || best.head.ID != eldest.ID) {
		return wanted{head: eldest, share: true, aged: true}
	}
	return best
}

// firstOf is the first of a list that is not handled yet and not too late.
func firstOf(heads []Head, seen map[int64]bool, now time.Time) *Head {
	for i, h := range heads {
		if !seen[h.ID] && !Overdue(h.Promised, now) {
			return &heads[i]
		}
	}
	return nil
}

// Overdue reports whether a waiter is so late for its promise that it is passed
// over.
func Overdue(promised, now time.Time) bool { return promised.Before(now.Add(-Grace)) }
