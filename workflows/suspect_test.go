package workflows

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// faulty plays the store and the activities of a page that shows errors at times, with the
// decisions of the product.
type faulty struct {
	t       *testing.T
	broken  func(request int) bool
	shows   string
	version string
	since   int
}

func (f *faulty) play(l *live) {
	f.version = "page"
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if f.shows = "page"; f.broken(try.N) {
			f.shows = "error"
		}
		if f.shows == f.version {
			return contracttest.Unchanged(try.Now), nil
		}
		return contracttest.Changed(try.Now), nil
	}
	l.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
		if !in.Suspects {
			f.t.Error("the workflow wants no suspects")
		}
		out := contract.DetectOut{Outcome: crawl.OutcomeChanged}
		if f.shows == "error" {
			out.Outcome, out.Reasons = change.Suspicion(out.Outcome, crawl.Reason{Code: change.CodeErrorWords, Text: "not found"}, f.since)
		}
		return out, nil
	}
	l.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		page := schedule.Page{ID: 42, State: crawl.Active, Visit: in.Visit}
		p := schedule.Parameters{Round: day, Min: 10 * time.Minute, Max: 30 * day}
		plan := schedule.AfterVisit(schedule.Fixed{}, page, schedule.Observation{Outcome: in.Fetch.Outcome, At: out.At}, p)
		out.NextAt, out.State = out.At.Add(plan.Interval), plan.State
		switch settled, _ := change.AfterSuspect(in.Fetch.Outcome, f.since); {
		case in.Fetch.Outcome == crawl.OutcomeSuspect:
			f.since = in.Visit
		case settled:
			f.since = 0
		}
		if in.Fetch.Outcome == crawl.OutcomeChanged {
			f.version = f.shows
		}
	}
}

// An error that passes costs a page one early visit, one that stays is recorded at that
// visit, and neither holds up the visits after it.
func TestPageSecondLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		broken   func(int) bool
		outcomes string
	}{
		{"once", func(n int) bool { return n == 1 }, "suspect unchanged unchanged unchanged"},
		{"for good", func(int) bool { return true }, "suspect changed unchanged unchanged"},
		{"at every other request", func(n int) bool { return n%2 == 1 }, "suspect unchanged suspect unchanged suspect unchanged suspect unchanged"},
		{"at two of three", func(n int) bool { return n%3 != 0 }, "suspect changed changed suspect changed changed"},
		{"never", func(int) bool { return false }, "unchanged unchanged unchanged unchanged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := strings.Fields(c.outcomes)
			l := newLive(t, stopAt(20*day))
			(&faulty{t: t, broken: c.broken}).play(l)
			in := visited(start)
			in.Tuning = contract.Tuning{VisitsPerRun: 2}
			l.stopped(l.page(in))
			got := l.world.Visits()
			if len(got) < len(want) {
				t.Fatalf("only %v", got)
			}
			for i, outcome := range want {
				if got[i].Outcome.String() != outcome {
					t.Errorf("visit %d: %v, want %s", i, got[i], outcome)
				}
				after := got[i+1].At.Sub(got[i].At)
				if early := after < 40*time.Minute; early != (outcome == "suspect") || after > 27*time.Hour {
					t.Errorf("visit %d (%s): the next after %s", i, outcome, after)
				}
			}
			wantReadable(t, l.inputs)
		})
	}
}

// wantReadable checks that release 0.2.0 has a name for every outcome in the inputs of runs,
// which its workers may take over.
func wantReadable(t *testing.T, inputs []contract.PageIn) {
	t.Helper()
	if len(inputs) == 0 {
		t.Error("the page did not continue as new")
	}
	known := func(o crawl.Outcome) bool { return o <= crawl.OutcomeSkipped }
	for _, in := range inputs {
		for _, line := range in.Recent {
			if !known(line.Outcome) || (line.OutcomeWord() == "suspect") != (line.Word != "") {
				t.Errorf("%+v cannot be read by release 0.2.0", line)
			}
		}
		if in.Unrecorded != nil && !known(in.Unrecorded.Fetch.Outcome) {
			t.Errorf("%+v cannot be read by release 0.2.0", in.Unrecorded.Fetch)
		}
	}
}

// The next run does not know where a redirect led, in case that is taken down.
func TestReadableNamesNoTarget(t *testing.T) {
	t.Parallel()
	in := visited(start)
	in.Recent = []contract.VisitLine{
		{Visit: 3, Outcome: crawl.OutcomeRedirected, Note: "to https://gone.example/"},
		{Visit: 2, Outcome: crawl.OutcomeNew, Note: "3 links, 2 of them new"},
	}
	got := readable(in).Recent
	if len(got) != 2 || got[0].Note != "elsewhere" || got[0].Visit != 3 || got[1] != in.Recent[1] {
		t.Errorf("%+v", got)
	}
	if in.Recent[0].Note != "to https://gone.example/" {
		t.Error("the state of this run has changed")
	}
}

// A suspect visit that is not recorded when its run ends is compared again in the next run.
func TestReadableComparesAgain(t *testing.T) {
	t.Parallel()
	in := visited(start)
	in.Unrecorded = &contract.Unrecorded{
		Settled: true, Reasons: []crawl.Reason{{Code: change.CodeErrorWords}},
		Fetch: contract.FetchOut{Outcome: crawl.OutcomeSuspect, Differs: true, Digest: "d1", ETag: `"1"`, Validators: true},
	}
	before := *in.Unrecorded
	got := readable(in).Unrecorded
	if got.Settled || got.Fetch.Outcome != crawl.OutcomeChanged || got.Fetch.Digest != "d1" || !got.Fetch.Differs || got.Reasons != nil {
		t.Errorf("%+v", got)
	}
	if in.Unrecorded.Settled != before.Settled || in.Unrecorded.Fetch.Outcome != before.Fetch.Outcome {
		t.Error("the state of this run has changed")
	}
	if raw, err := json.Marshal(readable(in)); err != nil || strings.Contains(string(raw), "suspect") {
		t.Errorf("%s %v", raw, err)
	}
	in.Unrecorded.Fetch.Outcome = crawl.OutcomeCosmetic
	if got := readable(in).Unrecorded; got != in.Unrecorded {
		t.Errorf("%+v", got)
	}
}
