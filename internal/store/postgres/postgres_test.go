//go:build unix

package postgres

import (
	"testing"

	"recrawl/internal/store"
	"recrawl/internal/store/storetest"
	"recrawl/internal/store/storetest/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestCollection(t *testing.T) { storetest.Run(t, openTest) }

// openTest opens an empty store that lives as long as the test.
func openTest(t *testing.T) store.Store {
	t.Helper()
	s, err := Open(t.Context(), pgtest.DSN(t), Options{})
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
