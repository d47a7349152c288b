package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/activities"
	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// scrape returns the metrics as Prometheus would read them.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("HTTP %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// has checks which lines an answer has.
func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !strings.Contains("\n"+text, "\n"+want+"\n") {
			name, _, _ := strings.Cut(want, "{")
			name, _, _ = strings.Cut(name, " ")
			t.Errorf("no line %q; there are:\n%s", want, of(text, name))
		}
	}
}

// of are the lines of one metric.
func of(text, name string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// answering is a store with scripted answers.
type answering struct {
	store.Gate
	activities.PageStore
	err     error
	already bool
}

func (a *answering) Acquire(context.Context, store.AcquireParams) (store.AcquireResult, error) {
	return store.AcquireResult{Answer: store.GateWait, Reason: store.WaitBackoff}, a.err
}

func (a *answering) Begin(context.Context, store.BeginParams) (store.BeginResult, error) {
	return store.BeginResult{}, a.err
}

func (a *answering) Release(context.Context, store.ReleaseParams) (store.GateEffects, error) {
	return store.GateEffects{Held: time.Minute}, a.err
}

func (a *answering) Finish(_ context.Context, p store.FinishParams) (store.FinishResult, error) {
	return store.FinishResult{RecordResult: store.RecordResult{Visit: p.Plan(0).Visit, Already: a.already}}, a.err
}

func (a *answering) RecordVisit(_ context.Context, p store.RecordParams) (store.RecordResult, error) {
	return store.RecordResult{Visit: p.Visit, Already: a.already}, a.err
}

func (a *answering) SaveRobots(context.Context, store.SaveRobotsParams) error { return a.err }

func TestStore(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3")
	a := &answering{}
	s := m.Stores(activities.Stores{Gate: a, Pages: a})
	visit := func(visit int, outcome crawl.Outcome, late time.Duration) store.RecordParams {
		return store.RecordParams{Visit: store.VisitRecord{Visit: visit, Outcome: outcome}, Late: late}
	}
	all := func() {
		ctx := t.Context()
		_, _ = s.Gate.Acquire(ctx, store.AcquireParams{})
		_, _ = s.Gate.Begin(ctx, store.BeginParams{})
		_, _ = s.Gate.Release(ctx, store.ReleaseParams{Answer: store.HostThrottled})
		_, _ = s.Gate.Finish(ctx, store.FinishParams{Plan: func(time.Duration) store.RecordParams { return visit(1, crawl.OutcomeNew, time.Hour) }})
		_, _ = s.Pages.RecordVisit(ctx, visit(7, crawl.OutcomeChanged, 2*time.Second))
		_ = s.Gate.SaveRobots(ctx, store.SaveRobotsParams{State: store.RobotsUnreachable})
	}
	all()
	a.already = true // the same, recorded again: no second visit
	all()
	has(t, scrape(t, m),
		`recrawl_visits_total{outcome="new"} 1`, `recrawl_visits_total{outcome="changed"} 1`, `recrawl_visits_total{outcome="gone"} 0`,
		`recrawl_visit_lag_seconds_bucket{le="1"} 0`, `recrawl_visit_lag_seconds_bucket{le="5"} 1`, `recrawl_visit_lag_seconds_count 1`,
		`recrawl_gate_answers_total{answer="wait",reason="backoff"} 2`, `recrawl_gate_wait_seconds_count{step="begin"} 2`,
		`recrawl_backoffs_total{answer="throttled"} 2`, `recrawl_robots_fetches_total{result="unreachable"} 2`,
		`recrawl_store_seconds_count{call="finish"} 2`, `recrawl_build_info{version="1.2.3"} 1`,
	)
	for kind, err := range map[string]error{
		kindUnavailable: fmt.Errorf("read: %w", store.ErrUnavailable), kindFull: store.ErrFull, kindOther: errors.New("a bug"),
		"": store.ErrRefused, "cancelled": context.Canceled,
	} {
		a.err = err
		all()
		if kind == kindUnavailable || kind == kindFull || kind == kindOther {
			has(t, scrape(t, m), fmt.Sprintf(`recrawl_store_errors_total{call="begin",kind="%s"} 1`, kind))
		}
	}
	if got := scrape(t, m); strings.Count(of(got, "recrawl_store_errors_total"), `call="begin"`) != 3 {
		t.Errorf("a refused permit or a worker that stops is counted as an error:\n%s", of(got, "recrawl_store_errors_total"))
	}
}

// badArchive fails as scripted.
type badArchive struct {
	archive.Store
	err error
}

func (a badArchive) Open(context.Context, string) (io.ReadCloser, error) { return nil, a.err }

func (a badArchive) Has(context.Context, string) (bool, error) { return false, a.err }

func TestArchive(t *testing.T) {
	t.Parallel()
	m := NewMetrics("")
	dir, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := m.Archive(dir)
	w, err := a.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("twelve bytes")); err != nil {
		t.Fatal(err)
	}
	digest, _, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	if is, err := a.Has(t.Context(), digest); !is || err != nil {
		t.Fatal(is, err)
	}
	if _, err := a.Open(t.Context(), strings.Repeat("0", 64)); !errors.Is(err, archive.ErrNotFound) {
		t.Fatal(err)
	}
	has(t, scrape(t, m), `recrawl_archive_seconds_count{call="commit"} 1`, `recrawl_archive_seconds_count{call="has"} 1`,
		`recrawl_archive_stored_bytes_total 12`, `recrawl_archive_errors_total{call="commit",kind="full"} 0`)
	for kind, err := range map[string]error{kindFull: archive.ErrFull, kindUnavailable: archive.ErrUnavailable, kindCorrupt: archive.ErrCorrupt, kindOther: errors.New("EIO")} {
		a := m.Archive(badArchive{err: err})
		if _, got := a.Open(t.Context(), ""); !errors.Is(got, err) {
			t.Errorf("%v, want %v", got, err)
		}
		has(t, scrape(t, m), fmt.Sprintf(`recrawl_archive_errors_total{call="open",kind="%s"} 1`, kind))
	}
	r, err := m.Archive(archivetest.Damaged{Store: dir, Digest: digest}).Open(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, archive.ErrCorrupt) {
		t.Error(err)
	}
	_, _ = r.Read(make([]byte, 1)) // again: it is one error
	has(t, scrape(t, m), `recrawl_archive_errors_total{call="read",kind="corrupt"} 1`)
	if got := of(scrape(t, m), `recrawl_archive_errors_total{call="open"`); strings.Count(got, "\n") != 4 {
		t.Errorf("what is not in the archive is counted as an error:\n%s", got)
	}
}

