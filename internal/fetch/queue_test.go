package fetch

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shared is a client whose hosts all have one address, and a request to one of them.
func shared(t *testing.T, limit int) (*Client, func(host int) Request) {
	client := New(Options{}).named(here.String())
	return client, func(host int) Request {
		req := get(t, fmt.Sprintf("http://h%d.test/", host))
		req.PerAddress = limit
		return req
	}
}

// visit comes to an address as a Fetch does, once Queue lets it, and stays for the time. It
// returns how often it was told to sleep.
func visit(t *testing.T, c *Client, req Request, who Asker, stay time.Duration) (slept int) {
	t.Helper()
	for {
		ticket, wait, err := c.Queue(t.Context(), req, who, 3*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if wait > 0 {
			slept++
			time.Sleep(wait)
			continue
		}
		ticket.Arrive()
		req.Ticket = ticket
		place, err := c.Reserve(t.Context(), req, 10*time.Second)
		if err != nil {
			t.Errorf("a request that was let come: %v", err)
			return slept
		}
		place.use()
		time.Sleep(stay)
		place.Release()
		return slept
	}
}

// However many hosts share an address, and however slow it is, no request that is let come
// fails for want of a place, none sleeps often, and a person's visit is soon.
func TestCrowdedAddressFailsNobody(t *testing.T) {
	for _, c := range []struct {
		hosts int
		stay  time.Duration
		most  int // sleeps of one request
	}{
		{60, 10 * time.Millisecond, 0},
		{120, 100 * time.Millisecond, 1},
		{120, 2 * time.Second, 4},
		{1000, 200 * time.Millisecond, 6},
		{40, 20 * time.Second, 25},
	} {
		t.Run(fmt.Sprintf("%d hosts, %s", c.hosts, c.stay), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, request := shared(t, 4)
				var all sync.WaitGroup
				slept := make([]int, c.hosts)
				start := time.Now()
				for i := range c.hosts {
					all.Go(func() { slept[i] = visit(t, client, request(i), Asker{ID: int64(i)}, c.stay) })
				}
				synctest.Wait()
				time.Sleep(c.stay)
				asked := time.Now()
				visit(t, client, request(-1), Asker{ID: -1, First: true}, c.stay)
				person := time.Since(asked)
				all.Wait()
				total := 0
				for _, n := range slept {
					total += n
					if n > c.most {
						t.Errorf("a request slept %d times", n)
					}
				}
				ideal := time.Duration(c.hosts+1) * c.stay / 4
				t.Logf("%s, ideally %s; a person waits %s; %d sleeps of %d requests", time.Since(start), ideal, person, total, c.hosts)
				if person > 3*c.stay+time.Second {
					t.Errorf("a person's visit took %s", person)
				}
				if took := time.Since(start); took > 2*ideal+5*time.Second {
					t.Errorf("all of them took %s, want about %s", took, ideal)
				}
				if len(client.addresses.lines) != 0 {
					t.Error("something is left of the line")
				}
			})
		})
	}
}

// Only as many come as will find a place soon. Tickets of requests that do not come count for
// a while only.
func TestTicketsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, request := shared(t, 2)
		queue := func(ctx context.Context, host int) (*Ticket, time.Duration) {
			ticket, wait, err := client.Queue(ctx, request(host), Asker{ID: int64(host)}, time.Second)
			if (err != nil) != (ctx.Err() != nil) {
				t.Errorf("host %d: %v", host, err)
			}
			return ticket, wait
		}
		first, _ := queue(t.Context(), 0)
		if second, wait := queue(t.Context(), 1); first == nil || second == nil || wait != 0 {
			t.Fatal("the first two may not come")
		}
		start := time.Now()
		if ticket, wait := queue(t.Context(), 2); ticket != nil || wait != time.Second || time.Since(start) != time.Second {
			t.Errorf("one too many: %v, wait %s, after %s", ticket, wait, time.Since(start))
		}
		go first.Release()
		if ticket, wait := queue(t.Context(), 3); ticket == nil || wait != 0 {
			t.Errorf("after a release: %v, wait %s", ticket, wait)
		}
		first.Release() // once is enough
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if ticket, wait := queue(gone, 4); ticket != nil || wait != 0 && wait < time.Second {
			t.Errorf("while the worker stops: %v, wait %s", ticket, wait)
		}
		time.Sleep(2 * ticketLife)
		if len(client.addresses.lines) != 0 {
			t.Error("tickets count for ever")
		}
		free := request(5)
		free.PerAddress = 0
		if ticket, wait, err := client.Queue(t.Context(), free, Asker{}, time.Second); ticket != nil || wait != 0 || err != nil {
			t.Errorf("without a limit: %v, %s, %v", ticket, wait, err)
		}
	})
}

// Of more than knownMost, those that came first keep their age, and go to sleep as others do: one
// that counted as in the queue would never be forgotten, and hold up all that came later.
func TestKnownOfFullLine(t *testing.T) {
	t.Parallel()
	l := &line{queue: queue{known: map[int64]known{}}}
	for id := range int64(knownMost) {
		l.note(&asker{Asker: Asker{ID: id}, since: id + 1}, time.Time{})
	}
	until := time.Now().Add(time.Minute)
	l.note(&asker{Asker: Asker{ID: 7}, since: 8}, until)
	if got := l.known[7]; got.since != 8 || !got.until.Equal(until) {
		t.Errorf("one that sleeps: %+v, want until %s", got, until)
	}
	l.note(&asker{Asker: Asker{ID: knownMost}, since: knownMost + 1}, until)
	if len(l.known) != knownMost {
		t.Errorf("%d are known, want %d", len(l.known), knownMost)
	}
}
