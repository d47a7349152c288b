package fetch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"recrawl/internal/polite"
)

// ErrCrowded: the most requests allowed are in flight to an address, and the wait
// was long enough. Nothing was requested, and it says nothing about the host. It is rare:
// requests come to a full address only when they will find a place soon, see Queue.
var ErrCrowded = errors.New("too many requests in flight to one address")

const (
	// dialPatience is how long a request that has begun waits for a place: it holds up
	// its host. It never waits for more than half of its remaining time.
	dialPatience = 2 * time.Second
	// queued is how many requests without a ticket may wait for a place at an address, for
	// each that may be in flight. Each takes up one of a worker's activities, which other
	// hosts need.
	queued = 6
)

// addresses bounds the requests in flight to one address, whatever its port, and
// however many names lead there. Waiters are served in order.
type addresses struct {
	mu    sync.Mutex
	lines map[netip.Addr]*line
}

// line holds the requests in flight to an address, by the limit of each, and the
// waiters: first those whose requests have begun, then those of people.
type line struct {
	flying  []int
	waiting []*waiter

	queue // of those that may not even come yet
}

type waiter struct {
	limit  int
	begun  bool
	ticket *Ticket       // nil if nobody let it come
	ready  chan struct{} // closed when it is in flight
}

// before reports whether it goes before another that came earlier.
func (w *waiter) before(other *waiter) bool {
	if w.begun != other.begun {
		return w.begun
	}
	return w.ticket.urgent() && !other.ticket.urgent()
}

func newAddresses() *addresses { return &addresses{lines: map[netip.Addr]*line{}} }

// room reports whether one more may be in flight: the strictest limit counts.
func (l *line) room(limit int) bool {
	return len(l.flying) < slices.Min(append([]int{limit}, l.flying...))
}

// enter waits for its turn at an address and takes a place there, which leave gives
// back. The error is the context's, or ErrCrowded if the line is too long to wait in.
func (a *addresses) enter(ctx context.Context, addr netip.Addr, w *waiter) error {
	limit := w.limit
	if !a.join(addr, w) {
		return crowded(addr, limit)
	}
	w.ticket.Release()
	select {
	case <-w.ready: // whatever the remaining time
		return nil
	default:
	}
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	if !a.giveUp(addr, w) {
		a.leave(addr, limit, 0) // its turn came at that moment
	}
	return ctx.Err()
}

// join stands in line, unless the line is full: requests that have begun, or were let come,
// always find room.
func (a *addresses) join(addr netip.Addr, w *waiter) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.line(addr)
	if !w.begun && w.ticket == nil && len(l.waiting)/queued >= w.limit {
		return false
	}
	w.ready = make(chan struct{})
	at := slices.IndexFunc(l.waiting, w.before)
	if at < 0 {
		at = len(l.waiting)
	}
	l.waiting = slices.Insert(l.waiting, at, w)
	a.advance(addr, l)
	return true
}

// line is that of an address, made if need be.
func (a *addresses) line(addr netip.Addr) *line {
	l := a.lines[addr]
	if l == nil {
		l = &line{}
		a.lines[addr] = l
	}
	return l
}

// giveUp leaves the line; false if the turn has come.
func (a *addresses) giveUp(addr netip.Addr, w *waiter) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lines[addr]
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	a.advance(addr, l) // a strict one may have held up others
	return true
}

// leave gives a place back, after a request that took the time, 0 if none was made.
func (a *addresses) leave(addr netip.Addr, limit int, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lines[addr]
	if took > 0 {
		l.took = polite.CrowdTook(l.took, took)
	}
	i := slices.Index(l.flying, limit)
	l.flying = slices.Delete(l.flying, i, i+1)
	a.advance(addr, l)
}

// advance lets the first of the line go as long as there is room, and the first of the queue
// come, and forgets a line that nobody needs.
func (a *addresses) advance(addr netip.Addr, l *line) {
	for len(l.waiting) > 0 && l.room(l.waiting[0].limit) {
		w := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.flying = append(l.flying, w.limit)
		l.taken = time.Now()
		close(w.ready)
	}
	l.let(a, addr)
	if len(l.flying)+len(l.waiting)+len(l.asking)+l.coming == 0 {
		delete(a.lines, addr)
	}
}

