package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// kept are tables that outlive a store's only crawl: those that all crawls share.
var kept = map[string]bool{
	"owner": true, "hosts": true, "rest": true, "settings": true, "recrawl_migrations": true, "contents": true, "sqlite_sequence": true, "feed": true,
}

// A deletion that is killed every few writes leaves nothing of the crawl, in no table.
func TestDeleteLeavesNoRow(t *testing.T) {
	t.Parallel()
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	crowded(t, e)
	whole := sqlstore.New(e, sqlstore.Options{})
	rec, err := whole.Crawl(t.Context(), "news")
	if err != nil {
		t.Fatal(err)
	}
	seeds := store.ImportParams{CrawlID: rec.ID, Source: "list"}
	for _, url := range []string{"https://busy.test/1", "https://seed.test/"} {
		seeds.Seeds = append(seeds.Seeds, store.NewSeed{URL: url, Host: "seed.test", Keys: []crawl.SeedKey{{Kind: crawl.SeedURL, Text: url}}})
	}
	if _, err := whole.ImportSeeds(t.Context(), seeds); err != nil {
		t.Fatal(err)
	}
	done := false
	for lives := 4; !done; lives++ { // each process lives a little longer than the one before
		s := sqlstore.New(&mortal{engine: e, writes: lives}, sqlstore.Options{})
		_, err := s.BeginDelete(t.Context(), "news")
		for err == nil && !done {
			var res store.DeleteResult
			res, err = s.DeleteCrawl(t.Context(), store.DeleteParams{CrawlID: rec.ID, Limit: 1000})
			done = res.Done
		}
		if err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
	err = e.Read(t.Context(), func(tx sqlstore.Tx) error {
		var tables []string
		err := tx.Query(t.Context(), `SELECT name FROM sqlite_master WHERE type = 'table'`, nil, func(row sqlstore.Row) error {
			tables = append(tables, "")
			return row.Scan(&tables[len(tables)-1])
		})
		for _, table := range tables {
			var n int64
			if err = errors.Join(err, tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+table, nil, &n)); n > 0 && !kept[table] {
				t.Errorf("%s has %d rows", table, n)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
