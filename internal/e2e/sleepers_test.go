package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
)

const (
	sleepers = 400 // 10 000 in the long form
	awake    = 6   // of them are asked for while the crawl is paused
)

// makeSleepers makes a data folder with a crawl whose pages were all visited and
// sleep for hours.
func makeSleepers(t *testing.T, data string, s *site, n int) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.MkdirAll(data, 0o755))
	db, err := sqlite.Open(t.Context(), filepath.Join(data, "recrawl.db"), sqlite.Options{Owner: true})
	check(err)
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds, spec.Limits.Window = "t", []string{s.url + "/"}, 10_000
	spec.Politeness = crawl.PolitenessSpec{Delay: crawl.Duration(100 * time.Millisecond)}
	spec.Revisit.Policy, spec.MaintainEvery = "fixed", crawl.Duration(2*time.Second)
	record, err := db.OpenCrawl(t.Context(), spec)
	check(err)
	parsed, err := url.Parse(s.url)
	check(err)
	urls := make([]store.NewURL, n)
	for i := range urls {
		urls[i] = store.NewURL{URL: fmt.Sprintf("%s/p%d.html", s.url, i), Host: parsed.Host, Level: 1}
	}
	urls[0] = store.NewURL{URL: s.url + "/", Host: parsed.Host}
	_, err = db.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: record.ID, URLs: urls})
	check(err)
	pages, err := db.Candidates(t.Context(), store.CandidateParams{CrawlID: record.ID, Limit: n})
	check(err)
	ids := make([]int64, len(pages))
	for i, p := range pages {
		ids[i] = p.PageID
	}
	_, err = db.Admit(t.Context(), store.AdmitParams{CrawlID: record.ID, Admit: ids})
	check(err)
	for _, id := range ids {
		_, err := db.RecordVisit(t.Context(), store.RecordParams{
			Visit:    store.VisitRecord{PageID: id, Visit: 1, Outcome: crawl.OutcomeNew, Status: 200, State: crawl.Active},
			Interval: 12 * time.Hour,
		})
		check(err)
	}
	check(db.Close())
}

// events counts the events of a workflow's current run.
func (d *dev) events(id string) string {
	d.t.Helper()
	for line := range strings.Lines(d.temporal("workflow", "describe", "--workflow-id", id)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "HistoryLength" {
			return f[1]
		}
	}
	d.t.Fatalf("%s has no history", id)
	return ""
}

// TestPauseAndStopManySleepers: a pause is one row, and sleepers do not notice it. A resume
// wakes only those that wait for it. A stop closes all.
func TestPauseAndStopManySleepers(t *testing.T) {
	sideBySide(t, 115)
	n := sleepers
	if long() {
		n = 10_000
	}
	s := serve(t, tree(n))
	data := filepath.Join(t.TempDir(), "data")
	makeSleepers(t, data, s, n)
	d := startDev(t, data) // its first maintenance starts all pages' workflows
	d.await("every page has its workflow", func() bool { return d.running("t") == n })
	d.must("pause", "t")
	pages := d.pages("t")
	sleeper := "page/t/" + pages[n-1].URL
	d.await("the last page sleeps", func() bool {
		return strings.Contains(d.temporal("workflow", "show", "--workflow-id", sleeper), "TimerStarted")
	})
	events := d.events(sleeper)
	for _, p := range pages[:awake] {
		d.must("visit", p.URL)
	}
	for _, p := range pages[:awake] {
		d.await("the page waits for the resume", func() bool {
			return strings.Contains(d.must("explain", p.URL), "the crawl is paused")
		})
	}
	if got := len(s.requests()); got != 0 {
		t.Errorf("%d requests while paused", got)
	}
	d.must("resume", "t")
	d.await("what was asked for is visited", func() bool {
		visits := d.stored("t")
		return !slices.ContainsFunc(pages[:awake], func(p pageLine) bool { return len(visits[p.URL]) < 2 })
	})
	if again := d.events(sleeper); again != events {
		t.Errorf("a sleeping page went from %s to %s events", events, again)
	}
	s.checkPolite(t, 100*time.Millisecond)

	d.must("stop", "t")
	d.await("every page's workflow is closed", func() bool { return d.running("t") == 0 })
	if got := len(s.requests()); got > awake+1 { // and robots.txt
		t.Errorf("%d requests, want those of %d pages", got, awake)
	}
	stopped := 0
	for _, p := range d.pages("t") {
		if p.State == "stopped" {
			stopped++
		}
	}
	if stopped != n {
		t.Errorf("%d pages are stopped, want %d", stopped, n)
	}
	d.stop()
}

// must is a starter command that must succeed.
func (d *dev) must(args ...string) string {
	d.t.Helper()
	out, code, stderr := d.starter(args...)
	if code != 0 {
		d.t.Fatalf("starter %s: %d: %s", strings.Join(args, " "), code, stderr)
	}
	return out
}