// limitOf is the limit of a request, which need not have one. Requests without one
// count as in flight all the same.
func limitOf(req Request) int {
	if req.PerAddress <= 0 {
		return math.MaxInt
	}
	return req.PerAddress
}

func crowded(addr netip.Addr, limit int) error {
	return fmt.Errorf("%w: at most %d to %s (politeness.per_address)", ErrCrowded, limit, addr)
}

// Place is a place among the requests in flight to an address.
type Place struct {
	of    *addresses
	addr  netip.Addr
	limit int

	made atomic.Int64 // when the request was made, in nanoseconds; 0 if it was not
	gone atomic.Bool  // given back
}

// Reserve waits until one more request may be in flight to the first address of the
// request, at most for the patience, and takes a place there, which is then passed to
// Do with the request. So a request can wait before it begins. The caller should use
// the place at once or release it. The error is ErrCrowded or the context's. The place
// is nil if none is needed, or if it is not known which.
func (c *Client) Reserve(ctx context.Context, req Request, patience time.Duration) (*Place, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, patience, ErrCrowded)
	defer cancel()
	addr, ok := c.firstAddress(waiting, req)
	if !ok {
		return nil, ctx.Err()
	}
	p, err := c.addresses.place(waiting, addr, &waiter{limit: limitOf(req), ticket: req.Ticket})
	if err != nil && ctx.Err() == nil {
		err = crowded(addr, limitOf(req))
	}
	return p, err
}

// place is enter, returning the place to be given back.
func (a *addresses) place(ctx context.Context, addr netip.Addr, w *waiter) (*Place, error) {
	if err := a.enter(ctx, addr, w); err != nil {
		return nil, err
	}
	return &Place{of: a, addr: addr, limit: w.limit}, nil
}

// firstAddress is the address to which a request goes first, if it is bounded and we
// know the address: the proxy looks up the names of proxied requests.
func (c *Client) firstAddress(ctx context.Context, req Request) (netip.Addr, bool) {
	if req.URL.IsZero() || req.URL.BadPort() {
		return netip.Addr{}, false
	}
	if spelled, ok := spelledAddress(req.URL); ok {
		return spelled, true
	}
	x := exchange{client: c, req: req}
	if proxy, err := x.proxyFor(); proxy != nil || err != nil {
		return netip.Addr{}, false
	}
	addrs, err := c.names.addresses(ctx, req.URL.Hostname())
	if err != nil || len(addrs) == 0 {
		return netip.Addr{}, false
	}
	return addrs[0], true
}

// use says that a request is made there now.
func (p *Place) use() { p.made.Store(time.Now().UnixNano()) }

// Release gives the place back, if there is one; further calls do nothing.
func (p *Place) Release() {
	if p != nil && !p.gone.Swap(true) {
		var took time.Duration
		if made := p.made.Load(); made != 0 {
			took = max(time.Duration(time.Now().UnixNano()-made), 1)
		}
		p.of.leave(p.addr, p.limit, took)
	}
}

// enter takes a place at the address that the exchange is about to connect to: the
// reserved one, or the next free one. The host is held up meanwhile, so it does not
// wait for long.
func (x *exchange) enter(ctx context.Context, addr netip.Addr) error {
	if p := x.req.Place; p != nil && p.addr == addr && !p.gone.Load() {
		p.use()
		x.place = p
		return nil
	}
	patience := dialPatience
	if !x.req.Deadline.IsZero() {
		patience = min(patience, time.Until(x.req.Deadline)/2)
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	start := time.Now()
	place, err := x.client.addresses.place(waiting, addr, &waiter{limit: limitOf(x.req), begun: true})
	x.waited += time.Since(start)
	if err != nil {
		// Even if the time ran out meanwhile: the host has nothing to do with it.
		return localError{crowded(addr, limitOf(x.req))}
	}
	place.use()
	x.place = place
	return nil
}

// exit gives the exchange's place back.
func (x *exchange) exit() {
	x.place.Release()
	x.place = nil
}
