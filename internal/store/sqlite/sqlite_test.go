package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"recrawl/internal/store"
	"recrawl/internal/store/storetest"
	"recrawl/internal/urlkey"
)

func TestGate(t *testing.T) { storetest.RunGate(t, openAudited) }

func BenchmarkGate(b *testing.B) {
	storetest.BenchGate(b, func(t testing.TB) store.Store {
		t.Helper()
		return openAt(t, filepath.Join(t.TempDir(), "store.db"), Options{Owner: true})
	})
}

// emptyStore is the file of a store that has just been made. Making one takes longer than
// testing most promises, so each gets a copy.
var emptyStore = sync.OnceValues(func() (file []byte, err error) {
	folder, err := os.MkdirTemp("", "recrawl-sqlite-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "store.db")
	s, err := Open(context.Background(), path, Options{Owner: true})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// openEmpty opens an empty store as its owner.
func openEmpty(t *testing.T) *engine {
	t.Helper()
	file, err := emptyStore()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return openOwner(t, path)
}

func openAt(t testing.TB, path string, opts Options) store.Store {
	t.Helper()
	s, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestGrouping(t *testing.T) {
	storetest.RunGrouping(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "store.db")
		return func(g urlkey.Grouping) (store.Store, error) {
			return Open(t.Context(), path, Options{Owner: true, Grouping: g})
		}
	})
}

func TestIdentity(t *testing.T) {
	storetest.RunIdentity(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "store.db")
		return func(g urlkey.Grouping) (store.Store, error) {
			return Open(t.Context(), path, Options{Owner: true, Grouping: g})
		}
	})
}

func BenchmarkLookalikes(b *testing.B) {
	e := openOwner(b, filepath.Join(b.TempDir(), "store.db"))
	storetest.BenchLookalikes(b, e, func() error { return nil })
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

func BenchmarkAllocation(b *testing.B) {
	e := openOwner(b, filepath.Join(b.TempDir(), "store.db"))
	storetest.BenchAllocation(b, e, func() error { return nil })
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

func BenchmarkRanks(b *testing.B) {
	e := openOwner(b, filepath.Join(b.TempDir(), "store.db"))
	storetest.BenchRanks(b, e, func() error { return nil })
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

func BenchmarkFigures(b *testing.B) {
	e := openOwner(b, filepath.Join(b.TempDir(), "store.db"))
	storetest.BenchFigures(b, e, func() error { return nil })
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}
