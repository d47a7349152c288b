package workflows

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

func TestPageNext(t *testing.T) {
	t.Parallel()
	now := start
	for _, tt := range []struct {
		name  string
		s     contract.PageIn
		do    pageDo
		until time.Time
	}{
		{"new", contract.PageIn{}, pageAsk, time.Time{}},
		{"due", contract.PageIn{Due: now}, pageAsk, time.Time{}},
		{"not due", contract.PageIn{Due: now.Add(day)}, pageSleep, now.Add(day)},
		{"asked", contract.PageIn{Due: now.Add(day), Asked: true, Snoozed: now.Add(day)}, pageAsk, time.Time{}},
		{"snoozed", contract.PageIn{Due: now.Add(-day), Snoozed: now.Add(day)}, pageSleep, now.Add(day)},
		{"an old snooze", contract.PageIn{Due: now.Add(-day), Snoozed: now.Add(-time.Hour)}, pageAsk, time.Time{}},
		{"in line", contract.PageIn{InLine: true, Wake: now.Add(time.Hour)}, pageSleep, now.Add(time.Hour)},
		{"in line, its time", contract.PageIn{InLine: true, Wake: now}, pageAsk, time.Time{}},
		{"in line, not due any more", contract.PageIn{InLine: true, Wake: now, Due: now.Add(day)}, pageLeave, time.Time{}},
		{"stopping", contract.PageIn{Stopping: true, Due: now.Add(day)}, pageStop, time.Time{}},
		{"visit made, stopping", contract.PageIn{Stopping: true, Unrecorded: &contract.Unrecorded{}}, pageRecord, time.Time{}},
		{"evicted", contract.PageIn{Evicting: true, Due: now.Add(day)}, pageEvict, time.Time{}},
		{"visit made, evicted", contract.PageIn{Evicting: true, Unrecorded: &contract.Unrecorded{}}, pageRecord, time.Time{}},
		{"evicted and stopping", contract.PageIn{Evicting: true, Stopping: true}, pageStop, time.Time{}},
		{"held", contract.PageIn{Hold: now.Add(time.Minute), Unrecorded: &contract.Unrecorded{}, Stopping: true}, pageSleep, now.Add(time.Minute)},
		{"hold over", contract.PageIn{Hold: now, Unrecorded: &contract.Unrecorded{}}, pageRecord, time.Time{}},
		{"interval", contract.PageIn{
			Interval: time.Hour, Due: now.Add(9 * day), Recent: []contract.VisitLine{{At: now.Add(-time.Minute)}},
		}, pageSleep, now.Add(59 * time.Minute)},
		{"interval before any visit", contract.PageIn{Interval: time.Hour, Due: now.Add(day)}, pageSleep, now.Add(day)},
		{"interval below a second", contract.PageIn{
			Interval: time.Millisecond, Recent: []contract.VisitLine{{At: now}},
		}, pageSleep, now.Add(time.Second)},
	} {
		step := pageNext(&tt.s, now)
		if step.do != tt.do || !step.until.Equal(tt.until) {
			t.Errorf("%s: %d until %s, want %d until %s", tt.name, step.do, step.until, tt.do, tt.until)
		}
	}
}

// A person's stop of a page outlasts that of its crawl, in whichever order they come.
func TestAskClose(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		asked    []func(*contract.PageIn)
		stopping bool // after the crawl was started again
	}{
		{"the crawl", []func(*contract.PageIn){askClose, askClose}, false},
		{"a person", []func(*contract.PageIn){askStop}, true},
		{"a person, then the crawl", []func(*contract.PageIn){askStop, askClose}, true},
		{"the crawl, then a person", []func(*contract.PageIn){askClose, askStop}, true},
	} {
		s := contract.PageIn{InLine: true, Wake: start.Add(day), Hold: start}
		for _, ask := range tt.asked {
			ask(&s)
		}
		if !s.Stopping || !s.Hold.IsZero() {
			t.Errorf("%s: %+v, want it to stop at once", tt.name, s)
		}
		if reopen(&s); s.Stopping != tt.stopping || s.Closing || s.InLine || !s.Wake.IsZero() {
			t.Errorf("%s: %+v, want stopping %t, and no place in line", tt.name, s, tt.stopping)
		}
	}
}

func TestClassOf(t *testing.T) {
	t.Parallel()
	for state, want := range map[crawl.PageState]crawl.Class{
		crawl.Active: crawl.ClassRevisit, crawl.Failing: crawl.ClassProbe, crawl.Gone: crawl.ClassProbe,
		crawl.Redirect: crawl.ClassProbe, crawl.Duplicate: crawl.ClassProbe, crawl.Excluded: crawl.ClassProbe,
	} {
		if got := classOf(&contract.PageIn{State: state, Visit: 1}); got != want {
			t.Errorf("%s: class %d, want %d", state, got, want)
		}
		if got := classOf(&contract.PageIn{State: state, Visit: 1, Asked: true}); got != crawl.ClassManual {
			t.Errorf("%s, asked: class %d", state, got)
		}
	}
	if got := classOf(&contract.PageIn{State: crawl.Active}); got != crawl.ClassFirst {
		t.Errorf("first visit: class %d", got)
	}
}

