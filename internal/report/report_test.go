package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/polite"
	"recrawl/internal/rank"
	"recrawl/internal/report/survey"
	"recrawl/internal/schedule"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

var now = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// fake is a store with one crawl of three pages; a second crawl has one of them.
type fake struct {
	engine []crawl.Reason // why the first crawl plans fewer visits than it asks for
	crawls []store.CrawlRecord
	pages  []store.PageRecord
	visits map[int64][]store.VisitRecord // newest first
	hosts  []store.HostRecord
	status map[int64]store.StatusRecord
	fail   error
	reads  int

	versions   map[int64][]store.VersionRecord // newest first
	duplicates []store.DuplicateRecord
	mirrors    []store.MirrorRecord
	held       []store.HeldWorker
	care       store.CareRecord
	standings  map[int64]store.Standing
	evicted    []store.Eviction
	sinks      []store.SinkRecord
	changes    []feed.Change
	failed     []store.UndeliveredRecord
	others     map[int64]float64 // visits a day that other crawls plan, by host
	imports    []store.ImportRecord
	robots     string // of every origin, "" is 404
}

func (f *fake) ListSinks(context.Context, int64) ([]store.SinkRecord, error) { return f.sinks, f.fail }

func (f *fake) Changes(_ context.Context, p store.ChangesParams) (store.ChangesPage, error) {
	var page store.ChangesPage
	for _, c := range f.changes {
		if c.ID > p.After.ID {
			page.Changes = append(page.Changes, c)
		}
	}
	return page, f.fail
}

func (f *fake) Undelivered(_ context.Context, _ int64, name string, after int64, _ int) (found []store.UndeliveredRecord, err error) {
	for _, u := range f.failed {
		if u.Sink == name && u.ChangeID > after {
			found = append(found, u)
		}
	}
	return found, f.fail
}

func (f *fake) Care(context.Context, int64) (store.CareRecord, error) { return f.care, f.fail }

func (f *fake) HeldWorkers(context.Context) ([]store.HeldWorker, error) { return f.held, f.fail }

func (f *fake) Now(context.Context) (time.Time, error) { return now, nil }

func (f *fake) ListCrawls(context.Context) ([]store.CrawlRecord, error) { return f.crawls, f.fail }

func (f *fake) Crawl(_ context.Context, name string) (store.CrawlRecord, error) {
	for _, c := range f.crawls {
		if c.Spec.Name == name {
			return c, f.fail
		}
	}
	return store.CrawlRecord{}, store.ErrNotFound
}

func (f *fake) FindPages(_ context.Context, url, name string) (found []store.PageRecord, err error) {
	for _, p := range f.pages {
		if p.URL == url && (name == "" || p.Crawl == name) {
			found = append(found, p)
		}
	}
	return found, f.fail
}

func (f *fake) Status(_ context.Context, id int64) (store.StatusRecord, error) {
	return f.status[id], f.fail
}

func (f *fake) Steering(_ context.Context, id int64, _ bool) (store.SteeringRecord, error) {
	if id != 1 {
		return store.SteeringRecord{}, f.fail
	}
	return store.SteeringRecord{Steering: steered, Planned: 118.4, Budget: 120, Asked: 120, At: now.Add(-3 * time.Minute), Reasons: append(slices.Clone(f.engine),
		crawl.Reason{Code: schedule.CodePlanned, Num: map[string]float64{"visits": 131, "budget": 120}},
		crawl.Reason{Code: schedule.CodeThreshold, Num: map[string]float64{"from": 0.017, "to": 0.02}},
	)}, f.fail
}

func (f *fake) Evictions(context.Context, int64, bool, int) ([]store.Eviction, error) {
	return f.evicted, f.fail
}

func (f *fake) RecentVisits(_ context.Context, pages []int64, each int) (found []store.VisitLook, err error) {
	for _, id := range pages {
		visits := f.visits[id][:min(each, len(f.visits[id]))]
		for _, v := range slices.Backward(visits) {
			found = append(found, store.VisitLook{PageID: id, Visit: v.Visit, At: v.At, Outcome: v.Outcome, State: v.State})
		}
	}
	return found, f.fail
}

