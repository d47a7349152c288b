package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

var errKilled = errors.New("killed")

// mortal is an engine whose process is killed after a number of writes.
type mortal struct {
	*engine
	writes int
}

func (m *mortal) Write(ctx context.Context, fn func(sqlstore.Tx) error) error {
	if m.writes == 0 {
		return errKilled
	}
	m.writes--
	return m.engine.Write(ctx, fn)
}

func (m *mortal) WriteLazily(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return m.Write(ctx, fn)
}

func (m *mortal) Close() error { return nil }

// crowded is a store with two hosts of many pages, and one page with more visits
// and versions, and more links from and to it, than one transaction removes.
func crowded(t *testing.T, e *engine) {
	t.Helper()
	s := sqlstore.New(e, sqlstore.Options{})
	rec := openCrawl(t, s, "news")
	params := store.RegisterParams{CrawlID: rec.ID}
	for i := range 600 {
		params.URLs = append(params.URLs, store.NewURL{URL: fmt.Sprintf("https://busy.test/%d", i), Host: "busy.test"})
		params.URLs = append(params.URLs, store.NewURL{URL: fmt.Sprintf("https://other.test/%d", i), Host: "other.test"})
	}
	if _, err := s.RegisterLinks(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	pages, err := s.FindPages(t.Context(), "https://busy.test/0", "")
	if err != nil {
		t.Fatal(err)
	}
	page := pages[0].PageID
	params.From = page
	if _, err := s.RegisterLinks(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	v := store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page, Visit: 1, Digest: "d"}, Links: []store.Link{{URL: "https://x.test/"}},
		Content: change.Content{Exact: 1, Sketch: change.NewSketch("a few words")},
	}
	if _, err := s.SaveVersion(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	_, err = s.RecordVisit(t.Context(), store.RecordParams{Visit: store.VisitRecord{PageID: page, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
	if err != nil {
		t.Fatal(err)
	}
	oldest, err := s.ListPages(t.Context(), store.PageFilter{CrawlID: rec.ID, Host: "busy.test", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	manyDuplicates(t, s, rec.ID, oldest[0].PageID)
	multiply(t, e, page)
	audit(t, e)
}

// manyDuplicates makes all younger pages duplicates of one.
func manyDuplicates(t *testing.T, s store.Store, crawlID, page int64) {
	t.Helper()
	younger, err := s.ListPages(t.Context(), store.PageFilter{CrawlID: crawlID, After: page, Limit: 2000})
	if err != nil {
		t.Fatal(err)
	}
	p := store.UpdateDuplicatesParams{CrawlID: crawlID}
	for _, y := range younger {
		p.Set = append(p.Set, store.NewDuplicate{
			PageVersion: store.PageVersion{PageID: y.PageID}, Of: store.DuplicateOf{PageVersion: store.PageVersion{PageID: page}, Resemblance: 1},
		})
	}
	if err := s.UpdateDuplicates(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// multiply makes 1100 of a page's visit and version, and gives it a link from
// every page.
func multiply(t *testing.T, e *engine, page int64) {
	t.Helper()
	const more = `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1100) `
	for _, query := range []string{
		more + `INSERT INTO visits SELECT page_id, i, at, outcome, status, version_id, version_seq, digest, bytes, duration, next_at, state, problem, location, reasons
			FROM visits, n WHERE page_id = $1`,
		more + `INSERT INTO versions (page_id, seq, visit, at, digest, text_digest, link_digest, bytes, text_bytes, content_type, title, canonical)
			SELECT page_id, i, i, at, 'd' || i, '', '', 0, 0, '', '', '' FROM versions, n WHERE page_id = $1`,
		`INSERT INTO contents (digest, refs) SELECT digest, 1 FROM versions WHERE page_id = $1 AND visit > 1`,
		`UPDATE frontier SET visit = 1100 WHERE page_id = $1`,
		`UPDATE crawl_counts SET n = 1100 WHERE crawl_id = $1 - $1 + 1 AND (kind = 'outcome' OR kind = 'total' AND code IN (1, 2))`,
		`INSERT INTO links SELECT id, $1 FROM pages WHERE id <> $1`,
		`UPDATE frontier SET backlinks = (SELECT COUNT(*) FROM links WHERE dst = $1) WHERE page_id = $1`,
		`UPDATE crawl_counts SET n = (SELECT COUNT(*) FROM links) WHERE crawl_id = $1 - $1 + 1 AND kind = 'total' AND code = 3 AND n > 0`,
	} {
		if _, err := e.writer.exec(t.Context(), query, []any{page}); err != nil {
			t.Fatalf("%v in %s", err, query)
		}
	}
}

// TestForgetIsTakenUpAgain kills Forget after each of its transactions: the counts
// are right at every moment, and the next call goes on.
func TestForgetIsTakenUpAgain(t *testing.T) {
	e := testEngine(t)
	crowded(t, e)
	p := store.ForgetParams{Target: store.Target{Host: "busy.test"}, Limit: 10_000}
	pages, digests := 0, 0
	for kills := 0; ; kills++ {
		res, err := sqlstore.New(&mortal{e, 2 + kills%3}, sqlstore.Options{}).Forget(t.Context(), p)
		pages, digests = pages+len(res.Pages), digests+len(res.Digests)
		auditCut(t, e)
		if err == nil {
			t.Logf("killed %d times", kills)
			break
		}
		if !errors.Is(err, errKilled) || kills > 100 {
			t.Fatal(err)
		}
	}
	if pages != 600 || digests != 1100 {
		t.Errorf("%d pages with %d digests of their own, want 600 with 1100", pages, digests)
	}
	audit(t, e)
	counts := map[string]int{"pages": 600, "frontier": 600, "links": 0, "visits": 0, "versions": 0, "pending_links": 0, "contents": 1100, "sketches": 0, "sketch_keys": 0, "duplicates": 0}
	for table, want := range counts {
		n := 0
		err := e.Read(t.Context(), func(tx sqlstore.Tx) error {
			return tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM "+table, nil, &n)
		})
		if err != nil || n != want {
			t.Errorf("%d rows of %s are left, %v; want %d", n, table, err, want)
		}
	}
}

// TestBlockedWaitersDoNotLapse: the waiters of a blocked host may be as late as
// they like. Others lapse, even behind a page that has a permit.
func TestBlockedWaitersDoNotLapse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	rec := openCrawl(t, s, "news")
	urls := []store.NewURL{{URL: "https://host.test/", Host: "host.test"}, {URL: "https://host.test/behind", Host: "host.test"}}
	params := store.RegisterParams{CrawlID: rec.ID, URLs: urls}
	if _, err := s.RegisterLinks(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	ask := func(i int) {
		pages, err := s.FindPages(t.Context(), urls[i].URL, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(t.Context(), store.AcquireParams{Page: pages[0].PageRef, Visit: 1, Class: crawl.ClassFirst}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.SetBlocked(t.Context(), "host.test", true); err != nil {
		t.Fatal(err)
	}
	ask(0)
	waiting := func() int {
		if _, err := s.Nudge(t.Context()); err != nil {
			t.Fatal(err)
		}
		st, err := s.Status(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		return st.Waiting
	}
	late := fmt.Sprintf("UPDATE places SET promised_at = %d", time.Now().Add(-time.Hour).UnixMicro())
	execute(t, path, late)
	if n := waiting(); n != 1 {
		t.Errorf("%d waiting while the host is blocked", n)
	}
	if _, err := s.SetBlocked(t.Context(), "host.test", false); err != nil {
		t.Fatal(err)
	}
	if n := waiting(); n != 0 {
		t.Errorf("%d waiting an hour late", n)
	}
	ask(0)
	ask(1)
	execute(t, path, late)
	if n := waiting(); n != 0 {
		t.Errorf("%d waiting an hour late behind a page that has a permit", n)
	}
}
