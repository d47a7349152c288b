package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/export/warctest"
	"recrawl/internal/testsite"
)

// requisites are the pictures, styles and fonts of testsite.Pictures, with the outcome of
// each one's only visit.
var requisites = map[string]string{
	"gallery/style.css": "new", "gallery/sub/more.css": "new", "gallery/fonts/a.woff2": "new", "gallery/ground.png": "new", "gallery/sub/deep.png": "new",
	"gallery/icon.png": "new", "gallery/heading.png": "new", "gallery/styled.png": "new", "gallery/photo.png": "new", "gallery/photo-2x.png": "new",
	"gallery/photo-3x.png": "new", "gallery/wide.png": "new", "gallery/copy.png": "new", "gallery/full.png": "new", "cdn/off.png": "new",
	"gallery/moved.png": "redirected", "gallery/target.png": "new", "gallery/gone.png": "gone", "gallery/huge.png": "too_large",
	"gallery/private/secret.png": "excluded", "gallery/sub/not/an.css": "gone",
}

// TestRequisites crawls a site with pictures while everything is killed once: each picture,
// style and font, on any host, is requested once, after the pages, and then rests without a
// workflow. Exports for showing pages have them, and those for reading do not.
func TestRequisites(t *testing.T) {
	sideBySide(t, 55)
	blocked, freed := make(chan struct{}), make(chan struct{})
	var asked atomic.Int64
	var once sync.Once
	free := func() { once.Do(func() { close(freed) }) }
	pictures := &testsite.Pictures{Answer: func(r *http.Request) {
		if asked.Add(1) != 5 {
			return
		}
		close(blocked)
		select {
		case <-freed:
		case <-r.Context().Done():
		}
	}}
	site := startHosts(t, "127.0.0.1", nil, pictures)
	t.Cleanup(free)
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data)
	d.crawlSpec(map[string]any{
		"name": "t", "seeds": []string{site.URL("gallery")}, "documents": map[string]any{"requisites": true},
		"fetch": map[string]any{"allow_networks": []string{"127.0.0.0/8"}}, "politeness": map[string]any{"delay": "10ms", "factor": 0},
		"limits":  map[string]any{"max_pages": 2},
		"revisit": map[string]any{"policy": "fixed", "default_interval": "12h"}, "maintain_every": "2s",
	})
	<-blocked
	d.killAll()
	free()
	d = startDev(t, data)
	d.await("every requisite was visited", func() bool { return d.kept() == len(requisites) })
	d.checkRequisites(site)
	d.await("only pages have a workflow", func() bool { return d.running("t") == 2 })
	d.checkRequisiteExports()
	d.checkPackage()
	d.stop()
	if breaches := testsite.CheckPolite(site.Log(), 10*time.Millisecond); len(breaches) > 0 {
		t.Errorf("impolite: %v", breaches)
	}
}

// kept counts the crawl's requisites that rest.
func (d *dev) kept() int {
	n := 0
	for _, p := range d.pages("t") {
		if p.State == "kept" {
			n++
		}
	}
	return n
}

func (d *dev) checkRequisites(site *testsite.Loopback) {
	d.t.Helper()
	url := func(name string) string {
		host, path, _ := strings.Cut(name, "/")
		return site.URL(host) + path
	}
	for name, outcome := range requisites {
		visits := d.history(url(name))
		if len(visits) != 1 || visits[0].Outcome != outcome {
			d.t.Errorf("%s: %+v, want one visit, %s", name, visits, outcome)
		}
	}
	pages := 0
	for _, p := range d.pages("t") {
		if p.State == "active" && (p.URL == url("gallery/") || p.URL == url("gallery/second.html")) {
			pages++
		}
	}
	if pages != 2 {
		d.t.Errorf("pages %+v", d.pages("t"))
	}
	first := map[string]int{} // requests by path, and when the first came
	for n, r := range site.Log() {
		if _, known := first[r.Path]; !known {
			first[r.Path] = n
		}
		if strings.HasPrefix(r.Path, "/private/") || strings.Contains(r.Path, "inert") || strings.Contains(r.Path, "comment") {
			d.t.Errorf("asked for %s", r.Path)
		}
	}
	if first["/style.css"] < first["/"] {
		d.t.Errorf("the style came before its page")
	}
}

// checkRequisiteExports looks for the requisites in exports.
func (d *dev) checkRequisiteExports() {
	d.t.Helper()
	for format, has := range map[string]bool{"warc": true, "mirror": true, "jsonl": false, "html": false, "markdown": false} {
		out := filepath.Join(d.t.TempDir(), format)
		d.must("export", "t", out, "--format", format)
		var all strings.Builder
		err := filepath.WalkDir(out, func(path string, entry os.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && !entry.IsDir() && (ext == ".jsonl" || ext == ".cdxj") {
				text, readErr := os.ReadFile(path)
				all.Write(text)
				err = readErr
			}
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
		for _, name := range []string{"off.png", "style.css", "a.woff2"} {
			if strings.Contains(all.String(), `/`+name+`"`) != has {
				d.t.Errorf("%s export has %s: %v, want %v", format, name, !has, has)
			}
		}
	}
}

// checkPackage checks a WACZ export against its standard.
func (d *dev) checkPackage() {
	d.t.Helper()
	out := d.t.TempDir()
	d.must("export", "t", out, "--format", "wacz")
	found, err := filepath.Glob(filepath.Join(out, "*", "*.wacz"))
	if err != nil || len(found) != 1 {
		d.t.Fatalf("%v: %v", found, err)
	}
	file, err := os.Open(found[0])
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		d.t.Fatal(err)
	}
	problems, err := warctest.CheckPackage(file, info.Size())
	if err != nil || len(problems) > 0 {
		d.t.Errorf("%s: %v, %q", found[0], err, problems)
	}
}
