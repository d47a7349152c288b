package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/testsite"
)

// TestFlappingPage: a page that shows two texts in turn has two versions however often it
// is visited, has changed once, and its history says for each visit which text it had.
func TestFlappingPage(t *testing.T) {
	sideBySide(t, 20)
	const host = "tide.localhost"
	site := testsite.New(testsite.Options{Hosts: []testsite.Host{{
		Name: host, Pages: []testsite.Page{{Path: "/", Title: "Tide", Text: testsite.Every(2 * time.Second), Wordings: 2, ETag: true}},
	}}})
	if err := site.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close() })
	url := site.URL(host)
	args := append([]string{"--name", "t"}, crawlSettings("100ms")...)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), append(args, "--default-interval", "1s", url)...)
	returns := func() (n int) {
		for _, v := range d.history(url) {
			if v.Outcome == "returned" {
				n++
			}
		}
		return n
	}
	d.await("the page has returned four times", func() bool { return returns() >= 4 })

	type version struct {
		Version   int `json:"version"`
		BackVisit int `json:"back_visit"`
	}
	versions := lines[version](d, "--output", "json", "history", url, "--versions", "--limit", "0")
	if len(versions) != 2 || versions[0].Version != 2 || versions[0].BackVisit == 0 || versions[1].BackVisit == 0 {
		t.Errorf("versions %+v", versions)
	}
	for i, v := range d.history(url) {
		if said := strings.Join(v.Reasons, "; "); (v.Outcome == "returned") != strings.Contains(said, "as in version ") || v.Outcome == "changed" && v.Visit == 1 {
			t.Errorf("line %d: visit %d, %s: %s", i, v.Visit, v.Outcome, said)
		}
	}
	type page struct {
		Changes     int `json:"changes"`
		AsInVersion int `json:"as_in_version"`
	}
	if pages := lines[page](d, "--output", "json", "pages", "t"); len(pages) != 1 || pages[0].Changes != 1 || pages[0].AsInVersion == 0 {
		t.Errorf("pages %+v", pages)
	}
	text, _, _ := d.starter("history", url, "--limit", "0")
	if !strings.Contains(text, "as in version 1") || !strings.Contains(text, "as in version 2") {
		t.Errorf("history says\n%s", text)
	}
	if diff, code, errout := d.starter("diff", url); code != 0 || !strings.Contains(diff, "+Edition ") {
		t.Errorf("diff: %d: %s%s", code, diff, errout)
	}
	d.stop()
}
