//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/pgtest"
)

// TestEraseLeavesNoTrace: forgotten data is no longer in the file of any table or
// index, and VACUUM alone removes it from the tables.
func TestEraseLeavesNoTrace(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s := openDSN(t, dsn)
	tell(t, s, "gone.test", "stays.test")
	refuse(t, s, "422 no https://gone.test/word-1, please")
	files := newFiles(t, dsn)
	if files.count("title-of-gone.test") < 100 || files.count("gone.test/word") < 100 {
		t.Fatal("the words are not where this test looks for them")
	}
	if _, err := s.Forget(t.Context(), store.ForgetParams{Target: store.Target{Host: "gone.test"}, Limit: 10_000}); err != nil {
		t.Fatal(err)
	}
	if err := s.Erase(t.Context(), store.EraseParams{}); err != nil {
		t.Fatal(err)
	}
	if dead := files.dead(); len(dead) > 0 {
		t.Errorf("VACUUM left dead rows in %v", dead)
	}
	if err := s.Erase(t.Context(), store.EraseParams{Rewrite: true}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"title-of-gone.test", "gone.test/word"} {
		if n := files.count(word); n != 0 {
			t.Errorf("%q is in the tables' files %d times", word, n)
		}
	}
	if n := files.count("title-of-stays.test"); n < 100 {
		t.Errorf("%d titles that stay, want all 100", n)
	}
}

// TestEraseLetsOthersIn: a rewrite does not wait for a table that a long transaction reads, since
// everybody else would queue behind it.
func TestEraseLetsOthersIn(t *testing.T) {
	t.Parallel()
	e := opened(t, pgtest.DSN(t))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // only ends a hang
	defer cancel()
	dump, err := e.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dump.Rollback(t.Context()) }()
	if _, err := dump.Exec(ctx, "SELECT * FROM pages"); err != nil {
		t.Fatal(err)
	}
	err = e.erase(ctx, true, []string{"frontier", "pages"}, 0)
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "table pages: it waits for a long transaction") {
		t.Errorf("beside a pg_dump: %v", err)
	}
	if err := e.erase(ctx, false, []string{"pages"}, 0); err != nil {
		t.Errorf("without a rewrite: %v", err)
	}
	if err := dump.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := e.erase(ctx, true, []string{"pages"}, 0); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// tell fills a store with visited pages of some hosts.
func tell(t *testing.T, s store.Store, hosts ...string) {
	t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	params := store.RegisterParams{CrawlID: rec.ID}
	for i := range 100 {
		for _, host := range hosts {
			params.URLs = append(params.URLs, store.NewURL{URL: fmt.Sprintf("https://%s/word-%d", host, i), Host: host})
		}
	}
	if _, err := s.RegisterLinks(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	pages, err := s.ListPages(t.Context(), store.PageFilter{CrawlID: rec.ID, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		v := store.VersionRecord{PageID: p.PageID, Visit: 1, Digest: fmt.Sprint(p.PageID), Title: "title-of-" + p.Host}
		if _, err := s.SaveVersion(t.Context(), store.SaveVersionParams{Version: v}); err != nil {
			t.Fatal(err)
		}
		_, err := s.RecordVisit(t.Context(), store.RecordParams{
			Visit: store.VisitRecord{PageID: p.PageID, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// refuse makes a sink of the first crawl whose receiver has said something.
func refuse(t *testing.T, s store.Store, words string) {
	t.Helper()
	ends, err := s.FeedEnds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sink, err := s.OpenSink(t.Context(), 1, "hook", ends.Newest)
	if err != nil {
		t.Fatal(err)
	}
	said := sink
	said.Problem = words
	if err := s.MoveSink(t.Context(), sink, said); err != nil {
		t.Fatal(err)
	}
}

// tableFiles looks into the files of a database by way of its server, which may run
// elsewhere.
type tableFiles struct {
	t    *testing.T
	conn *pgx.Conn
}

func newFiles(t *testing.T, dsn string) tableFiles {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tableFiles{t, conn}
}

// count counts a text in the files of all tables and indexes.
func (f tableFiles) count(text string) int {
	f.t.Helper()
	_, err := f.conn.Exec(f.t.Context(), "CHECKPOINT") // brings them up to date
	var files []string
	if err == nil {
		var rows pgx.Rows
		rows, err = f.conn.Query(f.t.Context(), `SELECT pg_relation_filepath(oid) FROM pg_class
			WHERE relkind IN ('r', 'i', 't') AND relnamespace <> 'pg_catalog'::regnamespace`)
		if err == nil {
			files, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
	}
	n := 0
	for _, file := range files {
		var data []byte
		err = errors.Join(err, f.conn.QueryRow(f.t.Context(), "SELECT pg_read_binary_file($1)", file).Scan(&data))
		n += strings.Count(string(data), text)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// dead names the tables with rows that were deleted and are still there.
func (f tableFiles) dead() []string {
	f.t.Helper()
	_, err := f.conn.Exec(f.t.Context(), "CREATE EXTENSION IF NOT EXISTS pgstattuple")
	var rows pgx.Rows
	if err == nil {
		rows, err = f.conn.Query(f.t.Context(), `SELECT relname::text FROM pg_class
			WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND (pgstattuple(oid)).dead_tuple_count > 0`)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == "hosts" || name == "crawl_counts" || name == "forgotten" }) // no pages in them
}
