package care

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// endsWorld is a store with one crawl, and a Temporal in which pages' workflows end.
type endsWorld struct {
	t      *testing.T
	now    time.Time
	state  crawl.CrawlState
	pages  map[string]store.PageRecord // by URL
	care   store.CareRecord
	listed map[temporalkit.End][]temporalkit.EndedRun // the last first
	part   int                                        // how many a list has at most
	lists  int

	mu       sync.Mutex
	runs     map[string]bool // pages, by URL
	replaced map[string]bool // by run
	started  int
	refused  error
}

func (w *endsWorld) Now(context.Context) (time.Time, error) { return w.now, nil }

func (w *endsWorld) ListCrawls(context.Context) ([]store.CrawlRecord, error) {
	c := store.CrawlRecord{ID: 1, State: w.state}
	c.Spec.Name = "news"
	return []store.CrawlRecord{c}, nil
}

func (w *endsWorld) FindPages(_ context.Context, url, name string) ([]store.PageRecord, error) {
	if p, ok := w.pages[url]; ok && name == p.Crawl {
		return []store.PageRecord{p}, nil
	}
	return nil, nil
}

func (w *endsWorld) Page(_ context.Context, id int64) (store.PageRecord, error) {
	for _, p := range w.pages {
		if p.PageID == id {
			return p, nil
		}
	}
	return store.PageRecord{}, store.ErrNotFound
}

func (w *endsWorld) ClaimCare(context.Context, time.Duration, int) ([]store.CrawlRecord, error) {
	return nil, nil
}

func (w *endsWorld) Care(context.Context, int64) (store.CareRecord, error) { return w.care, nil }

func (w *endsWorld) NoteTroubles(_ context.Context, _ int64, troubles []store.Trouble) error {
	w.care.Troubles = nil
	for _, t := range troubles {
		w.care.Troubles = append(w.care.Troubles, store.TroubleRecord{Trouble: t, MendedAt: w.now})
	}
	return nil
}

func (w *endsWorld) EndedPages(_ context.Context, end temporalkit.End, token []byte) (temporalkit.EndedRuns, error) {
	w.lists++
	from := 0
	if token != nil {
		fmt.Sscan(string(token), &from)
	}
	to := min(from+w.part, len(w.listed[end]))
	out := temporalkit.EndedRuns{Pages: w.listed[end][from:to]}
	if to > from {
		out.Oldest = w.listed[end][to-1].At
	}
	if to < len(w.listed[end]) {
		out.Next = fmt.Append(nil, to)
	}
	return out, nil
}

func (w *endsWorld) Replaced(_ context.Context, _, run string) (bool, error) {
	return w.replaced[run], nil
}

func (w *endsWorld) PageOf(_ context.Context, id, _ string) (contract.PageIn, error) {
	for _, p := range w.pages {
		if contract.PageID(p.Crawl, p.URL) == id {
			return contract.PageIn{Page: p.PageRef}, nil
		}
	}
	return contract.PageIn{}, fmt.Errorf("history of %s: %w", id, temporalkit.ErrUnreadable)
}

func (w *endsWorld) MendPage(_ context.Context, in contract.PageIn) (temporalkit.Mended, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused != nil {
		return temporalkit.Mended{}, w.refused
	}
	if w.runs[in.Page.URL] {
		return temporalkit.Mended{Condition: temporalkit.Runs}, nil
	}
	w.runs[in.Page.URL] = true
	w.started++
	return temporalkit.Mended{Condition: temporalkit.Gone}, nil
}

// end ends a page's workflow some time ago.
func (w *endsWorld) end(how temporalkit.End, url string, ago time.Duration) {
	w.runs[url] = false
	run := temporalkit.EndedRun{ID: contract.PageID("news", url), Run: fmt.Sprint(how, len(w.listed[how])), TaskQueue: "recrawl", At: w.now.Add(-ago)}
	w.listed[how] = append([]temporalkit.EndedRun{run}, w.listed[how]...)
}

func newEndsWorld(t *testing.T) *endsWorld {
	w := &endsWorld{
		t: t, now: time.Now(), part: 3, pages: map[string]store.PageRecord{},
		listed: map[temporalkit.End][]temporalkit.EndedRun{}, runs: map[string]bool{}, replaced: map[string]bool{},
	}
	for i := range 8 {
		url := fmt.Sprintf("https://example.com/%d", i)
		if i == 7 {
			url += strings.Repeat("x", 300) // its id is cut
		}
		page := store.PageRecord{PageRef: crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: int64(i + 1), URL: url}, State: crawl.Active}
		if i == 6 {
			page.State = crawl.Stopped
		}
		w.pages[url] = page
	}
	return w
}

