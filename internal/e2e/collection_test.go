package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// popular is a site whose first page links to n pages, which all link to a page that has no
// other links to it.
func popular(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/":
			fmt.Fprint(w, "<p>All of them.")
			for i := range n {
				fmt.Fprintf(w, `<a href="/page/%d">%d</a>`, i, i)
			}
		case strings.HasPrefix(r.URL.Path, "/page/"):
			fmt.Fprintf(w, `<p>This is %s. <a href="/best">The best</a> is elsewhere.`, r.URL.Path)
		default:
			fmt.Fprint(w, `<p>The best of all. <a href="/">Back</a>`)
		}
	}
}

// TestAFullCollectionTakesTheBest: a page that turns out to matter takes the place of
// another, whose workflow completes; when there is room again that one comes back,
// and its visits go on. All of it while starter dev is killed and started again.
func TestAFullCollectionTakesTheBest(t *testing.T) {
	sideBySide(t, 25)
	s := serve(t, popular(12))
	d := startDev(t, filepath.Join(t.TempDir(), "data"))
	spec := filepath.Join(t.TempDir(), "spec.yaml")
	write := func(maxPages int) {
		t.Helper()
		text := fmt.Sprintf(`
name: best
seeds: [%s/]
limits: {max_pages: %d}
politeness: {delay: 20ms, factor: 0}
revisit: {policy: fixed, default_interval: 1h}
rank: {every: 1s, max_evictions: 0.2}
maintain_every: 1s
`, s.url, maxPages)
		if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d.must("crawl", "--spec", spec)
	}
	states := func() map[string][]pageLine {
		by := map[string][]pageLine{}
		for _, p := range d.pages("best") {
			by[p.State] = append(by[p.State], p)
		}
		return by
	}
	write(5)
	d.await("the best page is in, and one out", func() bool {
		by := states()
		if len(by["active"]) > 5 {
			t.Fatalf("%d pages of at most 5", len(by["active"]))
		}
		best := ""
		for _, p := range by["active"] {
			if p.Visits > 0 && strings.HasSuffix(p.URL, "/best") {
				best = p.State
			}
		}
		return best == "active" && len(by["evicted"]) == 1
	})
	out := states()["evicted"][0]
	d.await("its workflow has completed as evicted", func() bool {
		list := d.temporal("workflow", "count", "--query", fmt.Sprintf("WorkflowId = 'page/best/%s' AND ExecutionStatus = 'Completed' AND CrawlState = 'evicted'", out.URL))
		return strings.Contains(list, "1")
	})
	d.kill()
	d.start()
	if line := d.must("rank", "best"); !strings.Contains(line, "being ranked") {
		t.Errorf("starter rank: %s", line)
	}
	write(20)
	d.await("it is back, and was visited again", func() bool {
		for _, p := range states()["active"] {
			if p.URL == out.URL && p.Visits == out.Visits+1 {
				return true
			}
		}
		return false
	})
	var numbers []int
	for _, v := range d.history(out.URL) {
		numbers = append(numbers, v.Visit)
	}
	if fmt.Sprint(numbers) != "[1 2]" && fmt.Sprint(numbers) != "[2 1]" {
		t.Errorf("visits %v of the page that came back, want one history", numbers)
	}
	if got := len(states()["active"]); got != 14 {
		t.Errorf("%d of 14 pages", got)
	}
	d.stop()
}
