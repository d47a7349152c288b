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
	load.exec(`INSERT INTO hosts (host) VALUES ('benchmark.test')`)
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
	load.walkDue(t, limit+1)
}

// walkDue checks that a walk through due pages, of which there are many, meets each once.
func (b *bulk) walkDue(t *testing.T, pages int) {
	t.Helper()
	p := store.DueParams{CrawlID: b.crawlID, Before: time.Now(), Limit: 9000}
	met := 0
	for {
		due, err := b.store.DuePages(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range due {
			if page.PageID <= p.After {
				t.Fatalf("page %d follows %d", page.PageID, p.After)
			}
			p.After = page.PageID
		}
		if met += len(due); len(due) < p.Limit {
			break
		}
	}
	if met != pages {
		t.Errorf("a walk met %d due pages of %d", met, pages)
	}
}
