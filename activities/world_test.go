package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"recrawl/activities"
	"recrawl/internal/archive"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/temporalkit"
)

const day = 24 * time.Hour

// world is the activities of one worker with a real store, archive and fetcher.
// flows simulates Temporal. Its helpers fail the test.
type world struct {
	parts
	t          *testing.T
	flows      *flows
	activities *activities.Activities
	folder     string          // of the archive
	background context.Context // of the worker, whose end cancels activities
	stopping   chan struct{}   // closed when the worker stops
}

// parts are the parts that a test may replace.
type parts struct {
	store    store.Store
	archive  archive.Store
	fetcher  activities.Fetcher
	settings activities.Settings
}

func newWorld(t *testing.T, replace ...func(*parts)) *world {
	t.Helper()
	w := &world{t: t, flows: &flows{}, folder: t.TempDir(), background: t.Context(), stopping: make(chan struct{})}
	file := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(file, must[[]byte](t)(emptyStore()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := must[store.Store](t)(sqlite.Open(t.Context(), file, sqlite.Options{Owner: true}))
	t.Cleanup(func() { s.Close() })
	w.parts = parts{store: s, archive: must[*archive.Dir](t)(archive.OpenDir(w.folder)), fetcher: fetch.New(fetch.Options{}), settings: activities.Settings{Version: "1.2.3"}}
	for _, r := range replace {
		r(&w.parts)
	}
	w.activities = activities.New(storesOf(w.store), w.archive, w.fetcher, w.flows, w.settings, slog.New(slog.DiscardHandler))
	return w
}

// emptyStore is the file of a store that has just been made. Under the race
// detector the making takes longer than a test, so each test has a copy.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "recrawl-activities-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "store.db")
	s, err := sqlite.Open(context.Background(), file, sqlite.Options{Owner: true})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// in is the world with the helpers of another, inner test.
func (w *world) in(t *testing.T) *world {
	inner := *w
	inner.t = t
	return &inner
}

// try runs an activity as a worker does: by its name, its input and its result
// through the data converter.
func try[In, Out any](w *world, activity contract.Activity[In, Out], in In) (Out, error) {
	w.t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{BackgroundActivityContext: w.background})
	env.SetWorkerStopChannel(w.stopping)
	w.activities.Register(env)
	var out Out
	value, err := env.ExecuteActivity(activity.Name, in)
	if err == nil {
		err = value.Get(&out)
	}
	return out, err
}

// run is try for an activity that may not fail.
func run[In, Out any](w *world, activity contract.Activity[In, Out], in In) Out {
	w.t.Helper()
	out, err := try(w, activity, in)
	if err != nil {
		w.t.Fatalf("%s: %v", activity.Name, err)
	}
	return out
}

// must returns the value of a call that may not fail.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// specOf is a crawl of the seeds that asks for no delay.
func specOf(seeds []string, change ...func(*crawl.Spec)) crawl.Spec {
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "news", seeds
	spec.Politeness = crawl.PolitenessSpec{MaxCrawlDelay: crawl.Duration(time.Hour)}
	for _, c := range change {
		c(&spec)
	}
	return spec
}

// wholeMachine lets a crawl reach all services of this machine.
func wholeMachine(spec *crawl.Spec) {
	spec.Fetch.AllowNetworks = []string{"127.0.0.0/8", "::1/128"}
}

func (w *world) open(seeds []string, change ...func(*crawl.Spec)) contract.OpenCrawlOut {
	w.t.Helper()
	spec := specOf(seeds, change...)
	return run(w, contract.OpenCrawl, contract.OpenCrawlIn{Spec: encode(w.t, spec), WorkflowID: contract.CrawlID(spec.Name)})
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	return must[[]byte](t)(json.Marshal(v))
}

// living opens a crawl of the URLs and admits them all; no robots.txt forbids them.
func (w *world) living(urls []string, change ...func(*crawl.Spec)) []crawl.PageRef {
	w.t.Helper()
	opened := w.open(urls, change...)
	run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	refs := make([]crawl.PageRef, len(urls))
	for i, url := range urls {
		refs[i] = w.page(url).PageRef
		w.saveRobots(store.SaveRobotsParams{Origin: originOf(url), State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
	}
	return refs
}

func originOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

func (w *world) saveRobots(p store.SaveRobotsParams) {
	w.t.Helper()
	if err := w.store.SaveRobots(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
}

// find returns the page of a URL, if the crawl knows it.
func (w *world) find(url string) (store.PageRecord, bool) {
	w.t.Helper()
	pages := must[[]store.PageRecord](w.t)(w.store.FindPages(w.t.Context(), url, "news"))
	if len(pages) == 0 {
		return store.PageRecord{}, false
	}
	return pages[0], true
}

func (w *world) page(url string) store.PageRecord {
	w.t.Helper()
	p, ok := w.find(url)
	if !ok {
		w.t.Fatalf("the crawl does not know %s", url)
	}
	return p
}

func (w *world) crawl() store.CrawlRecord {
	w.t.Helper()
	return must[store.CrawlRecord](w.t)(w.store.Crawl(w.t.Context(), "news"))
}

func (w *world) status() store.StatusRecord {
	w.t.Helper()
	return must[store.StatusRecord](w.t)(w.store.Status(w.t.Context(), w.crawl().ID))
}

func (w *world) setState(state crawl.CrawlState) {
	w.t.Helper()
	run(w, contract.SetCrawlState, contract.SetCrawlStateIn{Name: "news", State: state})
}

func (w *world) host(page crawl.PageRef) store.HostRecord {
	w.t.Helper()
	hosts := must[[]store.HostRecord](w.t)(w.store.ListHosts(w.t.Context(), store.HostFilter{CrawlID: page.CrawlID, Limit: 100}))
	i := slices.IndexFunc(hosts, func(h store.HostRecord) bool { return h.Host == page.Host })
	if i < 0 {
		w.t.Fatalf("no host %s", page.Host)
	}
	return hosts[i]
}

func (w *world) acquire(page crawl.PageRef, visit int) contract.AcquireOut {
	w.t.Helper()
	return run(w, contract.Acquire, contract.AcquireIn{Page: page, Visit: visit, Class: crawl.ClassRevisit})
}

// permit is the permit of a visit, which must be granted.
func (w *world) permit(page crawl.PageRef, visit int) crawl.Permit {
	w.t.Helper()
	got := w.acquire(page, visit)
	if got.Answer != contract.AnswerPermit {
		w.t.Fatalf("visit %d of %s was answered %+v, want a permit", visit, page.URL, got)
	}
	return got.Permit
}

// fetch makes a visit's request; a fetch that failed returns an error.
func (w *world) fetch(page crawl.PageRef, visit int) (contract.FetchOut, error) {
	w.t.Helper()
	return try(w, contract.Fetch, contract.FetchIn{Page: page, Visit: visit, Permit: w.permit(page, visit)})
}

// fetched is the outcome of a fetch, failed or not, as the workflow reads it.
func (w *world) fetched(out contract.FetchOut, err error) contract.FetchOut {
	w.t.Helper()
	if err == nil {
		return out
	}
	app := application(w.t, err)
	if app.Type() != contract.ErrTypeFetchFailed || app.Details(&out) != nil {
		w.t.Fatalf("fetch: %v", err)
	}
	return out
}

// visit makes a whole visit, as the Page workflow does, except for the links.
func (w *world) visit(page crawl.PageRef, visit int) contract.PlanOut {
	w.t.Helper()
	return w.visitAnd(page, visit, contract.DetectIn{})
}

// visitAnd is visit with further options of DetectChange.
func (w *world) visitAnd(page crawl.PageRef, visit int, asked contract.DetectIn) contract.PlanOut {
	w.t.Helper()
	plan := contract.PlanIn{Page: page, Visit: visit, Fetch: w.fetched(w.fetch(page, visit))}
	if plan.Fetch.Differs {
		asked.Page, asked.Visit, asked.Fetch = page, visit, plan.Fetch
		verdict := run(w, contract.DetectChange, asked)
		plan.Fetch.Outcome, plan.Reasons = verdict.Outcome, verdict.Reasons
	}
	return run(w, contract.PlanRevisit, plan)
}

// archived counts the contents of the archive and the temporary files in it.
func (w *world) archived() (contents, temporary int) {
	w.t.Helper()
	err := filepath.WalkDir(w.folder, func(path string, d fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".raw", ".zst":
			contents++
		case ".part":
			temporary++
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return contents, temporary
}

// keep puts a body into the archive and returns its digest.
func (w *world) keep(body string) string {
	w.t.Helper()
	writer := must[archive.Writer](w.t)(w.archive.Create(w.t.Context()))
	if _, err := io.WriteString(writer, body); err != nil {
		w.t.Fatal(err)
	}
	digest, _, err := writer.Commit()
	if err != nil {
		w.t.Fatal(err)
	}
	return digest
}

// application is the application error that an activity failed with.
func application(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		t.Fatalf("error %v, want an application error", err)
	}
	return app
}

// wantError checks the type of an activity's error, whether it is retried, and a
// part of its message.
func wantError(t *testing.T, err error, kind string, retried bool, message string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one of type %s", kind)
	}
	app := application(t, err)
	if app.Type() != kind || app.NonRetryable() == retried || !strings.Contains(app.Message(), message) {
		t.Errorf("error %q of type %s, non-retryable %t; want type %s, retried %t, with %q",
			app.Message(), app.Type(), app.NonRetryable(), kind, retried, message)
	}
}

// flows records the calls to Temporal.
type flows struct {
	mu                                    sync.Mutex
	started, turned, stopped, rescheduled []string // URLs of pages
	evicted, fellBack                     []string
	told                                  contract.RescheduleArg // what the last one rescheduled was told
	// mended is the condition of each page's workflow, Gone by default.
	mended map[string]temporalkit.Mended
	// unmendable is the URL of a page whose workflow cannot be mended.
	unmendable string
	mends      int      // how often MendPage was called
	ended      []string // stuck Discovers
	sinks      []string // the calls for the workflows of sinks
	// missing: no page has a running workflow.
	missing bool
	// down: Temporal does not answer.
	down bool
	// meet: pages are asked to stop in pairs, each of which waits for the other. nil if they need not.
	meet chan struct{}
}

var errDown = errors.New("temporal does not answer")

func (f *flows) StartPage(_ context.Context, in contract.PageIn) error {
	return f.note(&f.started, in.Page, false)
}

func (f *flows) MendPage(_ context.Context, in contract.PageIn) (temporalkit.Mended, error) {
	f.mu.Lock()
	f.mends++
	f.mu.Unlock()
	if in.Page.URL == f.unmendable {
		return temporalkit.Mended{}, errDown
	}
	mended := f.mended[in.Page.URL]
	if mended.Condition == temporalkit.Runs {
		return mended, nil
	}
	return mended, f.note(&f.started, in.Page, false)
}

// runs makes the workflows of the pages run.
func (f *flows) runs(urls []string) {
	f.mended = map[string]temporalkit.Mended{}
	for _, url := range urls {
		f.mended[url] = temporalkit.Mended{Condition: temporalkit.Runs}
	}
}

func (f *flows) EndStuckDiscover(_ context.Context, page crawl.PageRef, _ int) (bool, error) {
	return true, f.note(&f.ended, page, false)
}

func (f *flows) Turn(_ context.Context, page crawl.PageRef, _ time.Duration) error {
	return f.note(&f.turned, page, true)
}

func (f *flows) FallBack(_ context.Context, page crawl.PageRef) { _ = f.note(&f.fellBack, page, true) }

func (f *flows) StopPage(ctx context.Context, page crawl.PageRef) error {
	if f.meet != nil {
		select {
		case f.meet <- struct{}{}:
		case <-f.meet:
		case <-time.After(5 * time.Minute): // only ends a hang
			return errors.New("no other page is asked to stop meanwhile")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f.note(&f.stopped, page, true)
}

func (f *flows) EvictPage(_ context.Context, page crawl.PageRef) error {
	return f.note(&f.evicted, page, true)
}

func (f *flows) Reschedule(_ context.Context, page crawl.PageRef, arg contract.RescheduleArg) error {
	f.told = arg
	return f.note(&f.rescheduled, page, true)
}

func (f *flows) note(list *[]string, page crawl.PageRef, signal bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.down:
		return errDown
	case signal && f.missing:
		return fmt.Errorf("page %s: %w", page.URL, temporalkit.ErrNoWorkflow)
	}
	*list = append(*list, page.URL)
	return nil
}

// site is a web server on loopback that notes every request.
type site struct {
	url string
	mu  sync.Mutex
	log []*http.Request
}

func serve(t *testing.T, answer http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.log = append(s.log, r.Clone(context.WithoutCancel(r.Context())))
		s.mu.Unlock()
		answer(w, r)
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// requests lists the targets of the requests in the order of their arrival.
func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	targets := []string{}
	for _, r := range s.log {
		targets = append(targets, r.RequestURI)
	}
	return targets
}

func (s *site) wantRequests(t *testing.T, want ...string) {
	t.Helper()
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("the site was asked for %q, want %q", got, want)
	}
}

// header is the header of the n-th request from 0.
func (s *site) header(n int) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log[n].Header
}

// html answers with a page.
func html(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, body)
}

// pageOf answers every request with the same page.
func pageOf(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { html(w, body) }
}

// unreached is an origin at which nobody listens: no server is given a port that
// low.
const unreached = "http://127.0.0.1:2"

// near reports whether got is at most a share away from want.
func near(got, want time.Duration, share float64) bool {
	return (got - want).Abs() <= time.Duration(share*float64(want))
}

func storesOf(s store.Store) activities.Stores {
	return activities.Stores{
		Crawls: s, Gate: s, Pages: s, Frontier: s, Contents: s,
		Allocation: s, Duplicates: s, Feed: s, Hints: s, Ranks: s, Replacement: s, Scope: s, Traps: s, Sinks: s,
	}
}
