package report

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/store"
)

// looked returns a store with pages that were looked at every day for a while. next draws
// the days from one change to the next.
func looked(pages, visits int, next func(r *rand.Rand) float64) *fake {
	const day = 24 * time.Hour
	r := rand.New(rand.NewPCG(1, 2))
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	f := &fake{
		crawls: []store.CrawlRecord{{ID: 1, Spec: spec, State: crawl.CrawlRunning, CreatedAt: now.Add(-100 * day)}},
		visits: map[int64][]store.VisitRecord{}, status: map[int64]store.StatusRecord{1: {Pages: map[crawl.PageState]int{crawl.Active: pages}}},
	}
	// Shape 2, as the rates below are drawn: sums of two exponential times.
	steering := schedule.Steering{Policy: "sqrt", Prior: gamma.Distribution{A: 2, B: 8}}
	for id := range int64(pages) {
		p := store.PageRecord{PageRef: crawl.PageRef{CrawlID: 1, PageID: id + 1, Host: "example.com"}, State: crawl.Active, Visits: visits, Steering: steering}
		p.Last.ID, p.LastAt, p.NextAt = 1, now.Add(-day), now.Add(day)
		p.Belief = schedule.Belief{Pairs: 9, Changes: 2, Days: 8, Compared: p.LastAt.UnixMilli()}.Encode()
		change := next(r)
		var list []store.VisitRecord
		for n := range visits {
			v := store.VisitRecord{PageID: p.PageID, Visit: n + 1, At: now.Add(-time.Duration(visits-n) * day), Outcome: crawl.OutcomeUnchanged}
			if n == 0 {
				v.Outcome = crawl.OutcomeNew
			}
			for ; n > 0 && change <= float64(n); change += next(r) {
				v.Outcome = crawl.OutcomeChanged
			}
			list = append([]store.VisitRecord{v}, list...)
		}
		f.pages, f.visits[p.PageID] = append(f.pages, p), list
	}
	return f
}

type modelFigures struct {
	Freshness struct {
		Pages int
		Fresh float64
		Age   float64 `json:"age_days"`
		Delay float64 `json:"delay_days"`
	}
	Foreseen  []struct{ From, Foreseen, Found float64 }
	Intervals struct {
		Changes int
		Test    *struct{ P float64 }
	} `json:"change_intervals"`
	Rates []struct {
		Estimator string
		Mean      float64
	} `json:"change_rates"`
}

func modelOf(t *testing.T, f *fake) (figures modelFigures, text, page string) {
	t.Helper()
	for _, format := range []Format{JSON, Text} {
		var out, html bytes.Buffer
		r := Reporter{Store: f, Visits: f, Out: &out, Format: format}
		if err := r.Survey(t.Context(), SurveyQuery{Crawl: "news", HTML: &html}); err != nil {
			t.Fatal(err)
		}
		if format == Text {
			return figures, out.String(), html.String()
		}
		if err := json.Unmarshal(out.Bytes(), &figures); err != nil {
			t.Fatal(err)
		}
	}
	return figures, "", ""
}

