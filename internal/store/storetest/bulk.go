package storetest

import (
	"encoding/json"
	"fmt"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// benchPages is how many pages a benchmark has: 1 000 000, or 20 000 with -short.
func benchPages() int {
	if testing.Short() {
		return 20_000
	}
	return 1_000_000
}

// benchCrawl opens the crawl of a benchmark.
func benchCrawl(b testing.TB, s store.Store) int64 {
	b.Helper()
	spec := crawl.DefaultSpec()
	spec.Name = "benchmark"
	rec, err := s.OpenCrawl(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	return rec.ID
}

// bulk loads pages into the crawl of a benchmark, past the store.
type bulk struct {
	testing.TB
	engine  sqlstore.Engine
	store   *sqlstore.Store
	crawlID int64
}

func newBulk(b testing.TB, e sqlstore.Engine) bulk {
	b.Helper()
	s := sqlstore.New(e, sqlstore.Options{})
	return bulk{b, e, s, benchCrawl(b, s)}
}

func (l bulk) exec(query string, args ...any) {
	l.Helper()
	err := l.engine.Write(l.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec(l.Context(), query, args...)
		return err
	})
	if err != nil {
		l.Fatalf("%v in %s", err, query)
	}
}

// pages inserts n pages that were visited once; the i-th, from 1 on, has the id i and
// a version of that id.
func (l bulk) pages(n int) {
	const batch = 50_000
	for from := 0; from < n; from += batch {
		numbers := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, from+1, min(from+batch, n))
		l.exec(`INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from) `+numbers+`
			SELECT CAST($1 AS BIGINT), `+l.engine.Dialect().Unhex(`CAST(1000000000 + i AS TEXT)`)+`,
				'https://benchmark.test/' || i, 1, 1, 0, 0 FROM n ORDER BY i`, l.crawlID)
		l.exec(`INSERT INTO versions (page_id, seq, visit, at, digest, text_digest, link_digest, bytes, text_bytes, content_type, title, canonical) `+numbers+`
			SELECT i, 1, 1, CAST($1 AS BIGINT), '', '', '', 0, 0, '', '', '' FROM n ORDER BY i`, l.crawlID)
		l.exec(`INSERT INTO frontier (page_id, crawl_id, host_id, state, visit, version_id) `+numbers+`
			SELECT i, CAST($1 AS BIGINT), 1, 2, 1, i FROM n ORDER BY i`, l.crawlID)
	}
}

func encode(b bulk, rows any) string {
	text, err := json.Marshal(rows)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}