var steered = schedule.Steering{Policy: "sqrt", Threshold: 0.02, Prior: gamma.Distribution{A: 0.7, B: 14}, Steep: 0.4}

func (f *fake) Ranking(context.Context, int64) (store.RankingRecord, int, error) {
	return store.RankingRecord{At: now.Add(-3 * time.Hour)}, 31, f.fail
}

func (f *fake) ListPages(_ context.Context, q store.PageFilter) (found []store.PageRecord, err error) {
	f.reads++
	for _, p := range f.pages {
		if p.CrawlID == q.CrawlID && p.PageID > q.After && len(found) < cmp.Or(q.Sample, q.Limit) &&
			(len(q.States) == 0 || slices.Contains(q.States, p.State)) && (q.Host == "" || p.Host == q.Host) &&
			(q.ChangedSince.IsZero() || p.Last.At.After(q.ChangedSince)) {
			found = append(found, p)
		}
	}
	return found, f.fail
}

func (f *fake) ListVisits(_ context.Context, page int64, before, limit int) (found []store.VisitRecord, err error) {
	f.reads++
	for _, v := range f.visits[page] {
		if (before == 0 || v.Visit < before) && len(found) < limit {
			found = append(found, v)
		}
	}
	return found, f.fail
}

func (f *fake) ListHosts(_ context.Context, q store.HostFilter) (found []store.HostRecord, err error) {
	for _, h := range f.hosts {
		if q.IDs == nil && h.Host > q.After && len(found) < q.Limit || slices.Contains(q.IDs, h.ID) {
			found = append(found, h)
		}
	}
	return found, f.fail
}

func (f *fake) TroubledHosts(_ context.Context, _ int64, limit int) (found []store.HostRecord, total int, err error) {
	for _, h := range f.hosts {
		if h.Blocked || h.BackoffUntil.After(now) {
			found = append(found, h)
		}
	}
	return found[:min(limit, len(found))], len(found), f.fail
}

func (f *fake) Standings(context.Context, []int64) (map[int64]store.Standing, error) {
	return f.standings, f.fail
}

