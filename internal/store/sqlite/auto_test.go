package sqlite

import (
	"path/filepath"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store/sqlstore"
)

// A worker of a release without automatic delays reads the columns that it knows, and keeps
// to the longest delay.
func TestAutoDelayIsLongestForOlderReleases(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	s := sqlstore.New(e, sqlstore.Options{})
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	for _, text := range []string{"auto", "3s"} {
		if err := spec.Politeness.SetDelay(text); err != nil {
			t.Fatal(err)
		}
		if _, err := s.OpenCrawl(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		var delay, auto int64
		err := e.writer.query(t.Context(), "SELECT delay, auto_delay FROM crawls WHERE name = 'news'", nil, func(row sqlstore.Row) error {
			return row.Scan(&delay, &auto)
		})
		if want := spec.Politeness.Delay.Std().Microseconds(); err != nil || delay != want || (auto == 1) != spec.Politeness.AutoDelay {
			t.Errorf("%s is stored as %d µs, automatic %d, want %d: %v", text, delay, auto, want, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
