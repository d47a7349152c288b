package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

const newsSpec = `{"name":"news","seeds":["https://example.com/"]}`

func newCrawl(t *testing.T, events ...*at) *live {
	t.Helper()
	l := newLive(t, events...)
	l.id = contract.CrawlID("news")
	l.attrs = temporal.NewSearchAttributes()
	return l
}

// crawl runs a Crawl to its end and also returns its last progress.
func (l *live) crawl(spec string, progress *contract.CrawlProgress) (string, error) {
	l.t.Helper()
	raw := json.RawMessage(spec)
	err := l.follow(contract.CrawlWorkflow, func(next *converterArgs) []any {
		if next != nil {
			progress = new(contract.CrawlProgress)
			next.get(l.t, &raw, progress)
		}
		return []any{raw, progress}
	})
	return string(raw), err
}

func (l *live) status() contract.CrawlProgress {
	l.t.Helper()
	var p contract.CrawlProgress
	value, err := l.env.QueryWorkflow(contract.StatusQuery)
	if err == nil {
		err = value.Get(&p)
	}
	if err != nil {
		l.t.Fatalf("status query: %v", err)
	}
	return p
}

// crawlStop ends a Crawl test.
func crawlStop(after time.Duration) *at { return update(after, contract.StopName) }

func TestCrawlOpensAdmitsAndMaintains(t *testing.T) {
	t.Parallel()
	var turns []contract.MaintainIn
	var status contract.CrawlProgress
	l := newCrawl(t, do(25*time.Minute, func(l *live) { status = l.status() }), crawlStop(35*time.Minute))
	l.world.OnMaintain = func(in contract.MaintainIn) (contract.MaintainOut, error) {
		turns = append(turns, in)
		return contract.MaintainOut{Restarted: 2, Status: contract.CrawlCounts{Visits: 10 * len(turns), Pages: map[string]int{"active": 3}}}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	var repairs []bool
	for _, in := range turns {
		repairs = append(repairs, in.Repair)
	}
	if want := []bool{true, false, false, false}; !slices.Equal(repairs, want) {
		t.Errorf("turns with repair %v, want %v: at once, then every 10 minutes", repairs, want)
	}
	if d := l.world.Discovers(); len(d) != 1 || d[0].Register || d[0].Page.PageID != 0 || d[0].Visit != 1 {
		t.Errorf("Discovers %+v, want one admission of the seeds", d)
	}
	if status.Turns != 3 || status.Restarted != 6 || status.Counts.Visits != 30 || !status.NextTurn.Equal(start.Add(30*time.Minute)) {
		t.Errorf("status %+v", status)
	}
	if want := []string{"running", "stopping"}; !slices.Equal(l.upserts, want) {
		t.Errorf("states written %v, want %v", l.upserts, want)
	}
}

func TestCrawlRefusesABadSpec(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{`{"name":"news"}`, `{"name":"news","seeds":["ftp://x/"]}`, `{"nam":"news"}`, ``} {
		l := newCrawl(t)
		if spec == "" {
			spec = "null"
		}
		_, err := l.crawl(spec, nil)
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != contract.ErrTypeBadSpec || !app.NonRetryable() || !strings.Contains(app.Message(), "spec: ") {
			t.Errorf("%s: ended with %v", spec, err)
		}
		l.wantCalls(contract.OpenCrawl.Name, 1)
	}
}

func TestCrawlWaitsForTheStore(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, crawlStop(time.Hour))
	l.world.Down = func(now time.Time) bool { return now.Before(start.Add(outage)) }
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if n := l.world.Calls(contract.Maintain.Name); n < 5 {
		t.Errorf("%d turns after the store came back", n)
	}
}

