package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
)

const (
	sleepers = 1000 // 10 000 in the long form
	soonDue  = 12   // of them come due while the crawl is paused
)

// makeSleepers makes a data folder with a crawl whose pages were all visited and
// sleep for hours, but for the first few, which come due after soon.
func makeSleepers(t *testing.T, data string, s *site, n int, soon time.Duration) {
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
	for i, id := range ids {
		interval := 12 * time.Hour
		if i < soonDue {
			interval = soon
		}
		_, err := db.RecordVisit(t.Context(), store.RecordParams{
			Visit:    store.VisitRecord{PageID: id, Visit: 1, Outcome: crawl.OutcomeNew, Status: 200, State: crawl.Active},
			Interval: interval,
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

// TestPauseAndStopManySleepers: a pause is one row; sleepers hear nothing of it.
// A resume wakes what came due meanwhile and nobody else. A stop closes all.
func TestPauseAndStopManySleepers(t *testing.T) {
	t.Parallel()
	n, soon := sleepers, 80*time.Second
	if os.Getenv("RECRAWL_LONG") != "" {
		n, soon = 10*sleepers, 6*time.Minute
	}
	s := serve(t, tree(n))
	data := filepath.Join(t.TempDir(), "data")
	makeSleepers(t, data, s, n, soon)
	d := startDev(t, data) // its first maintenance starts all pages' workflows
	d.eventually(soon, "every page has its workflow", func() bool { return d.running("t") == n })
	d.eventually(soon, "the crawl is paused", func() bool {
		_, code, _ := d.starter("pause", "t")
		return code == 0
	})
	before := len(s.requests())
	asleep := "page/t/" + d.sleepersURL()
	events := d.events(asleep)

	d.eventually(2*soon, "the first pages are due and wait for the resume", func() bool { return d.overdueOrParked(soonDue) })
	if got := len(s.requests()) - before; got != 0 {
		t.Errorf("%d requests while paused", got)
	}
	if out, code, errout := d.starter("resume", "t"); code != 0 {
		t.Fatalf("resume: %d: %s%s", code, out, errout)
	}
	d.eventually(time.Minute, "what came due is visited", func() bool { return len(s.requests())-before >= soonDue })
	if again := d.events(asleep); again != events {
		t.Errorf("a sleeping page went from %s to %s events", events, again)
	}
	s.checkPolite(t, 100*time.Millisecond)

	if out, code, errout := d.starter("stop", "t"); code != 0 {
		t.Fatalf("stop: %d: %s%s", code, out, errout)
	}
	d.eventually(5*time.Minute, "every page's workflow is closed", func() bool { return d.running("t") == 0 })
	// robots.txt comes before them and counts too.
	if got := len(s.requests()) - before; got > soonDue+1 {
		t.Errorf("%d requests, want those of the %d pages that came due", got, soonDue)
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

// sleepersURL is the URL of a page that is not due for hours.
func (d *dev) sleepersURL() string {
	d.t.Helper()
	pages := d.pages("t")
	return pages[len(pages)-1].URL
}

// overdueOrParked reports whether n pages are due.
func (d *dev) overdueOrParked(n int) bool {
	d.t.Helper()
	due := 0
	for _, p := range d.pages("t") {
		if !p.NextVisit.IsZero() && p.NextVisit.Before(time.Now().Add(-3*time.Second)) {
			due++
		}
	}
	return due >= n
}
