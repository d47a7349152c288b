package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeNames asks a function instead of the network.
func fakeNames(look func() ([]netip.Addr, error)) *names {
	n := newNames(nil)
	n.look = func(context.Context, string) ([]netip.Addr, error) { return look() }
	return n
}

func TestNamesAreAskedOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		n := fakeNames(func() ([]netip.Addr, error) {
			asked.Add(1)
			time.Sleep(time.Second)
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
		})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if addrs, err := n.addresses(t.Context(), "a.example"); err != nil || len(addrs) != 1 {
					t.Errorf("%v, %v", addrs, err)
				}
			})
		}
		all.Wait()
		if asked.Load() != 1 {
			t.Errorf("asked %d times at once", asked.Load())
		}
		for wait, want := range map[time.Duration]int32{0: 1, namesTTL - time.Second: 1} {
			time.Sleep(wait)
			if _, err := n.addresses(t.Context(), "a.example"); err != nil || asked.Load() != want {
				t.Errorf("after %s: asked %d times, %v", wait, asked.Load(), err)
			}
		}
		time.Sleep(2 * time.Second)
		if _, err := n.addresses(t.Context(), "a.example"); err != nil || asked.Load() != 2 {
			t.Errorf("after its time: asked %d times, %v", asked.Load(), err)
		}
	})
}

// TestNamesOutliveTheFirstWhoAsked: cancelling one exchange takes the answer from
// no other.
func TestNamesOutliveTheFirstWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNames(nil)
		n.look = func(ctx context.Context, _ string) ([]netip.Addr, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(5 * time.Second):
				return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
			}
		}
		first, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			if _, err := n.addresses(first, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("first: %v", err)
			}
		}()
		synctest.Wait()
		if addrs, err := n.addresses(t.Context(), "a.example"); err != nil || len(addrs) != 1 {
			t.Errorf("second: %v, %v", addrs, err)
		}
	})
}

func TestNamesForgetFailures(t *testing.T) {
	asked := 0
	broken := errors.New("broken")
	n := fakeNames(func() ([]netip.Addr, error) { asked++; return nil, broken })
	for want := 1; want <= 3; want++ {
		if _, err := n.addresses(t.Context(), "a.example"); !errors.Is(err, broken) || asked != want {
			t.Errorf("asked %d times: %v", asked, err)
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	n := fakeNames(func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil })
	for i := range maxNames + 100 {
		if _, err := n.addresses(t.Context(), fmt.Sprintf("%d.example", i)); err != nil {
			t.Fatal(err)
		}
		if len(n.known) > maxNames {
			t.Fatalf("%d names after %d", len(n.known), i)
		}
	}
}

func TestAlternate(t *testing.T) {
	parse := func(texts ...string) (addrs []netip.Addr) {
		for _, s := range texts {
			addrs = append(addrs, netip.MustParseAddr(s))
		}
		return addrs
	}
	cases := []struct{ in, want []netip.Addr }{
		{nil, nil},
		{parse("1.0.0.1"), parse("1.0.0.1")},
		{parse("2a::1", "2a::2", "2a::3", "2a::4", "1.0.0.1"), parse("2a::1", "1.0.0.1", "2a::2", "2a::3")},
		{parse("1.0.0.1", "1.0.0.2", "2a::1", "2a::2", "1.0.0.3"), parse("1.0.0.1", "2a::1", "1.0.0.2", "2a::2")},
		{parse("::ffff:1.0.0.1"), parse("1.0.0.1")},
	}
	for _, c := range cases {
		if got := alternate(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.in, got, c.want)
		}
	}
}

// TestSecondAddress: an address that refuses is passed over, and looked up again
// once none answers.
func TestSecondAddress(t *testing.T) {
	s := answering(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx")
	port := s.url[len("http://127.0.0.1"):]
	asked := 0
	client := New(Options{})
	client.names = fakeNames(func() ([]netip.Addr, error) {
		asked++
		return []netip.Addr{netip.MustParseAddr("127.0.0.77"), netip.MustParseAddr("127.0.0.1")}[:min(asked, 2)], nil
	})
	for ask, want := range []bool{false, true, true} {
		if got := client.Do(t.Context(), get(t, "http://two.example"+port), nil); got.Content != want {
			t.Errorf("ask %d: %+v", ask, got)
		}
	}
	if asked != 2 || s.connections.Load() != 2 {
		t.Errorf("asked %d times, %d connections", asked, s.connections.Load())
	}
}
