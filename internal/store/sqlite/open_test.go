package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// execute runs statements on a SQLite file behind the store's back.
func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantOpenError checks that a file does not open, and why.
func wantOpenError(t *testing.T, path string, opts Options, kind error, words string) {
	t.Helper()
	s, err := Open(t.Context(), path, opts)
	if err == nil {
		t.Fatal(errors.Join(errors.New("the file was opened"), s.Close()))
	}
	if kind != nil && !errors.Is(err, kind) {
		t.Errorf("error %q is not %q", err, kind)
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, words) || !strings.Contains(text, filepath.Base(path)) {
		t.Errorf("error %q: want one line with the file's name and %q", err, words)
	}
}

func TestOpenRefusesForeignFiles(t *testing.T) {
	path := func(name string) string { return filepath.Join(t.TempDir(), name) }
	text := path("notes.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	tables := path("tables.db")
	execute(t, tables, "CREATE TABLE theirs (id INTEGER)")
	marked := path("marked.db")
	execute(t, marked, "PRAGMA application_id = 12345", "CREATE TABLE t (id INTEGER)", "DROP TABLE t")
	newer := path("newer.db")
	openAt(t, newer, Options{}).Close()
	execute(t, newer, "INSERT INTO recrawl_migrations VALUES ('9999_future', 1)", "UPDATE settings SET value = '9998_present' WHERE name = 'compatible'")

	for _, c := range []struct{ path, words string }{
		{text, "not a SQLite database"},
		{tables, "another program"},
		{marked, "another program"},
		{newer, "9999_future"},
	} {
		before, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		wantOpenError(t, c.path, Options{}, store.ErrForeign, c.words)
		wantOpenError(t, c.path, Options{ReadOnly: true}, store.ErrForeign, c.words)
		after, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if string(before) != string(after) {
			t.Errorf("%s: opening changed a foreign file", c.path)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	wantOpenError(t, filepath.Join(dir, "missing", "store.db"), Options{}, store.ErrUnavailable, "folder")
	wantOpenError(t, dir, Options{}, store.ErrUnavailable, "cannot be opened")
	wantOpenError(t, filepath.Join(dir, "none.db"), Options{ReadOnly: true}, store.ErrNotFound, "no such store")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("failed opens left %v, %v", entries, err)
	}
}

// TestNewStoreIsWhole: a store that does not get all of its tables gets none, and the next
// process that opens it creates it again.
func TestNewStoreIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	all, err := sqlstore.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{path: path, requests: make(chan *request), served: make(chan struct{}), closed: make(chan struct{})}
	if e.writer, err = e.connect(t.Context(), "rwc"); err != nil {
		t.Fatal(err)
	}
	go e.serve()
	broken := append(slices.Clip(all), sqlstore.Migration{Name: "9999_broken", SQL: "CREATE TABLE"})
	if err := sqlstore.Migrate(t.Context(), e.Write, broken); err == nil || !strings.Contains(err.Error(), "9999_broken") {
		t.Errorf("error %v, want the migration that fails", err)
	}
	look, err := e.connect(t.Context(), "ro")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, err := e.identify(t.Context(), look)
	if err := errors.Join(err, look.close()); err != nil || tables != 0 {
		t.Errorf("%d tables and indexes, %v; want none", tables, err)
	}
	crash(t, e)
	openAt(t, path, Options{Owner: true})
}

func TestOpenEmptyFileForReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantOpenError(t, path, Options{ReadOnly: true}, store.ErrForeign, "another program")
}

func TestOpenOddNames(t *testing.T) {
	for _, name := range []string{"a b.db", "q?mode=memory.db", "h#x.db", "p%20.db", "ü.db", "it's.db"} {
		path := filepath.Join(t.TempDir(), name)
		openAt(t, path, Options{Owner: true})
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// The files of a store belong to its owner alone, including those that come and go
// beside it.
func TestFilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	openAt(t, filepath.Join(dir, "store.db"), Options{Owner: true})
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has the permissions %o", e.Name(), got)
		}
	}
	if len(entries) < 4 {
		t.Errorf("%d files, want the store, its log, the index of that and the owner's lock", len(entries))
	}
}

func TestOneOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	first := openAt(t, path, Options{Owner: true})
	wantOpenError(t, path, Options{Owner: true}, store.ErrUnavailable, "another recrawl process")
	openAt(t, path, Options{})               // a command beside it
	openAt(t, path, Options{ReadOnly: true}) // a question beside it
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openAt(t, path, Options{Owner: true})
}

func TestReadOnlyReadsAndDoesNotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	w := openAt(t, path, Options{Owner: true})
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	if _, err := w.OpenCrawl(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	r := openAt(t, path, Options{ReadOnly: true, Owner: true})
	if _, err := r.Crawl(t.Context(), "news"); err != nil {
		t.Error(err)
	}
	spec.Name = "more"
	if _, err := r.OpenCrawl(t.Context(), spec); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a read-only store wrote: %v", err)
	}
	if err := errors.Join(r.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	// Also when nobody has it open.
	r = openAt(t, path, Options{ReadOnly: true})
	if _, err := r.Crawl(t.Context(), "news"); err != nil {
		t.Error(err)
	}
}

func TestOlderStoreIsNotReadBlindly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	openAt(t, path, Options{}).Close()
	execute(t, path, "DELETE FROM recrawl_migrations WHERE name > '0001'")
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "older recrawl") {
		t.Errorf("error %v: want it to say that the store is older", err)
	}
}

// TestOneReleaseNewer: a store that the next release has migrated can be read, written and
// owned by this one, as in a rolling upgrade, and is left as it is.
func TestOneReleaseNewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	openAt(t, path, Options{}).Close()
	last := lastMigration(t)
	execute(t, path, "INSERT INTO recrawl_migrations VALUES ('9999_next', 1)", "ALTER TABLE hosts ADD COLUMN next_one INTEGER NOT NULL DEFAULT 0",
		"UPDATE settings SET value = '"+last+"' WHERE name = 'compatible'")
	openAt(t, path, Options{ReadOnly: true}).Close()
	s := openAt(t, path, Options{Owner: true})
	openCrawl(t, s, "news")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := openAt(t, path, Options{ReadOnly: true})
	if _, err := c.Crawl(t.Context(), "news"); err != nil {
		t.Error(err)
	}
	execute(t, path, "DELETE FROM settings WHERE name = 'compatible'")
	wantOpenError(t, path, Options{}, store.ErrForeign, "9999_next")
}

func lastMigration(t *testing.T) string {
	t.Helper()
	all, err := sqlstore.Migrations(migrationFiles)
	if err != nil {
		t.Fatal(err)
	}
	return all[len(all)-1].Name
}

// crash ends an engine as the end of its process would: without Close.
func crash(t *testing.T, e *engine) {
	t.Helper()
	if err := e.abandon(); err != nil {
		t.Fatal(err)
	}
}

