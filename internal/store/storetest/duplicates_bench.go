package storetest

import (
	"cmp"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"recrawl/internal/change/changetest"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// BenchLookalikes measures Lookalikes, Contents (1000 at a time) and SaveVersion
// among 1 000 000 pages, or 20 000 with -short, of five sites: half of a page's
// keys are on a fifth of all pages. It reports the time that one call in a hundred
// takes, or more. settle is called when all is loaded, for the work that a database
// otherwise does in the background.
func BenchLookalikes(b *testing.B, e sqlstore.Engine, settle func() error) {
	n, load := benchPages(), newBulk(b, e)
	s, corpus := load.store, changetest.Corpus{Sites: 5, Shingles: 600, Boilerplate: 0.5, Family: 10, Edit: 0.01}
	started := time.Now()
	load.pages(n)
	load.sketches(n, corpus)
	if err := settle(); err != nil {
		b.Fatal(err)
	}
	b.Logf("loaded %d pages in %v", n, time.Since(started).Round(time.Second))
	page := func(i int) int { return i * 7919 % n }
	b.Run("Lookalikes", func(b *testing.B) {
		var took []time.Duration
		found := 0
		for i := range b.N {
			p := store.LookalikeParams{CrawlID: load.crawlID, Content: corpus.Content(page(i)), Limit: 16}
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
			some, err := s.Contents(b.Context(), load.crawlID, int64(page(i)), 1000)
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
				Content: corpus.Content(n + i),
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

// sketches inserts the contents of n pages of a corpus, and their keys in the order of the
// index.
func (l bulk) sketches(n int, corpus changetest.Corpus) {
	type sketchRow struct {
		ID     int64  `json:"id"`
		Exact  int64  `json:"exact"`
		Sketch string `json:"sketch"`
		More   string `json:"more"`
	}
	type keyRow struct {
		Key  int64 `json:"key"`
		Page int64 `json:"page"`
	}
	d := l.engine.Dialect()
	sketches := `INSERT INTO sketches (version_id, crawl_id, page_id, exact, sketch, more)
		SELECT r.id, CAST($2 AS BIGINT), r.id, r.exact, ` + d.Unhex("r.sketch") + `, ` + d.Unhex("r.more") + ` FROM ` + d.Records(1, "r", "id bigint", "exact bigint", "sketch text", "more text")
	keys := `INSERT INTO sketch_keys (crawl_id, key, page_id)
		SELECT CAST($2 AS BIGINT), r.key, r.page FROM ` + d.Records(1, "r", "key bigint", "page bigint")
	var allKeys []keyRow
	var rows []sketchRow
	flush := func() {
		l.exec(sketches, encode(l, rows), l.crawlID)
		rows = rows[:0]
	}
	for i := range n {
		content, id := corpus.Content(i), int64(i+1)
		for _, key := range content.Keys() {
			allKeys = append(allKeys, keyRow{int64(key), id})
		}
		head, rest := content.Sketch.Encode()
		if rows = append(rows, sketchRow{id, int64(content.Exact), hex.EncodeToString(head), hex.EncodeToString(rest)}); len(rows) == 2000 {
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
