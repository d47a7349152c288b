package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// named adds a host of a name.
func named(ctx context.Context, tx sqlstore.Tx, name string) error {
	_, err := tx.Exec(ctx, "INSERT INTO hosts (host) VALUES ($1)", name)
	return err
}

// together has writers write in one group: the first one, which waits until all others queue,
// and these in their order. It returns their errors, the first one's first.
func together(t *testing.T, e *engine, first func(sqlstore.Tx) error, others ...func(sqlstore.Tx) error) []error {
	t.Helper()
	errs := make([]error, 1+len(others))
	var all sync.WaitGroup
	all.Go(func() {
		errs[0] = e.Write(t.Context(), func(tx sqlstore.Tx) error {
			for i, other := range others {
				all.Go(func() { errs[i+1] = e.Write(t.Context(), other) })
				synctest.Wait() // it queues
			}
			return first(tx)
		})
	})
	all.Wait()
	return errs
}

// inBubble runs a test on an owner's store where goroutines can be waited for.
func inBubble(t *testing.T, run func(t *testing.T, e *engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
		defer func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}()
		run(t, e)
	})
}

// Those who wait while somebody writes are committed with him, in the order in which they
// came. Each sees what those before him wrote.
func TestWritersShareACommit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, e *engine) {
		member := func(want int) func(sqlstore.Tx) error {
			return func(tx sqlstore.Tx) error {
				var n int
				if err := tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM hosts", nil, &n); err != nil || n != want {
					t.Errorf("%d hosts, %v; want %d", n, err, want)
				}
				if seen := countHosts(t, e); seen != 0 {
					t.Errorf("a reader sees %d hosts before the commit", seen)
				}
				return named(t.Context(), tx, fmt.Sprint("h", want))
			}
		}
		for i, err := range together(t, e, member(0), member(1), member(2), member(3)) {
			if err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		}
		if n := countHosts(t, e); n != 4 {
			t.Errorf("%d hosts, want 4", n)
		}
	})
}

// A member that fails, or panics, takes back what it wrote and nothing else.
func TestMembersFailAlone(t *testing.T) {
	t.Parallel()
	sorry := errors.New("sorry")
	for fails := range 3 {
		inBubble(t, func(t *testing.T, e *engine) {
			members := make([]func(sqlstore.Tx) error, 3)
			for i := range members {
				members[i] = func(tx sqlstore.Tx) error {
					err := named(t.Context(), tx, fmt.Sprint("h", i))
					if i == fails {
						err = errors.Join(err, sorry)
					}
					return err
				}
			}
			for i, err := range together(t, e, members[0], members[1:]...) {
				if failed := errors.Is(err, sorry); failed != (i == fails) || !failed && err != nil {
					t.Errorf("writer %d where %d fails: %v", i, fails, err)
				}
			}
			if n := countHosts(t, e); n != 2 {
				t.Errorf("%d hosts where writer %d fails, want 2", n, fails)
			}
		})
	}
}

// Where SQLite itself takes the transaction back, as it does when the disk is full, no member
// is told that it was committed.
func TestGroupsFailTogether(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, e *engine) {
		write := func(tx sqlstore.Tx) error { return named(t.Context(), tx, "h") }
		errs := together(t, e, write, func(sqlstore.Tx) error { return e.writer.control("ROLLBACK") })
		if !errors.Is(errs[0], store.ErrUnavailable) || errs[1] == nil {
			t.Errorf("a group whose transaction is gone: %v", errs)
		}
		if n := countHosts(t, e); n != 0 {
			t.Errorf("%d hosts of a transaction that was taken back", n)
		}
		if err := e.Write(t.Context(), write); err != nil || countHosts(t, e) != 1 {
			t.Errorf("the next one: %v, %d hosts", err, countHosts(t, e))
		}
	})
}

// A durable writer does not join a group whose commit is lazy: that one is committed first.
func TestDurableWritersBeginTheirOwn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, e *engine) {
		var all sync.WaitGroup
		all.Go(func() {
			err := e.WriteLazily(t.Context(), func(tx sqlstore.Tx) error {
				all.Go(func() {
					err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
						if countHosts(t, e) != 1 {
							t.Error("the lazy group is not committed")
						}
						return named(t.Context(), tx, "durable")
					})
					if err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				return named(t.Context(), tx, "lazy")
			})
			if err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if n := countHosts(t, e); n != 2 {
			t.Errorf("%d hosts, want 2", n)
		}
	})
}

// A writer who gives up while it waits leaves the group to those who are in it.
func TestWaitingWritersMayGiveUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, e *engine) {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
				all.Go(func() {
					if err := e.Write(ctx, func(sqlstore.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
						t.Errorf("who gave up: %v", err)
					}
				})
				synctest.Wait()
				cancel()
				synctest.Wait()
				return named(t.Context(), tx, "h")
			})
			if err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if n := countHosts(t, e); n != 1 {
			t.Errorf("%d hosts, want 1", n)
		}
	})
}

// A glance sees what the writers before it wrote, and is over once that is committed. One that
// fails takes nothing back.
func TestGlancesJoin(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, e *engine) {
		sorry := errors.New("sorry")
		var all sync.WaitGroup
		glance := func(fails error) {
			n := 0
			err := e.Glance(t.Context(), func(tx sqlstore.Tx) error {
				return errors.Join(fails, tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM hosts", nil, &n))
			})
			if !errors.Is(err, fails) || n != 1 || fails == nil && countHosts(t, e) != 1 {
				t.Errorf("a glance sees %d hosts, and readers %d, with error %v", n, countHosts(t, e), err)
			}
		}
		all.Go(func() {
			err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
				all.Go(func() { glance(sorry) })
				synctest.Wait()
				all.Go(func() { glance(nil) })
				synctest.Wait()
				return named(t.Context(), tx, "h")
			})
			if err != nil {
				t.Error(err)
			}
		})
		all.Wait()
	})
}

// Groups are bounded: the first members learn their result while others still come.
func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, e *engine) {
		all := make([]func(sqlstore.Tx) error, 2*mostMembers)
		for i := range all {
			all[i] = func(tx sqlstore.Tx) error {
				if want := (i + 1) / mostMembers * mostMembers; countHosts(t, e) != want {
					t.Errorf("%d hosts are committed before writer %d, want %d", countHosts(t, e), i+1, want)
				}
				return named(t.Context(), tx, fmt.Sprint("h", i))
			}
		}
		first := func(tx sqlstore.Tx) error { return named(t.Context(), tx, "first") }
		for _, err := range together(t, e, first, all...) {
			if err != nil {
				t.Error(err)
			}
		}
	})
}
