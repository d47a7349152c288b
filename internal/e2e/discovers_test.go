package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
)

// TestDiscoversAreFew counts the Discovers of a small crawl: pages whose links are all known
// have none, and one fills half of a window. No maintenance helps.
func TestDiscoversAreFew(t *testing.T) {
	sideBySide(t, 25)
	const pages = 60
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || r.URL.Path == "/sitemap.xml" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "<!doctype html><title>%s</title><p>What %[1]s says", r.URL.Path)
		for n := range pages - 1 {
			fmt.Fprintf(w, `<a href="/%d">page</a> `, n)
		}
	}))
	settings := append(crawlSettings("20ms"), "--default-interval", "30d", "--max-interval", "30d", "--maintain-every", "24h")
	d := startDev(t, filepath.Join(t.TempDir(), "data"), append(append([]string{"--name", "t"}, settings...), s.url+"/")...)
	d.await("all pages are visited", d.crawled("t", pages, 1))
	// At most two for eight first visits, however late they run, and those of the crawl itself.
	const most = pages/4 + 4
	discovers := discoverIDs(d)
	t.Logf("%d Discovers for %d pages: %v", len(discovers), pages, discovers)
	if len(discovers) > most {
		t.Errorf("%d Discovers for %d pages, want at most %d", len(discovers), pages, most)
	}
	d.stop()
}

// discoverIDs lists the ids of all Discovers so far.
func discoverIDs(d *dev) []string {
	d.t.Helper()
	var list []struct {
		Execution struct {
			ID string `json:"workflowId"`
		} `json:"execution"`
	}
	out := d.temporal("workflow", "list", "--query", "WorkflowType = 'Discover'", "--limit", "1000", "--output", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	ids := make([]string, len(list))
	for i, one := range list {
		ids[i] = one.Execution.ID
	}
	return ids
}
