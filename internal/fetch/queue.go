package fetch

import (
	"context"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"recrawl/internal/polite"
)

const (
	// ticketLife is how long a ticket counts for a request that has not come. The request
	// may still come later.
	ticketLife = 2 * time.Second
	// arrivedLife is how long it counts for one that has come, until it stands in the line. If
	// that takes longer, the request waits for its host.
	arrivedLife = 100 * time.Millisecond
	// askingMost bounds those that wait in the process until they may come to one address.
	askingMost = 500
	// knownMost bounds those of one address whose age is kept, and sleepersLate is how late
	// they may come back.
	knownMost    = 10_000
	sleepersLate = 10 * time.Second
)

// queue holds those that want to come to an address that has more requests than it can take.
// One that comes takes up one of a worker's activities, so it should find a place soon.
type queue struct {
	coming int      // let come, and not in the line yet
	asking []*asker // in order, people first

	took  time.Duration // see polite.Crowd
	taken time.Time     // when the last place was taken
	// known are those in the queue, and those that sleep and will come back: they keep their
	// age.
	known map[int64]known
	calls int64 // so far
}

type known struct {
	since int64     // its number in the order of the first calls
	until time.Time // when it comes back, zero if it is in the queue
}

// Asker is who asks to come to an address.
type Asker struct {
	// ID tells those apart that come back. Only the latest call for an id counts.
	ID int64
	// First: a person waits for it, so it goes before others.
	First bool
}

type asker struct {
	Asker
	limit int
	since int64
	ready chan *Ticket // has room for one
}

// before reports whether it goes before another.
func (q *asker) before(other *asker) bool {
	if q.First != other.First {
		return q.First
	}
	return q.since < other.since
}

// Ticket is leave to come to an address.
type Ticket struct {
	of    *addresses
	addr  netip.Addr
	first bool

	gone  atomic.Bool
	timer *time.Timer
}

// Arrive says that the request has come, and will stand in the line soon.
func (t *Ticket) Arrive() {
	if t != nil && !t.gone.Load() {
		t.timer.Reset(arrivedLife)
	}
}

// Release says that the request stands in the line, or will not; further calls do nothing.
// Reserve calls it.
func (t *Ticket) Release() {
	if t != nil && t.end() {
		t.timer.Stop()
	}
}

// end is Release for the timer; false if that was done before.
func (t *Ticket) end() bool {
	if t.gone.Swap(true) {
		return false
	}
	t.of.come(t.addr)
	return true
}

func (t *Ticket) urgent() bool { return t != nil && t.first }

// Queue waits until the request may come to its first address, at most for the patience:
// Reserve will then find it a place soon. It holds nothing meanwhile. If that would take
// longer, there is no ticket, and wait is how long to sleep before the next call. There is
// neither ticket nor wait if none is needed, or if the address is not known. The error is the
// context's.
func (c *Client) Queue(ctx context.Context, req Request, who Asker, patience time.Duration) (t *Ticket, wait time.Duration, err error) {
	if req.PerAddress <= 0 || patience <= 0 {
		return nil, 0, ctx.Err()
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	addr, ok := c.firstAddress(waiting, req)
	if !ok {
		return nil, 0, ctx.Err()
	}
	q := &asker{Asker: who, limit: limitOf(req), ready: make(chan *Ticket, 1)}
	if wait = c.addresses.ask(addr, q, patience); wait > 0 {
		return nil, wait, nil
	}
	select {
	case t = <-q.ready: // whatever the remaining time
		return t, 0, nil
	default:
	}
	select {
	case t = <-q.ready:
		return t, 0, nil
	case <-waiting.Done():
	}
	wait, left := c.addresses.tell(addr, q)
	switch {
	case !left && ctx.Err() == nil:
		return <-q.ready, 0, nil // it may come since a moment ago
	case !left:
		(<-q.ready).Release()
	}
	return nil, wait, ctx.Err()
}

// ask stands in the queue, unless the wait is expected to be longer than the patience: then
// it returns how long that is.
func (a *addresses) ask(addr netip.Addr, q *asker, patience time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, now := a.line(addr), time.Now()
	l.calls++
	q.since = l.calls
	if was, back := l.known[q.ID]; back {
		q.since = was.since
	}
	at := slices.IndexFunc(l.asking, q.before)
	if at < 0 {
		at = len(l.asking)
	}
	crowd := l.crowd(q.limit, now)
	mayCome := at == 0 && crowd.LetsCome()
	if long := crowd.Until(at, now).Sub(now) > patience || at >= askingMost; long && !mayCome && !q.First {
		return l.tell(q, now)
	}
	l.note(q, time.Time{})
	l.asking = slices.Insert(l.asking, at, q)
	a.advance(addr, l)
	return 0
}

// tell takes one out of the queue and returns how long it is to sleep; left is false if it was
// let come before.
func (a *addresses) tell(addr netip.Addr, q *asker) (wait time.Duration, left bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lines[addr]
	i := -1
	if l != nil {
		i = slices.Index(l.asking, q)
	}
	if i < 0 {
		return 0, false
	}
	l.asking = slices.Delete(l.asking, i, i+1)
	wait = l.tell(q, time.Now())
	a.advance(addr, l) // a strict one may have held up others
	return wait, true
}

// tell returns how long one that may not come is to sleep: those that asked before it come
// first, whether they wait here or sleep.
func (l *line) tell(q *asker, now time.Time) time.Duration {
	ahead := 0
	for id, k := range l.known {
		switch {
		case !k.until.IsZero() && now.Sub(k.until) > sleepersLate:
			delete(l.known, id)
		case id != q.ID && k.since < q.since:
			ahead++
		}
	}
	crowd := l.crowd(q.limit, now)
	if q.First {
		ahead, crowd.Took = 0, 1 // no longer than need be
	}
	if crowd.Took == 0 && len(l.flying) > 0 {
		crowd.Took = now.Sub(l.taken) // at least
	}
	until := crowd.Until(ahead, now)
	l.note(q, until)
	return polite.CrowdWait(until, now)
}

// note keeps the age of one that stands in the queue, or sleeps until then.
func (l *line) note(q *asker, until time.Time) {
	if l.known == nil {
		l.known = map[int64]known{}
	}
	if _, has := l.known[q.ID]; has || len(l.known) < knownMost {
		l.known[q.ID] = known{since: q.since, until: until}
	}
}

// come counts one that was let come as arrived, or as one that will not come.
func (a *addresses) come(addr netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lines[addr]
	l.coming--
	a.advance(addr, l)
}

// let lets as many of the queue come as there is room for, the first ones first.
func (l *line) let(a *addresses, addr netip.Addr) {
	for len(l.asking) > 0 && l.crowd(l.asking[0].limit, time.Now()).LetsCome() {
		q := l.asking[0]
		l.asking = l.asking[1:]
		delete(l.known, q.ID)
		l.coming++
		t := &Ticket{of: a, addr: addr, first: q.First}
		t.timer = time.AfterFunc(ticketLife, func() { t.end() })
		q.ready <- t
	}
}

// crowd returns how busy the address is, for a request with this limit. If no place has become
// free for longer than a request usually takes, the pace is taken to be that slow.
func (l *line) crowd(limit int, now time.Time) polite.Crowd {
	took := l.took
	if took > 0 && len(l.flying) >= limit {
		took = max(took, now.Sub(l.taken))
	}
	return polite.Crowd{Limit: limit, Busy: len(l.flying) + len(l.waiting) + l.coming, Took: took}
}