type answeredRequest struct {
	activities.Fetcher
	result fetch.Result
}

func (a answeredRequest) Do(context.Context, fetch.Request, io.Writer) fetch.Result { return a.result }

func TestFetcher(t *testing.T) {
	t.Parallel()
	m := NewMetrics("")
	for _, r := range []fetch.Result{{Status: 200, Bytes: 1000, Duration: time.Second}, {Status: 304}, {Status: 503}, {}, {Local: true, Status: 200}} {
		m.Fetcher(answeredRequest{result: r}).Do(t.Context(), fetch.Request{}, io.Discard)
	}
	has(t, scrape(t, m), `recrawl_fetch_seconds_count{status="2xx"} 1`, `recrawl_fetch_seconds_sum{status="2xx"} 1`, `recrawl_fetch_seconds_count{status="3xx"} 1`,
		`recrawl_fetch_seconds_count{status="5xx"} 1`, `recrawl_fetch_seconds_count{status="none"} 1`, `recrawl_fetch_seconds_count{status="local"} 1`,
		`recrawl_fetch_received_bytes_total 1000`, `recrawl_requests_in_flight 0`)
}

// The library may give two metrics of a name different labels, and a name twice.
func TestMaintenance(t *testing.T) {
	m := NewMetrics("1.2.3")
	m.Maintained("duplicates", 90*time.Second)
	m.Maintained("lines", 0)
	has(t, scrape(t, m), `recrawl_maintenance_seconds_sum{step="duplicates"} 90`, `recrawl_maintenance_seconds_bucket{step="duplicates",le="60"} 0`,
		`recrawl_maintenance_seconds_count{step="lines"} 1`)
}

