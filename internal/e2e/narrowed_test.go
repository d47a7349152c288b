package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/polite"
)

// TestNarrowedScope: after a new reject rule its pages are not requested any more, are
// excluded with the rule as the reason, and come back when the rule goes.
func TestNarrowedScope(t *testing.T) {
	sideBySide(t, 25)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<!doctype html><p>%s", r.URL.Path)
		for i := range 5 {
			fmt.Fprintf(w, `<a href="/old/%d">old</a><a href="/new/%d">new</a>`, i, i)
		}
	}))
	dir := t.TempDir()
	settings := append(crawlSettings("20ms"), "--default-interval", "1s", "--max-interval", "30d", "--maintain-every", "2s")
	d := startDev(t, filepath.Join(dir, "data"), append(append([]string{"--name", "t"}, settings...), s.url+"/")...)
	asked := func(path string) (n int) {
		for _, r := range s.requests() {
			if strings.HasPrefix(r.path, path) {
				n++
			}
		}
		return n
	}
	d.await("all pages are visited again and again", func() bool { return asked("/old/") > 10 && asked("/new/") > 10 })
	spec := func(rules string) string {
		return fmt.Sprintf(`{"name":"t","seeds":[%q],"politeness":{"delay":"20ms"},"revisit":{"policy":"fixed","default_interval":"1s","min_interval":"1s","max_interval":"30d"},"maintain_every":"2s","scope":{"type":"host","rules":[%s]}}`, s.url+"/", rules)
	}
	set := func(rules string) {
		if _, code, stderr := d.starter("crawl", "--spec", write(t, filepath.Join(dir, "spec.json"), spec(rules))); code != 0 {
			t.Fatal(stderr)
		}
	}
	set(`{"name":"old pages","reject":{"prefix":"` + s.url + `/old/"}}`)
	type line struct {
		URL     string `json:"url"`
		NextWhy string `json:"next_why"`
	}
	excluded := func() (n int) {
		for _, p := range lines[line](d, "--output", "json", "pages", "t", "--state", "excluded") {
			if !strings.Contains(p.URL, "/old/") || p.NextWhy != "out of scope: rule old pages" {
				t.Errorf("excluded: %+v", p)
			}
			n++
		}
		return n
	}
	before := asked("/old/")
	d.await("the pages that are outside now are excluded", func() bool { return excluded() == 5 })
	// Three requests may have been on their way, with permits from before the change: one that
	// has begun, and two that are granted.
	if after := asked("/old/"); after > before+1+polite.MaxGranted {
		t.Errorf("%d requests after the rule was set", after-before)
	}
	before, others := asked("/old/"), asked("/new/")
	d.await("the others go on", func() bool { return asked("/new/") > others+10 })
	if after := asked("/old/"); after != before {
		t.Errorf("%d requests of pages that are outside", after-before)
	}
	set("")
	d.await("they come back when the rule goes", func() bool { return asked("/old/") > before+10 && excluded() == 0 })
	d.stop()
}
