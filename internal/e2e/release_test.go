//go:build unix

package e2e

import (
	"archive/tar"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	// releaseSite is the site of the recorded crawl. No server has that name: a crawl of it
	// goes through a proxy, which is at another port each time.
	releaseSite  = "http://release.example"
	releasePages = 40
	releaseGap   = 50 * time.Millisecond
	// releaseLimit is the largest size of all recorded data folders together.
	releaseLimit = 1 << 20
	releases     = "testdata/release-*.tar.zst"

	// The requests for single pages before the release was killed.
	snoozedPage = releaseSite + "/p3.html"
	fastPage    = releaseSite + "/p4.html" // every two seconds
)

// releaseWeb is the site as its proxy: a tree whose page 30, a leaf, always fails, and
// whose page 5 is different at each request.
func releaseWeb() http.Handler {
	pages := tree(releasePages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Host != "release.example":
			http.Error(w, "no proxy for others", http.StatusForbidden)
		case r.URL.Path == "/p30.html":
			http.Error(w, "broken", http.StatusInternalServerError)
		case r.URL.Path == "/p5.html":
			fmt.Fprintf(w, `<p>page five at %d</p><a href="/p11.html">11</a> <a href="/p12.html">12</a>`, time.Now().UnixNano())
		default:
			pages.ServeHTTP(w, r)
		}
	})
}

func releaseEnv(s *site) []string {
	return []string{"HTTP_PROXY=" + s.url, "RECRAWL_CONTACT=crawls@example.org"}
}

func unpack(t *testing.T, file, folder string) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	unpacked, err := zstd.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Close()
	for r := tar.NewReader(unpacked); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil || !filepath.IsLocal(header.Name) {
			t.Fatal(header, err)
		}
		path := filepath.Join(folder, filepath.FromSlash(header.Name))
		text, err := io.ReadAll(r)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// recorded reads the visits that a store has, by URL, as text.
func recorded(t *testing.T, path string) map[string][]string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT url, visit, visits.at || ' ' || visits.outcome || ' ' || visits.digest FROM visits JOIN pages ON id = page_id ORDER BY url, visit")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]string{}
	for rows.Next() {
		var url, what string
		var visit int
		if err := rows.Scan(&url, &visit, &what); err != nil {
			t.Fatal(err)
		}
		if visit != len(all[url])+1 {
			t.Errorf("%s: visit %d comes after %d", url, visit, len(all[url]))
		}
		all[url] = append(all[url], what)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLastRelease continues a crawl in the middle of which an earlier release was killed,
// on its store, its archive and its Temporal database: every page is visited, no visit is
// lost or made twice under one number, people's requests hold, and every workflow replays.
func TestLastRelease(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(releases)
	if err != nil || len(files) == 0 {
		t.Fatalf("no data folder of a release: %v", err)
	}
	size := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if size += info.Size(); size > releaseLimit {
			t.Errorf("%s takes the recorded folders to %d bytes, over %d: keep fewer", file, size, releaseLimit)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			sideBySide(t, 45)
			goOn(t, file)
		})
	}
}

func goOn(t *testing.T, file string) {
	s := serve(t, releaseWeb())
	data := filepath.Join(t.TempDir(), "data")
	unpack(t, file, data)
	before := recorded(t, filepath.Join(data, "recrawl.db"))
	if len(before) < releasePages/4 || len(before) == releasePages {
		t.Fatalf("%d pages were visited before: the release was not in the middle", len(before))
	}
	d := &dev{t: t, data: data, env: releaseEnv(s)}
	d.start()
	d.await("every page is visited", d.crawled("t", releasePages, 1))
	fast := len(before[fastPage])
	d.await("the interval that was set holds", func() bool { return d.visits(fastPage) > fast+1 })
	for url := range before {
		plans := map[string]visitPlan{}
		d.await("the workflow of "+url+" answers, so it has been replayed", func() bool {
			addPlans(t, plans, []pageLine{{URL: url}}, d.answer)
			return plans[url].Workflow.Doing != ""
		})
		p := plans[url]
		if url == snoozedPage && p.Workflow.Due.Before(time.Now().Add(24*time.Hour)) {
			t.Errorf("%s was snoozed for years and is due %s", url, p.Workflow.Due)
		}
	}
	for _, status := range []string{"Failed", "Terminated", "TimedOut"} {
		if out := d.temporal("workflow", "count", "--query", fmt.Sprintf("ExecutionStatus = '%s'", status)); !strings.Contains(out, "Total: 0") {
			t.Errorf("%s workflows: %s", status, out)
		}
	}
	d.answer("archive", "verify")
	d.stop()
	if out := d.out.String(); strings.Contains(out, "TMPRL1100") || strings.Contains(strings.ToLower(out), "determinis") {
		t.Errorf("a workflow does not replay: %s", out)
	}
	after := recorded(t, filepath.Join(data, "recrawl.db"))
	keeps(t, before, after)
	if n := len(after[snoozedPage]); n != len(before[snoozedPage]) {
		t.Errorf("%s was visited while it was snoozed", snoozedPage)
	}
	s.checkPolite(t, releaseGap)
}

// answer runs a starter command that must succeed.
func (d *dev) answer(args ...string) string {
	d.t.Helper()
	out, code, stderr := d.starter(args...)
	if code != 0 {
		d.t.Fatalf("starter %v: %d: %s%s", args, code, out, stderr)
	}
	return out
}