func TestEngine(t *testing.T) {
	t.Parallel()
	m := NewMetrics("")
	e := m.Engine()
	e.Counter("temporal_request", map[string]string{"operation": "Poll"})(2)
	e.Counter("temporal_request", map[string]string{"operation": "Poll"})(3)
	e.Counter("temporal_request", map[string]string{"operation": "Poll", "cause": "full"})(1)
	e.Gauge("temporal_num_pollers", nil)(8)
	e.Timer("temporal_request_latency", nil)(2 * time.Second)
	e.Timer("temporal_request_latency", nil)(-time.Second) // a clock that was set back
	has(t, scrape(t, m), `temporal_request_total{operation="Poll"} 5`, `temporal_request_total{cause="full",operation="Poll"} 1`,
		`temporal_num_pollers 8`, `temporal_request_latency_seconds_count 1`, `temporal_request_latency_seconds_bucket{le="2.5"} 1`)
}

// The store is asked for the crawls' figures at most every SampleEvery, and if it does
// not answer there are none, rather than old ones.
func TestCrawlFigures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMetrics("")
		asked, fail := 0, error(nil)
		line := report.StatusLine{
			Crawl: "news", State: crawl.CrawlRunning, Policy: "fresh", Pages: map[string]int{"active": 12, "gone": 0}, Outcomes: map[string]int{"changed": 7},
			Hosts: 3, HostsBackoff: 1, InTrouble: 2, HostsBlocked: 1, Waiting: 4, Overdue: 5, Lag: crawl.Duration(90 * time.Second), PlannedPerDay: 900, BudgetPerDay: 1000,
			Freshness: &report.Freshness{FreshPart: report.FreshPart{Fresh: 0.94, Planned: 0.95, Age: 0.5}, Hosts: []report.FreshPart{{Name: "news.example", Fresh: 0.1}}, Rules: []report.FreshPart{{Name: "http://news.example/a", Fresh: 0.9}}},
			Delays:    store.Delays{Hosts: 3, Sum: 13 * time.Second, UpTo: []int{1, 1, 2, 2, 2, 2, 3, 3, 3, 3}},
			FirstPass: &report.FirstPass{Left: 1022, Takes: crawl.Duration(170 * time.Minute)},
		}
		m.Watch(Sources{
			Crawls: func(ctx context.Context) ([]report.StatusLine, error) {
				if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > SampleLimit {
					t.Error("the store may take as long as it likes")
				}
				asked++
				return []report.StatusLine{line}, fail
			},
			Disks:   []Disk{{"store", func() (int64, error) { return 1 << 30, nil }}, {"archive", func() (int64, error) { return 0, errors.New("not measured here") }}},
			Held:    func() bool { return true },
			Reserve: 512,
		})
		first := scrape(t, m)
		has(t, first, `recrawl_crawl_info{crawl="news",policy="fresh",state="running"} 1`, `recrawl_crawl_pages{crawl="news",state="active"} 12`, `recrawl_crawl_pages{crawl="news",state="gone"} 0`,
			`recrawl_crawl_visits_total{crawl="news",outcome="changed"} 7`, `recrawl_crawl_hosts_in_backoff{crawl="news"} 1`, `recrawl_crawl_hosts_in_trouble{crawl="news"} 2`, `recrawl_crawl_hosts_blocked{crawl="news"} 1`,
			`recrawl_crawl_auto_delay_seconds_bucket{crawl="news",le="2"} 2`, `recrawl_crawl_auto_delay_seconds_bucket{crawl="news",le="10"} 3`,
			`recrawl_crawl_auto_delay_seconds_sum{crawl="news"} 13`, `recrawl_crawl_auto_delay_seconds_count{crawl="news"} 3`,
			`recrawl_crawl_waiting{crawl="news"} 4`, `recrawl_crawl_overdue{crawl="news"} 5`, `recrawl_crawl_lag_seconds{crawl="news"} 90`, `recrawl_crawl_budget_visits_per_day{crawl="news"} 1000`,
			`recrawl_crawl_fresh_ratio{crawl="news"} 0.94`, `recrawl_crawl_copy_age_seconds{crawl="news"} 43200`,
			`recrawl_crawl_first_pass_left{crawl="news"} 1022`, `recrawl_crawl_first_pass_seconds{crawl="news"} 10200`, `recrawl_task_backlog 0`, `recrawl_workers_held 0`, `recrawl_disk_free_bytes{of="store"} 1.073741824e+09`, `recrawl_disk_reserve_bytes 512`, `recrawl_worker_held 1`,
			`recrawl_crawl_figures_age_seconds 0`)
		if strings.Contains(first, "news.example") {
			t.Error("a host, or a part of a URL, is a label")
		}
		if strings.Contains(first, `of="archive"`) {
			t.Error("a disk that cannot be measured has a figure")
		}
		time.Sleep(SampleEvery - time.Second)
		has(t, scrape(t, m), `recrawl_crawl_figures_age_seconds 14`)
		if asked != 1 {
			t.Errorf("two scrapes within %s asked the store %d times", SampleEvery, asked)
		}
		time.Sleep(time.Second)
		fail = errors.New("no answer")
		if got := scrape(t, m); asked != 2 || strings.Contains(got, "recrawl_crawl_pages{") {
			t.Errorf("asked %d times, and without an answer there are figures:\n%s", asked, of(got, "recrawl_crawl"))
		} else {
			has(t, got, `recrawl_crawl_figures_errors_total 1`, `recrawl_worker_held 1`)
		}
		time.Sleep(SampleEvery)
		fail = nil
		has(t, scrape(t, m), `recrawl_crawl_overdue{crawl="news"} 5`)
	})
}

