package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// telling fills a store with pages of two hosts whose URLs and titles say whose they
// are, in mixed order and in many transactions, so that the file's pages are split
// and rows move between them.
func telling(t *testing.T, s store.Store) {
	t.Helper()
	rec := openCrawl(t, s, "news")
	for i := range 15 {
		params := store.RegisterParams{CrawlID: rec.ID}
		for j := range 20 {
			n := (i*20 + j) * 7919 % 300 // hashes order the index, this the words
			for _, host := range []string{"gone.test", "stays.test"} {
				url := fmt.Sprintf("https://%s/word-%d-of-%s", host, n, strings.Repeat("x", n%90))
				params.URLs = append(params.URLs, store.NewURL{URL: url, Host: host})
			}
		}
		if _, err := s.RegisterLinks(t.Context(), params); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := s.ListPages(t.Context(), store.PageFilter{CrawlID: rec.ID, Limit: 2000})
	if err != nil {
		t.Fatal(err)
	}
	for visit := 1; visit <= 4; visit++ {
		for _, p := range pages {
			title := fmt.Sprintf("title-of-%s %d in its version %d %s", p.Host, p.PageID, visit, strings.Repeat("y", int(p.PageID)%60))
			v := store.VersionRecord{PageID: p.PageID, Visit: visit, Digest: fmt.Sprint(p.PageID, visit), Title: title}
			if _, err := s.SaveVersion(t.Context(), store.SaveVersionParams{Version: v}); err != nil {
				t.Fatal(err)
			}
			_, err := s.RecordVisit(t.Context(), store.RecordParams{
				Visit: store.VisitRecord{PageID: p.PageID, Visit: visit, Outcome: crawl.OutcomeNew, State: crawl.Active, Problem: "problem-of-" + p.Host + strings.Repeat("z", int(p.PageID)%90)},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// traces counts a text in all files of a folder.
func traces(t *testing.T, dir, text string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(data, []byte(text))
	}
	return n
}

// TestEraseLeavesNoTrace: forgotten data is in no file of the store any more, even
// if others have it open, and the rest is unchanged.
func TestEraseLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "store.db")
	e := openOwner(t, path) // as `starter dev` has it open
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := e.writer.exec(t.Context(), "PRAGMA synchronous = OFF", nil); err != nil { // thousands of commits, and no power cut
		t.Fatal(err)
	}
	telling(t, sqlstore.New(e, sqlstore.Options{}))
	if traces(t, dir, "gone.test/word") < 300 || traces(t, dir, "title-of-gone.test") < 600 {
		t.Fatal("the words are not where this test looks for them")
	}

	s := openAt(t, path, Options{}) // as `starter forget` has it
	if _, err := s.Forget(t.Context(), store.ForgetParams{Target: store.Target{Host: "gone.test"}, Limit: 10_000}); err != nil {
		t.Fatal(err)
	}
	if err := s.Erase(t.Context(), store.EraseParams{Rewrite: true}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"gone.test/", "title-of-gone.test", "problem-of-gone.test"} {
		if n := traces(t, dir, word); n != 0 {
			t.Errorf("%q is in the files %d times", word, n)
		}
	}
	for word, least := range map[string]int{"stays.test/word": 300, "title-of-stays.test": 600, "problem-of-stays.test": 600} {
		if n := traces(t, dir, word); n < least {
			t.Errorf("%q is in the files %d times, want at least %d", word, n, least)
		}
	}
	audit(t, e)
	if err := sqlstore.New(e, sqlstore.Options{}).Erase(t.Context(), store.EraseParams{}); err != nil {
		t.Errorf("the owner's own: %v", err)
	}
}

// TestEraseWaitsForReaders: a log that somebody reads from is emptied when the
// reader is done.
func TestEraseWaitsForReaders(t *testing.T) {
	e := testEngine(t)
	reading, done, erased := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	read := make(chan error, 1)
	go func() {
		read <- e.Read(context.Background(), func(tx sqlstore.Tx) error {
			n := 0
			err := tx.QueryRow(context.Background(), "SELECT COUNT(*) FROM hosts", nil, &n)
			close(reading)
			<-done
			return err
		})
	}()
	<-reading
	if err := e.Write(t.Context(), func(tx sqlstore.Tx) error { return insertHost(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	go func() { erased <- e.Erase(context.Background(), false, nil) }()
	close(done)
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	if err := <-erased; err != nil {
		t.Fatal(err)
	}
	if log, err := os.Stat(e.path + "-wal"); err != nil || log.Size() != 0 {
		t.Errorf("the write-ahead log after it: %v, %v", log, err)
	}
}

// TestEraseIsCutOff: a context that ends takes nothing with it.
func TestEraseIsCutOff(t *testing.T) {
	e := testEngine(t)
	s := sqlstore.New(e, sqlstore.Options{})
	openCrawl(t, s, "news")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Erase(ctx, store.EraseParams{Rewrite: true}); err == nil {
		t.Error("erased although nobody wanted it any more")
	}
	if _, err := s.Crawl(t.Context(), "news"); err != nil {
		t.Error(err)
	}
}

// TestRewriteByRelativePath: commands get data folders as people type them.
func TestRewriteByRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	openAt(t, "store.db", Options{})
	if err := Rewrite(t.Context(), "store.db", true); err != nil {
		t.Error(err)
	}
	db, err := OpenFile(t.Context(), "store.db")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := Rewrite(t.Context(), "none.db", true); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a file that is not there: %v", err)
	}
}