// A report says whether changes come as in Poisson processes.
func TestSurveyOfChangeIntervals(t *testing.T) {
	t.Parallel()
	rates := rand.New(rand.NewPCG(5, 6))
	rate := (rates.ExpFloat64() + rates.ExpFloat64()) / 8
	poisson := looked(60, 80, func(r *rand.Rand) float64 { return r.ExpFloat64() / rate })
	got, text, page := modelOf(t, poisson)
	if got.Intervals.Test == nil || got.Intervals.Test.P < unlikely || !strings.Contains(text, "nothing speaks against Poisson processes: χ²") {
		t.Errorf("a Poisson process of rate %.2f: %+v in\n%s", rate, got.Intervals, text)
	}
	for _, want := range []string{"Intervals between changes, found (bars) and of Poisson processes (marks)", `class="mark"`, "nothing speaks against"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if !strings.Contains(text, "#|") && !strings.Contains(text, "|#") {
		t.Errorf("no histogram in\n%s", text)
	}
	got, text, _ = modelOf(t, looked(60, 80, func(*rand.Rand) float64 { return 7 }))
	if got.Intervals.Test == nil || got.Intervals.Test.P > 1e-6 || !strings.Contains(text, "not those of Poisson processes: χ²") {
		t.Errorf("weekly: %+v in\n%s", got.Intervals, text)
	}
	for _, r := range got.Rates {
		if r.Estimator != "belief" && (r.Mean < 0.12 || r.Mean > 0.2) {
			t.Errorf("a change a week is %v a day by %s", r.Mean, r.Estimator)
		}
	}
	got, text, _ = modelOf(t, looked(2, 3, func(*rand.Rand) float64 { return 1.5 }))
	if got.Intervals.Test != nil || !strings.Contains(text, "too few to tell") {
		t.Errorf("of next to nothing: %+v in\n%s", got.Intervals, text)
	}
}

// Freshness, age and delay come from beliefs, and are shown beside how often beliefs were
// right.
func TestSurveyOfFreshness(t *testing.T) {
	t.Parallel()
	f := looked(3, 2, func(*rand.Rand) float64 { return 100 })
	f.pages[1].State = crawl.Gone // answers with nothing
	status := f.status[1]
	status.Foresight[1] = store.Foresight{Visits: 30, Chance: 4.5, Found: 6}
	status.Foresight[8] = store.Foresight{Visits: 10, Chance: 8.5, Found: 8}
	f.status[1] = status
	got, text, _ := modelOf(t, f)
	// Under the belief Gamma(4, 16) a copy is fresh after a day with (16/17)⁴ and its age is
	// 1 − (16/3)(1 − (16/17)³) days; a change waits half of the two days between visits.
	if s := got.Freshness; s.Pages != 2 || !near(s.Fresh, 0.78466) || !near(s.Age, 0.11304) || !near(s.Delay, 1) {
		t.Errorf("%+v", s)
	}
	if len(got.Foreseen) != 2 || !near(got.Foreseen[0].Foreseen, 0.15) || !near(got.Foreseen[0].Found, 0.2) || !near(got.Foreseen[1].From, 0.8) {
		t.Errorf("%+v", got.Foreseen)
	}
	for _, want := range []string{"78.5 % of the copies of 2 pages are up to date", "a change waits 1d for its visit", "32.5 % of 40 visits were expected to find a change, 35.0 % did"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func near(got, want float64) bool { return got > want-1e-4 && got < want+1e-4 }

// The old visits that are left would suggest more changes than there were.
func TestLooksInOrder(t *testing.T) {
	t.Parallel()
	at := func(n, day int, o crawl.Outcome) store.VisitLook {
		return store.VisitLook{Visit: n, At: now.Add(time.Duration(day) * 24 * time.Hour), Outcome: o}
	}
	looks := looksInOrder([]store.VisitLook{
		at(1, 0, crawl.OutcomeNew), at(3, 4, crawl.OutcomeChanged), // 2 was removed
		at(4, 5, crawl.OutcomeUnchanged), at(5, 6, crawl.OutcomeFailed), at(6, 8, crawl.OutcomeChanged),
	})
	if len(looks) != 2 || looks[0] != (schedule.Look{Days: 1}) || looks[1] != (schedule.Look{Days: 3, Changed: true}) {
		t.Errorf("%+v", looks)
	}
	if n := len(looksInOrder(nil)); n != 0 {
		t.Errorf("%d looks of no visits", n)
	}
}

// A sample is even, whatever ids are like, and all of a small crawl.
func TestSampleIsEven(t *testing.T) {
	t.Parallel()
	for _, step := range []int64{1, 2, 7, 1000} {
		s, taken := newSample(map[crawl.PageState]int{crawl.Active: 20 * sampledPages}), 0
		for i := range int64(20 * sampledPages) {
			if s.takes(1 + i*step) {
				taken++
			}
		}
		if taken < sampledPages*9/10 || taken > sampledPages*11/10 {
			t.Errorf("ids in steps of %d: %d are taken, want about %d", step, taken, sampledPages)
		}
	}
	if s := newSample(map[crawl.PageState]int{crawl.Known: 10}); !s.takes(1) || !s.takes(2) || !s.takes(3) {
		t.Error("a small crawl is not taken whole")
	}
}
