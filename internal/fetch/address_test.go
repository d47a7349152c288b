package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var here, there = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// flies reports whether a waiter's turn has come.
func flies(w *waiter) bool {
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

func (a *addresses) joined(t testing.TB, addr netip.Addr, limit int, begun bool) *waiter {
	t.Helper()
	w := &waiter{limit: limit, begun: begun}
	if !a.join(addr, w) {
		t.Fatal("no room in the line")
	}
	return w
}

func TestAddressLineIsInOrder(t *testing.T) {
	a := newAddresses()
	first, second := a.joined(t, here, 2, false), a.joined(t, here, 2, false)
	var waiting []*waiter
	for range 3 {
		waiting = append(waiting, a.joined(t, here, 2, false))
	}
	hurried := a.joined(t, here, 2, true) // its host is held up
	also := a.joined(t, here, 2, true)
	elsewhere := a.joined(t, there, 2, false)
	if !flies(first) || !flies(second) || !flies(elsewhere) {
		t.Error("the first two, and another address, need not wait")
	}
	for i, w := range append([]*waiter{hurried, also}, waiting...) {
		if flies(w) {
			t.Fatalf("waiter %d flies before its turn", i)
		}
		if a.leave(here, 2, 0); !flies(w) {
			t.Fatalf("waiter %d does not fly in its turn", i)
		}
	}
	a.leave(here, 2, 0)
	a.leave(here, 2, 0)
	a.leave(there, 2, 0)
	if len(a.lines) != 0 {
		t.Errorf("%d lines are kept for nobody", len(a.lines))
	}
}

// The strictest of those in flight counts, and the first in line holds up the others
// until it can go.
func TestAddressStrictestCounts(t *testing.T) {
	a := newAddresses()
	a.joined(t, here, 4, false)
	strict, next := a.joined(t, here, 1, false), a.joined(t, here, 4, false)
	if flies(strict) || flies(next) {
		t.Error("one flies beside another though its crawl allows one")
	}
	if a.leave(here, 4, 0); !flies(strict) || flies(next) {
		t.Errorf("the strict one flies: %t; beside it another: %t", flies(strict), flies(next))
	}
	a.leave(here, 1, 0)
	unbounded := a.joined(t, here, limitOf(Request{}), false)
	if !flies(next) || !flies(unbounded) {
		t.Error("there is room, and nobody flies")
	}
	if strict := a.joined(t, here, 1, false); flies(strict) {
		t.Error("those without a limit are in flight too")
	} else if !a.giveUp(here, strict) || !flies(a.joined(t, here, 4, false)) {
		t.Error("who gave up holds up the others")
	}
}

func TestAddressLineHasAnEnd(t *testing.T) {
	a := newAddresses()
	for range 3 + queued*3 {
		a.joined(t, here, 3, false)
	}
	if a.join(here, &waiter{limit: 3}) {
		t.Error("the line has no end")
	}
	if !a.join(here, &waiter{limit: 3, ticket: &Ticket{}}) {
		t.Error("who was let come finds no room")
	}
	a.joined(t, here, 3, true) // whose host is held up always finds one
	if err := a.enter(t.Context(), here, &waiter{limit: 3}); !errors.Is(err, ErrCrowded) || !strings.Contains(err.Error(), "at most 3 to 192.0.2.1") {
		t.Errorf("error %v", err)
	}
}

// Whatever comes and goes, never more requests are in flight than the strictest
// allows, nobody waits without need, and nothing is left behind.
func TestAddressLineInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newAddresses()
		type one struct {
			*waiter
			addr netip.Addr
		}
		var all []one
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			addr := rapid.SampledFrom([]netip.Addr{here, there}).Draw(t, "address")
			if len(all) == 0 || rapid.Bool().Draw(t, "joins") {
				w := &waiter{limit: rapid.IntRange(1, 4).Draw(t, "limit"), begun: rapid.Bool().Draw(t, "begun"), ticket: &Ticket{first: rapid.Bool().Draw(t, "first")}}
				if a.join(addr, w) {
					all = append(all, one{w, addr})
				}
			} else {
				i := rapid.IntRange(0, len(all)-1).Draw(t, "goes")
				w := all[i]
				all = append(all[:i:i], all[i+1:]...)
				if flies(w.waiter) == a.giveUp(w.addr, w.waiter) {
					t.Fatal("who flies waits in line, or who waits does not")
				}
				if flies(w.waiter) {
					a.leave(w.addr, w.limit, 0)
				}
			}
			for addr, l := range a.lines {
				strictest := 5
				for _, w := range all {
					if w.addr == addr && flies(w.waiter) {
						strictest = min(strictest, w.limit)
					}
				}
				if len(l.flying) > strictest {
					t.Fatalf("%d fly, the strictest allows %d", len(l.flying), strictest)
				}
				if len(l.waiting) > 0 && l.room(l.waiting[0].limit) {
					t.Fatal("there is room, and the first waits")
				}
			}
		}
		for _, w := range all {
			if !a.giveUp(w.addr, w.waiter) {
				a.leave(w.addr, w.limit, 0)
			}
		}
		if len(a.lines) != 0 {
			t.Fatalf("%d lines are kept for nobody", len(a.lines))
		}
	})
}

