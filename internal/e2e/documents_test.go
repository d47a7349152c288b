package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/testsite"
)

// hurry is the speed of a site's clock relative to ours.
const hurry = 120

// quickClock is a clock of a site whose hour takes half a minute.
type quickClock struct{ begun time.Time }

func (c quickClock) Now() time.Time { return c.begun.Add(hurry * time.Since(c.begun)) }

func (c quickClock) After(d time.Duration) <-chan time.Time { return time.After(d / hurry) }

// docsInMotion is the demo's documentation, without limits on its requests, with pages that
// come, go and return to an earlier text.
func docsInMotion() testsite.Host {
	all := testsite.Demo()
	docs := all[slices.IndexFunc(all, func(h testsite.Host) bool { return h.Name == testsite.Docs })]
	docs.Robots.CrawlDelay = 0
	missing := func(from, length, every time.Duration) []testsite.Trouble {
		return []testsite.Trouble{{Window: testsite.Window{From: from, For: length, Every: every}, Status: http.StatusNotFound}}
	}
	more := []testsite.Page{
		{Path: "/beta", Title: "Beta", ETag: true, Troubles: missing(12*time.Minute, 8*time.Minute, 20*time.Minute)},
		{Path: "/legacy", Title: "Legacy", Text: testsite.Every(5 * time.Minute), Troubles: missing(40*time.Minute, 0, 0)},
		{Path: "/season", Title: "Season", Text: testsite.Every(7 * time.Minute), Wordings: 2, ETag: true},
		{Path: "/clock", Title: "Clock", Decor: testsite.Decor{Place: testsite.Footer, Rate: testsite.Every(time.Minute)}},
		{Path: "/secret", Title: "Not for long", Text: testsite.Every(3 * time.Minute)},
	}
	for _, p := range more {
		docs.Pages[0].Links = append(docs.Pages[0].Links, p.Path)
	}
	docs.Pages = append(docs.Pages, more...)
	return docs
}

// documentFolders are the folders of TestDocumentFolders by their formats.
var documentFolders = []string{"markdown", "chunks", "text"}

// TestDocumentFolders: after an hour in the life of a documentation site, in which
// everything is killed twice and a page is forgotten, the folders of its documents equal
// fresh exports byte for byte.
func TestDocumentFolders(t *testing.T) {
	sideBySide(t, 75)
	clock := quickClock{time.Now()}
	site := testsite.New(testsite.Options{Seed: 5, Clock: clock, Hosts: []testsite.Host{docsInMotion()}})
	if err := site.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close() })
	folder := t.TempDir()
	x := &sinksTest{site: site, folder: folder, dev: startDevEnv(t, filepath.Join(t.TempDir(), "data"), []string{"RECRAWL_SINK_FOLDERS=mirror=" + folder})}
	sinks := map[string]any{}
	for _, format := range documentFolders {
		sinks[format] = map[string]any{"kind": "folder", "to": "mirror/" + format, "format": format}
	}
	spec, err := json.Marshal(map[string]any{
		"name": "t", "seeds": site.Seeds(), "sinks": sinks,
		"politeness": map[string]any{"delay": "10ms", "factor": 0},
		"revisit":    map[string]any{"policy": "fixed", "default_interval": "3s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	x.command("crawl", "--spec", write(t, filepath.Join(t.TempDir(), "spec.json"), string(spec)))

	for _, minutes := range []time.Duration{15, 35} {
		x.await("the site's hour goes on", func() bool { return clock.Now().Sub(clock.begun) > minutes*time.Minute })
		x.killed()
	}
	x.await("an hour of the site is over, and its changes were seen", func() bool {
		return clock.Now().Sub(clock.begun) > time.Hour && x.seen("page.changed", "page.gone", "page.back") && x.allVisited()
	})
	secret := site.URL(testsite.Docs) + "secret"
	x.command("forget", secret, "--yes")
	x.says("paused", "pause", "t")
	x.await("the folders have heard of all, and are what exports are", func() bool {
		for _, format := range documentFolders {
			if x.sink(format).Waiting > 0 || !maps.Equal(treeOf(t, filepath.Join(folder, format)), x.exported(format)) {
				return false
			}
		}
		return true
	})
	x.documentsAreShown(treeOf(t, filepath.Join(folder, "markdown")))
	for name, text := range treeOf(t, folder) {
		if strings.Contains(text, "Not for long") || strings.Contains(text, secret+`"`) {
			t.Errorf("%s has the page that was forgotten", name)
		}
	}
}

// allVisited reports whether no page waits for its first visit.
func (x *sinksTest) allVisited() bool {
	x.t.Helper()
	return !slices.ContainsFunc(x.dev.pages("t"), func(p pageLine) bool {
		return p.Visits == 0 && (p.State == "known" || p.State == "active")
	})
}

// seen reports whether the crawl's feed has changes of all these kinds.
func (x *sinksTest) seen(kinds ...string) bool {
	x.t.Helper()
	for _, kind := range kinds {
		if x.command("changes", "t", "--kinds", kind, "--output", "json") == "" {
			return false
		}
	}
	return true
}

// exported returns the files of pages in a fresh export.
func (x *sinksTest) exported(format string) map[string]string {
	x.t.Helper()
	out := filepath.Join(x.t.TempDir(), format)
	x.command("export", "t", out, "--format", format)
	exports, err := filepath.Glob(filepath.Join(out, "*", "index.jsonl"))
	if err != nil || len(exports) != 1 {
		x.t.Fatalf("exports %v, %v", exports, err)
	}
	files := treeOf(x.t, filepath.Dir(exports[0]))
	delete(files, "index.jsonl")
	delete(files, "export.json")
	return files
}

// documentsAreShown: the view of a page shows its file.
func (x *sinksTest) documentsAreShown(files map[string]string) {
	x.t.Helper()
	if len(files) < 10 {
		x.t.Errorf("only %d files: %v", len(files), slices.Sorted(maps.Keys(files)))
	}
	for _, page := range []string{"glossary", "season", "changelog"} {
		shown := x.command("show", x.site.URL(testsite.Docs)+page, "--markdown")
		if !slices.Contains(slices.Collect(maps.Values(files)), shown) || !strings.HasPrefix(shown, "---\nurl: ") {
			x.t.Errorf("%s is shown as %q, which no file is", page, shown)
		}
	}
}
