package sqlite

import (
	"path/filepath"
	"testing"

	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
)

func TestFeedView(t *testing.T) {
	t.Parallel()
	storetest.RunFeedView(t, testEngine(t))
}

func TestDelays(t *testing.T) {
	t.Parallel()
	storetest.RunDelays(t, testEngine(t))
}

func TestOverdue(t *testing.T) {
	t.Parallel()
	storetest.RunOverdue(t, testEngine(t), 50_000)
}

func TestOldSketches(t *testing.T) {
	t.Parallel()
	storetest.RunOldSketches(t, testEngine(t))
}

func BenchmarkFeed(b *testing.B) {
	e := openOwner(b, filepath.Join(b.TempDir(), "store.db"))
	storetest.BenchFeed(b, e, func() (size int64, err error) {
		err = e.Read(b.Context(), func(tx sqlstore.Tx) error {
			return tx.QueryRow(b.Context(), "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", nil, &size)
		})
		return size, err
	})
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

func BenchmarkRecord(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), Options{Owner: true})
	if err != nil {
		b.Fatal(err)
	}
	storetest.BenchmarkRecord(b, s)
	if err := s.Close(); err != nil {
		b.Error(err)
	}
}
