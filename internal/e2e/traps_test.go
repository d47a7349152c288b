package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/testsite"
)

// cleanPages is the number of pages on each site beside its trap.
const cleanPages = 25

// trapBounds gives the number of fetches within which each trap must be contained, and the
// reason for holding it. A trap that is recognised by its addresses alone costs next to
// nothing; the others cost the fetches that the guard must see, and the window of pages in
// progress meanwhile. The fetches race the maintenance that looks for traps; a busy machine may
// need twice as many.
var trapBounds = map[string]struct {
	fetches int
	reason  string
}{
	"calendar": {60, "calendar"},
	"loop":     {10, "repeated path segments"},
	"session":  {5, "session id"},
	"shop":     {150, "combined parameters"},
	"wild":     {120, "copied hosts"},
	"agenda":   {60, "empty pages that lead on"},
	"names":    {60, "empty pages that lead on"},
	"home":     {60, "empty pages that lead on"},
}

type trapLine struct {
	Trap   string `json:"trap"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
	State  string `json:"state"`
	Held   int    `json:"held"`
	Prefix string `json:"prefix"`
	Pages  int    `json:"pages"`
}

// startTraps runs a crawl of sites without an end.
func startTraps(t *testing.T) (*testsite.Endless, *dev) {
	t.Helper()
	web := testsite.NewEndless(cleanPages, time.Now().Year()+2)
	listener, err := new(net.ListenConfig).Listen(context.WithoutCancel(t.Context()), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: web}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	spec := []string{"name: traps", "scope: {type: domain}", "fetch: {allow_networks: [127.0.0.0/8]}", "politeness: {delay: 0s, factor: 0}", "revisit: {policy: fixed, default_interval: 12h}", "maintain_every: 1s", "seeds:"}
	for _, trap := range testsite.EndlessTraps() {
		spec = append(spec, fmt.Sprintf("  - http://%s.localhost:%s/", trap, port))
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "traps.yaml")
	if err := os.WriteFile(file, []byte(strings.Join(spec, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDev(t, filepath.Join(folder, "data"))
	if out, code, errout := d.starter("crawl", "--spec", file); code != 0 {
		t.Fatalf("start the crawl: %d: %s%s", code, out, errout)
	}
	return web, d
}

// settled reports whether every page of a crawl has been visited or is held.
func (d *dev) settled(crawl string) bool {
	pages := d.pages(crawl)
	for _, p := range pages {
		if p.State != "held" && p.Visits == 0 {
			return false
		}
	}
	return len(pages) > cleanPages
}

// TestTrapsAreContained crawls a calendar, a folder within itself, session ids,
// combined parameters and ever more hosts: the crawl comes to an end within a stated
// number of fetches, and misses no page beside the traps.
func TestTrapsAreContained(t *testing.T) {
	sideBySide(t, 100)
	web, d := startTraps(t)
	begin := time.Now()
	// A link that is not registered yet is shown nowhere, so the end must last.
	const quiet = 5
	still, before := 0, 0
	var found map[string]trapLine
	d.awaitEvery(time.Second, "the crawl comes to its end", func() bool {
		pages := len(d.pages("traps"))
		if still++; pages != before || !d.settled("traps") {
			still, before = 0, pages
		}
		if still < quiet || !everyCleanPage(web) {
			return false
		}
		found = d.trapsFound("traps") // a command, which takes as much of the machine as several visits
		return len(found) >= len(trapBounds)
	})
	fetched := web.Fetched()
	t.Logf("contained after %s; fetches in the traps: %v; found: %+v", time.Since(begin).Round(time.Second), fetched, found)
	for trap, bound := range trapBounds {
		if most := 2 * bound.fetches; fetched[trap] > most {
			t.Errorf("%s: %d fetches, want at most %d", trap, fetched[trap], most)
		}
		if line := found[trap+" "+bound.reason]; line.Held == 0 || line.State != "holding" {
			t.Errorf("%s: %+v", trap, line)
		}
	}
	d.checkRelease(web, "calendar", found["calendar calendar"].Trap)
	d.checkRelease(web, "agenda", found["agenda empty pages that lead on"].Trap)
	d.stop()
}

// trapsFound returns the traps that a crawl of these sites has found, by site and reason:
// "calendar copies".
func (d *dev) trapsFound(crawl string) map[string]trapLine {
	d.t.Helper()
	found := map[string]trapLine{}
	for _, line := range lines[trapLine](d, "--output", "json", "traps", crawl) {
		for trap := range trapBounds {
			if strings.Contains(line.Trap, trap+".localhost") {
				found[trap+" "+line.Reason] = line
			}
		}
	}
	return found
}

// everyCleanPage reports whether the crawl has missed no page beside the traps.
func everyCleanPage(web *testsite.Endless) bool {
	for trap := range trapBounds {
		if web.Reached(trap) != cleanPages {
			return false
		}
	}
	return true
}

// checkRelease releases a trap, after which the crawl goes on in it.
func (d *dev) checkRelease(web *testsite.Endless, name, trap string) {
	d.t.Helper()
	before := web.Fetched()[name]
	if out, code, errout := d.starter("traps", "traps", "--release", trap); code != 0 || !strings.HasPrefix(out, "released "+trap) {
		d.t.Fatalf("release: %d: %s%s", code, out, errout)
	}
	d.await("the released pages are visited", func() bool { return web.Fetched()[name] > before+5 })
	if _, code, _ := d.starter("traps", "traps", "--release", "nonsense"); code != 3 {
		d.t.Errorf("the release of a trap that there is not exits with %d", code)
	}
}
