package fetch

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"recrawl/internal/urlkey"
)

// Limits of name resolution.
const (
	// namesTTL is how long an answer is used. The system's resolver does not report
	// the real one; a minute is short enough for hosts that move.
	namesTTL = time.Minute
	// maxNames bounds the names that are remembered.
	maxNames = 4096
	// maxAddresses bounds the addresses of one name that are tried: a name with
	// hundreds of them would make us knock at as many doors for one page.
	maxAddresses = 4
	// lookupLimit ends a lookup that perhaps nobody is waiting for any more.
	lookupLimit = 15 * time.Second
)

// names looks up the addresses of host names and remembers them for a short
// time. Exchanges that ask for the same name share one lookup. Remembered addresses
// are never trusted: the dialer checks each address that it dials.
type names struct {
	look func(ctx context.Context, host string) ([]netip.Addr, error)

	mu    sync.Mutex
	known map[string]*answer
}

// answer is the result, present or future, of one lookup.
type answer struct {
	done  chan struct{} // closed when addrs and err are set
	addrs []netip.Addr
	err   error
	until time.Time // zero while the lookup runs; guarded by names.mu
}

func newNames(r *net.Resolver) *names {
	if r == nil {
		r = net.DefaultResolver
	}
	look := func(ctx context.Context, host string) ([]netip.Addr, error) { return r.LookupNetIP(ctx, "ip", host) }
	return &names{look: look, known: make(map[string]*answer)}
}

// addresses returns the addresses to try for a host, in order.
func (n *names) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	if urlkey.IsLocalhost(host) {
		// RFC 6761 6.3: names under localhost are never looked up.
		return urlkey.LocalhostAddrs(), nil
	}
	a := n.ask(ctx, host)
	select {
	case <-a.done:
		return a.addrs, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask returns the answer that is known or on its way, or starts a lookup.
func (n *names) ask(ctx context.Context, host string) *answer {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a := n.known[host]; a != nil && (a.until.IsZero() || time.Now().Before(a.until)) {
		return a
	}
	n.makeRoom()
	a := &answer{done: make(chan struct{})}
	n.known[host] = a
	// The lookup outlives an exchange that gives up: others may wait for it.
	go n.resolve(context.WithoutCancel(ctx), host, a)
	return a
}

// makeRoom forgets old answers and, if there are still too many, any.
func (n *names) makeRoom() {
	if len(n.known) < maxNames {
		return
	}
	now := time.Now()
	for host, a := range n.known {
		if len(n.known) >= maxNames || !a.until.IsZero() && now.After(a.until) {
			delete(n.known, host)
		}
	}
}

func (n *names) resolve(ctx context.Context, host string, a *answer) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	defer close(a.done)
	addrs, err := n.look(ctx, host)
	n.mu.Lock()
	defer n.mu.Unlock()
	a.addrs, a.err, a.until = alternate(addrs), err, time.Now().Add(namesTTL)
	if err != nil && n.known[host] == a {
		delete(n.known, host) // a failure is for those who waited for it
	}
}

// forget drops the addresses of a host if they do not answer.
func (n *names) forget(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a := n.known[host]; a != nil && !a.until.IsZero() {
		delete(n.known, host)
	}
}

// alternate orders the first addresses by turns of their families, so that an
// unreachable family costs one attempt.
func alternate(addrs []netip.Addr) []netip.Addr {
	var families [2][]netip.Addr // [0] is that of the first address
	for _, a := range addrs {
		a = a.Unmap()
		other := 0
		if len(families[0]) > 0 && a.Is4() != families[0][0].Is4() {
			other = 1
		}
		families[other] = append(families[other], a)
	}
	var turns []netip.Addr
	for i := range len(addrs) {
		for _, f := range families {
			if i < len(f) && len(turns) < maxAddresses {
				turns = append(turns, f[i])
			}
		}
	}
	return turns
}
