package activities

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// wishPause is the pause between two tries to tell the store of wishes. It is short: when
	// the store is back, other workers may ask the host before it knows.
	wishPause = 500 * time.Millisecond
	// wishMost is how long a wish for quiet that names no time is kept.
	wishMost = time.Hour
)

// wishes are the wishes of hosts to be left alone that came while the store was away, for longer
// than the permits lived. This process does not ask a host again until the store knows of its wish.
// Wishes are lost with the process.
type wishes struct {
	mu      sync.Mutex
	byHost  map[int64]wish
	running sync.WaitGroup
	runs    bool
	closed  chan struct{} // nil once the process ends
}

type wish struct {
	store.ReleaseParams
	host string // by its name
	kept time.Time
}

// concerns reports whether a wish may be that of a page's host, by its name in the store, which
// may group hosts by domain.
func (w wish) concerns(host string) bool {
	return w.host == host || urlkey.RegistrableDomain(w.host) == host
}

// left returns a wish with the time that remains of it, and false once that is over.
func (w wish) left(now time.Time) (store.ReleaseParams, bool) {
	p, since := w.ReleaseParams, now.Sub(w.kept)
	if !p.HasRetryAfter || p.RetryAfter <= 0 {
		return p, since < wishMost
	}
	p.RetryAfter -= since
	return p, p.RetryAfter > 0
}

// keepWish keeps a host's wish until the store can be told. Its time counts from now. The answer
// came earlier, but at most as long ago as a permit lives.
func (a *Activities) keepWish(p store.ReleaseParams) {
	u, err := urlkey.Canonical(p.Permit.URL)
	if p.Answer != store.HostThrottled || err != nil {
		return
	}
	w := &a.wishes
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed == nil {
		return
	}
	if w.byHost == nil {
		w.byHost = map[int64]wish{}
	}
	w.byHost[p.Permit.HostID] = wish{p, u.HostKey(), time.Now()}
	if !w.runs {
		w.runs = true
		closed := w.closed
		w.running.Go(func() { a.tellWishes(closed) })
	}
}

// tellWishes tells the store of wishes until it knows all of them, or the process ends.
func (a *Activities) tellWishes(closed <-chan struct{}) {
	for a.wishes.goOn() {
		for _, untold := range a.wishes.untold() {
			if a.tellWish(context.Background(), untold) != nil {
				break // the store is still away, or that host is locked: the order is another next time
			}
		}
		select {
		case <-time.After(wishPause):
		case <-closed:
			return
		}
	}
}

// tellWish tells the store of a wish. An error says that it still does not know.
func (a *Activities) tellWish(ctx context.Context, untold wish) error {
	if p, lasts := untold.left(time.Now()); lasts {
		ctx, cancel := context.WithTimeout(ctx, tellLimit)
		defer cancel()
		effects, err := a.stores.Gate.Release(ctx, p)
		if isPassing(err) || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if err != nil {
			a.log.Warn("a host's wish to be left alone could not be kept", "url", p.Permit.URL, "error", err)
		}
		a.carryOut(ctx, effects)
	}
	a.wishes.told(untold)
	return nil
}

// heed makes sure that the store knows of the wish of a host, if it has one, before the host is
// asked.
func (a *Activities) heed(ctx context.Context, of func(wish) bool) error {
	for _, untold := range a.wishes.untold() {
		if of(untold) {
			if err := a.tellWish(ctx, untold); err != nil {
				return err
			}
		}
	}
	return nil
}

// goOn reports whether there are wishes that the store does not know of. If not, the telling ends.
func (w *wishes) goOn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = len(w.byHost) > 0
	return w.runs
}

func (w *wishes) untold() []wish {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.byHost) == 0 {
		return nil
	}
	return slices.Collect(maps.Values(w.byHost))
}

// told removes a wish, unless the host has had another since.
func (w *wishes) told(known wish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byHost[known.Permit.HostID].kept.Equal(known.kept) {
		delete(w.byHost, known.Permit.HostID)
	}
}

// close ends the telling.
func (w *wishes) close() {
	w.mu.Lock()
	closed := w.closed
	w.closed = nil
	w.mu.Unlock()
	if closed != nil {
		close(closed)
	}
	w.running.Wait()
}

// isPassing reports whether the store may answer if it is asked again.
func isPassing(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}
