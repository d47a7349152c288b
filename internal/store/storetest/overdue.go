package storetest

import (
	"testing"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// RunOverdue checks that a status counts up to limit overdue pages, and says when it has
// stopped there: a count that ends silently would make a stop of any length look alike.
func RunOverdue(t *testing.T, e sqlstore.Engine, limit int) {
	load := newBulk(t, e)
	load.pages(limit + 1)
	now := time.Now()
	soon, hour := now.Add(time.Hour).UnixMicro(), now.Add(-time.Hour).UnixMicro()
	status := func() store.StatusRecord {
		t.Helper()
		st, err := load.store.Status(t.Context(), load.crawlID)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	load.exec(`UPDATE frontier SET next_at = CASE WHEN page_id < $1 THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END`, limit, hour, soon)
	for _, tc := range []struct {
		due, overdue int
		more         bool
	}{
		{limit - 1, limit - 1, false},
		{limit, limit, true}, // it stopped there, and did not look further
		{limit + 1, limit, true},
	} {
		load.exec(`UPDATE frontier SET next_at = $1 WHERE page_id = $2`, hour, tc.due)
		if st := status(); st.Overdue != tc.overdue || st.OverdueMore != tc.more || st.Lag < time.Hour {
			t.Errorf("%d pages overdue by an hour or more: the status counts %d, more %v, by %s; want %d, %v", tc.due, st.Overdue, st.OverdueMore, st.Lag, tc.overdue, tc.more)
		}
	}
}
