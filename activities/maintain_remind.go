package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// mostReminded bounds what a worker remembers of the pages that it has told.
const mostReminded = 10_000

// reminders are the overdue pages that this worker has told their times. A page that a person
// snoozed stays overdue in the store for months; its workflow is not woken in each pass.
type reminders struct {
	mu   sync.Mutex
	told map[int64]time.Time // by page
}

func (r *reminders) has(p store.PageRecord) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[p.PageID].Equal(p.NextAt)
}

func (r *reminders) add(p store.PageRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil || len(r.told) >= mostReminded {
		r.told = map[int64]time.Time{}
	}
	r.told[p.PageID] = p.NextAt
}

// remind tells the workflow of an overdue page its time in the store. Whoever moved the page
// there may have been lost before it told the workflow, which would sleep until the old time.
// A workflow that knows the time, or is visiting the page, goes on as it was.
func (a *Activities) remind(ctx context.Context, p store.PageRecord) error {
	if p.Visits == 0 || a.reminded.has(p) {
		return nil // only a page that was visited before is ever moved
	}
	arg := contract.RescheduleArg{Due: p.NextAt, Why: "maintenance found it overdue", Visit: p.Visits}
	err := a.workflows.Reschedule(ctx, p.PageRef, arg)
	switch {
	case errors.Is(err, temporalkit.ErrNoWorkflow):
		return nil // it ended just now; the next pass starts it
	case err != nil:
		return fmt.Errorf("%s: %w", pageLabel(p.PageRef), err)
	}
	a.reminded.add(p)
	return nil
}