// named looks up every name as one address.
func (c *Client) named(addr ...string) *Client {
	c.names.look = func(context.Context, string) ([]netip.Addr, error) {
		var addrs []netip.Addr
		for _, a := range addr {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		return addrs, nil
	}
	return c
}

// However many names lead to one address, only a few requests at a time are in
// flight to it, on all ports, and all are made in the end.
func TestNamesOfOneAddress(t *testing.T) {
	const names, limit = 12, 4 // as many as fit in the line
	var flying, most atomic.Int32
	entered, release := make(chan struct{}, names), make(chan struct{})
	answer := func(w http.ResponseWriter, _ *http.Request) {
		n := flying.Add(1)
		defer flying.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		entered <- struct{}{}
		<-release
		html(w, "x")
	}
	ports := []string{portOf(serve(t, answer).URL), portOf(serve(t, answer).URL)}
	client := New(Options{}).named("127.0.0.1")
	var all sync.WaitGroup
	for i := range names {
		all.Go(func() {
			req := get(t, fmt.Sprintf("http://n%d.victim.test%s/x", i, ports[i%2]))
			req.PerAddress = limit
			var err error
			if req.Place, err = client.Reserve(t.Context(), req, time.Minute); err != nil {
				t.Error(err)
				return
			}
			req.Deadline = time.Now().Add(time.Minute)
			if got := client.Do(t.Context(), req, discard{}); !got.Content {
				t.Errorf("%+v", got)
			}
		})
	}
	for range limit {
		<-entered
	}
	for range names {
		release <- struct{}{}
	}
	all.Wait()
	if most.Load() != limit {
		t.Errorf("%d requests were in flight at once, want %d", most.Load(), limit)
	}
	if len(client.addresses.lines) != 0 {
		t.Error("places were not given back")
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func portOf(url string) string { return url[strings.LastIndexByte(url, ':'):] }

// A request that finds no place in time gets an error that blames ourselves, even
// if the whole time of the request ran out meanwhile.
func TestCrowdedIsOurFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := New(Options{})
		req := get(t, "http://"+here.String()+"/")
		req.PerAddress = 1
		held, err := client.Reserve(t.Context(), req, time.Minute)
		if err != nil {
			t.Fatalf("reserve: %v", err)
		}
		for limit, waits := range map[time.Duration]time.Duration{time.Minute: dialPatience, time.Second: time.Second / 2, -time.Second: 0} {
			start := time.Now()
			req.Deadline = start.Add(limit)
			ctx, cancel := context.WithDeadlineCause(t.Context(), req.Deadline, errDeadline)
			x := exchange{client: client, req: req, start: start}
			err := x.enter(ctx, here)
			x.fail(ctx, err)
			if !errors.Is(err, ErrCrowded) || !x.res.Local || x.res.HostAnswer != HostNone || x.waited != waits || time.Since(start) != waits {
				t.Errorf("a time limit of %s: %v after %s, %+v; want to wait %s", limit, err, x.waited, x.res, waits)
			}
			cancel()
		}
		if _, err := client.Reserve(t.Context(), req, time.Second); !errors.Is(err, ErrCrowded) {
			t.Errorf("reserve: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := client.Reserve(gone, req, time.Minute); !errors.Is(err, context.Canceled) {
			t.Errorf("reserve when the worker stops: %v", err)
		}
		held.Release()
		held.Release()
		if _, err := client.Reserve(t.Context(), req, time.Minute); err != nil {
			t.Errorf("reserve what was given back: %v", err)
		}
	})
}

// A place is needed at each address that is tried, and given back when the address
// does not answer.
func TestPlaceAtTheAddressThatAnswers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { html(w, "x") })
	client := New(Options{}).named("127.0.0.2", "127.0.0.1") // nobody listens at the first
	req := get(t, "http://a.test"+portOf(s.URL))
	req.PerAddress = 1
	var err error
	if req.Place, err = client.Reserve(t.Context(), req, time.Minute); err != nil || req.Place.addr.String() != "127.0.0.2" {
		t.Fatalf("reserved %+v, %v", req.Place, err)
	}
	if got := client.Do(t.Context(), req, discard{}); !got.Content || got.Heads.Remote != "127.0.0.1" {
		t.Errorf("%+v", got)
	}
	if len(client.addresses.lines) != 0 {
		t.Error("places were not given back")
	}
}

// A proxy looks up names and connects to addresses that we do not know; one that is
// spelled is known.
func TestPlacesByProxy(t *testing.T) {
	proxy, _ := proxyTo(t, "", http.StatusOK)
	client := New(Options{Proxy: func(u *url.URL) (*url.URL, error) { return proxy(u) }}).named("127.0.0.1")
	for host, reserved := range map[string]bool{"a.example": false, here.String(): true} {
		req := get(t, "http://"+host+"/")
		req.PerAddress, req.AllowNetworks = 1, []netip.Prefix{netip.PrefixFrom(here, 32)}
		place, err := client.Reserve(t.Context(), req, time.Minute)
		if err != nil || (place != nil) != reserved {
			t.Fatalf("%s: reserved %+v, %v", host, place, err)
		}
		req.Place = place
		req.BeforeWrite = func() error {
			if flying := len(client.addresses.lines) == 1; flying != reserved {
				t.Errorf("%s is counted: %t", host, flying)
			}
			return nil
		}
		if got := client.Do(t.Context(), req, discard{}); !got.Content || len(client.addresses.lines) != 0 {
			t.Errorf("%s: %+v", host, got)
		}
	}
}