func TestAdoptNeverStands(t *testing.T) {
	t.Parallel()
	s := contract.PageIn{Visit: 7, State: crawl.Active, InLine: true, Tries: 3, Unrecorded: &contract.Unrecorded{}}
	for range 20 {
		adopt(&s, contract.PlanOut{At: start, Reason: "revisit in 3d 4h: changes often"}, "")
	}
	if s.Visit != 27 || len(s.Recent) != contract.RecentVisits || s.Recent[0].Visit != 27 {
		t.Errorf("%+v", s)
	}
	if s.InLine || s.Tries != 0 || s.Unrecorded != nil || s.Why != "changes often" || s.State != crawl.Active {
		t.Errorf("%+v", s)
	}
}

// A requisite that was visited is kept. Workers of release 0.2.0, which have no name for that,
// read it as stopped.
func TestAdoptKept(t *testing.T) {
	t.Parallel()
	state, kept := contract.MarkedState(crawl.Kept)
	if state != crawl.Stopped || !kept {
		t.Errorf("marked: %s, %v", state, kept)
	}
	s := contract.PageIn{State: crawl.Active}
	adopt(&s, contract.PlanOut{Visit: 1, At: start, State: state, Kept: kept}, "")
	if s.State != crawl.Kept || s.State.Lives() {
		t.Errorf("the page is %s", s.State)
	}
	for _, state := range crawl.PageStates() {
		if got := contract.UnmarkedState(contract.MarkedState(state)); got != state {
			t.Errorf("%s comes back as %s", state, got)
		}
	}
}

// A page's reason for sleeping is the plan's reason, as this release and as older
// histories have it.
func TestAdoptReadsReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"changes often": "changes often", "revisit in 3d 4h: changes often": "changes often",
		"failed: no route to host": "failed: no route to host", "revisit in 2d": "revisit in 2d", "": "",
	} {
		s := contract.PageIn{Visit: 7, State: crawl.Active}
		adopt(&s, contract.PlanOut{At: start, Reason: reason}, "")
		if s.Why != want {
			t.Errorf("%q is said as %q, want %q", reason, s.Why, want)
		}
	}
}

func TestHoldFor(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for id := range int64(200) {
		for try := range 40 {
			d := pauseFor(troubleStore, id, try)
			if d < shortestPause || d > longestStorePause {
				t.Fatalf("page %d try %d: %s", id, try, d)
			}
			if d != pauseFor(troubleStore, id, try) {
				t.Fatal("not deterministic")
			}
			seen[d] = true
			if other := pauseFor(troubleOther, id, try); other < shortestPause || other > longestOtherPause {
				t.Fatalf("page %d try %d: %s", id, try, other)
			}
		}
		if d := pauseFor(troubleOther, id, 0); d > 10*time.Second {
			t.Errorf("the first pause is %s", d)
		}
	}
	if len(seen) < 4000 {
		t.Errorf("%d different pauses of 8000: pages would come in step", len(seen))
	}
}

func TestTroubleOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want trouble
	}{
		{temporal.NewApplicationError("x", contract.ErrTypeStoreUnavailable), troubleStore},
		{temporal.NewApplicationError("x", contract.ErrTypeCrowded), troubleCrowded},
		{fmt.Errorf("wrapped: %w", temporal.NewApplicationError("x", contract.ErrTypeNotFound)), troubleMissing},
		{temporal.NewApplicationError("x", contract.ErrTypeFetchFailed), troubleFailed},
		{temporal.NewApplicationError("x", "PanicError"), troubleOther},
		{temporal.NewTimeoutError(1, nil), troubleLost},
		{errors.New("x"), troubleOther},
	} {
		if got := troubleOf(tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestRoughly(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		76 * time.Hour: "3d 4h", 24 * time.Hour: "1d", 24*time.Hour + time.Minute: "1d",
		90 * time.Second: "1m 30s", time.Second: "1s", time.Millisecond: "under a second", -time.Hour: "under a second",
	} {
		if got := roughly(d); got != want {
			t.Errorf("roughly(%s) = %q, want %q", d, got, want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("häuser", 3)
	f.Add(strings.Repeat("…", 100), 200)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 3 || limit > 1000 {
			return
		}
		got := clip(text, limit)
		if len(got) > limit {
			t.Errorf("clip(%q, %d) has %d bytes", text, limit, len(got))
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("clip(%q, %d) = %q cuts a rune", text, limit, got)
		}
	})
}

func TestPageDetails(t *testing.T) {
	t.Parallel()
	s := visited(start.Add(day))
	s.Recent[0].Note = "a|b\n<script>`x`"
	text := pageDetails(&s, "sleeping")
	for _, want := range []string{
		"| URL | https://example.com/a |", "| Next | visit 4, 2100-01-05 06:00:00 UTC: policy |",
		"| 3 | 2100-01-03 06:00:00 UTC | unchanged | 304 | a\\|b &lt;script>'x' |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("details lack %q:\n%s", want, text)
		}
	}
	s.Asked = true
	if text := pageDetails(&s, "asking"); !strings.Contains(text, "visit 4, now: asked for by a person") {
		t.Errorf("details:\n%s", text)
	}
}
