package polite

import "recrawl/internal/crawl"

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
// with a higher rank have come in between: the waiter then counts as the last of
// the line, as the returned anchor records. It errs on the far side, which costs at
// most a turn; the near side would cost an ask for each step.
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
// itself by then. First visits and revisits have their shares of the grants while
// both wait. granted permits come before everybody.
func Position(own Line, ahead int, lines []Line, granted int, l Ledger) int {
	turns := int64(ahead)
	var waiting [crawl.Classes]int64
	for _, other := range lines {
		waiting[min(other.Class, crawl.Classes-1)] += other.Waiting
		if other.Class == own.Class && other.Crawl != own.Crawl {
			first := int64(ahead)
			if other.Served <= own.Served {
				first++ // it has the first turn
			}
			turns += min(other.Waiting, first)
		}
	}
	position := int64(granted) + turns
	l.First += int(waiting[crawl.ClassManual]) // by when it comes to the others
	switch own.Class {
	case crawl.ClassRevisit:
		position += waiting[crawl.ClassManual] + min(waiting[crawl.ClassFirst], l.firstsBefore(turns))
	case crawl.ClassFirst:
		position += waiting[crawl.ClassManual] + min(waiting[crawl.ClassRevisit], l.othersBefore(turns))
	default:
		for class := range own.Class {
			position += waiting[class]
		}
	}
	return int(position)
}

// firstsBefore is how many first visits come before a waiter that has the given
// number of others before it, if there are that many.
func (l Ledger) firstsBefore(others int64) int64 {
	in := int64(l.FirstIn())
	if others < in {
		return 0
	}
	return 1 + (others-in+l.firstOwed())/int64(l.every()-1)
}

// othersBefore is how many others come before a first visit that has the given
// number of first visits before it, if there are that many.
func (l Ledger) othersBefore(firsts int64) int64 {
	others := int64(l.FirstIn()) + firsts*int64(l.every()-1)
	if firsts > 0 {
		others -= l.firstOwed()
	}
	return others
}

// firstOwed is by how much sooner than usual the first visit after the next is due,
// because the next one is late.
func (l Ledger) firstOwed() int64 { return int64(settled(l.First+1, l.every(), true)) }

// ByAge is how many places of a host come before a waiter by its age alone, when
// older ones have waited longer: the waiter that has waited longest gets a grant
// once in AgeEvery. A waiter is promised the better of its two positions.
func ByAge(older, granted int, l Ledger) int {
	return granted + l.AgedIn() + older*AgeEvery
}
