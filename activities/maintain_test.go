package activities_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
	"recrawl/internal/urlkey"
)

// impatient makes maintenance treat every page that is due as overdue.
func impatient(p *parts) { p.settings.Overdue = time.Nanosecond }

func (w *world) maintain(repair bool) contract.MaintainOut {
	w.t.Helper()
	return run(w, contract.Maintain, contract.MaintainIn{CrawlID: w.crawl().ID, Name: "news", Repair: repair})
}

func (w *world) wantStarted(want ...string) {
	w.t.Helper()
	got := slices.Sorted(slices.Values(w.flows.started))
	if !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		w.t.Errorf("started %q, want %q", got, want)
	}
}

// A page that is due, in no line and without a workflow is started again; one
// that waits in line or sleeps is not.
func TestMaintainStartsOverduePages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, impatient)
	pages := w.living(numbered(3))
	w.plan(pages[1], 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged}) // sleeps
	w.permit(pages[2], 1)                                                   // in line
	if got := w.maintain(false); got.Restarted != 1 || got.After != 0 {
		t.Errorf("maintained %+v, want one page restarted", got)
	}
	w.wantStarted(pages[0].URL)
}

// An overdue page whose workflow runs is left alone, and one that is stuck is
// restarted; the store knows how many there were, and why.
func TestMaintainMendsStuckPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, impatient)
	pages := w.living(numbered(3))
	w.flows.mended = map[string]temporalkit.Mended{
		pages[0].URL: {Condition: temporalkit.Stuck, Why: "TMPRL1100"},
		pages[1].URL: {Condition: temporalkit.Runs},
	}
	if got := w.maintain(false); got.Restarted != 2 || got.Stuck != 1 {
		t.Errorf("maintained %+v, want one stuck and one missing page restarted", got)
	}
	w.wantStarted(pages[0].URL, pages[2].URL)
	w.wantTroubles(true, "pages: 1 were overdue and had no workflow; all were started anew",
		"pages_stuck: 1 was stuck (TMPRL1100) and started anew")
}

func TestMaintainIsPatientByDefault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.living(numbered(1))
	if got := w.maintain(false); got.Restarted != 0 {
		t.Errorf("maintained %+v: a page that has just become due was restarted", got)
	}
}

// Repair starts everything that lives, due or not, in line or not, and touches no
// other page.
func TestMaintainRepairs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(4))
	w.plan(pages[0], 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
	w.plan(pages[1], 1, contract.FetchOut{Outcome: crawl.OutcomeGone})
	w.permit(pages[2], 1)
	run(w, contract.LeaveLine, contract.LeaveIn{Page: pages[3], State: crawl.Stopped})
	must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{
		CrawlID: pages[0].CrawlID, URLs: []store.NewURL{{URL: "http://localhost/known", Host: "localhost", Level: 1}},
	}))
	if got := w.maintain(true); got.Restarted != 3 || !got.Room {
		t.Errorf("maintained %+v, want three pages started and room for the known one", got)
	}
	w.wantStarted(pages[0].URL, pages[1].URL, pages[2].URL)
}

// Work that needs Temporal is done by the next pass; the rest is done now.
func TestMaintainWhileTemporalIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, impatient)
	w.living(numbered(2))
	pages := numbered(2)
	w.flows.down = true
	if out := w.maintain(false); !strings.Contains(out.Problems[contract.StepRestart], errDown.Error()) || out.Status.Hosts != 1 {
		t.Errorf("maintained %+v", out)
	}
	w.flows.down = false
	w.maintain(false)
	w.wantStarted(pages...)
}

func TestMaintainLooksAfterUnfinishedLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living(numbered(1))[0]
	w.linking(page, 1, store.Link{URL: "http://localhost/a"})
	if got := w.maintain(false); len(got.Unfinished) != 0 {
		t.Errorf("unfinished %+v: their Discover is on its way", got.Unfinished)
	}
	want := contract.DiscoverIn{Store: w.store.ID(), CrawlID: page.CrawlID, Crawl: "news", Page: page, Visit: 1, Register: true}
	got := w.maintain(true)
	if len(got.Unfinished) != 1 || fmt.Sprint(got.Unfinished[0]) != fmt.Sprint(want) {
		t.Fatalf("unfinished %+v, want %+v", got.Unfinished, want)
	}
	run(w, contract.RegisterLinks, contract.RegisterIn{Page: got.Unfinished[0].Page, Visit: got.Unfinished[0].Visit})
	if got := w.maintain(true); len(got.Unfinished) != 0 || !got.Room {
		t.Errorf("maintained %+v, want nothing unfinished and room for the new page", got)
	}
}

