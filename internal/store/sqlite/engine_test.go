package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
)

func TestEngine(t *testing.T) {
	storetest.RunEngine(t, func(t *testing.T) sqlstore.Engine { return testEngine(t) })
}

func testEngine(t *testing.T) *engine {
	t.Helper()
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// countHosts counts rows of a table that the tests below write to.
func countHosts(t *testing.T, e *engine) int {
	t.Helper()
	n := 0
	err := e.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM hosts", nil, &n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func insertHost(ctx context.Context, tx sqlstore.Tx) error {
	_, err := tx.Exec(ctx, "INSERT INTO hosts (host) VALUES ($1)", "example.com")
	return err
}

func TestFailedWriteChangesNothing(t *testing.T) {
	e := testEngine(t)
	sorry := errors.New("sorry")
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return errors.Join(insertHost(t.Context(), tx), sorry) })
	if !errors.Is(err, sorry) || countHosts(t, e) != 0 {
		t.Errorf("error %v, %d hosts", err, countHosts(t, e))
	}
}

func TestPanicRollsBack(t *testing.T) {
	e := testEngine(t)
	func() {
		defer func() { _ = recover() }()
		_ = e.Write(t.Context(), func(tx sqlstore.Tx) error {
			if err := insertHost(t.Context(), tx); err != nil {
				t.Error(err)
			}
			panic("a bug")
		})
	}()
	if err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return insertHost(t.Context(), tx) }); err != nil {
		t.Fatalf("write after a panic: %v", err)
	}
	if n := countHosts(t, e); n != 1 {
		t.Errorf("%d hosts, want the second transaction's", n)
	}
}

func TestCancelledContextEndsTheWait(t *testing.T) {
	e := testEngine(t)
	inside, done := make(chan struct{}), make(chan error)
	release := make(chan struct{})
	go func() {
		done <- e.Write(context.Background(), func(sqlstore.Tx) error {
			close(inside)
			<-release
			return nil
		})
	}()
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Write(ctx, func(sqlstore.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("queueing with a cancelled context: %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCancelledContextRollsBack(t *testing.T) {
	e := testEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := e.Write(ctx, func(tx sqlstore.Tx) error {
		if err := insertHost(ctx, tx); err != nil {
			return err
		}
		cancel()
		return insertHost(ctx, tx)
	})
	if !errors.Is(err, context.Canceled) || countHosts(t, e) != 0 {
		t.Errorf("error %v, %d hosts", err, countHosts(t, e))
	}
}

func TestReadersDoNotWrite(t *testing.T) {
	e := testEngine(t)
	err := e.Read(t.Context(), func(tx sqlstore.Tx) error { return insertHost(t.Context(), tx) })
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "not writable") {
		t.Errorf("a read transaction wrote: %v", err)
	}
}

func TestReadersSeeASnapshot(t *testing.T) {
	e := testEngine(t)
	err := e.Read(t.Context(), func(tx sqlstore.Tx) error {
		for range 2 {
			n := -1
			if err := tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM hosts", nil, &n); err != nil {
				return err
			}
			if n != 0 {
				t.Errorf("%d hosts within a read transaction that began before", n)
			}
			if err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
				_, err := tx.Exec(t.Context(), "INSERT INTO hosts (host) VALUES ($1) ON CONFLICT DO NOTHING", "example.com")
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWakeAfterCommitOnly(t *testing.T) {
	e := testEngine(t)
	woken, unwatch := e.Watch(7)
	other, unwatchOther := e.Watch(8)
	defer unwatchOther()
	wake := func(fail error) {
		err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
			tx.Wake(7)
			tx.Wake(7)
			return fail
		})
		if !errors.Is(err, fail) {
			t.Fatal(err)
		}
	}
	wake(errors.New("rolled back"))
	select {
	case <-woken:
		t.Error("woken by a transaction that was rolled back")
	default:
	}
	wake(nil)
	<-woken
	select {
	case <-woken:
		t.Error("woken twice by one transaction")
	case <-other:
		t.Error("another page was woken")
	default:
	}
	unwatch()
	wake(nil)
	select {
	case <-woken:
		t.Error("woken after the end of the watch")
	default:
	}
}

func TestNotFoundAndPragmas(t *testing.T) {
	e := testEngine(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000"} {
		for name, run := range map[string]func(context.Context, func(sqlstore.Tx) error) error{"writer": e.Write, "reader": e.Read} {
			var got string
			err := run(t.Context(), func(tx sqlstore.Tx) error {
				var none int
				if err := tx.QueryRow(t.Context(), "SELECT id FROM hosts", nil, &none); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("no row: %v", err)
				}
				return tx.QueryRow(t.Context(), "PRAGMA "+pragma, nil, &got)
			})
			if err != nil || got != want {
				t.Errorf("%s: %s = %q, %v; want %q", name, pragma, got, err, want)
			}
		}
	}
}

func TestBusyFileIsUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	e := openOwner(t, path)
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	other, err := openEngine(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := other.writer.exec(t.Context(), "PRAGMA busy_timeout = 20", nil); err != nil {
		t.Fatal(err)
	}
	err = e.Write(t.Context(), func(sqlstore.Tx) error {
		err := other.Write(t.Context(), func(sqlstore.Tx) error { return nil })
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "locked by another process") {
			t.Errorf("write to a busy file: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// However a glance ends, the next request is served. Without a writer, readers do.
func TestGlance(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	e := openOwner(t, path)
	count := func(e *engine) (n int) {
		t.Helper()
		err := e.Glance(t.Context(), func(in sqlstore.Tx) error {
			if e.writer != nil && in.(*tx).session != e.writer {
				t.Error("a glance does not read where the writes are")
			}
			return in.QueryRow(t.Context(), "SELECT COUNT(*) FROM hosts", nil, &n)
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := count(e); got != 0 {
		t.Errorf("%d hosts in a new store", got)
	}
	sorry := errors.New("sorry")
	if err := e.Glance(t.Context(), func(sqlstore.Tx) error { return sorry }); !errors.Is(err, sorry) {
		t.Errorf("a glance that fails: %v", err)
	}
	func() {
		defer func() {
			if got := recover(); got != "a bug" {
				t.Errorf("panic %v", got)
			}
		}()
		_ = e.Glance(t.Context(), func(sqlstore.Tx) error { panic("a bug") })
	}()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Glance(gone, func(sqlstore.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a glance of nobody: %v", err)
	}
	if err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return insertHost(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	reader, err := openEngine(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*engine{e, reader} {
		if got := count(e); got != 1 {
			t.Errorf("%d hosts, want 1", got)
		}
	}
	if err := errors.Join(reader.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	if err := e.Glance(t.Context(), func(sqlstore.Tx) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a glance at a closed store: %v", err)
	}
}