func sample() *fake {
	const day = 24 * time.Hour
	news := crawl.DefaultSpec()
	news.Name, news.Seeds = "news", []string{"https://example.com/"}
	docs := crawl.DefaultSpec()
	docs.Name, docs.Seeds, docs.Revisit.Budget = "docs", []string{"https://example.com/"}, "500/day"
	ref := func(crawlID int64, name string, id int64, url string) crawl.PageRef {
		return crawl.PageRef{CrawlID: crawlID, Crawl: name, PageID: id, URL: url, Host: "example.com"}
	}
	home := ref(1, "news", 1, "https://example.com/")
	return &fake{
		crawls: []store.CrawlRecord{
			{ID: 2, Spec: docs, State: crawl.CrawlPaused, Generation: 3, CreatedAt: now.Add(-day)},
			{ID: 1, Spec: news, State: crawl.CrawlRunning, Generation: 1, CreatedAt: now.Add(-9 * day)},
		},
		pages: []store.PageRecord{
			{
				PageRef: home, HostID: 1, State: crawl.Active, Visits: 4, Changes: 1, LastAt: now.Add(-2 * time.Hour), NextAt: now.Add(46 * time.Hour),
				Backlinks: 7, Last: store.VersionRecord{ID: 9, At: now.Add(-5 * day), ContentType: "text/html", Bytes: 18650}, Weight: 1.7,
				Belief: schedule.Belief{
					Pairs: 2, History: 2, Told: 1, Changes: 0.9, Days: 3.5, Compared: now.Add(-2 * time.Hour).UnixMilli(),
					Since: now.Add(-5 * day).UnixMilli(),
				}.Encode(),
				Steering: steered, HostSteering: schedule.HostSteering{Price: 0.05},
			},
			{
				PageRef: ref(1, "news", 2, "https://example.com/a?x=1&y=2"), HostID: 1, State: crawl.Failing, Level: 1, Visits: 2,
				LastAt: now.Add(-90 * time.Second), NextAt: now.Add(-time.Second), Backlinks: 1,
			},
			{PageRef: ref(1, "news", 3, "https://example.com/later"), State: crawl.Known, Level: 2},
			{PageRef: ref(2, "docs", 4, "https://example.com/new"), State: crawl.Active},
			{PageRef: ref(1, "news", 5, "https://example.com/new"), HostID: 4, State: crawl.Active},
		},
		visits: map[int64][]store.VisitRecord{1: {
			{
				PageID: 1, Visit: 4, At: now.Add(-2 * time.Hour), Outcome: crawl.OutcomeUnchanged, Status: 304, Version: 2,
				Digest: strings.Repeat("b2", 32), Duration: 41 * time.Millisecond, NextAt: now.Add(46 * time.Hour), State: crawl.Active,
				Reasons: []crawl.Reason{
					{Code: "changes", Num: map[string]float64{"n": 1, "of": 2}}, {Code: "rounds", Num: map[string]float64{"n": 2, "s": 86400}},
				},
			},
			{
				PageID: 1, Visit: 3, At: now.Add(-3 * day), Outcome: crawl.OutcomeChanged, Status: 200, Version: 2,
				Digest: strings.Repeat("b2", 32), Bytes: 18650, Duration: 1300 * time.Millisecond, NextAt: now.Add(-2 * day), State: crawl.Active,
				Reasons: []crawl.Reason{{Code: "changes", Num: map[string]float64{"n": 1, "of": 1}}, {Code: "rounds", Num: map[string]float64{"n": 1, "s": 86400}}},
			},
			{
				PageID: 1, Visit: 2, At: now.Add(-4 * day), Outcome: crawl.OutcomeFailed, Version: 1, Duration: 30 * time.Second,
				NextAt: now.Add(-3 * day), State: crawl.Failing, Problem: "connection\trefused", Reasons: []crawl.Reason{{Code: "failed", Num: map[string]float64{"n": 1}}},
			},
			{
				PageID: 1, Visit: 1, At: now.Add(-5 * day), Outcome: crawl.OutcomeRedirected, Status: 301, Location: "https://example.com/home",
				Duration: time.Millisecond, Reasons: nil,
			},
		}, 5: {{PageID: 5, Visit: 1, At: now, Outcome: crawl.OutcomeNew, Status: 200}}},
		hosts: []store.HostRecord{
			{
				ID: 1, Host: "example.com", Delay: 10 * time.Second, NextFree: now.Add(4 * time.Second), Waiting: 3, Unvisited: 3, Visited: 1,
				GapReason: crawl.Reason{Code: polite.GapCrawlDelay, Num: map[string]float64{"gap": 10}},
				Robots: []store.RobotsRecord{
					{Origin: "https://example.com", State: store.RobotsParsed, Status: 200, CrawlDelay: 5 * time.Second, ExpiresAt: now.Add(day)},
					{Origin: "http://example.com", State: store.RobotsUnreachable, ExpiresAt: now.Add(time.Minute), Problem: "no such host"},
				},
			},
			{
				ID: 2, Host: "example.com:8080", Delay: time.Minute, NextFree: now.Add(-time.Hour), BackoffUntil: now.Add(20 * time.Minute), Unvisited: 1,
				BackoffReason: crawl.Reason{Code: polite.HostRetryAfter, Num: map[string]float64{"hold": 1800}},
			},
			{ID: 3, Host: "example.net", Delay: 10 * time.Second, InFlight: true},
			{ID: 4, Host: "example.org", Delay: 10 * time.Second, Blocked: true, BackoffUntil: now.Add(-time.Hour)},
		},
		status: map[int64]store.StatusRecord{1: {
			Pages: map[crawl.PageState]int{crawl.Known: 1, crawl.Active: 1, crawl.Failing: 1}, Visits: 6, Versions: 2, Links: 31,
			Outcomes: map[crawl.Outcome]int{crawl.OutcomeNew: 1, crawl.OutcomeChanged: 1, crawl.OutcomeTimedOut: 1},
			Waiting:  3, Overdue: 1, Lag: 75 * time.Second, Backoff: 1, Hosts: 4, LastHour: 1, NextDue: now.Add(-time.Second),
		}},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, ask := range map[string]func(Reporter) error{
		"history":         func(r Reporter) error { return r.History(ctx, HistoryQuery{URL: "https://example.com/"}) },
		"history-several": func(r Reporter) error { return r.History(ctx, HistoryQuery{URL: "https://example.com/new"}) },
		"history-limit":   func(r Reporter) error { return r.History(ctx, HistoryQuery{URL: "https://example.com/", Limit: 2}) },
		"pages":           func(r Reporter) error { return r.Pages(ctx, PagesQuery{Crawl: "news"}) },
		"pages-none": func(r Reporter) error {
			return r.Pages(ctx, PagesQuery{Crawl: "news", States: []crawl.PageState{crawl.Gone}})
		},
		"pages-changed": func(r Reporter) error {
			return r.Pages(ctx, PagesQuery{Crawl: "news", ChangedWithin: 7 * 24 * time.Hour})
		},
		"explain": func(r Reporter) error {
			return r.Explain(ctx, sample().pages[0], Live{Doing: "sleeping", Due: now.Add(46 * time.Hour)})
		},
		"explain-new": func(r Reporter) error { return r.Explain(ctx, sample().pages[4], Live{Doing: "in line"}) },
		"explain-spelling": func(r Reporter) error {
			page := sample().pages[4]
			page.Respelling.Spelling = "/%6Eew"
			return r.Explain(ctx, page, Live{Doing: "in line"})
		},
		"survey": func(r Reporter) error {
			return r.Survey(ctx, SurveyQuery{Crawl: "news", Options: survey.Options{Backlinks: 2, Top: 2}})
		},
		"compare": func(r Reporter) error {
			return r.Compare(ctx, CompareQuery{SurveyQuery: SurveyQuery{Crawl: "news", Options: survey.Options{Backlinks: 2, Top: 2}}, Other: "docs"})
		},
		"hosts":      func(r Reporter) error { return r.Hosts(ctx, HostsQuery{Crawl: "news"}) },
		"status":     func(r Reporter) error { return r.Status(ctx, "news") },
		"status-all": func(r Reporter) error { return r.StatusAll(ctx) },
		"status-held": func(r Reporter) error {
			r.Store.(*fake).held = []store.HeldWorker{
				{Name: "12@a", Since: now.Add(-90 * time.Second), Reason: "no room: 3MiB left on the disk of /data; 512MiB are needed"},
				{Name: "7@b", Since: now, Reason: "no room: the archive is full"},
			}
			return errors.Join(r.Status(ctx, "news"), r.StatusAll(ctx))
		},
		"status-troubles": func(r Reporter) error {
			r.Store.(*fake).care = store.CareRecord{LookedAt: now.Add(-5 * time.Minute), Troubles: []store.TroubleRecord{
				{Trouble: store.Trouble{Part: "archive", Problem: "delete 12ab from the archive: permission denied"}, Since: now.Add(-20 * time.Minute)},
				{Trouble: store.Trouble{Part: store.TroubleWorkflow, Problem: "was gone and was started anew", Mended: true}, Since: now.Add(-time.Hour), MendedAt: now.Add(-time.Minute)},
				{Trouble: store.Trouble{Part: store.TroubleEnded, Problem: "workflows that ended in the last hour: 20 terminated; all run again", Pages: 20, Mended: true}, Since: now.Add(-time.Hour), Seen: now, MendedAt: now.Add(-12 * time.Second)},
				{Trouble: store.Trouble{Part: store.TroubleStuck, Problem: "1 was started anew and stuck again (TMPRL1100); the log of a worker names each", Pages: 1}, Since: now.Add(-time.Hour), Seen: now},
			}}
			return errors.Join(r.Status(ctx, "news"), r.StatusAll(ctx))
		},
		"status-admission": func(r Reporter) error {
			f := r.Store.(*fake)
			status := f.status[1]
			status.Bound = admission.Bound{Pages: 180, At: now.Add(-time.Minute), Reason: crawl.Reason{Code: admission.CodeShrank, Num: map[string]float64{"wait": 2.4, "taken": 240, "from": 300}}}
			status.Demand = admission.Demand{Taken: 170, Own: 150, Crawls: 2}
			f.status[1] = status
			return errors.Join(r.Status(ctx, "news"), r.StatusAll(ctx))
		},
		"status-over-asked": func(r Reporter) error {
			r.Store.(*fake).engine = []crawl.Reason{{Code: schedule.CodeEngine, Num: map[string]float64{"visits": 120, "asked": 98_765}}}
			return errors.Join(r.Status(ctx, "news"), r.StatusAll(ctx))
		},
		"status-backlog": func(r Reporter) error {
			r.Store.(*fake).care = store.CareRecord{LookedAt: now, Backlog: store.BacklogRecord{Tasks: 2236, Age: 17 * time.Second, At: now}}
			young := r.Status(ctx, "news")
			r.Store.(*fake).care.Backlog.Age = 11 * time.Minute
			return errors.Join(young, r.Status(ctx, "news"), r.StatusAll(ctx))
		},
		"status-evicted": func(r Reporter) error {
			f := r.Store.(*fake)
			news := f.status[1]
			news.Evicted = 12
			f.status[1] = news
			f.evicted = []store.Eviction{{
				Page: f.pages[1], By: f.pages[4], At: now.Add(-time.Hour),
				Reason: crawl.Reason{Code: rank.CodeBetter, Num: map[string]float64{"in": 2.5, "out": 0.25}},
			}}
			return r.Status(ctx, "news")
		},
		"status-short": func(r Reporter) error {
			r.Short = func() string { return "no room: 0B left on the disk of /data" }
			return errors.Join(r.Status(ctx, "news"), r.StatusAll(ctx))
		},
	} {
		f := sample()
		answers(t, name, Reporter{Store: f, Visits: f}, ask)
	}
}

// answers compares a report's output, as text and as JSON Lines, with the golden files of a
// name.
func answers(t *testing.T, name string, r Reporter, ask func(Reporter) error) {
	t.Helper()
	for format, ext := range map[Format]string{Text: ".txt", JSON: ".jsonl"} {
		t.Run(name+ext, func(t *testing.T) { // one after the other: asking may change the fake
			var out bytes.Buffer
			r := r
			r.Out, r.Format = &out, format
			if err := ask(r); err != nil {
				t.Fatal(err)
			}
			golden(t, name+ext, out.Bytes())
			if format == JSON {
				checkLines(t, out.Bytes())
			}
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func checkLines(t *testing.T, out []byte) {
	t.Helper()
	for line := range bytes.Lines(out) {
		if !json.Valid(line) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

// The keys of the lines are the product's interface: programs read them.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ask  func(Reporter) error
		want string
	}{
		{
			func(r Reporter) error { return r.History(t.Context(), HistoryQuery{URL: "https://example.com/"}) },
			"url visit at outcome status version digest bytes duration next_at reasons",
		},
		{
			func(r Reporter) error { return r.Pages(t.Context(), PagesQuery{Crawl: "news"}) },
			"url host state host_state level visits changes last_visit next_visit next_by next_why due backlinks content_type bytes",
		},
		{
			func(r Reporter) error { return r.Hosts(t.Context(), HostsQuery{Crawl: "news", Limit: 1}) },
			"host state why delay delay_reason next_free backoff_until robots unvisited kept waiting in_flight",
		},
	} {
		var out bytes.Buffer
		if err := c.ask(Reporter{Store: sample(), Out: &out, Format: JSON}); err != nil {
			t.Fatal(err)
		}
		line, _, _ := bytes.Cut(out.Bytes(), []byte("\n"))
		var object map[string]any
		if err := json.Unmarshal(line, &object); err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(c.want)
		for _, key := range want {
			if _, ok := object[key]; !ok {
				t.Errorf("%s: no key %q", line, key)
			}
		}
		if len(object) != len(want) {
			t.Errorf("%s: %d keys, want %s", line, len(object), c.want)
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(Reporter) error{
		"history": func(r Reporter) error { return r.History(t.Context(), HistoryQuery{URL: "https://example.com/none"}) },
		"crawl": func(r Reporter) error {
			return r.History(t.Context(), HistoryQuery{URL: "https://example.com/", Crawl: "docs"})
		},
		"pages":  func(r Reporter) error { return r.Pages(t.Context(), PagesQuery{Crawl: "none"}) },
		"hosts":  func(r Reporter) error { return r.Hosts(t.Context(), HostsQuery{Crawl: "none"}) },
		"status": func(r Reporter) error { return r.Status(t.Context(), "none") },
	} {
		var out bytes.Buffer
		if err := ask(Reporter{Store: sample(), Out: &out, Format: Text}); !errors.Is(err, store.ErrNotFound) || out.Len() > 0 {
			t.Errorf("%s: %v and %q, want not found and nothing", name, err, out.String())
		}
	}
}

// Long lists are read and written in batches, up to the limit asked for.
func TestBatches(t *testing.T) {
	t.Parallel()
	f := sample()
	f.pages, f.visits = nil, map[int64][]store.VisitRecord{1: nil}
	page := crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: 1, URL: "https://example.com/"}
	for i := range int64(3*batch + 1) {
		page.PageID = i + 1
		f.pages = append(f.pages, store.PageRecord{PageRef: page, State: crawl.Active})
		f.visits[1] = append([]store.VisitRecord{{PageID: 1, Visit: int(i) + 1, Outcome: crawl.OutcomeNew}}, f.visits[1]...)
		page.URL = "https://example.com/other"
	}
	for _, c := range []struct{ limit, lines, reads int }{{0, 3*batch + 1, 5}, {batch + 1, batch + 1, 2}, {1, 1, 1}} {
		var pages, visits bytes.Buffer
		f.reads = 0
		if err := (Reporter{Store: f, Out: &pages, Format: JSON}).Pages(t.Context(), PagesQuery{Crawl: "news", Limit: c.limit}); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(pages.Bytes(), []byte("\n")); n != c.lines || f.reads != c.reads {
			t.Errorf("limit %d: %d pages in %d reads, want %d in %d", c.limit, n, f.reads, c.lines, c.reads)
		}
		if err := (Reporter{Store: f, Out: &visits, Format: JSON}).History(t.Context(), HistoryQuery{URL: "https://example.com/", Limit: c.limit}); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(visits.Bytes(), []byte("\n")); n != c.lines {
			t.Errorf("limit %d: %d visits, want %d", c.limit, n, c.lines)
		}
	}
}

func TestStoreErrors(t *testing.T) {
	t.Parallel()
	f := sample()
	f.fail = store.ErrUnavailable
	r := Reporter{Store: f, Out: &bytes.Buffer{}, Format: JSON}
	for name, err := range map[string]error{
		"history": r.History(t.Context(), HistoryQuery{URL: "https://example.com/"}),
		"pages":   r.Pages(t.Context(), PagesQuery{Crawl: "news"}),
		"hosts":   r.Hosts(t.Context(), HostsQuery{Crawl: "news"}),
		"status":  r.Status(t.Context(), "news"),
		"all":     r.StatusAll(t.Context()),
	} {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v, want the store's error", name, err)
		}
	}
}

func (f *fake) Robots(_ context.Context, origin string) (store.RobotsRecord, error) {
	if f.robots != "" {
		return store.RobotsRecord{Origin: origin, State: store.RobotsParsed, Status: 200, Text: f.robots}, f.fail
	}
	return store.RobotsRecord{Origin: origin, State: store.RobotsAllowAll, Status: 404}, f.fail
}
