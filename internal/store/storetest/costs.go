package storetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// Costs are the most that a visit's calls may cost on an engine, in which each
// transaction may cost an fsync, and where the database is a server each answer a round trip.
type Costs struct {
	AtOnce  Counts // alone at its host: Acquire, which begins, and Finish
	Granted Counts // alone at its host: Acquire, Begin and Finish
	Asks    Counts // one Acquire that is told to wait, in a line of 25
	Serves  Counts // Begin and Finish at the head of that line, without Acquire
	Links   Counts // RegisterLinks of a new version: its link is known, another one is rejected
	Records Counts // RecordVisit of a page that has changed
}

// RunCosts measures the visits of a store on an engine. Each kind is made twice before
// it is measured: by then its host and line have rows. The engine's clock stands still: whoever
// is in line for so long that a promise or a permit lapses costs more statements.
func RunCosts(t *testing.T, e sqlstore.Engine, most Costs) {
	still, err := stopClock(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	counter := Count(still)
	w := newGateWorld(t, sqlstore.New(counter, sqlstore.Options{}))
	page := w.open("alone", 0, 1)[0]
	n, held := 0, 0
	alone := func(change ...func(*store.AcquireParams)) {
		n++
		permit := w.grant(page, append(change, visit(n), patient)...)
		if len(change) == 0 {
			w.beginVisit(page, n, permit)
		}
		w.finish(page, n, permit)
	}
	for range 3 {
		counter.Take()
		alone()
	}
	counter.within(t, "granted", most.Granted)
	for range 3 {
		counter.Take()
		alone(once(&held, true))
	}
	counter.within(t, "at once", most.AtOnce)
	if err := w.s.SetPageState(t.Context(), page.PageID, crawl.Active); err != nil {
		t.Fatal(err)
	}
	unchanged := counter.recording(t, w.s, page, n+1, crawl.OutcomeUnchanged, crawl.Active)
	gone := counter.recording(t, w.s, page, n+2, crawl.OutcomeGone, crawl.Gone)
	if gone != unchanged+3 { // its duplicates are looked for, and its content is looked at again, should it come back
		t.Errorf("a visit that finds a page gone asks %d statements, one that finds nothing new %d; want three more", gone, unchanged)
	}
	if again := counter.recording(t, w.s, page, n+3, crawl.OutcomeGone, crawl.Gone); again != unchanged+1 {
		t.Errorf("a visit that finds it gone again asks %d statements, one that finds nothing new %d; want one more", again, unchanged)
	}

	page = w.open("linked", 0, 1)[0]
	for visit := range 3 {
		counter.changed(t, w, page, visit+1, most)
	}

	line := w.pages(w.crawl("busy", time.Hour), "busy.test", 26)
	w.allow("http://busy.test")
	permit := w.grant(line[0])
	for _, p := range line[1:] {
		w.waits(p)
	}
	counter.Take()
	w.waits(line[13])
	counter.within(t, "asks", most.Asks)
	w.begin(line[0], permit)
	w.finish(line[0], 1, permit)
	counter.within(t, "serves", most.Serves)
}

// recording is how many statements the record of a visit takes.
func (c *Counter) recording(t *testing.T, s store.Store, page crawl.PageRef, visit int, outcome crawl.Outcome, state crawl.PageState) int {
	t.Helper()
	c.Take()
	p := recordParams(page, visit)
	p.Visit.Outcome, p.Visit.State = outcome, state
	must(s.RecordVisit(t.Context(), p))(t)
	counts, _ := c.Take()
	return counts.Statements
}

// changed measures a visit that finds a new version, unless it is one of the first two.
func (c *Counter) changed(t *testing.T, w *gateWorld, page crawl.PageRef, visit int, most Costs) {
	t.Helper()
	version := must(w.s.SaveVersion(t.Context(), store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page.PageID, Visit: visit, Digest: strconv.Itoa(visit)}, Links: []store.Link{{URL: page.URL + "known"}},
	}))(t)
	c.Take()
	must(w.s.RegisterLinks(t.Context(), store.RegisterParams{
		CrawlID: page.CrawlID, From: page.PageID, Version: version, URLs: []store.NewURL{{URL: page.URL + "known", Host: page.Host}},
		Rejected: []store.Rejection{{Reason: "elsewhere", Links: 1, Examples: []store.RejectedURL{{URL: "http://elsewhere.test/", Host: "elsewhere.test"}}}},
	}))(t)
	if visit > 2 {
		c.within(t, "links", most.Links)
	}
	c.Take()
	p := recordParams(page, visit)
	p.Visit.Outcome = crawl.OutcomeChanged
	must(w.s.RecordVisit(t.Context(), p))(t)
	if visit > 2 {
		c.within(t, "records", most.Records)
	}
}

func (w *gateWorld) beginVisit(page crawl.PageRef, n int, permit crawl.Permit) {
	w.t.Helper()
	must(w.s.Begin(w.t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: n, Patience: gatePatience}))(w.t)
}

func (w *gateWorld) finish(page crawl.PageRef, n int, permit crawl.Permit) {
	w.t.Helper()
	p := finishParams(page, permit)
	p.Plan = func(time.Duration) store.RecordParams { return recordParams(page, n) }
	must(w.s.Finish(w.t.Context(), p))(w.t)
}

func (c *Counter) within(t *testing.T, what string, most Counts) {
	t.Helper()
	got, queries := c.Take()
	over := []bool{got.Durable > most.Durable, got.Lazy > most.Lazy, got.Reads > most.Reads, got.Statements > most.Statements, most.Trips > 0 && got.Trips > most.Trips}
	if slices.Contains(over, true) {
		t.Errorf("%s: %+v, at most %+v:\n%s", what, got, most, strings.Join(queries, "\n"))
	}
}
