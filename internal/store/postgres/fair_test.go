//go:build unix

package postgres

import (
	"fmt"
	"testing"
	"time"

	"recrawl/internal/store/storetest"
	"recrawl/internal/store/storetest/pgtest"
)

// TestFairLines tries lines in real time, so that they have to be quick: gaps are judged, and
// shares on the clock of SQLite's test.
func TestFairLines(t *testing.T) {
	for _, waiting := range []int{60, 1000, 20_000} {
		t.Run(fmt.Sprint(waiting), func(t *testing.T) {
			t.Parallel()
			e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
			storetest.FairLine(t, e, waiting, storetest.Pace{
				Delay: 100 * time.Millisecond, Spacing: time.Second, Patience: 250 * time.Millisecond, Requests: 80, RealTime: true,
			})
		})
	}
}
