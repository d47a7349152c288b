package report

import (
	"math/rand/v2"
	"testing"
	"time"

	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// A report's figures and the status agree on the same copies, even if pages share no prior
// and one is fitted to the evidence of all of them.
func TestReportAndStatusAgree(t *testing.T) {
	t.Parallel()
	f := looked(12, 2, func(*rand.Rand) float64 { return 100 })
	for i := range f.pages {
		p := &f.pages[i]
		p.Steering = schedule.Steering{}
		p.Belief = schedule.Belief{Pairs: 20, Changes: float32(18 * (i % 2)), Days: 20, Compared: p.LastAt.UnixMilli()}.Encode()
	}
	status, err := Reporter{Store: f, Visits: f}.StatusOf(t.Context(), "news")
	if err != nil || status.Freshness == nil {
		t.Fatalf("%+v, %v", status.Freshness, err)
	}
	got, _, _ := modelOf(t, f)
	want := status.Freshness
	if s := got.Freshness; s.Pages != want.Pages || !near(s.Fresh, want.Fresh) || !near(s.Age, want.Age) || !near(s.Delay, want.Delay) {
		t.Errorf("a report says %+v, and the status %+v", s, want.FreshPart)
	}
	rules, err := schedule.NewRules(f.crawls[0].Spec.Revisit)
	if err != nil {
		t.Fatal(err)
	}
	alone := freshAlone(f.pages, rules, now)
	if near(alone, want.Fresh) {
		t.Errorf("without a common prior it is %v too: this says nothing", alone)
	}
}

// freshAlone returns how fresh copies are by the prior of any page.
func freshAlone(pages []store.PageRecord, rules schedule.Rules, now time.Time) float64 {
	sum := 0.0
	for _, p := range pages {
		sum += surveyed(p, rules, nil, now).Lag.Fresh
	}
	return sum / float64(len(pages))
}