// leftOver stores versions of a page whose links wait, more than a pass gives to Discovers.
func (w *world) leftOver(page crawl.PageRef, versions int) {
	w.t.Helper()
	for visit := 1; visit <= versions; visit++ {
		w.linking(page, visit, store.Link{URL: fmt.Sprintf("http://localhost/new/%d", visit)})
	}
}

// A pass registers what is too much for the Discovers of a crawl: after a day in which a filter
// program did not answer, the rest waited for weeks.
func TestMaintainRegistersWhatDiscoversCannot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living(numbered(1))[0]
	w.leftOver(page, 130)
	got := w.maintain(true)
	if len(got.Unfinished) != 50 || len(got.Problems) != 0 {
		t.Errorf("%d get a Discover, problems %v", len(got.Unfinished), got.Problems)
	}
	left := must[[]store.PendingLinks](t)(w.store.UnfinishedLinks(t.Context(), page.CrawlID, 0, 1000))
	if len(left) != 50 || left[0].Visit != got.Unfinished[0].Visit {
		t.Errorf("%d versions are left, want those that get a Discover", len(left))
	}
	if w.page("http://localhost/new/130").State != crawl.Known || !got.Room {
		t.Errorf("maintained %+v, want room for the new pages", got)
	}
}

// counting is a filter program that does not answer, and counts how often it was asked.
type counting struct{ asked atomic.Int32 }

func (*counting) Has(string) bool { return true }

func (c *counting) Ask(string, urlkey.URL) scope.Answer {
	c.asked.Add(1)
	return scope.Answer{Unknown: true, Reason: "it sulks"}
}

// While a filter program does not answer, a pass asks it for a few versions, and says so.
func TestMaintainAsksASilentProgramLittle(t *testing.T) {
	t.Parallel()
	program := &counting{}
	w := newWorld(t, func(p *parts) { p.settings.Filters = program })
	page := w.living(numbered(1), func(spec *crawl.Spec) {
		spec.Scope.Rules = []crawl.ScopeRule{{Reject: &crawl.FilterSpec{Prefix: crawl.Texts{"http://localhost/new/"}, Not: &crawl.FilterSpec{Program: "moody"}}}}
	})[0]
	w.leftOver(page, 80)
	program.asked.Store(0)
	got := w.maintain(true)
	if n := program.asked.Load(); len(got.Unfinished) != 50 || n != 5 || !strings.Contains(got.Problems["links"], "it sulks") {
		t.Errorf("%d get a Discover, asked %d times, problems %v", len(got.Unfinished), n, got.Problems)
	}
}

// A pass finds an eviction that no workflow was told of.
func TestMaintainTurnsWaiters(t *testing.T) {
	t.Parallel()
	for _, missing := range []bool{false, true} {
		t.Run(fmt.Sprintf("without workflow %t", missing), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.flows.missing = missing
			pages := w.living(numbered(2), func(spec *crawl.Spec) { spec.Politeness.Delay = crawl.Duration(time.Hour) })
			w.permit(pages[0], 1)
			if got := w.acquire(pages[1], 1); got.Answer != contract.AnswerWait {
				t.Fatalf("answer %+v, want to wait", got)
			}
			if err := w.store.SetPageState(t.Context(), pages[0].PageID, crawl.Stopped); err != nil {
				t.Fatal(err)
			}
			if got := w.maintain(false); got.Turned != 1 {
				t.Errorf("maintained %+v, want one turn", got)
			}
			if missing {
				w.wantStarted(pages[1].URL)
			} else if !slices.Equal(w.flows.turned, []string{pages[1].URL}) {
				t.Errorf("turned %q", w.flows.turned)
			}
		})
	}
}

func TestMaintainCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open(numbered(4), func(spec *crawl.Spec) { spec.Limits.Window = 3 })
	pages := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 10}).Pages
	w.plan(pages[0].Page, 1, contract.FetchOut{Outcome: crawl.OutcomeGone})
	w.plan(pages[1].Page, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
	got := w.maintain(false)
	want := contract.CrawlCounts{Pages: map[string]int{"known": 1, "active": 2, "gone": 1}, Visits: 2, Overdue: 1, Hosts: 1}
	if fmt.Sprint(got.Status) != fmt.Sprint(want) {
		t.Errorf("counted %+v, want %+v", got.Status, want)
	}
}

