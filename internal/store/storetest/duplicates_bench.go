package storetest

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawl/internal/change/changetest"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// BenchLookalikes measures Lookalikes, Contents (1000 at a time) and SaveVersion
// among 1 000 000 pages, or 20 000 with -short, of five sites: half of a page's
// keys are on a fifth of all pages. It reports what one call in a hundred takes, or
// more. settle is called when all is loaded, for what a database does in the
// background in time.
func BenchLookalikes(b *testing.B, e sqlstore.Engine, settle func() error) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	s := sqlstore.New(e, sqlstore.Options{})
	spec := crawl.DefaultSpec()
	spec.Name = "benchmark"
	rec, err := s.OpenCrawl(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	load := bulk{b, e, rec.ID, changetest.Corpus{Sites: 5, Shingles: 600, Boilerplate: 0.5, Family: 10, Edit: 0.01}}
	started := time.Now()
	load.pages(n)
	load.sketches(n)
	if err := settle(); err != nil {
		b.Fatal(err)
	}
	b.Logf("loaded %d pages in %v", n, time.Since(started).Round(time.Second))
	page := func(i int) int { return i * 7919 % n }
	b.Run("Lookalikes", func(b *testing.B) {
		var took []time.Duration
		found := 0
		for i := range b.N {
			p := store.LookalikeParams{CrawlID: rec.ID, Before: int64(n + 1), Content: load.corpus.Content(page(i)), Limit: 16}
			began := time.Now()
			all, err := s.Lookalikes(b.Context(), p)
			if err != nil || len(all) == 0 {
				b.Fatalf("%d lookalikes of page %d, %v", len(all), page(i), err)
			}
			took = append(took, time.Since(began))
			if slices.ContainsFunc(all, func(c store.ContentRecord) bool { return c.Exact == p.Exact }) {
				found++
			}
		}
		b.ReportMetric(slow(took), "p99-ms")
		b.ReportMetric(100*float64(found)/float64(b.N), "%found")
	})
	b.Run("Contents", func(b *testing.B) {
		for i := range b.N {
			some, err := s.Contents(b.Context(), rec.ID, int64(page(i)), 1000)
			if err != nil || len(some) == 0 {
				b.Fatalf("%d contents, %v", len(some), err)
			}
		}
	})
	b.Run("SaveVersion", func(b *testing.B) {
		var took []time.Duration
		for i := range b.N {
			// Not visited: saved as the first of visits that were never recorded.
			p := store.SaveVersionParams{
				Version: store.VersionRecord{PageID: int64(page(i) + 1), Visit: 2 + i},
				Content: load.corpus.Content(n + i),
			}
			began := time.Now()
			if _, err := s.SaveVersion(b.Context(), p); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		b.ReportMetric(slow(took), "p99-ms")
	})
}

// slow is the 99th percentile, in milliseconds.
func slow(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)*99/100].Microseconds()) / 1000
}

// bulk loads pages that have been visited once, past the store.
type bulk struct {
	testing.TB
	engine  sqlstore.Engine
	crawlID int64
	corpus  changetest.Corpus
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

// pages inserts n pages; the i-th, from 1 on, has the id i and a version of that
// id.
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

// sketches inserts the contents of n pages, and their keys in the order of the
// index.
func (l bulk) sketches(n int) {
	type sketchRow struct {
		ID     int64  `json:"id"`
		Exact  int64  `json:"exact"`
		Sketch string `json:"sketch"`
	}
	type keyRow struct {
		Key  int64 `json:"key"`
		Page int64 `json:"page"`
	}
	d := l.engine.Dialect()
	sketches := `INSERT INTO sketches (version_id, crawl_id, page_id, exact, sketch)
		SELECT r.id, CAST($2 AS BIGINT), r.id, r.exact, ` + d.Unhex("r.sketch") + ` FROM ` + d.Records(1, "r", "id bigint", "exact bigint", "sketch text")
	keys := `INSERT INTO sketch_keys (crawl_id, key, page_id)
		SELECT CAST($2 AS BIGINT), r.key, r.page FROM ` + d.Records(1, "r", "key bigint", "page bigint")
	var allKeys []keyRow
	var rows []sketchRow
	flush := func() {
		l.exec(sketches, encode(l, rows), l.crawlID)
		rows = rows[:0]
	}
	for i := range n {
		content, id := l.corpus.Content(i), int64(i+1)
		for _, key := range content.Keys() {
			allKeys = append(allKeys, keyRow{int64(key), id})
		}
		if rows = append(rows, sketchRow{id, int64(content.Exact), hex.EncodeToString(content.Sketch.Encode())}); len(rows) == 2000 {
			flush()
		}
	}
	if len(rows) > 0 {
		flush()
	}
	slices.SortFunc(allKeys, func(a, b keyRow) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Page, b.Page)) })
	for some := range slices.Chunk(allKeys, 50_000) {
		l.exec(keys, encode(l, some), l.crawlID)
	}
}

func encode(b bulk, rows any) string {
	text, err := json.Marshal(rows)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}