func TestCrawlPartsOfATurn(t *testing.T) {
	t.Parallel()
	var turns []contract.MaintainIn
	l := newCrawl(t, crawlStop(15*time.Minute))
	l.world.OnMaintain = func(in contract.MaintainIn) (contract.MaintainOut, error) {
		turns = append(turns, in)
		if in.Repair && in.After < 1000 {
			return contract.MaintainOut{After: in.After + 500, Restarted: 500}, nil
		}
		return contract.MaintainOut{}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range turns {
		got = append(got, fmt.Sprint(in.After, in.Repair))
	}
	if want := []string{"0 true", "500 true", "1000 true", "0 false"}; !slices.Equal(got, want) {
		t.Errorf("parts %v, want %v", got, want)
	}
}

func TestCrawlStartsDiscovers(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, crawlStop(5*time.Minute))
	l.world.OnMaintain = func(contract.MaintainIn) (contract.MaintainOut, error) {
		out := contract.MaintainOut{Room: true}
		for i := range 70 {
			p := ref()
			p.PageID = int64(i + 1)
			out.Unfinished = append(out.Unfinished, contract.DiscoverIn{CrawlID: 1, Crawl: "news", Page: p, Visit: 2, Register: true})
		}
		return out, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	links, admissions := 0, 0
	for _, d := range l.world.Discovers() {
		if d.Register {
			links++
		} else {
			admissions++
		}
	}
	// The admission of the seeds may still run, which takes one place of 50.
	if links > openDiscovers || links < openDiscovers-1 || admissions != 2 {
		t.Errorf("%d Discovers of links and %d admissions, want at most %d and 2", links, admissions, openDiscovers)
	}
}

// A failed pass is given up and repeated, including its repair.
func TestCrawlSurvivesMaintenanceFailures(t *testing.T) {
	t.Parallel()
	var problem string
	calls := 0
	var last contract.MaintainIn
	l := newCrawl(t, do(5*time.Minute, func(l *live) { problem = l.status().Problem }), crawlStop(15*time.Minute))
	l.world.OnMaintain = func(in contract.MaintainIn) (contract.MaintainOut, error) {
		last = in
		if calls++; calls <= 5 {
			return contract.MaintainOut{}, errors.New("index corrupt")
		}
		return contract.MaintainOut{}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if problem != "index corrupt" || calls != 6 || !last.Repair {
		t.Errorf("problem %q after %d calls, last %+v", problem, calls, last)
	}
}

func TestCrawlEndsWhenForgotten(t *testing.T) {
	t.Parallel()
	l := newCrawl(t)
	l.world.OnMaintain = func(contract.MaintainIn) (contract.MaintainOut, error) {
		return contract.MaintainOut{}, temporal.NewNonRetryableApplicationError("no crawl", contract.ErrTypeNotFound, nil)
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestCrawlPauseAndResume(t *testing.T) {
	t.Parallel()
	wakes := 0
	l := newCrawl(t, update(2*time.Minute, contract.Pause), update(4*time.Minute, contract.Resume), crawlStop(6*time.Minute))
	l.world.OnWakeParked = func(contract.WakeParkedIn) (contract.WakeParkedOut, error) {
		wakes++
		return contract.WakeParkedOut{Woken: 200, More: wakes < 4}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if wakes != 4 || len(l.acks) != 3 {
		t.Errorf("%d batches woken, acks %+v", wakes, l.acks)
	}
	want := []crawl.CrawlState{crawl.CrawlPaused, crawl.CrawlRunning, crawl.CrawlStopped}
	if got := l.world.CrawlStates(); !slices.Equal(got, want) {
		t.Errorf("states %v, want %v", got, want)
	}
	if want := []string{"running", "paused", "running", "stopping"}; !slices.Equal(l.upserts, want) {
		t.Errorf("states written %v, want %v", l.upserts, want)
	}
}

// Pages that park between a pause and a resume are woken although an earlier batch was being woken
// meanwhile, and has not seen them.
func TestCrawlResumedWhileItWakesPages(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, update(2*time.Minute, contract.Pause), update(3*time.Minute, contract.Resume),
		update(3*time.Minute+10*time.Second, contract.Pause), update(3*time.Minute+20*time.Second, contract.Resume), crawlStop(6*time.Minute))
	woken := 0
	l.world.OnWakeParked = func(contract.WakeParkedIn) (contract.WakeParkedOut, error) {
		if l.env.Now().Before(start.Add(3*time.Minute + 25*time.Second)) {
			return contract.WakeParkedOut{}, temporal.NewApplicationError("slow", "") // and tried again
		}
		woken++
		return contract.WakeParkedOut{}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if woken != 2 || len(l.rejects) > 0 {
		t.Errorf("%d batches woken, want another one after the second resume; rejected %v", woken, l.rejects)
	}
}

func TestCrawlCommandsWithoutTheStore(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, update(2*time.Minute, contract.Pause), update(3*time.Minute, contract.AddSeeds,
		contract.AddSeedsArg{Seeds: []string{"https://b.example/"}}), crawlStop(9*time.Minute))
	l.world.Down = func(now time.Time) bool { return within(now.Sub(start), time.Minute, 8*time.Minute) }
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if len(l.rejects) != 2 || !strings.Contains(l.rejects[0].Error(), "not certain what was changed") {
		t.Errorf("answers %v", l.rejects)
	}
}

func TestCrawlStopClosesPagesInBatches(t *testing.T) {
	t.Parallel()
	var cursors []int64
	l := newCrawl(t, crawlStop(time.Minute), update(time.Minute, contract.Pause))
	l.world.OnClosePages = func(in contract.ClosePagesIn) (contract.ClosePagesOut, error) {
		cursors = append(cursors, in.After)
		if in.After < 400 {
			return contract.ClosePagesOut{After: in.After + 200, Closed: 200}, nil
		}
		return contract.ClosePagesOut{Closed: 17}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if want := []int64{0, 200, 400}; !slices.Equal(cursors, want) {
		t.Errorf("cursors %v, want %v", cursors, want)
	}
	if p := l.status(); p.ClosedPages != 417 {
		t.Errorf("closed %d", p.ClosedPages)
	}
	if len(l.rejects) != 1 || !strings.Contains(l.rejects[0].Error(), "being stopped") {
		t.Errorf("a pause during the stop was answered %v", l.rejects)
	}
}

// A command that was taken up before a stop and waited for it is refused: the crawl stays stopped.
func TestCrawlResumedWhileItIsStopped(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, do(time.Minute, func(l *live) {
		l.update(contract.StopName)
		l.update(contract.Resume)
	}))
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if got := l.world.CrawlStates(); !slices.Equal(got, []crawl.CrawlState{crawl.CrawlStopped}) {
		t.Errorf("states %v, want stopped", got)
	}
	if len(l.acks) != 1 || len(l.rejects) != 1 || !strings.Contains(l.rejects[0].Error(), "being stopped") {
		t.Errorf("answers %v, rejected %v", l.acks, l.rejects)
	}
}

func TestCrawlSeedsAndSpec(t *testing.T) {
	t.Parallel()
	l := newCrawl(t,
		update(time.Minute, contract.AddSeeds, contract.AddSeedsArg{Seeds: []string{"https://b.example/", "https://example.com/"}}),
		update(2*time.Minute, contract.SetSpec, json.RawMessage(
			`{"name":"news","seeds":["https://example.com/","https://b.example/"],"maintain_every":"3m"}`)),
		update(15*time.Minute, contract.SeedsImported),
		crawlStop(20*time.Minute))
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if len(l.acks) != 4 || l.acks[0].Message != "1 of 2 seeds are new" {
		t.Errorf("acks %+v, rejects %v", l.acks, l.rejects)
	}
	// At 0; then every three minutes from the change on.
	if n := l.world.Calls(contract.Maintain.Name); n != 7 {
		t.Errorf("%d turns, want 7", n)
	}
	if n := len(l.world.Discovers()); n != 4 {
		t.Errorf("%d admissions, want 4: seeds, more seeds, new spec, imported seeds", n)
	}
}

func TestCrawlUpdatesAreChecked(t *testing.T) {
	t.Parallel()
	l := newCrawl(t,
		update(time.Minute, contract.AddSeeds, contract.AddSeedsArg{}),
		update(time.Minute, contract.AddSeeds, contract.AddSeedsArg{Seeds: []string{"https://b.example/", "gopher://x"}}),
		update(time.Minute, contract.SetSpec, json.RawMessage(`{"name":"olds","seeds":["https://example.com/"]}`)),
		update(time.Minute, contract.SetSpec, json.RawMessage(`{"name":"news","seeds":["https://example.com/"],"speed":"fast"}`)),
		crawlStop(2*time.Minute))
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"seeds: ", "seeds[1]", "cannot be renamed", "speed"} {
		if i >= len(l.rejects) || !strings.Contains(l.rejects[i].Error(), want) {
			t.Errorf("reject %d of %v, want %q", i, l.rejects, want)
		}
	}
	l.wantCalls(contract.OpenCrawl.Name, 1)
}

// An update that arrives before the crawl is open waits until it is.
func TestCrawlUpdateBeforeOpen(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, update(time.Second, contract.Pause), crawlStop(2*time.Hour))
	l.world.Down = func(now time.Time) bool { return now.Before(start.Add(outage)) }
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if got := l.world.CrawlStates(); len(got) != 2 || got[0] != crawl.CrawlPaused {
		t.Errorf("states %v", got)
	}
}

// Cut after every pass, the days of a crawl are the same: the same passes at the same times,
// one repair, the seeds admitted once.
func TestCrawlAcrossContinue(t *testing.T) {
	t.Parallel()
	type turn struct {
		at     time.Duration
		repair bool
		after  int64
	}
	days := func(t *testing.T, turnsPerRun int) ([]turn, *live, string) {
		var turns []turn
		l := newCrawl(t,
			update(5*time.Hour+time.Minute, contract.Pause),
			update(6*time.Hour+time.Minute, contract.Resume),
			update(7*time.Hour+time.Minute, contract.AddSeeds, contract.AddSeedsArg{Seeds: []string{"https://b.example/"}}),
			crawlStop(60*time.Hour+time.Minute))
		l.world.OnMaintain = func(in contract.MaintainIn) (contract.MaintainOut, error) {
			turns = append(turns, turn{l.env.Now().Sub(start), in.Repair, in.After})
			if in.After == 0 && len(turns)%4 == 1 {
				return contract.MaintainOut{After: 500}, nil
			}
			return contract.MaintainOut{Room: len(turns)%7 == 0}, nil
		}
		l.world.OnClosePages = func(in contract.ClosePagesIn) (contract.ClosePagesOut, error) {
			return contract.ClosePagesOut{After: (in.After + 1) % 5, Closed: 1}, nil
		}
		spec, err := l.crawl(newsSpec, &contract.CrawlProgress{Tuning: contract.Tuning{TurnsPerRun: turnsPerRun}})
		if err != nil {
			t.Fatal(err)
		}
		return turns, l, spec
	}
	want, whole, spec := days(t, 1<<20)
	if !strings.Contains(spec, "https://b.example/") {
		t.Errorf("the spec that goes from run to run lacks the new seed: %s", spec)
	}
	for _, cut := range []int{1, 2, 3, 7} {
		t.Run(fmt.Sprintf("every %d turns", cut), func(t *testing.T) {
			t.Parallel()
			got, l, _ := days(t, cut)
			if !slices.Equal(got, want) {
				t.Errorf("turns %v\nwant %v", got, want)
			}
			if l.runs <= whole.runs {
				t.Errorf("%d runs, want more than %d", l.runs, whole.runs)
			}
			if x, y := len(whole.world.Discovers()), len(l.world.Discovers()); x != y {
				t.Errorf("%d Discovers, want %d", y, x)
			}
			if !slices.Equal(l.acks, whole.acks) || !slices.Equal(l.upserts, whole.upserts) {
				t.Errorf("answers %v states %v, want %v %v", l.acks, l.upserts, whole.acks, whole.upserts)
			}
			l.wantCalls(contract.ClosePages.Name, 5)
		})
	}
}

// If the server always suggests to continue as new, the crawl does not spin through runs.
func TestCrawlSuggestedDoesNotSpin(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, crawlStop(time.Hour+time.Minute))
	l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) { env.SetContinueAsNewSuggested(true) })
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	l.wantCalls(contract.Maintain.Name, 7)
	if l.runs > 30 {
		t.Errorf("%d runs for seven turns", l.runs)
	}
}

