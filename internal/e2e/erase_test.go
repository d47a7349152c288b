package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// telling is a tree of pages with unique names, titles and texts; its root names only the
// first of them.
func telling(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := 0
		if _, err := fmt.Sscanf(r.URL.Path, "/tellingname%d.html", &i); r.URL.Path != "/hub" && err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<html><head><title>Tellingtitle %d</title></head><body><p>Tellingtext %d, of a page with words enough to be one.</p>", i, i)
		for child := 4*i + 1; child <= 4*i+4 && child < n; child++ {
			fmt.Fprintf(w, `<a href="/tellingname%d.html">on</a> `, child)
		}
		fmt.Fprint(w, "</body></html>")
	})
}

// bystander has a page that links to another site's.
func bystander(link string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && r.URL.Path != "/about" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<html><title>Bystander</title><p>A page that stays, with a link.</p><a href="/about">about</a> <a href=%q>elsewhere</a></html>`, link)
	})
}

// tracesIn lists the files below a folder that hold one of the words, with the number of
// times.
func tracesIn(t *testing.T, folder string, words ...string) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil // of a process that has just ended
		}
		if err != nil {
			return err
		}
		for _, word := range words {
			if n := bytes.Count(data, []byte(word)); n > 0 {
				name, err := filepath.Rel(folder, path)
				if err != nil {
					return err
				}
				found[name] += n
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var tellingWords = []string{"tellingname", "Tellingtitle", "Tellingtext"}

// TestForgetLeavesNoTrace forgets a host of a running crawl, is killed while doing so and
// run again: no file of the data folder names a page of it, or holds a title or a text,
// except for another site's mention of it.
func TestForgetLeavesNoTrace(t *testing.T) {
	sideBySide(t, 30)
	const pages = 40
	gone := serve(t, telling(pages))
	stays := serve(t, bystander(gone.url+"/hub"))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, stays.url+"/", gone.url+"/hub", "--name", "t", "--delay", "1ms", "--factor", "0", "--default-interval", "1d", "--contact", "ops@example.org")
	d.await("every page is visited", d.crawled("t", pages+2, 1))
	before := tracesIn(t, data, tellingWords...)
	for _, file := range []string{"recrawl.db", "temporal.db"} {
		if before[file]+before[file+"-wal"] < pages {
			t.Fatalf("traces are in %v: this test does not look where they are", before)
		}
	}

	host := strings.TrimPrefix(gone.url, "http://")
	d.killForget("--host", host)
	out, code, errout := d.starter("forget", "--host", host, "--yes")
	if code != 0 || !strings.Contains(out, "forgot host "+host) || !strings.Contains(out, "seed "+gone.url+"/hub") || !strings.Contains(out, "history of crawl/t still names it") {
		t.Fatalf("forget: %d: %s%s", code, out, errout)
	}
	// The killed command had claimed whatever it was about to delete.
	claimed := 0
	for line := range strings.Lines(out) {
		if strings.Contains(line, "contents are claimed") {
			fmt.Sscan(line, &claimed)
		}
	}
	check := func(when string) {
		t.Helper()
		found := tracesIn(t, data, tellingWords...)
		contents := 0
		for file := range found {
			if strings.HasPrefix(file, "archive") {
				contents++
				delete(found, file)
			}
		}
		if len(found) > 0 || contents > claimed {
			t.Errorf("%s: %v and %d contents, of which %d are claimed", when, found, contents, claimed)
		}
	}
	check("after forget")
	if pages := d.pages("t"); len(pages) != 2 {
		t.Errorf("%d pages are left, want the other site's 2", len(pages))
	}

	// The rest goes on.
	if out, code, errout := d.starter("visit", stays.url+"/about"); code != 0 {
		t.Fatalf("visit: %d: %s%s", code, out, errout)
	}
	d.await("the other site is visited again", func() bool { return d.visits(stays.url+"/about") >= 2 })
	check("after more visits")
	d.stop()
	check("after the end")
	sound(t, filepath.Join(data, "recrawl.db"))
	sound(t, filepath.Join(data, "temporal.db"), "executions_visibility_fts_text", "executions_visibility_fts_keyword_list")
	d.start()
	d.await("it goes on", func() bool { return len(d.pages("t")) == 2 })
	d.stop()
	check("after another start")
}

// sound checks a SQLite file, and indexes of texts in it against what they index.
func sound(t *testing.T, path string, indexes ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if found := column(t, db, "PRAGMA integrity_check"); fmt.Sprint(found) != "[ok]" {
		t.Errorf("%s: %v", path, found)
	}
	for _, index := range indexes {
		if _, err := db.Exec("INSERT INTO " + index + "(" + index + ", rank) VALUES ('integrity-check', 1)"); err != nil {
			t.Errorf("%s: %s: %v", path, index, err)
		}
	}
}

// TestForgetOnePageOfMany forgets a page whose name begins as those of others do.
func TestForgetOnePageOfMany(t *testing.T) {
	sideBySide(t, 25)
	gone := serve(t, telling(12))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, gone.url+"/hub", "--name", "t", "--delay", "1ms", "--factor", "0", "--default-interval", "1d")
	d.await("every page is visited", d.crawled("t", 12, 1))
	if out, code, errout := d.starter("forget", gone.url+"/tellingname1.html", "--yes"); code != 0 || !strings.Contains(out, "1 page") {
		t.Fatalf("forget: %d: %s%s", code, out, errout)
	}
	for file, n := range tracesIn(t, data, "tellingname1.html", "Tellingtitle 1<", "Tellingtext 1,") {
		// Its parent's mention of it belongs to the parent.
		if filepath.Dir(filepath.Dir(filepath.Dir(file))) != "archive" || n > 1 {
			t.Errorf("%s has it %d times", file, n)
		}
	}
	if pages := d.pages("t"); len(pages) != 11 {
		t.Errorf("%d pages are left, want 11", len(pages))
	}
	d.await("the others' workflows are left", func() bool { return d.running("t") == 11 })
	d.stop()
}

// killForget starts a takedown and kills it when it has begun to remove pages.
func (d *dev) killForget(args ...string) {
	d.t.Helper()
	all := len(d.pages("t"))
	flows := plainClient(d.t, d)
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, programs.starter, append([]string{"--data", d.data, "forget", "--yes"}, args...)...)
	cmd.Env = cleanEnv(d.t)
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	d.awaitEvery(5*time.Millisecond, "pages are being removed", func() bool {
		select {
		case <-ended:
			return true // it was faster
		default:
			return len(d.pages("t")) < all || noWorkflows(d.t, flows, "WorkflowType = 'Page'")
		}
	})
	cancel()
	<-ended
}
