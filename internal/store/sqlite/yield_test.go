package sqlite

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/store/sqlstore"
)

// TestCommandsYield: between two transactions a command leaves the file to the owner for as long
// as the first took, but not after its last one, and no longer than a second. An owner never does.
func TestCommandsYield(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts Options
		want time.Duration
	}{
		"beside the owner": {Options{Yields: true}, 3*3*time.Second + 2*time.Second},
		"the owner":        {Options{Owner: true, Yields: true}, 3 * 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, err := openEngine(t.Context(), filepath.Join(t.TempDir(), "store.db"), c.opts)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				for range 3 {
					err := e.Write(t.Context(), func(sqlstore.Tx) error { time.Sleep(3 * time.Second); return nil })
					if err != nil {
						t.Fatal(err)
					}
					if err := e.Glance(t.Context(), func(sqlstore.Tx) error { return nil }); err != nil {
						t.Fatal(err)
					}
				}
				if took := time.Since(began); took != c.want {
					t.Errorf("took %s, want %s", took, c.want)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
