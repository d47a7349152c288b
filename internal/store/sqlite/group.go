package sqlite

import (
	"context"
	"fmt"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// group is a transaction of the writer's connection that several writers share, each within
// a savepoint of its own: those who waited for their turn while the first of them wrote. They
// are committed together. A commit costs its sync, and makes every reader's connection forget
// all that it has read; so there should not be many.
//
// All fields but done are used by whoever has the turn, and err by everybody once done is
// closed.
type group struct {
	commits durability
	members int // writers who wait for the commit
	done    chan struct{}
	err     error
}

// savepoint is the name of the one in which a writer writes.
const savepoint = "writer"

// write runs fn as a member of a group, and returns once the group is committed.
func (e *engine) write(ctx context.Context, commits durability, fn func(sqlstore.Tx) error) error {
	if e.writer == nil {
		return fmt.Errorf("%s was opened for reading only: %w", e.path, store.ErrUnavailable)
	}
	if err := e.take(ctx); err != nil {
		return err
	}
	t := &tx{session: e.writer, detached: true}
	g, err := e.member(ctx, commits, t, fn)
	if err != nil {
		return err
	}
	// Whoever waited before comes first, and joins. The commit is not interrupted: the caller
	// learns whether it was made.
	select {
	case <-g.done:
	case <-e.turn:
		e.settle(g)
		e.give()
	}
	if g.err != nil {
		return g.err
	}
	e.watchers.Notify(t.woken...)
	return nil
}

// take waits for the turn, and give ends it.
func (e *engine) take(ctx context.Context) error {
	select {
	case <-e.turn:
		return nil
	case <-e.closed:
		return e.closedError()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *engine) give() { e.turn <- struct{}{} }

// member runs fn in the open group, or opens one. It has the turn, and gives it.
func (e *engine) member(ctx context.Context, commits durability, t *tx, fn func(sqlstore.Tx) error) (*group, error) {
	defer e.give()
	g, err := e.join(ctx, commits)
	if err != nil {
		return nil, err
	}
	written := false
	defer func() {
		// Also when fn panics.
		if !written {
			e.leave(g)
		}
	}()
	if err := fn(t); err != nil {
		return nil, e.translate(err)
	}
	if g.members > 0 {
		if err := e.writer.control("RELEASE " + savepoint); err != nil {
			return nil, e.translate(err)
		}
	}
	written = true
	g.members++
	return g, nil
}

// join returns the open group, in a new savepoint. If there is none, or one whose commit
// would not be durable enough, it begins another, whose first member needs no savepoint.
func (e *engine) join(ctx context.Context, commits durability) (*group, error) {
	if e.shared != nil && e.shared.commits == lazy && commits == full {
		e.settle(e.shared)
	}
	if e.shared != nil {
		return e.shared, e.translate(e.writer.control("SAVEPOINT " + savepoint))
	}
	if err := e.writer.commitsAre(commits); err != nil {
		return nil, e.translate(err)
	}
	if _, err := e.writer.exec(ctx, "BEGIN IMMEDIATE", nil); err != nil {
		e.writer.rollback() // it may have taken effect, although its context was done
		return nil, e.translate(err)
	}
	e.shared = &group{commits: commits, done: make(chan struct{})}
	return e.shared, nil
}

// leave takes back what one writer wrote. SQLite itself takes back everything after some
// errors, such as that of a full disk: then all members have failed.
func (e *engine) leave(g *group) {
	if g.members > 0 {
		err := e.writer.control("ROLLBACK TO " + savepoint)
		if err == nil {
			err = e.writer.control("RELEASE " + savepoint)
		}
		if err == nil {
			return // a member commits the rest
		}
	}
	e.writer.rollback()
	e.end(g, fmt.Errorf("%s: the transaction ended with that of another writer: %w", e.path, store.ErrUnavailable))
}

// settle commits a group that is open.
func (e *engine) settle(g *group) {
	if e.shared != g {
		return
	}
	err := e.writer.control("COMMIT")
	if err != nil {
		e.writer.rollback()
	}
	e.end(g, e.translate(err))
}

func (e *engine) end(g *group, err error) {
	e.shared = nil
	g.err = err
	close(g.done)
}
