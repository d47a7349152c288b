package report

import (
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// explains makes an active page with two days to its next visit, and one since its last.
func explains(change func(*Explained)) Explained {
	e := Explained{now: now}
	e.page = store.PageRecord{State: crawl.Active, Visits: 5, Changes: 2, LastAt: now.Add(-24 * time.Hour), NextAt: now.Add(48 * time.Hour)}
	e.page.Last = store.VersionRecord{ID: 1, At: now.Add(-72 * time.Hour)}
	e.visits = []store.VisitRecord{{Visit: 5, At: e.page.LastAt, Outcome: crawl.OutcomeUnchanged}}
	e.last = &e.visits[0]
	e.is.Next = Next{At: e.page.NextAt, By: PartDue}
	e.plan = &schedule.Explanation{Mean: 0.5, Low: 0.1, High: 2, Looks: 4, Changes: 2, Reasons: []crawl.Reason{{Code: schedule.CodeSqrt}}}
	if change != nil {
		change(&e)
	}
	return e
}

func TestPlainSentences(t *testing.T) {
	t.Parallel()
	state := func(s crawl.PageState, v store.VisitRecord) func(*Explained) {
		return func(e *Explained) {
			e.page.State, e.plan, v.At = s, nil, e.last.At
			*e.last = v
		}
	}
	next := func(n Next) func(*Explained) { return func(e *Explained) { e.is.Next = n } }
	reason := func(code string, num map[string]float64) func(*Explained) {
		return func(e *Explained) {
			e.plan.Reasons = append([]crawl.Reason{{Code: code, Num: num}}, e.plan.Reasons...)
		}
	}
	for name, c := range map[string]struct {
		change      func(*Explained)
		found, plan string // parts of the sentences, "" for anything
	}{
		"changes at times": {
			nil, "2 of its last 4 comparisons found a change, the last one 3d ago; it is believed to change about every 2d (with a probability of 90 %, every 12h to 10d).",
			"The next visit is in 2d, 3d after the last: by then a change is likely enough to be worth one of the crawl's visits.",
		},
		"never changed":       {func(e *Explained) { e.plan.Changes = 0 }, "None of its last 4 comparisons found a change; it is believed", ""},
		"seen once":           {func(e *Explained) { e.plan.Looks = 0 }, "seen once", ""},
		"noise":               {func(e *Explained) { e.plan.Noisy = true }, "Each of its last 4 looks found it changed", ""},
		"by the clock":        {reason(schedule.CodeDaily, map[string]float64{"s": 3600 * 6}), "It changes daily at about 06:00 UTC.", "right after its usual time"},
		"not planned":         {func(e *Explained) { e.plan = nil }, "It has changed at 2 of 5 visits so far.", ""},
		"suspect":             {func(e *Explained) { e.page.Suspect.Visit = 5 }, "a second look", ""},
		"gone":                {state(crawl.Gone, store.VisitRecord{Status: 410}), "It is gone: its last visit, 1d ago, was answered with status 410.", ""},
		"moved":               {state(crawl.Redirect, store.VisitRecord{Location: "https://b.test/"}), "It leads elsewhere: its last visit, 1d ago, was sent on to https://b.test/.", ""},
		"fails":               {state(crawl.Failing, store.VisitRecord{Problem: "connection refused"}), "It fails: its last visit, 1d ago, came to nothing (connection refused); the copy from 3d ago is kept.", ""},
		"same as another":     {state(crawl.Duplicate, store.VisitRecord{}), "the same content as another page", ""},
		"excluded":            {state(crawl.Excluded, store.VisitRecord{Problem: "robots.txt line 3"}), "It may not be visited: robots.txt line 3.", ""},
		"held":                {func(e *Explained) { e.page.State = crawl.Held }, "held as a trap", ""},
		"stopped":             {func(e *Explained) { e.page.State = crawl.Stopped }, "It was stopped after 5 visits.", ""},
		"evicted":             {func(e *Explained) { e.page.State = crawl.Evicted }, "It gave its place", ""},
		"without a place":     {func(e *Explained) { e.page.State, e.is.Next = crawl.Known, Next{By: PartAdmission} }, "no place in the collection yet", "once the collection has a place"},
		"never seen":          {func(e *Explained) { e.last = nil }, "Nobody has looked at it yet.", ""},
		"paused":              {next(Next{By: PartPaused, Why: "the crawl is paused"}), "", "No visit is planned: the crawl is paused."},
		"under way":           {next(Next{At: now, By: PartUnderway}), "", "It is being visited now."},
		"snoozed":             {next(Next{At: now.Add(time.Hour), By: PartSnooze}), "", "Somebody has put its visits off: the next one is in 1h."},
		"snoozed by word":     {func(e *Explained) { e.live.Snoozed = e.is.At }, "", "Somebody has put its visits off: the next one is in 2d."},
		"overdue":             {next(Next{At: now.Add(-time.Hour), By: PartDue}), "", "is due, and comes as soon as its host allows"},
		"the host rests":      {next(Next{At: now.Add(8 * time.Second), By: PartGap, Why: "10s between two requests"}), "", "when its host has rested, in 8s: 10s between two requests."},
		"the host is quiet":   {next(Next{At: now.Add(time.Hour), By: PartBackoff, Why: "the site asked for 1h of quiet"}), "", "The next visit can be made in 1h: the site asked for 1h of quiet."},
		"a person's interval": {func(e *Explained) { e.live.Interval = "3d" }, "", "somebody has asked for a visit every 3d"},
		"a sitemap's word":    {func(e *Explained) { e.hint = &store.SourceRecord{} }, "", "its sitemap or feed says that it has changed"},
		"at the lower bound":  {reason(schedule.CodeMin, map[string]float64{"s": 3600}), "", "min_interval allows no earlier one"},
		"a full host":         {reason(schedule.CodePrice, nil), "", "its host has more pages that are due"},
		"an unknown policy":   {func(e *Explained) { e.plan.Reasons = []crawl.Reason{{Code: "later", Text: "by a later program"}} }, "", "after the last: by a later program."},
	} {
		e := explains(c.change)
		if found := e.Found(); !strings.Contains(found, c.found) {
			t.Errorf("%s: %q, want %q", name, found, c.found)
		}
		if plan := e.Plan(); !strings.Contains(plan, c.plan) {
			t.Errorf("%s: %q, want %q", name, plan, c.plan)
		}
	}
}

// Beliefs come from visits that were planned by one, and end with the present belief.
func TestBeliefs(t *testing.T) {
	t.Parallel()
	belief := func(code string, mean float64) []crawl.Reason {
		return []crawl.Reason{{Code: schedule.CodeFirst}, {Code: code, Num: map[string]float64{"mean": mean, "low": mean / 2, "high": 2 * mean}}}
	}
	e := explains(func(e *Explained) {
		e.visits = []store.VisitRecord{
			{Visit: 3, At: now.Add(-24 * time.Hour), Reasons: belief(schedule.CodeBelief, 0.4)},
			{Visit: 2, At: now.Add(-48 * time.Hour), Reasons: []crawl.Reason{{Code: schedule.CodeFailed}}},
			{Visit: 1, At: now.Add(-72 * time.Hour), Reasons: belief(schedule.CodePrior, 0.05)},
		}
	})
	got := e.Beliefs()
	if len(got) != 3 || got[0].Mean != 0.05 || got[1].Mean != 0.4 || got[1].Low != 0.2 || got[2].Mean != 0.5 || !got[2].At.Equal(now) {
		t.Errorf("%+v", got)
	}
	e.crawl.Spec = crawl.DefaultSpec()
	e.crawl.Spec.Revisit.Policy = "fixed" // which notes no beliefs
	for i := range e.visits {
		e.visits[i].Reasons = nil
		e.visits[i].Outcome = []crawl.Outcome{crawl.OutcomeChanged, crawl.OutcomeFailed, crawl.OutcomeNew}[i]
	}
	if got := e.Beliefs(); len(got) != 3 || got[1].Mean <= got[0].Mean || !got[1].At.Equal(e.visits[0].At) || got[0].Low >= got[0].Mean || got[0].High <= got[0].Mean {
		t.Errorf("from the visits: %+v", got)
	}
	e.visits = e.visits[:2] // the first is not kept
	if got := e.Beliefs(); len(got) != 1 || !got[0].At.Equal(e.page.LastAt) {
		t.Errorf("%+v", got)
	}
}
