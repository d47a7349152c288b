package care

import (
	"context"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// backlogWatch records the task queue's backlog in the store.
type backlogWatch struct {
	store store.Backlogs
	ask   func(ctx context.Context) (temporalkit.Backlog, error)

	noted bool // there is a note of a backlog
}

// backlogLimit bounds the check: a server with a backlog may be slow, and says the
// same twenty seconds later.
const backlogLimit = 10 * time.Second

// look records a backlog, and once that it is gone: nothing is written while there is
// none.
func (b *backlogWatch) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, backlogLimit)
	defer cancel()
	is, err := b.ask(ctx)
	if err != nil {
		return err
	}
	if is == (temporalkit.Backlog{}) && !b.noted {
		return nil
	}
	if err := b.store.NoteBacklog(ctx, is.Tasks, is.Age); err != nil {
		return err
	}
	b.noted = is != temporalkit.Backlog{}
	return nil
}