// One who asks and leaves before the store has answered does not take the figures from others.
func TestLeavingScraper(t *testing.T) {
	t.Parallel()
	m := NewMetrics("")
	m.Watch(Sources{Crawls: func(ctx context.Context) ([]report.StatusLine, error) {
		return []report.StatusLine{{Crawl: "news", State: crawl.CrawlRunning, Versions: 7}}, ctx.Err()
	}})
	gone, leave := context.WithCancel(t.Context())
	leave()
	m.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/metrics", nil))
	has(t, scrape(t, m), `recrawl_crawl_versions{crawl="news"} 7`, `recrawl_crawl_figures_errors_total 0`)
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewReadiness()
		look := func(want string) {
			t.Helper()
			lines, ready := r.Look(t.Context())
			if got := fmt.Sprintf("%t %s", ready, strings.Join(lines, "; ")); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		look("false worker: starting")
		r.Not("it waits for the store")
		look("false worker: it waits for the store")
		asked, problem := 0, error(nil)
		r.Working(Part{"store", func(context.Context) error { asked++; return problem }}, Part{"archive", func(context.Context) error { return nil }})
		look("true store: ok; archive: ok")
		problem = errors.New("no\nanswer")
		look("true store: ok; archive: ok") // so soon nobody is asked again
		if asked != 1 {
			t.Errorf("the store was asked %d times", asked)
		}
		time.Sleep(askEvery)
		look("false store: no answer; archive: ok")
		r.Not("it is stopping")
		look("false worker: it is stopping; store: no answer; archive: ok")
		// Somebody who never answers holds nobody up for long.
		r.Working(Part{"temporal", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
		look("false temporal: context deadline exceeded")
	})
}

func TestServer(t *testing.T) {
	t.Parallel()
	s, err := Listen(t.Context(), "127.0.0.1:0", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	stop := s.Start(slog.New(slog.NewTextHandler(&log, nil)))
	get := func(path string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Address()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	for _, c := range []struct {
		path, has string
		status    int
	}{{"/healthz", "ok\n", 200}, {"/readyz", "not ready\nworker: starting\n", 503}, {"/metrics", "# TYPE recrawl_visits_total counter\n", 200}, {"/", "", 404}} {
		if status, text := get(c.path); status != c.status || !strings.Contains(text, c.has) {
			t.Errorf("%s: %d %.200s, want %d %s", c.path, status, text, c.status, c.has)
		}
	}
	if err := Ready(t.Context(), "the worker", s.Address()); err == nil || err.Error() != "not ready; worker: starting" {
		t.Errorf("a worker that starts: %v", err)
	}
	s.Readiness.Working()
	if status, text := get("/readyz"); status != 200 || text != "ready\n" {
		t.Errorf("a worker that works: %d %s", status, text)
	}
	_, port, err := net.SplitHostPort(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{s.Address(), ":" + port, "0.0.0.0:" + port} {
		if err := Ready(t.Context(), "the worker", address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := Listen(t.Context(), s.Address(), ""); err == nil || !strings.Contains(err.Error(), "listen for Prometheus at "+s.Address()) {
		t.Errorf("a port that is taken: %v", err)
	}
	stop()
	if err := Ready(t.Context(), "the worker", s.Address()); err == nil || !strings.HasPrefix(err.Error(), "the worker does not answer") {
		t.Errorf("a worker that is gone: %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("it says: %s", log.String())
	}
}
