package report

import (
	"testing"
	"time"

	"recrawl/internal/store"
)

// TestOverdue: if the store has not looked at all pages that may be overdue, the number is
// a lower bound, and the answer says so.
func TestOverdue(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]store.StatusRecord{
		"none":                             {},
		"3, the oldest by 2m":              {Overdue: 3, Lag: 2 * time.Minute},
		"at least 50000, the oldest by 2m": {Overdue: 50_000, OverdueMore: true, Lag: 2 * time.Minute},
		"at least 0, the oldest by 0s":     {OverdueMore: true},
	} {
		if got := overdue(s); got != want {
			t.Errorf("%+v: %q, not %q", s, got, want)
		}
	}
}
