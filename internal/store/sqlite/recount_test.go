package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// Programs of the previous release change the number of pages on their way without
// counting them.
func TestRecount(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	s := sqlstore.New(e, sqlstore.Options{})
	t.Cleanup(func() { s.Close() })
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "news", []string{"https://example.com/"}
	record, err := s.OpenCrawl(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	var urls []store.NewURL
	for i := range 3 {
		urls = append(urls, store.NewURL{URL: fmt.Sprintf("https://h%d.example.com/", i), Host: fmt.Sprintf("h%d.example.com", i)})
	}
	if _, err := s.RegisterLinks(ctx, store.RegisterParams{CrawlID: record.ID, URLs: urls}); err != nil {
		t.Fatal(err)
	}
	known, err := s.Candidates(ctx, store.CandidateParams{CrawlID: record.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range known {
		if _, err := s.Admit(ctx, store.AdmitParams{CrawlID: record.ID, Admit: []int64{p.PageID}}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, want int) {
		t.Helper()
		st, err := s.Status(ctx, record.ID)
		if err != nil || st.Demand.Own != want {
			t.Errorf("%s %d pages are on their way, want %d (%v)", when, st.Demand.Own, want, err)
		}
	}
	recount := func() {
		t.Helper()
		if err := s.Recount(ctx, record.ID); err != nil {
			t.Fatal(err)
		}
	}
	check("at first", 3)
	for _, n := range []int{0, 7, -5} {
		err := e.Write(ctx, func(tx sqlstore.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE crawl_counts SET n = $1 WHERE kind = 'total' AND code = 4`, n)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		check("miscounted,", max(n, 0))
		recount()
		check("counted again,", 3)
	}
	if err := e.Write(ctx, func(tx sqlstore.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM crawl_counts WHERE kind = 'total' AND code = 4`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	recount()
	recount()
	check("counted for the first time,", 3)
	audit(t, e)
}