// restedAt reads the time from which all hosts have rested.
func restedAt(t *testing.T, e *engine) int64 {
	t.Helper()
	var at int64
	err := e.Read(t.Context(), func(tx sqlstore.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT rested_at FROM rest", nil, &at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func openOwner(t testing.TB, path string) *engine {
	t.Helper()
	e, err := openEngine(t.Context(), path, Options{Owner: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestUncleanEndLetsHostsRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	e := openOwner(t, path)
	if at := restedAt(t, e); at != 0 {
		t.Errorf("a new store rests from %d", at)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openOwner(t, path)
	if at := restedAt(t, e); at != 0 {
		t.Errorf("a store that was closed rests from %d", at)
	}
	crash(t, e)
	openAt(t, path, Options{}).Close() // not the owner: cleans nothing
	e = openOwner(t, path)
	if restedAt(t, e) == 0 {
		t.Error("a store that was not closed does not rest")
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Errorf("close twice: %v", err)
	}
	if err := e.Read(context.Background(), func(sqlstore.Tx) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("read after close: %v", err)
	}
	if err := e.Write(context.Background(), func(sqlstore.Tx) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("write after close: %v", err)
	}
}

// TestDeadOwnersPermitsReturn: permits that the last owner had in flight or was
// about to begin hold nobody up after it was killed. Pages that are parked stay so.
func TestDeadOwnersPermitsReturn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	e := openOwner(t, path)
	s := sqlstore.New(e, sqlstore.Options{})
	var rec, paused store.CrawlRecord
	for name, rec := range map[string]*store.CrawlRecord{"news": &rec, "paused": &paused} {
		spec := crawl.DefaultSpec()
		spec.Name, spec.Politeness.Delay = name, crawl.Duration(time.Millisecond)
		var err error
		if *rec, err = s.OpenCrawl(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	var pages []crawl.PageRef
	for _, name := range []string{"a", "b", "c", "parked"} {
		rec, url := rec, "https://example.com/"+name
		if name == "parked" {
			rec = paused
		}
		params := store.RegisterParams{CrawlID: rec.ID, URLs: []store.NewURL{{URL: url, Host: "example.com"}}}
		if _, err := s.RegisterLinks(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		found, err := s.FindPages(t.Context(), url, rec.Spec.Name)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found[0].PageRef)
	}
	robots := store.SaveRobotsParams{Origin: "https://example.com", State: store.RobotsAllowAll, Status: 404, Expires: time.Hour}
	if err := s.SaveRobots(t.Context(), robots); err != nil {
		t.Fatal(err)
	}
	acquire := func(s store.Store, page crawl.PageRef) store.AcquireResult {
		t.Helper()
		a, err := s.Acquire(t.Context(), store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassRevisit, Patience: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	inFlight, held := acquire(s, pages[0]), acquire(s, pages[1])
	if _, err := s.Begin(t.Context(), store.BeginParams{Permit: inFlight.Permit, Page: pages[0], Visit: 1}); err != nil {
		t.Fatal(err)
	}
	setState := func(s store.Store, state crawl.CrawlState) {
		t.Helper()
		if _, err := s.SetCrawlState(t.Context(), "paused", state); err != nil {
			t.Fatal(err)
		}
	}
	setState(s, crawl.CrawlPaused)
	if a := acquire(s, pages[3]); a.Answer != store.GateParked {
		t.Fatalf("%s, want parked", a.Answer)
	}
	crash(t, e)

	s = sqlstore.New(openOwner(t, path), sqlstore.Options{})
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := s.Begin(t.Context(), store.BeginParams{Permit: held.Permit, Page: pages[1], Visit: 1}); !errors.Is(err, store.ErrRefused) {
		t.Errorf("the dead owner's permit begins: %v", err)
	}
	if a := acquire(s, pages[2]); a.Answer != store.GateGranted {
		t.Errorf("%s for %v (%s), want granted", a.Answer, a.Wait, a.Reason)
	}
	hosts, err := s.ListHosts(t.Context(), store.HostFilter{CrawlID: rec.ID, Limit: 10})
	if err != nil || len(hosts) != 1 || hosts[0].Waiting != 2 {
		t.Errorf("hosts %+v, %v; want two waiting", hosts, err)
	}
	setState(s, crawl.CrawlRunning)
	if e, err := s.Unpark(t.Context(), paused.ID, 10); err != nil || len(e.Turns) != 1 {
		t.Errorf("a resume turns %+v, %v; want the page that is parked", e.Turns, err)
	}
}

// That the owner's lock cannot be taken for another reason is no sign of another owner.
func TestOwnersLockFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.Mkdir(path+"-owner", 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, Options{Owner: true})
	if !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), "in use") || !DiskFails(err) {
		t.Errorf("%v", err)
	}
}