// Cancelling a crawl's workflow stops the crawl, whatever it does at that moment, even while
// the store does not answer.
func TestCrawlCancelledStops(t *testing.T) {
	t.Parallel()
	cancel := func(l *live) { l.env.CancelWorkflow() }
	for name, tuning := range map[string]struct {
		down  bool
		turns int
	}{"asleep": {false, 0}, "in runs of one turn": {false, 1}, "without a store": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cancelled := false
			l := newCrawl(t, do(25*time.Minute, func(l *live) { cancelled = true; cancel(l) }))
			l.world.Down = func(now time.Time) bool {
				return tuning.down && cancelled && now.Before(start.Add(25*time.Minute+outage))
			}
			_, err := l.crawl(newsSpec, &contract.CrawlProgress{Tuning: contract.Tuning{TurnsPerRun: tuning.turns}})
			if !temporal.IsCanceledError(err) {
				t.Errorf("ended with %v, want cancelled", err)
			}
			if got := l.world.CrawlStates(); len(got) != 1 || got[0] != crawl.CrawlStopped {
				t.Errorf("states %v, want stopped", got)
			}
			l.wantCalls(contract.ClosePages.Name, 1)
		})
	}
}

// A cancellation that comes while a Discover starts is not lost, though the run ends next.
func TestCrawlCancelledAtTheEndOfARun(t *testing.T) {
	t.Parallel()
	l := newCrawl(t)
	l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetContinueAsNewSuggested(true)
		env.SetOnChildWorkflowStartedListener(func(*workflow.Info, workflow.Context, converter.EncodedValues) { env.CancelWorkflow() })
	})
	if _, err := l.crawl(newsSpec, nil); err != nil && !temporal.IsCanceledError(err) {
		t.Errorf("ended with %v", err)
	}
	if got := l.world.CrawlStates(); len(got) != 1 || got[0] != crawl.CrawlStopped {
		t.Errorf("states %v, want stopped", got)
	}
	l.wantCalls(contract.ClosePages.Name, 1)
}

