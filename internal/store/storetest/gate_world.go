package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// gateWorld is a store with crawls and pages for the cases of the gate. Its
// helpers fail the test when the store does.
type gateWorld struct {
	t testing.TB
	s store.Store
}

// gatePatience is the patience of calls that must not give up: far beyond any time
// that a case takes, however busy the machine is, and short enough to end a hung test.
const gatePatience = 10 * time.Minute

func newGateWorld(t testing.TB, s store.Store) *gateWorld {
	return &gateWorld{t: t, s: s}
}

// must returns the value of a call that may not fail.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// crawl opens a crawl with a demand. No factor is 0.
func (w *gateWorld) crawl(name string, delay time.Duration, change ...func(*crawl.Spec)) store.CrawlRecord {
	w.t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = name, []string{"http://host.test/"}
	spec.Politeness = crawl.PolitenessSpec{Delay: crawl.Duration(delay), MaxCrawlDelay: crawl.Duration(time.Hour)}
	for _, c := range change {
		c(&spec)
	}
	return must(w.s.OpenCrawl(w.t.Context(), spec))(w.t)
}

// pages registers n pages of a host over http.
func (w *gateWorld) pages(c store.CrawlRecord, host string, n int) []crawl.PageRef {
	w.t.Helper()
	urls := make([]store.NewURL, n)
	for i := range urls {
		urls[i] = store.NewURL{URL: fmt.Sprintf("http://%s/%s/%d", host, c.Spec.Name, i), Host: host}
	}
	return w.register(c, urls)
}

func (w *gateWorld) register(c store.CrawlRecord, urls []store.NewURL) []crawl.PageRef {
	w.t.Helper()
	must(w.s.RegisterLinks(w.t.Context(), store.RegisterParams{CrawlID: c.ID, URLs: urls}))(w.t)
	refs := make([]crawl.PageRef, len(urls))
	for i, u := range urls {
		found := must(w.s.FindPages(w.t.Context(), u.URL, c.Spec.Name))(w.t)
		if len(found) != 1 {
			w.t.Fatalf("%d pages are %s", len(found), u.URL)
		}
		refs[i] = found[0].PageRef
	}
	return refs
}

// secure registers one page of a host over https: a separate origin.
func (w *gateWorld) secure(c store.CrawlRecord, host string) crawl.PageRef {
	w.t.Helper()
	return w.register(c, []store.NewURL{{URL: "https://" + host + "/" + c.Spec.Name, Host: host}})[0]
}

// open makes a crawl with n pages of a host whose robots.txt allows all.
func (w *gateWorld) open(name string, delay time.Duration, n int) []crawl.PageRef {
	w.t.Helper()
	pages := w.pages(w.crawl(name, delay), "host.test", n)
	w.allow("http://host.test")
	return pages
}

