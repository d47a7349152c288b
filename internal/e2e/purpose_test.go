package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// TestPurpose: pages that a site reserves from a use are kept out of a crawl for that use,
// with the site's words as the reason; its files are requested once, under the host's gap;
// and all of it comes in when the crawl is for something else.
func TestPurpose(t *testing.T) {
	sideBySide(t, 20)
	files := map[string]string{
		"/robots.txt":   "User-agent: *\nContent-Signal: search=yes\nContent-Usage: /never/ train-ai=n\n",
		crawl.TermsPath: `[{"location": "/tdm/", "tdm-reservation": 1}]`,
		"/":             `<a href=/never/a>n</a> <a href=/tdm/a>t</a> <a href=/header>h</a> <a href=/element>e</a> <a href=/free>f</a>`,
		"/header":       "<p>Some words.",
		"/element":      "<meta name=robots content=noai><p>Other words.",
		"/never/a":      "<p>Words that nobody may learn.",
		"/tdm/a":        "<p>Words that nobody may mine.",
		"/free":         "<p>Words for all.",
	}
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/header" {
			w.Header().Set("TDM-Reservation", "1")
		}
		fmt.Fprint(w, files[r.URL.Path])
	}))
	dir := t.TempDir()
	spec := func(purpose string) string {
		return write(t, filepath.Join(dir, "spec.json"), fmt.Sprintf(`{"name":"t","seeds":[%q],"politeness":{"delay":"20ms"},"maintain_every":"2s","purpose":[%s]}`, s.url+"/", purpose))
	}
	d := startDev(t, filepath.Join(dir, "data"), "--spec", spec(`"ai-train"`))
	type line struct {
		URL     string `json:"url"`
		State   string `json:"state"`
		NextWhy string `json:"next_why"`
	}
	pages := func(state string) map[string]string {
		all := map[string]string{}
		for _, p := range lines[line](d, "--output", "json", "pages", "t", "--state", state) {
			all[strings.TrimPrefix(p.URL, s.url)] = p.NextWhy
		}
		return all
	}
	d.await("four pages are excluded, and two are there", func() bool { return len(pages("excluded")) == 4 && len(pages("active")) == 2 })
	for path, why := range map[string]string{
		"/never/a": "robots.txt: Content-Usage: /never/ train-ai=n", "/tdm/a": "tdmrep.json: /tdm/ tdm-reservation 1",
		"/header": "tdm-reservation: 1", "/element": "meta robots: noai",
	} {
		if got, want := pages("excluded")[path], `the site reserves ai-train, which the crawl is for: "`+why+`"`; got != want {
			t.Errorf("%s is excluded because %q, want %q", path, got, want)
		}
	}
	asked := map[string]int{}
	for _, r := range s.requests() {
		asked[r.path]++
	}
	for path := range files {
		if want := map[bool]int{true: 0, false: 1}[path == "/never/a" || path == "/tdm/a"]; asked[path] != want {
			t.Errorf("%d requests for %s, want %d", asked[path], path, want)
		}
	}
	if _, code, stderr := d.starter("crawl", "--spec", spec(`"search"`)); code != 0 {
		t.Fatal(stderr)
	}
	d.await("all pages are there when the crawl is for search", func() bool { return len(pages("active")) == 6 })
	s.checkPolite(t, 20*time.Millisecond)
	d.stop()
}
