package schedule

import (
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
)

var sink Plan

// The target is 10 µs a plan, and nothing allocated.
func BenchmarkPlan(b *testing.B) {
	for _, policy := range Policies() {
		b.Run(policy.Name(), func(b *testing.B) {
			page := Page{ID: 7, State: crawl.Active, Visit: 45, Belief: agedBelief}
			p := aging
			p.Threshold, p.Prior = 0.3, gamma.Distribution{A: 0.9, B: 11}
			at := agedBelief.ComparedAt()
			seen := []Observation{
				{Outcome: crawl.OutcomeUnchanged, Gap: 3 * day, At: at.Add(3 * day)},
				{Outcome: crawl.OutcomeChanged, Gap: 5 * day, At: at.Add(5 * day)},
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				sink = AfterVisit(policy, page, seen[i%2], p)
			}
		})
	}
}

// The cost of a visit besides the plan: reading the stored belief, and writing it
// and the reasons.
func BenchmarkStoredPlan(b *testing.B) {
	stored := Belief{MaxFR: 3, Pairs: 32, History: 0x0f0f0f0e, Looks: 3.5, Apart: 4, Days: 40, Compared: 1790000000000}.Encode()
	policy := Budgeted{Delay{}}
	b.ReportAllocs()
	for b.Loop() {
		page := Page{ID: 7, State: crawl.Active, Visit: 45, Belief: DecodeBelief(stored)}
		sink = AfterVisit(policy, page, Observation{Outcome: crawl.OutcomeUnchanged, Gap: 3 * day}, daily)
		sink.Reasons()
		sink.Belief.Encode()
	}
}

func BenchmarkSummary(b *testing.B) {
	d := FRMax{}.Next(Page{ID: 7, Visit: 45}, Observation{Outcome: crawl.OutcomeUnchanged}, daily)
	b.ReportAllocs()
	for b.Loop() {
		Summary(d.Interval, d.Reasons())
	}
}

// The cost of a forecast of five budgets and a promise, for a sample of a thousand pages
// on fifty hosts, ten of which may become full.
func BenchmarkOutlook(b *testing.B) {
	c := newCollection(b, revisits("sqrt"), 11, 1000, 50)
	limits := map[int64]float64{}
	for id := range int64(10) {
		limits[id] = 20 * float64(id+1)
	}
	b.ReportAllocs()
	for b.Loop() {
		o := c.outlook(limits, 1)
		for _, budget := range []float64{100, 500, 1000, 2000, 4000} {
			o.At(budget)
		}
		o.Promise(0.95)
		o.Limiting(10)
	}
}