// A failed step is reported, and the next pass repairs or counts the pages that it
// could not.
func TestCrawlStepsThatFail(t *testing.T) {
	t.Parallel()
	failing := map[string]string{contract.StepRestart: "temporal does not answer", contract.StepCounts: "a page", "archive": "a disk"}
	problems := []map[string]string{nil, failing, failing, {"archive": "a disk"}, nil}
	var repairs []bool
	var after []contract.CrawlProgress
	var events []*at
	for i := range problems {
		events = append(events, do(time.Duration(i)*10*time.Minute+5*time.Minute, func(l *live) { after = append(after, l.status()) }))
	}
	l := newCrawl(t, append(events, crawlStop(50*time.Minute-time.Second))...)
	l.world.OnMaintain = func(in contract.MaintainIn) (contract.MaintainOut, error) {
		repairs = append(repairs, in.Repair)
		out := contract.MaintainOut{Problems: problems[len(repairs)-1]}
		if out.Problems[contract.StepCounts] == "" {
			out.Status.Visits = len(repairs)
		}
		return out, nil
	}
	if _, err := l.crawl(newsSpec, &contract.CrawlProgress{Every: 10 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	if want := []bool{true, false, false, false, false}; !slices.Equal(repairs, want) {
		t.Errorf("turns with repair %v, want %v", repairs, want)
	}
	for i, visits := range []int{1, 1, 1, 4, 5} {
		if i >= len(after) || fmt.Sprint(after[i].Problems) != fmt.Sprint(problems[i]) || after[i].Counts.Visits != visits {
			t.Fatalf("after turn %d: %+v, want problems %v and the %d visits last counted", i, after[i:], problems[i], visits)
		}
	}
	text := crawlDetails(&contract.CrawlProgress{Problems: failing}, "sleeping")
	if !strings.Contains(text, "| Maintenance of archive failed | a disk |\n| Maintenance of counts failed |") {
		t.Errorf("details:\n%s", text)
	}
}

// A pass whose repair failed is repeated as a repair.
func TestCrawlRepairsAgain(t *testing.T) {
	t.Parallel()
	s := contract.CrawlProgress{Repair: true}
	partDone(&s, contract.MaintainOut{Problems: map[string]string{contract.StepRestart: "x"}}, start)
	if !s.Repair {
		t.Error("the repair that failed is forgotten")
	}
	partDone(&s, contract.MaintainOut{}, start)
	if s.Repair {
		t.Error("repaired again without end")
	}
}

// A state written into the store while the workflow could not be told takes effect from the
// next pass on, unless the workflow has written something newer since.
func TestCrawlHeedsTheStore(t *testing.T) {
	t.Parallel()
	const running, paused, stopped = crawl.CrawlRunning, crawl.CrawlPaused, crawl.CrawlStopped
	for _, c := range []struct {
		name           string
		before, stored crawl.CrawlState
		generation     int64
		after          crawl.CrawlState
		waking         bool
	}{
		{"nothing new", running, running, 5, running, false},
		{"an older answer", paused, running, 4, paused, false},
		{"an answer of old workers", paused, 0, 0, paused, false},
		{"paused", running, paused, 6, paused, false},
		{"resumed", paused, running, 6, running, true},
		{"stopped", running, stopped, 6, stopped, false},
		{"another spec", running, running, 6, running, false},
	} {
		s := contract.CrawlProgress{State: c.before, Generation: 5}
		heed(&s, contract.MaintainOut{State: c.stored, Generation: c.generation})
		if s.State != c.after || s.Waking != c.waking || s.Generation != max(c.generation, 5) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
	l := newCrawl(t)
	l.world.OnMaintain = func(contract.MaintainIn) (contract.MaintainOut, error) {
		return contract.MaintainOut{State: stopped, Generation: 9}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	l.wantCalls(contract.ClosePages.Name, 1)
}

// A crawl may have been paused and resumed while nobody could tell its workflow: pages that came
// due in between are woken.
func TestCrawlWakesAfterAnUnheardResume(t *testing.T) {
	t.Parallel()
	l := newCrawl(t, crawlStop(time.Hour+time.Minute))
	l.world.OnMaintain = func(contract.MaintainIn) (contract.MaintainOut, error) {
		return contract.MaintainOut{State: crawl.CrawlRunning, Generation: 7}, nil
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	l.wantCalls(contract.WakeParked.Name, 1)
}

func TestCrawlDetails(t *testing.T) {
	t.Parallel()
	text := crawlDetails(&contract.CrawlProgress{
		Name: "news", State: crawl.CrawlRunning, NextTurn: start, Problem: "a | b",
		Counts: contract.CrawlCounts{Pages: map[string]int{"failing": 2, "active": 40}, Visits: 99},
	}, "sleeping")
	if !strings.Contains(text, "| active | 40 |\n| failing | 2 |") || !strings.Contains(text, `a \| b`) {
		t.Errorf("details:\n%s", text)
	}
}
