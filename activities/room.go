package activities

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/room"
	"recrawl/internal/store"
)

const (
	// A page that is due while there is no room asks again after as long as the
	// shortage has lasted, within these bounds: each ask costs Temporal's database
	// some room, and most pages are told when there is room again.
	shortestRoomWait = 10 * time.Second
	longestRoomWait  = 10 * time.Minute
	// mostForRoom bounds the number of pages that are told.
	mostForRoom = 20_000
)

// Room says whether there is room to keep what requests bring; see room.Keeper.
type Room interface {
	Shortage() (room.Shortage, bool)
	Begin() (room.Shortage, bool)
	Full(reason string)
	Kept()
	Spared()
}

// roomWaiters are the pages that were told to wait for room.
type roomWaiters struct {
	mu    sync.Mutex
	pages map[int64]crawl.PageRef
}

func (r *roomWaiters) add(page crawl.PageRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pages == nil {
		r.pages = map[int64]crawl.PageRef{}
	}
	if len(r.pages) < mostForRoom {
		r.pages[page.PageID] = page
	}
}

func (r *roomWaiters) take() map[int64]crawl.PageRef {
	r.mu.Lock()
	defer r.mu.Unlock()
	pages := r.pages
	r.pages = nil
	return pages
}

// WakeForRoom tells the pages that wait for room that there is some. The pages that it
// does not reach come by themselves.
func (a *Activities) WakeForRoom(ctx context.Context) {
	for _, page := range a.forRoom.take() {
		if ctx.Err() != nil {
			return
		}
		if err := a.turn(ctx, store.Turn{Page: page}); err != nil && !errors.Is(err, store.ErrNotFound) {
			a.log.Warn("a page that waits for room could not be told that there is some", "page", page.URL, "error", err)
		}
	}
}

// roomWait is how long a page waits before it asks again, spread by a quarter.
func roomWait(shortage room.Shortage, page int64, now time.Time) time.Duration {
	wait := min(max(now.Sub(shortage.Since), shortestRoomWait), longestRoomWait)
	const parts = 1000
	return wait + wait*time.Duration(page%parts)/(4*parts)
}

// hasRoom reports whether there is room for a request that would begin now. If not,
// the page gives back its place, and with it its permit.
func (a *Activities) hasRoom(ctx context.Context, page crawl.PageRef) bool {
	if _, is := a.settings.Room.Begin(); !is {
		return true
	}
	a.leaveForRoom(ctx, page)
	return false
}

func (a *Activities) leaveForRoom(ctx context.Context, page crawl.PageRef) {
	effects, err := a.stores.Gate.Leave(ctx, page.PageID)
	if err != nil {
		a.log.Debug("a permit was not given back for want of room", "page", page.URL, "error", err)
		return // it is revoked when somebody else wants it
	}
	a.carryOut(ctx, effects)
}

// heeding reports an activity's error to the room if it says that a disk is full.
func heeding[In, Out any](a *Activities, do func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := do(ctx, in)
		if reason := fullness(err); reason != "" {
			a.settings.Room.Full(reason)
		}
		return out, err
	}
}

// fullness names the full disk, if the error is about one.
func fullness(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, store.ErrFull):
		return "no room: the store's disk is full"
	case errors.Is(err, archive.ErrFull), errors.Is(err, syscall.ENOSPC):
		return "no room: the archive is full"
	case errors.Is(err, syscall.EDQUOT):
		return "no room: the archive's quota is used up"
	}
	return ""
}
