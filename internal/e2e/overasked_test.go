//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestOverAsked: pages are due many times as often as one worker makes visits. The tasks that
// pile up show how many it makes. No more are planned from then on, status says so, new pages
// get their visits, and the tasks are worked off.
func TestOverAsked(t *testing.T) {
	if !long() {
		t.Skip("waits for minutes: in the long form")
	}
	sideBySide(t, 600)
	const hosts, pages = 30, 6
	site := overloadSite(pages)
	sites := startHosts(t, "127.0.0.1", nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(300 * time.Millisecond):
			site.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	f := startChaosFleet(t, 1, []string{"RECRAWL_CONCURRENCY=1"})
	form := overloadForm{hosts: hosts, pages: pages, interval: 4 * time.Second}
	f.starter(form.crawl(sites)...)
	f.await("tasks wait for half a minute", func() bool { return f.backlog() >= 30*time.Second })
	begun := time.Now()
	f.await("what is asked for and what is made is known", func() bool {
		return strings.Contains(f.starter("status", "t"), "Temporal and the workers make about ")
	})
	t.Logf("known after %.0f s, when tasks waited for %s\n%s", time.Since(begun).Seconds(), f.backlog(), f.starter("status", "t"))
	// Revisits that were due held first visits up.
	f.await("every page is visited", func() bool { return f.visited() == hosts*pages })
	f.await("the tasks are worked off", func() bool { return f.backlog() < 5*time.Second })
	t.Logf("worked off after %.0f s", time.Since(begun).Seconds())
	why := f.starter("explain", sites.URL("h0"))
	if !strings.Contains(why, "because the engine does not make more visits") {
		t.Errorf("starter explain: %s", why)
	}
	before := len(sites.Log())
	f.await("pages are visited as before", func() bool { return len(sites.Log()) >= before+hosts*pages })
	if age := f.backlog(); age > 15*time.Second {
		t.Errorf("tasks wait for %s", age)
	}
}

// backlog is how long the oldest task has waited, as status says; below five seconds it is 0.
func (f *fleet) backlog() time.Duration {
	f.t.Helper()
	var line struct {
		Backlog struct {
			Age string `json:"age"`
		} `json:"backlog"`
	}
	if err := json.Unmarshal([]byte(f.starter("--output", "json", "status", "t")), &line); err != nil {
		f.t.Fatal(err)
	}
	if line.Backlog.Age == "" {
		return 0
	}
	age, err := time.ParseDuration(line.Backlog.Age)
	if err != nil {
		f.t.Fatal(fmt.Errorf("the backlog's age: %w", err))
	}
	return age
}