// Passes over many pages go on where the last part ended.
func TestTurnsOverManyPages(t *testing.T) {
	t.Parallel()
	const many = 501
	w := newWorld(t)
	opened := w.open(numbered(many), func(spec *crawl.Spec) { spec.Limits.Window = many })
	all := make([]int64, many)
	for i, url := range numbered(many) {
		all[i] = w.page(url).PageID
	}
	must[[]store.PageRecord](t)(w.store.Admit(t.Context(), store.AdmitParams{CrawlID: opened.CrawlID, Admit: all})) // without a bound
	first := w.maintain(true)
	if first.Restarted != 500 || first.After == 0 || len(first.Status.Pages) != 0 {
		t.Fatalf("the first part of the turn: %+v", first)
	}
	rest := run(w, contract.Maintain, contract.MaintainIn{CrawlID: opened.CrawlID, Name: "news", Repair: true, After: first.After})
	if rest.Restarted != 1 || rest.After != 0 || rest.Status.Pages["active"] != many {
		t.Errorf("the rest of the turn: %+v", rest)
	}
	w.wantStarted(numbered(many)...)

	in := contract.ClosePagesIn{CrawlID: opened.CrawlID, Name: "news"}
	for _, want := range []int{200, 200, 101} {
		out := run(w, contract.ClosePages, in)
		if out.Closed != want || (out.After == 0) != (want == 101) {
			t.Errorf("closed %+v, want %d", out, want)
		}
		in.After = out.After
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(w.flows.stopped)))); n != many {
		t.Errorf("%d of %d pages were asked to stop", n, many)
	}
}

func TestClosePages(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		missing bool
		state   crawl.PageState // of a living page afterwards
		asked   int
	}{
		{"with workflows", false, crawl.Active, 2}, // the workflow moves it
		{"without", true, crawl.Stopped, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.flows.missing = c.missing
			opened := w.open(numbered(3), func(spec *crawl.Spec) { spec.Limits.Window = 2 })
			pages := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 10}).Pages
			w.setState(crawl.CrawlStopped)
			out := run(w, contract.ClosePages, contract.ClosePagesIn{CrawlID: opened.CrawlID, Name: "news"})
			if out.Closed != 2 || out.After != 0 || len(w.flows.stopped) != c.asked {
				t.Errorf("closed %+v, asked %q", out, w.flows.stopped)
			}
			if got := w.page(pages[0].Page.URL).State; got != c.state {
				t.Errorf("a page that lived is %s, want %s", got, c.state)
			}
			if n := w.status().Pages[crawl.Known]; n != 1 {
				t.Errorf("%d known pages, want the one that had no workflow left alone", n)
			}
		})
	}
}

// Pages are asked at the same time: one after the other, a crawl of a million takes most of an hour. One
// that fails ends the batch, which is repeated as a whole.
func TestClosePagesAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(6))
	w.setState(crawl.CrawlStopped)
	w.flows.meet = make(chan struct{})
	in := contract.ClosePagesIn{CrawlID: pages[0].CrawlID, Name: "news"}
	if out := run(w, contract.ClosePages, in); out.Closed != 6 || out.After != 0 {
		t.Errorf("closed %+v", out)
	}
	w.flows.down = true
	if out, err := try(w, contract.ClosePages, in); err == nil {
		t.Errorf("closed %+v while Temporal did not answer", out)
	}
}

// vanishing is a store in which pages are forgotten as soon as they have been listed.
type vanishing struct{ store.Store }

func (v vanishing) ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error) {
	pages, err := v.Store.ListPages(ctx, f)
	if err != nil || len(pages) < 2 {
		return pages, err
	}
	_, err = v.Store.Forget(ctx, store.ForgetParams{Target: store.Target{URL: pages[1].URL}, Limit: 10})
	return pages, err
}

// A page that is forgotten meanwhile does not keep the others from being closed.
func TestClosePagesWithoutTheForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *parts) { p.store = vanishing{p.store} })
	pages := w.living(numbered(4))
	w.setState(crawl.CrawlStopped)
	w.flows.missing = true
	out := run(w, contract.ClosePages, contract.ClosePagesIn{CrawlID: pages[0].CrawlID, Name: "news"})
	if n := w.status().Pages[crawl.Stopped]; n != 3 || out.Closed != 3 {
		t.Errorf("closed %+v, %d pages are stopped", out, n)
	}
}

