package storetest

import (
	"fmt"
	"testing"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// BenchFeed measures a feed of 1 000 000 changes, or 20 000 with -short, of as many pages:
// its bytes a row, and how long a reader, a late one who looks for a rare kind, and one who
// asks by time take. size is how many bytes the database has.
func BenchFeed(b *testing.B, e sqlstore.Engine, size func() (int64, error)) {
	n, load := benchPages(), newBulk(b, e)
	before, err := size()
	if err != nil {
		b.Fatal(err)
	}
	const batch, start = 50_000, int64(1_800_000_000_000_000)
	for from := 0; from < n; from += batch {
		numbers := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, from+1, min(from+batch, n))
		// A change a second, one in a hundred with data.
		load.exec(`INSERT INTO changes (crawl_id, page_id, at, visit, seq, kind, data) `+numbers+`
			SELECT CAST($1 AS BIGINT), i % 400000 + 1, CAST($2 AS BIGINT) + CAST(i AS BIGINT) * 1000000, i % 90 + 10, i % 9 + 2, i % 5 + 1,
				CASE WHEN i % 100 = 0 THEN '{"was":"active","state":"active","from":7,"returned_to":2}' ELSE '' END FROM n ORDER BY i`,
			load.crawlID, start)
	}
	after, err := size()
	if err != nil {
		b.Fatal(err)
	}
	ends, err := load.store.FeedEnds(b.Context())
	if err != nil || ends.Newest.ID < int64(n) {
		b.Fatalf("the newest is %s, %v", ends.Newest, err)
	}
	read := func(b *testing.B, after feed.Cursor, kinds ...feed.Kind) store.ChangesPage {
		page, err := load.store.Changes(b.Context(), store.ChangesParams{After: after, CrawlID: load.crawlID, Kinds: kinds})
		if err != nil {
			b.Fatal(err)
		}
		return page
	}
	b.Run("Read5000", func(b *testing.B) {
		middle := ends.Oldest
		middle.ID = int64(n) / 2
		for b.Loop() {
			if page := read(b, middle); len(page.Changes) != store.FeedStep {
				b.Fatalf("%d changes", len(page.Changes))
			}
		}
		b.ReportMetric(float64(after-before)/float64(n), "bytes/row")
	})
	b.Run("ReadAllForARareKind", func(b *testing.B) {
		for b.Loop() {
			for at := ends.Oldest; at != ends.Newest; {
				at = read(b, at, feed.SinkPaused).Through
			}
		}
	})
	b.Run("Since", func(b *testing.B) {
		for b.Loop() {
			at, err := load.store.ChangeBefore(b.Context(), time.UnixMicro(start).Add(time.Duration(n)*time.Second/3))
			if err != nil || at.ID != int64(n)/3-1 && at.ID != int64(n)/3 {
				b.Fatal(at, err)
			}
		}
	})
}