func (w *endsWorld) worker() *pageEnds {
	return &pageEnds{store: w, flows: w, queue: "recrawl", stuck: &stuckPages{log: slog.New(slog.DiscardHandler)}, log: slog.New(slog.DiscardHandler)}
}

func (w *endsWorld) look(p *pageEnds, started int, trouble string) {
	w.t.Helper()
	w.started = 0
	if err := p.look(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	got := ""
	for _, k := range w.care.Troubles {
		got = fmt.Sprintf("%d: %s", k.Pages, k.Problem)
	}
	if w.started != started || got != trouble {
		w.t.Errorf("started %d and noted %q, want %d and %q", w.started, got, started, trouble)
	}
}

func (w *endsWorld) url(i int) string {
	for url, p := range w.pages {
		if p.PageID == int64(i+1) {
			return url
		}
	}
	return ""
}

// Workflows of pages that were ended are restarted from the store, once, and counted;
// those that the store does not want alive stay ended.
func TestPageEnds(t *testing.T) {
	t.Parallel()
	w := newEndsWorld(t)
	p := w.worker()
	w.look(p, 0, "")
	for i := range 8 { // one of which is stopped, and one has a long URL
		w.end(temporalkit.EndTerminated, w.url(i), 20*time.Second)
	}
	w.end(temporalkit.EndTerminated, "https://example.com/unknown", 20*time.Second)
	w.end(temporalkit.EndTimedOut, w.url(0), 30*time.Second)
	w.look(p, 7, "8: workflows that ended in the last hour: 7 terminated, 1 timed out; all run again")
	w.look(p, 0, "8: workflows that ended in the last hour: 7 terminated, 1 timed out; all run again")
	// Another worker reaches the same result, and records nothing.
	noted := w.care.Troubles[0].MendedAt
	w.now = w.now.Add(time.Second)
	other := w.worker()
	w.look(other, 0, "8: workflows that ended in the last hour: 7 terminated, 1 timed out; all run again")
	if !w.care.Troubles[0].MendedAt.Equal(noted) {
		t.Error("another worker noted the same again")
	}
	// One that ended a moment ago may be on its way out of the store.
	w.end(temporalkit.EndTerminated, w.url(1), time.Second)
	w.look(p, 0, "8: workflows that ended in the last hour: 7 terminated, 1 timed out; all run again")
	w.listed[temporalkit.EndTerminated][0].At = w.now.Add(-10 * time.Second)
	w.look(other, 1, "9: workflows that ended in the last hour: 8 terminated, 1 timed out; all run again")
	w.look(p, 0, "9: workflows that ended in the last hour: 8 terminated, 1 timed out; all run again")
}

// An end of which nobody can tell the page, for good, does not keep the others ended.
func TestPageEndsUnreadable(t *testing.T) {
	t.Parallel()
	w := newEndsWorld(t)
	p := w.worker()
	for i := range 3 {
		w.end(temporalkit.EndTerminated, w.url(i), 30*time.Second)
	}
	w.end(temporalkit.EndTerminated, "https://example.com/"+strings.Repeat("gone", 100), 20*time.Second)
	w.look(p, 3, "3: workflows that ended in the last hour: 3 terminated; all run again")
	w.look(p, 0, "3: workflows that ended in the last hour: 3 terminated; all run again")
}

// A page that was ended for another run, or runs on another queue, is no trouble,
// but one that somebody else has restarted is.
func TestPageEndsOfOthers(t *testing.T) {
	t.Parallel()
	w := newEndsWorld(t)
	w.end(temporalkit.EndTerminated, w.url(0), 20*time.Second)
	w.replaced["Terminated0"] = true
	w.runs[w.url(0)] = true
	w.end(temporalkit.EndTerminated, w.url(1), 20*time.Second)
	w.listed[temporalkit.EndTerminated][0].TaskQueue = "other"
	w.look(w.worker(), 0, "")
	w.end(temporalkit.EndTerminated, w.url(2), 20*time.Second)
	w.runs[w.url(2)] = true // by a pass of maintenance
	w.look(w.worker(), 0, "1: workflows that ended in the last hour: 1 terminated; all run again")

	w.care = store.CareRecord{}
	w.state = crawl.CrawlStopped
	w.end(temporalkit.EndTerminated, w.url(3), 20*time.Second)
	w.look(w.worker(), 0, "")
}

// A look that is cut off, or that Temporal refuses, is made good, and known ends are not
// listed again.
func TestPageEndsGoOn(t *testing.T) {
	t.Parallel()
	w := newEndsWorld(t)
	p := w.worker()
	for i := range 6 {
		w.end(temporalkit.EndTerminated, w.url(i), 20*time.Second)
	}
	w.refused = errors.New("busy")
	if err := p.look(t.Context()); !errors.Is(err, w.refused) {
		t.Errorf("a refused look: %v", err)
	}
	if len(w.care.Troubles) > 0 {
		t.Errorf("nothing was found, and noted was %+v", w.care.Troubles)
	}
	w.refused = nil
	w.look(p, 6, "6: workflows that ended in the last hour: 6 terminated; all run again")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.look(ctx); err != nil {
		t.Errorf("a look that is cut off: %v", err)
	}
	for i := range w.listed[temporalkit.EndTerminated] {
		w.listed[temporalkit.EndTerminated][i].At = w.now.Add(-10 * time.Minute)
	}
	w.end(temporalkit.EndTerminated, w.url(0), 20*time.Second)
	w.lists = 0
	w.look(p, 1, "7: workflows that ended in the last hour: 7 terminated; all run again")
	if w.lists != len(temporalkit.Ends()) {
		t.Errorf("%d lists were asked for, want one for each way to end", w.lists)
	}
}

// A page that ends again and again is restarted some times, and then left and named
// until an hour is over.
func TestPageEndsAgain(t *testing.T) {
	t.Parallel()
	w := newEndsWorld(t)
	p := w.worker()
	for i := range endsAgain {
		w.end(temporalkit.EndFailed, w.url(0), time.Duration(20-i)*time.Second)
		w.look(p, 1, fmt.Sprintf("%d: workflows that ended in the last hour: %d failed; all run again", i+1, i+1))
	}
	w.end(temporalkit.EndFailed, w.url(0), 10*time.Second)
	left := "6: workflows that ended in the last hour: 6 failed; 1 of these ended 5 times and more, and maintenance starts them anew"
	w.look(p, 0, left)
	w.look(p, 0, left)
	if w.care.Troubles[0].Mended {
		t.Error("what is left counts as mended")
	}
	other := w.worker() // it has seen none of this
	w.care = store.CareRecord{}
	w.look(other, 1, "6: workflows that ended in the last hour: 6 failed; all run again")
	w.care = store.CareRecord{}
	w.look(p, 0, left)
	p.forget(w.now.Add(time.Second)) // an hour later
	w.listed = map[temporalkit.End][]temporalkit.EndedRun{}
	w.look(p, 0, "0: ")
	w.care = store.CareRecord{}
	w.look(p, 0, "")
}

// As long as a look does not get to its end, its findings last.
func TestPageEndsMore(t *testing.T) {
	t.Parallel()
	w := newEndsWorld(t)
	p := w.worker()
	for i := range 6 {
		w.end(temporalkit.EndTerminated, w.url(i), 20*time.Second)
	}
	flows := &failingLater{endsWorld: w}
	p.flows = flows
	if err := p.look(t.Context()); !errors.Is(err, errSlow) {
		t.Errorf("a look that fails in the middle: %v", err)
	}
	if k := w.care.Troubles; len(k) != 1 || k[0].Mended || k[0].Problem != "workflows that ended in the last hour: 3 terminated; these run again, and others are being looked for" {
		t.Errorf("noted %+v", k)
	}
	p.flows = w
	w.look(p, 3, "6: workflows that ended in the last hour: 6 terminated; all run again")
	if !w.care.Troubles[0].Mended {
		t.Error("it is not mended")
	}
}

var errSlow = errors.New("slow")

// failingLater lists one part of each list only.
type failingLater struct{ *endsWorld }

func (f *failingLater) EndedPages(ctx context.Context, end temporalkit.End, token []byte) (temporalkit.EndedRuns, error) {
	if token != nil {
		return temporalkit.EndedRuns{}, errSlow
	}
	return f.endsWorld.EndedPages(ctx, end, token)
}
