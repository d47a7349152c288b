package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestServersInsistOnSpellings: pages that their server serves under one spelling only are
// fetched, each by one request more than others, and a circle of spellings fails.
func TestServersInsistOnSpellings(t *testing.T) {
	sideBySide(t, 15)
	insists := map[string]string{ // on the second, when asked for the first
		"/O%27Brien": "/O'Brien", "/~joe": "/%7Ejoe", "/caf%C3%A9": "/caf%c3%a9", "/a%5B1%5D": "/a[1]", "/p?q=%27y%27": "/p?q='y'",
		"/circle%27": "/circle'", "/circle'": "/circle%27",
	}
	var mu sync.Mutex
	asked := map[string]int{}
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.RequestURI]++
		mu.Unlock()
		if to := insists[r.RequestURI]; to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		fmt.Fprintf(w, "<!doctype html><p>%s", r.URL.Path)
		for from := range insists {
			if r.URL.Path == "/" && from != "/circle'" {
				fmt.Fprintf(w, `<a href="%s">a page</a>`, from)
			}
		}
	}))
	settings := append(crawlSettings("20ms"), "--default-interval", "1d", "--max-interval", "30d")
	d := startDev(t, filepath.Join(t.TempDir(), "data"), append(append([]string{"--name", "t"}, settings...), s.url+"/")...)
	type line struct {
		URL   string `json:"url"`
		State string `json:"state"`
	}
	states := func() map[string]string {
		all := map[string]string{}
		for _, p := range lines[line](d, "--output", "json", "pages", "t") {
			all[strings.TrimPrefix(p.URL, s.url)] = p.State
		}
		return all
	}
	d.await("the circle has failed, and all others are fetched", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for from, to := range insists {
			if !strings.HasPrefix(from, "/circle") && asked[to] == 0 {
				return false
			}
		}
		return states()["/circle%27"] == "failing"
	})
	for page, state := range states() {
		if want := map[bool]string{true: "failing", false: "active"}[page == "/circle%27"]; state != want {
			t.Errorf("%s is %s, want %s", page, state, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for from, to := range insists {
		if !strings.HasPrefix(from, "/circle") && (asked[from] != 1 || asked[to] != 1) {
			t.Errorf("asked %d times for %s and %d for %s, want once each", asked[from], from, asked[to], to)
		}
	}
	// It fails at the third, and is tried again after a while.
	if n := asked["/circle%27"] + asked["/circle'"]; n < 3 || n > 30 {
		t.Errorf("%d requests in the circle, want 3 and a few more", n)
	}
	d.stop()
}
