package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
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
	load.walkDuplicates(t, limit+1)
	load.walkMentions(t)
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

// walkDuplicates checks that a walk through the records of duplicates, nearly all of which hold or are
// another crawl's, and one through contents that were not looked at, nearly all of pages that are gone,
// find the few others.
func (b *bulk) walkDuplicates(t *testing.T, pages int) {
	t.Helper()
	walk := func(what string, list func(context.Context, int64, int64, int) ([]int64, error), want []int64) {
		t.Helper()
		var met []int64
		for after := int64(0); ; after = met[len(met)-1] {
			ids, err := list(t.Context(), b.crawlID, after, 3)
			if err != nil {
				t.Fatal(err)
			}
			if met = append(met, ids...); len(ids) < 3 {
				break
			}
		}
		if !slices.Equal(met, want) {
			t.Errorf("a walk through %s met %d, want %d", what, met, want)
		}
	}
	var records, contents []int64
	const every = 7001
	for id := int64(every); id <= int64(pages); id += every {
		contents = append(contents, id)
		if id%10 != 5 {
			records = append(records, id)
		}
	}
	b.exec(`INSERT INTO duplicates (page_id, crawl_id, version_id, of_page, of_version, exact, resemblance, at)
		SELECT page_id, crawl_id + CASE WHEN page_id % 10 = 5 THEN 1 ELSE 0 END, version_id, 1, CASE WHEN page_id % $1 = 0 THEN 0 ELSE 1 END, 0, 1, 0
			FROM frontier WHERE page_id > 1`, every)
	walk("records", b.store.Unsettled, records)
	b.exec(`INSERT INTO sketches (version_id, crawl_id, page_id, exact, sketch, looked)
		SELECT version_id, crawl_id, page_id, 0, ` + b.engine.Dialect().Unhex(`'00'`) + `, 0 FROM frontier`)
	b.exec(`UPDATE frontier SET state = $1 WHERE page_id % $2 <> 0`, int64(crawl.Gone), every)
	walk("contents", b.store.Unlooked, contents)
}

// walkMentions checks that a look through the records of pages, of which one has most, finds all that name
// a URL.
func (b *bulk) walkMentions(t *testing.T) {
	t.Helper()
	const often = 150
	const records = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12345)
		SELECT 150, i, 0, CASE WHEN i % 5000 < 2 OR i = 12345 THEN 'https://mentioned.test/a' ELSE '' END`
	b.exec(`INSERT INTO versions (page_id, visit, at, canonical, seq, digest, text_digest, link_digest, bytes, text_bytes, content_type, title) ` +
		records + `, i, '', '', '', 0, 0, '', '' FROM n WHERE i > 1`)
	b.exec(`INSERT INTO visits (page_id, visit, at, location, outcome, status, version_id, version_seq, digest, bytes, duration, next_at, state, problem, reasons) ` +
		records + `, 1, 200, 0, 0, '', 0, 0, 0, 2, '', '' FROM n`)
	b.exec(`INSERT INTO visits (page_id, visit, at, location, outcome, status, version_id, version_seq, digest, bytes, duration, next_at, state, problem, reasons)
		SELECT page_id, 1, 0, '', 1, 200, 0, 0, '', 0, 0, 0, 2, '', '' FROM frontier WHERE page_id <> $1`, often)
	b.exec(`UPDATE frontier SET visit = 12345 WHERE page_id = $1`, often)
	var named []int64
	before := func(_ context.Context, pages []crawl.PageRef) error {
		for _, p := range pages {
			named = append(named, p.PageID)
		}
		return nil
	}
	for after, more := int64(0), true; more; {
		var err error
		if after, more, err = b.store.ForgetMentions(t.Context(), store.Target{URL: "https://mentioned.test/a"}, after, 10_000, before); err != nil {
			t.Fatal(err)
		}
	}
	var left int
	err := b.engine.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT (SELECT COUNT(*) FROM visits WHERE location <> '') + (SELECT COUNT(*) FROM versions WHERE canonical <> '')`, nil, &left)
	})
	if err != nil || left != 0 || !slices.Equal(named, []int64{often}) {
		t.Errorf("pages %d named the URL, and %d records still do (%v)", named, left, err)
	}
}