// A crawl that is started again before its pages have ended keeps them.
func TestStopAndStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(2))
	leave := contract.LeaveIn{Page: pages[0], State: crawl.Stopped, Closing: true}
	w.setState(crawl.CrawlStopped)
	run(w, contract.ClosePages, contract.ClosePagesIn{CrawlID: pages[0].CrawlID, Name: "news"})
	w.open(numbered(2))
	if out := run(w, contract.LeaveLine, leave); !out.Returned || w.page(pages[0].URL).State != crawl.Active {
		t.Errorf("left %+v, and is %s", out, w.page(pages[0].URL).State)
	}
	w.setState(crawl.CrawlStopped)
	for range 2 {
		if out := run(w, contract.LeaveLine, leave); out.Returned || w.page(pages[0].URL).State != crawl.Stopped {
			t.Errorf("left %+v, and is %s", out, w.page(pages[0].URL).State)
		}
	}
	w.open(numbered(2))
	if out := run(w, contract.LeaveLine, leave); out.Returned || w.page(pages[0].URL).State != crawl.Known {
		t.Errorf("left %+v, and is %s", out, w.page(pages[0].URL).State)
	}
	// A stop of the page alone, also by a workflow that knows no other.
	leave.Page, leave.Closing = pages[1], false
	if out := run(w, contract.LeaveLine, leave); out.Returned || w.page(pages[1].URL).State != crawl.Stopped {
		t.Errorf("left %+v, and is %s", out, w.page(pages[1].URL).State)
	}
}

func TestWakeParked(t *testing.T) {
	t.Parallel()
	for _, missing := range []bool{false, true} {
		t.Run(fmt.Sprintf("without workflow %t", missing), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.flows.missing = missing
			pages := w.living(numbered(2))
			w.setState(crawl.CrawlPaused)
			for _, p := range pages {
				if got := w.acquire(p, 1); got.Answer != contract.AnswerParked {
					t.Fatalf("answer %+v, want parked", got)
				}
			}
			in := contract.WakeParkedIn{CrawlID: pages[0].CrawlID}
			if got := run(w, contract.WakeParked, in); got.Woken != 0 || got.More {
				t.Errorf("woken while the crawl is paused: %+v", got)
			}
			w.setState(crawl.CrawlRunning)
			if got := run(w, contract.WakeParked, in); got.Woken != 2 || !got.More {
				t.Errorf("woken %+v, want both pages", got)
			}
			if got := run(w, contract.WakeParked, in); got.Woken != 0 || got.More {
				t.Errorf("woken again: %+v", got)
			}
			woken := w.flows.turned
			if missing {
				woken = w.flows.started
			}
			if len(woken) != 2 {
				t.Errorf("woken %q", woken)
			}
			w.permit(pages[0], 1)
		})
	}
}

// overtaken is a store whose turns come late: their pages have changed their state.
type overtaken struct {
	store.Store
	state *crawl.PageState
}

func (o overtaken) Unpark(ctx context.Context, crawlID int64, limit int) (store.GateEffects, error) {
	effects, err := o.Store.Unpark(ctx, crawlID, limit)
	for _, turn := range effects.Turns {
		err = errors.Join(err, o.SetPageState(ctx, turn.Page.PageID, *o.state))
	}
	return effects, err
}

// A late turn starts no workflow of a page that does not live.
func TestLateTurns(t *testing.T) {
	t.Parallel()
	for state, starts := range map[crawl.PageState]int{crawl.Active: 1, crawl.Known: 0, crawl.Stopped: 0, crawl.Evicted: 0} {
		t.Run(state.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(p *parts) { p.store = overtaken{p.store, &state} })
			page := w.living(numbered(1))[0]
			w.setState(crawl.CrawlPaused)
			w.acquire(page, 1)
			w.setState(crawl.CrawlRunning)
			w.flows.missing = true
			run(w, contract.WakeParked, contract.WakeParkedIn{CrawlID: page.CrawlID})
			if len(w.flows.started) != starts {
				t.Errorf("started %q, want %d", w.flows.started, starts)
			}
		})
	}
}

// A turn that cannot be delivered is no error: the waiter comes by itself.
func TestWakeParkedWhileTemporalIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living(numbered(1))[0]
	w.setState(crawl.CrawlPaused)
	w.acquire(page, 1)
	w.setState(crawl.CrawlRunning)
	w.flows.down = true
	if got := run(w, contract.WakeParked, contract.WakeParkedIn{CrawlID: page.CrawlID}); got.Woken != 1 {
		t.Errorf("woken %+v", got)
	}
	w.permit(page, 1)
}
