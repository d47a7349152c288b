package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestCrowdedAddress crawls many hosts behind one address, which takes four requests at a
// time and is slow. That is no host's fault: no visit fails, and pages wait a few times at most.
func TestCrowdedAddress(t *testing.T) {
	sideBySide(t, 45)
	const hosts, pages = 40, 6
	answers := overloadSite(pages)
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(400 * time.Millisecond):
			answers.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
	sites := startHosts(t, "127.0.0.1", nil, slow)
	args := []string{"--name", "t", "--delay", "200ms", "--factor", "0", "--policy", "fixed", "--default-interval", "1d"}
	for i := range hosts {
		args = append(args, sites.URL(fmt.Sprintf("h%d", i)))
	}
	begun := time.Now()
	d := startDevEnv(t, filepath.Join(t.TempDir(), "data"), nil, args...)
	d.await("every page is visited", func() bool {
		visited := 0
		for _, p := range d.pages("t") {
			if p.Visits > 0 {
				visited++
			}
		}
		return visited == hosts*pages
	})
	took := time.Since(begun)
	for url, visits := range d.stored("t") {
		for _, v := range visits {
			if v.Outcome != "new" || v.Visit != 1 {
				t.Errorf("%s: visit %d was %s %s", url, v.Visit, v.Outcome, v.Problem)
			}
		}
	}
	// A page of each fifth host: each question starts a program.
	events, asked := 0, 0
	for i := 0; i < hosts; i += 5 {
		n, err := strconv.Atoi(d.events(fmt.Sprintf("page/t/%sp%d.html", sites.URL(fmt.Sprintf("h%d", i)), pages-1)))
		if err != nil {
			t.Fatal(err)
		}
		events, asked = events+n, asked+1
	}
	mean := float64(events) / float64(asked)
	most := mostEvents(took)
	if t.Logf("%.1f events of a page, after %s", mean, took.Round(time.Second)); mean > most {
		t.Errorf("a page of a crowded address has %.1f events after its first visit, more than %.1f", mean, most)
	}
}

// mostEvents is the most events that the last page of a host may have after its first visit, in the
// mean of several hosts: 14 if it never waits, and six more for each of five waits. It waits for up to
// twenty seconds, so one that asked every three seconds would have more; 17 to 35 were seen, since the
// time of an address's next requests is a guess. A crawl that takes longer than half a minute, on a busy
// machine, may wait as much more often: once in six seconds.
func mostEvents(took time.Duration) float64 {
	return 14 + 6*max(5, took.Seconds()/6)
}
