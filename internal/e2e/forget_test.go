package e2e

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"
)

// tablesWith names the tables of a SQLite file that hold a text anywhere.
func tablesWith(t *testing.T, path, text string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var found []string
	for _, table := range column(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
		rows, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if strings.Contains(fmt.Sprintf("%s", *v.(*any)), text) {
					found = append(found, table+"."+columns[i])
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func column(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// archived names the files of an archive whose names hold a digest.
func archived(t *testing.T, folder, digest string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(strings.ReplaceAll(path, string(filepath.Separator), ""), digest) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// treeNaming is a tree in which two pages name another one without a link to it: one redirects
// to it, and one names it as canonical.
func treeNaming(n int, name string) http.Handler {
	pages := tree(n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/p5.html":
			http.Redirect(w, r, name, http.StatusMovedPermanently)
		case "/p6.html":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<!doctype html><title>a page</title><link rel=canonical href=%q><p>It has a text of its own.", name)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}

// TestForgetLeavesNothing forgets a page of a running crawl: no row, byte or
// workflow of it is left, and a page that links to it does not bring it back.
func TestForgetLeavesNothing(t *testing.T) {
	sideBySide(t, 30)
	const name = "/p1.html"
	s := serve(t, treeNaming(7, name))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, crawlArgs(s, "10ms", "--default-interval", "3s")...)
	d.await("every page is visited", d.crawled("t", 7, 1))
	d.await("the page is visited again", func() bool { return d.visits(s.url+name) >= 2 })
	page := s.url + name
	digest := d.history(page)[0].Digest
	store, archive := filepath.Join(data, "recrawl.db"), filepath.Join(data, "archive")
	if len(digest) != 64 || len(archived(t, archive, digest)) == 0 || len(tablesWith(t, store, name)) == 0 {
		t.Fatalf("digest %q: the page's bytes and rows are not where this test looks", digest)
	}

	redirects := "page/t/" + s.url + "/p5.html"
	if d.eventsWith(redirects, name) == 0 {
		t.Fatalf("the histories of %s do not name it", redirects)
	}

	out, code, errout := d.starter("forget", page, "--yes")
	if code != 0 || !strings.Contains(out, "1 page") {
		t.Fatalf("forget: %d: %s%s", code, out, errout)
	}
	if n := d.eventsWith(redirects, name); n > 0 {
		t.Errorf("%d events of the histories of %s name it", n, redirects)
	}
	asked := s.count(name)
	if found := tablesWith(t, store, name); len(found) > 0 {
		t.Errorf("the store has it in %v", found)
	}
	if found := archived(t, archive, digest); len(found) > 0 {
		t.Errorf("the archive has %v", found)
	}
	if _, code, _ := d.starter("history", page); code != 3 {
		t.Errorf("history: exit %d, want 3", code)
	}
	d.await("its workflows are gone", func() bool {
		out := d.temporal("workflow", "count", "--query", fmt.Sprintf("WorkflowId = 'page/t/%s'", page))
		return strings.TrimSpace(out) == "Total: 0"
	})

	// The pages that link to it are visited and change; it stays away.
	root := d.visits(s.url + "/")
	d.await("the root is visited again", func() bool { return d.visits(s.url+"/") >= root+2 })
	if again := s.count(name); again > asked {
		t.Errorf("it was requested %d times more", again-asked)
	}
	// So are those that name it: one at its time, the redirect when somebody asks for it.
	for _, other := range []string{"/p5.html", "/p6.html"} {
		visits := d.visits(s.url + other)
		if out, code, errout := d.starter("visit", s.url+other); code != 0 {
			t.Errorf("visit %s: %d: %s%s", other, code, out, errout)
		}
		d.await(other+" is visited again", func() bool { return d.visits(s.url+other) > visits })
	}
	if n := d.eventsWith(redirects, name); n > 0 {
		t.Errorf("%d events of the histories of %s name it after another visit", n, redirects)
	}
	if found := tablesWith(t, store, name); len(found) > 0 {
		t.Errorf("later the store has it in %v", found)
	}
	if len(d.pages("t")) != 6 {
		t.Errorf("%d pages, want the other 6", len(d.pages("t")))
	}
	d.stop()
}

// eventsWith counts the events of all of a workflow's histories that hold a text.
func (d *dev) eventsWith(id, text string) int {
	d.t.Helper()
	flows, n := plainClient(d.t, d), 0
	for _, run := range executions(d.t, flows, fmt.Sprintf("WorkflowId = '%s'", id)) {
		events := flows.GetWorkflowHistory(d.t.Context(), id, run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				d.t.Fatal(err)
			}
			raw, err := proto.Marshal(event)
			if err != nil {
				d.t.Fatal(err)
			}
			if bytes.Contains(raw, []byte(text)) {
				n++
			}
		}
	}
	return n
}

// count is how often a path was requested.
func (s *site) count(path string) int {
	n := 0
	for _, r := range s.requests() {
		if r.path == path {
			n++
		}
	}
	return n
}