func (w *gateWorld) allow(origin string) {
	w.t.Helper()
	w.robots(store.SaveRobotsParams{Origin: origin, State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
}

func (w *gateWorld) robots(p store.SaveRobotsParams) {
	w.t.Helper()
	if err := w.s.SaveRobots(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
}

func (w *gateWorld) state(name string, state crawl.CrawlState) {
	w.t.Helper()
	must(w.s.SetCrawlState(w.t.Context(), name, state))(w.t)
}

// ask is Acquire for a page's first visit without patience.
func (w *gateWorld) ask(page crawl.PageRef, change ...func(*store.AcquireParams)) store.AcquireResult {
	w.t.Helper()
	p := store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassRevisit}
	for _, c := range change {
		c(&p)
	}
	return must(w.s.Acquire(w.t.Context(), p))(w.t)
}

// acquired is the result of an Acquire in another goroutine.
type acquired struct {
	store.AcquireResult
	err error
}

// waitInProcess is Acquire for a page that nobody else waits before; it returns
// when the page stands in its line and the call waits for its turn.
func (w *gateWorld) waitInProcess(ctx context.Context, page crawl.PageRef) <-chan acquired {
	w.t.Helper()
	answers := make(chan acquired, 1)
	go func() {
		a, err := w.s.Acquire(ctx, store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassRevisit, Patience: gatePatience})
		answers <- acquired{a, err}
	}()
	for w.host(page.CrawlID).Waiting == 0 {
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
	}
	return answers
}

func patient(p *store.AcquireParams) { p.Patience = gatePatience }

func visit(n int) func(*store.AcquireParams) { return func(p *store.AcquireParams) { p.Visit = n } }

// grant is ask for a permit that must come.
func (w *gateWorld) grant(page crawl.PageRef, change ...func(*store.AcquireParams)) crawl.Permit {
	w.t.Helper()
	a := w.ask(page, change...)
	if a.Answer != store.GateGranted {
		w.t.Fatalf("%s: %s (%s, %v), want granted", page.URL, a.Answer, a.Reason, a.Wait)
	}
	return a.Permit
}

// waits is ask for an answer that must be a wait.
func (w *gateWorld) waits(page crawl.PageRef, change ...func(*store.AcquireParams)) store.AcquireResult {
	w.t.Helper()
	a := w.ask(page, change...)
	if a.Answer != store.GateWait {
		w.t.Fatalf("%s: %s, want wait", page.URL, a.Answer)
	}
	return a
}

// tryBegin is Begin without patience.
func (w *gateWorld) tryBegin(page crawl.PageRef, permit crawl.Permit) store.BeginResult {
	w.t.Helper()
	return must(w.s.Begin(w.t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: 1}))(w.t)
}

// begin is Begin, however long it takes, and returns the time.
func (w *gateWorld) begin(page crawl.PageRef, permit crawl.Permit) time.Time {
	w.t.Helper()
	b := must(w.s.Begin(w.t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: 1, Patience: gatePatience}))(w.t)
	if b.Wait > 0 {
		w.t.Fatalf("%s: the host is busy for %v more", page.URL, b.Wait)
	}
	return b.At
}

// refused checks that a permit gives no right to begin.
func (w *gateWorld) refused(page crawl.PageRef, permit crawl.Permit) {
	w.t.Helper()
	b, err := w.s.Begin(w.t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: 1})
	if !errors.Is(err, store.ErrRefused) {
		w.t.Fatalf("%s: Begin = %+v, %v; want it refused", page.URL, b, err)
	}
}

// release ends a request that the host answered well and took no time, and
// returns a time before it ended.
func (w *gateWorld) release(permit crawl.Permit, change ...func(*store.ReleaseParams)) time.Time {
	w.t.Helper()
	ended := w.now()
	p := store.ReleaseParams{Permit: permit, Answer: store.HostOK}
	for _, c := range change {
		c(&p)
	}
	must(w.s.Release(w.t.Context(), p))(w.t)
	return ended
}

// request does all of a page's request and returns a time before it ended.
func (w *gateWorld) request(page crawl.PageRef, change ...func(*store.ReleaseParams)) time.Time {
	w.t.Helper()
	permit := w.grant(page, patient)
	w.begin(page, permit)
	return w.release(permit, change...)
}

func (w *gateWorld) leave(page crawl.PageRef) store.GateEffects {
	w.t.Helper()
	return must(w.s.Leave(w.t.Context(), page.PageID))(w.t)
}

func (w *gateWorld) now() time.Time {
	w.t.Helper()
	return must(w.s.Now(w.t.Context()))(w.t)
}

// host is the record of host.test.
func (w *gateWorld) host(crawlID int64) store.HostRecord {
	w.t.Helper()
	for _, h := range must(w.s.ListHosts(w.t.Context(), store.HostFilter{CrawlID: crawlID, Limit: 10}))(w.t) {
		if h.Host == "host.test" {
			return h
		}
	}
	w.t.Fatal("host.test is not listed")
	return store.HostRecord{}
}

// about checks a duration that began to run down at some time since.
func (w *gateWorld) about(what string, got, want time.Duration, since time.Time) {
	w.t.Helper()
	if passed := w.now().Sub(since); got > want || got < want-passed {
		w.t.Errorf("%s is %v; want %v, less the %v that passed", what, got, want, passed)
	}
}
