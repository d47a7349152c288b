package sqlite

import (
	"path/filepath"
	"testing"

	"recrawl/internal/store"
	"recrawl/internal/store/storetest"
)

func TestGateTmp(t *testing.T) { storetest.RunGate(t, openTest) }

func BenchmarkGateTmp(b *testing.B) {
	storetest.BenchGate(b, func(t testing.TB) store.Store {
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), Options{Owner: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
