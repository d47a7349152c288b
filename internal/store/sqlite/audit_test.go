package sqlite

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
)

// openAudited opens an empty store in which all delta counts are checked after the test.
func openAudited(t *testing.T) store.Store {
	t.Helper()
	e := openEmpty(t)
	t.Cleanup(func() {
		audit(t, e)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return sqlstore.New(e, sqlstore.Options{})
}

func audit(t *testing.T, e *engine) {
	t.Helper()
	runAudits(t, e, storetest.Audits())
}

// auditCut is audit while pages are half forgotten: they keep the number of their
// visits, which are removed first.
func auditCut(t *testing.T, e *engine) {
	t.Helper()
	some := maps.Clone(storetest.Audits())
	delete(some, "visits in order")
	runAudits(t, e, some)
}

func runAudits(t *testing.T, e *engine, audits map[string]string) {
	t.Helper()
	for name, query := range audits {
		var wrong []string
		// Not the test's context: it has ended when clean-up begins. Nor the writer's connection,
		// except in turn: who fails is answered before the group is committed.
		err := e.Glance(context.Background(), func(tx sqlstore.Tx) error {
			return tx.Query(context.Background(), query, nil, func(row sqlstore.Row) error {
				var text string
				err := row.Scan(&text)
				wrong = append(wrong, text)
				return err
			})
		})
		if err != nil || len(wrong) > 0 {
			t.Errorf("%s: %v, %s", name, err, strings.Join(wrong, "; "))
		}
	}
}

// openCrawl opens a crawl with a host's URLs.
func openCrawl(t testing.TB, s store.Store, name string) store.CrawlRecord {
	t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name = name
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestHashCollisionIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	rec := openCrawl(t, s, "news")
	params := store.RegisterParams{CrawlID: rec.ID, URLs: []store.NewURL{{URL: "https://example.com/a", Host: "example.com"}}}
	if _, err := s.RegisterLinks(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "UPDATE pages SET url = 'https://example.com/b'") // as if b had the hash of a
	if _, err := s.RegisterLinks(t.Context(), params); err == nil || !strings.Contains(err.Error(), "same hash") {
		t.Errorf("registering a URL with another's hash: %v", err)
	}
	if _, err := s.FindPages(t.Context(), "https://example.com/a", ""); err == nil || !strings.Contains(err.Error(), "same hash") {
		t.Errorf("finding a URL with another's hash: %v", err)
	}
}

func TestOldMinutesAreForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	rec := openCrawl(t, s, "news")
	_, err := s.RegisterLinks(t.Context(), store.RegisterParams{
		CrawlID: rec.ID, URLs: []store.NewURL{{URL: "https://example.com/a", Host: "example.com"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := s.FindPages(t.Context(), "https://example.com/a", "news")
	if err != nil {
		t.Fatal(err)
	}
	record := func(visit int) {
		_, err := s.RecordVisit(t.Context(), store.RecordParams{
			Visit: store.VisitRecord{PageID: pages[0].PageID, Visit: visit, Outcome: crawl.OutcomeUnchanged, State: crawl.Active},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	record(1)
	execute(t, path, "UPDATE crawl_counts SET code = code - 61 WHERE kind = 'minute'")
	s = openAt(t, path, Options{}) // which does not remember the minute
	record(2)
	st, err := s.Status(t.Context(), rec.ID)
	if err != nil || st.LastHour != 1 || st.Visits != 2 {
		t.Errorf("%d of %d visits in the last hour, %v; want 1 of 2", st.LastHour, st.Visits, err)
	}
	e, err := openEngine(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	err = e.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM crawl_counts WHERE kind = 'minute'", nil, &rows)
	})
	if err = errors.Join(err, e.Close()); err != nil || rows != 1 {
		t.Errorf("%d minutes are kept, %v; want the last one", rows, err)
	}
}

// TestNotesOfDeadWorkers: a killed worker's note is not trusted for long, and is
// removed in the end.
func TestNotesOfDeadWorkers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openAt(t, path, Options{})
	for _, name := range []string{"killed", "long gone"} {
		if err := s.NoteWorker(t.Context(), name, "no room"); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, path, "UPDATE workers SET seen_at = seen_at - 181000000 WHERE name = 'killed'",
		"UPDATE workers SET seen_at = seen_at - 90000000000 WHERE name = 'long gone'")
	if held, err := s.HeldWorkers(t.Context()); err != nil || len(held) != 0 {
		t.Errorf("held: %v, %v", held, err)
	}
	if err := s.NoteWorker(t.Context(), "living", ""); err != nil {
		t.Fatal(err)
	}
	e, err := openEngine(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	err = e.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM workers", nil, &rows)
	})
	if err = errors.Join(err, e.Close()); err != nil || rows != 2 {
		t.Errorf("%d notes, %v; want those of the living and of who was killed just now", rows, err)
	}
}

// BenchmarkRegister registers pages of 100 links, half of them new, into a crawl
// of many hosts.
func BenchmarkRegister(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), Options{Owner: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	storetest.BenchmarkRegister(b, s)
}

func BenchmarkGuarded(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), Options{Owner: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	storetest.BenchmarkGuarded(b, s, func() error { return nil })
}
