package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// TestFullDiskIsTold: a file that cannot grow is not just any trouble.
func TestFullDiskIsTold(t *testing.T) {
	e := testEngine(t)
	if _, err := e.writer.exec(t.Context(), "PRAGMA max_page_count = 1", nil); err != nil { // that is, as many as it has
		t.Fatal(err)
	}
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		err = e.Write(t.Context(), func(tx sqlstore.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO hosts (host) VALUES ($1)", fmt.Sprint(i, strings.Repeat("x", 500)))
			return err
		})
	}
	if !errors.Is(err, store.ErrFull) || !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("%v, want that the disk is full", err)
	}
}

// TestCopySaysWhichDiskIsFull: a backup is on another disk than the store.
func TestCopySaysWhichDiskIsFull(t *testing.T) {
	t.Parallel()
	e := &engine{path: "/live/store.db"}
	for _, c := range []struct {
		kind error
		want string
	}{{store.ErrFull, "/kept/copy.db: "}, {store.ErrUnavailable, "/live/store.db: "}} {
		err := e.notCopied("/kept/copy.db", &storeError{kind: c.kind, words: "it fails", cause: errors.New("cause")})
		if !errors.Is(err, c.kind) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want that of %s", err, c.want)
		}
	}
}

// TestRewriteSaysWhichDiskIsFull: it is not always that of the file.
func TestRewriteSaysWhichDiskIsFull(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("write x anew: %w", store.ErrFull)
	if err := sayingWhere(full); !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("full: %v", err)
	}
	if err := sayingWhere(store.ErrUnavailable); err != store.ErrUnavailable { //nolint:errorlint // the same
		t.Errorf("locked: %v", err)
	}
}
