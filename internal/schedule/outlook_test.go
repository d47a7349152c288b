package schedule

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/mathtest"
)

// outlook is the Outlook of a collection's pages, each entry n times.
func (c *collection) outlook(limits map[int64]float64, n float64) *Outlook {
	tally := NewOutlookTally(c.rules, c.steering, c.hosts, limits)
	for _, e := range c.entries {
		tally.Add(e, n)
	}
	return tally.Settle()
}

func revisits(policy string) crawl.RevisitSpec {
	r := crawl.DefaultSpec().Revisit
	r.Policy = policy
	return r
}

var objectives = rapid.SampledFrom([]string{"sqrt", "fresh", "age", "harmonic"})

// Whatever the budget, visits meet it, no host gets more than it can take, and a higher
// budget gives better results.
func TestOutlookKeepsBudgets(t *testing.T) {
	t.Parallel()
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		const pages = 40
		r := revisits(objectives.Draw(t, "policy"))
		hosts := rapid.IntRange(1, 5).Draw(t, "hosts")
		c := newCollection(outer, r, rapid.Uint64().Draw(t, "seed"), pages, hosts)
		limits := map[int64]float64{}
		for id := range rapid.IntRange(0, hosts).Draw(t, "limited") {
			limits[int64(id)] = rapid.Float64Range(0.1, 500).Draw(t, "limit")
		}
		o := c.outlook(limits, 1)
		tolerance := 1e-3
		if r.Policy == "fresh" { // whose early looks begin at sharp bounds
			tolerance = 0.05
		}
		most := o.Most()
		lastFresh, lastVisits := 0.0, 0.0
		for _, budget := range []float64{1, 20, 400} {
			p := o.At(budget)
			least := pages / days(r.MaxInterval.Std())
			if want := min(max(budget, p.Visits), most.Visits); !mathtest.Alike(p.Visits, want, tolerance) || budget > least && p.Visits > (1+tolerance)*budget {
				t.Fatalf("%v visits a day of %v, at most %v", p.Visits, budget, most.Visits)
			}
			if p.Fresh < 0 || p.Fresh > 1 || p.Age < 0 || p.Delay < 0 || p.Copies != pages {
				t.Fatalf("%+v", p)
			}
			if r.Policy != "fresh" && p.Fresh < lastFresh-1e-6 || p.Visits < lastVisits-1e-6 {
				t.Fatalf("fresh %v after %v, visits %v after %v", p.Fresh, lastFresh, p.Visits, lastVisits)
			}
			lastFresh, lastVisits = p.Fresh, p.Visits
			for _, id := range p.Full {
				if got := o.apart[id].full.visits; !mathtest.Alike(got, limits[id], 1e-3) {
					t.Fatalf("full host %d gets %v visits a day, it takes %v", id, got, limits[id])
				}
			}
		}
	})
}

// Entries of a sample stand for the pages that were left out.
func TestOutlookOfASample(t *testing.T) {
	t.Parallel()
	c := newCollection(t, revisits("sqrt"), 7, 500, 2)
	all, half := c.outlook(map[int64]float64{0: 40}, 2), c.outlook(map[int64]float64{0: 20}, 1)
	for _, budget := range []float64{10, 100, 1000} {
		a, b := all.At(2*budget), half.At(budget)
		for what, pair := range map[string][2]float64{"fresh": {a.Fresh, b.Fresh}, "age": {a.Age, b.Age}, "delay": {a.Delay, b.Delay}, "visits": {a.Visits, 2 * b.Visits}} {
			if !mathtest.Alike(pair[0], pair[1], 1e-3) {
				t.Errorf("%v visits a day: %s %v, of half of the pages %v", budget, what, pair[0], pair[1])
			}
		}
	}
}

// A promise costs the budget that keeps it. If it cannot be kept, the answer gives
// the cause.
func TestOutlookPromises(t *testing.T) {
	t.Parallel()
	c := newCollection(t, revisits("sqrt"), 8, 400, 2)
	o := c.outlook(nil, 1)
	p, why := o.Promise(0.9)
	if why != NoObstacle || !mathtest.Alike(p.Fresh, 0.9, 1e-3) || !mathtest.Alike(o.At(p.Visits).Fresh, 0.9, 1e-3) {
		t.Errorf("%+v, %v; at its price %+v", p, why, o.At(p.Visits))
	}
	if p, why := o.Promise(0.99999); why != ShortestBound || p.Fresh != o.Most().Fresh {
		t.Errorf("a promise beyond the shortest interval: %+v, %v", p, why)
	}
	limited := c.outlook(map[int64]float64{0: 2, 1: 3}, 1)
	p, why = limited.Promise(0.9)
	if why != FullHosts || len(p.Full) != 2 || !mathtest.Alike(p.Visits, 5, 1e-3) {
		t.Errorf("a promise that hosts cannot keep: %+v, %v", p, why)
	}
	full := limited.Limiting(1)
	if len(full) != 1 || full[0].ID != 0 || full[0].Pages != 200 || full[0].Limit != 2 {
		t.Errorf("the host with the longest pass: %+v", full)
	}
}

// A host becomes full at the budget that the outlook names.
func TestOutlookNamesWhenHostsAreFull(t *testing.T) {
	t.Parallel()
	c := newCollection(t, revisits("age"), 9, 400, 2)
	o := c.outlook(map[int64]float64{1: 60}, 1)
	full := o.Limiting(10)
	if len(full) != 1 || full[0].From <= 60 {
		t.Fatalf("%+v", full)
	}
	if below, above := o.At(0.95*full[0].From), o.At(1.05*full[0].From); len(below.Full) != 0 || len(above.Full) != 1 {
		t.Errorf("full below: %v, above: %v", below.Full, above.Full)
	}
}

// Pages that no threshold moves keep their intervals: those of other policies, and those
// that fail. Pages that were never visited are planned by the prior.
func TestOutlookOfOtherPages(t *testing.T) {
	t.Parallel()
	fixed := newCollection(t, revisits("fixed"), 10, 100, 1).outlook(nil, 1)
	if a, b := fixed.At(1), fixed.At(1e6); fixed.Budgeted() || a.Visits != b.Visits || !mathtest.Alike(a.Visits, 100, 0.1) || a.Fresh <= 0 {
		t.Errorf("by fixed intervals of a day, %+v and %+v", a, b)
	}
	c := newCollection(t, revisits("sqrt"), 10, 100, 1)
	c.entries[0].State, c.entries[0].Due = crawl.Gone, c.entries[0].At.Add(24*time.Hour)
	tally := NewOutlookTally(c.rules, c.steering, c.hosts, nil)
	for _, e := range c.entries {
		tally.Add(e, 1)
	}
	tally.Add(Entry{Host: 3}, 1) // not visited
	tally.AddUnseen(3, 0, 50)
	o := tally.Settle()
	if p := o.At(40); p.Copies != 149 || o.Pages() != 149 || !mathtest.Alike(p.Visits, 40, 1e-3) {
		t.Errorf("99 copies, a page that is gone and 50 that were not visited: %+v of %v pages", p, o.Pages())
	}
}

// A page that is due at once, as after a redirect to another spelling of its address, comes once
// like that, not thousands of times a day.
func TestOutlookOfAPageDueAtOnce(t *testing.T) {
	t.Parallel()
	c := newCollection(t, revisits("sqrt"), 10, 100, 1)
	c.entries[0].At = c.entries[0].At.Add(time.Second) // a look at something else than its content
	c.entries[0].Due = c.entries[0].At
	if p := c.outlook(nil, 1).At(40); !mathtest.Alike(p.Visits, 40, 1e-3) {
		t.Errorf("%v visits a day of a budget of 40", p.Visits)
	}
}

// Pages that were never visited will be planned by the rule that is about them.
func TestOutlookOfUnseenPagesOfARule(t *testing.T) {
	t.Parallel()
	r := revisits("sqrt")
	r.Rules = []crawl.RevisitRule{{Host: "b", Policy: "fixed", DefaultInterval: crawl.Duration(time.Hour)}}
	rules, err := NewRules(r)
	if err != nil {
		t.Fatal(err)
	}
	tally := NewOutlookTally(rules, Steering{}, nil, nil)
	tally.AddUnseen(1, 0, 40)
	tally.AddUnseen(2, 1, 50)
	o := tally.Settle()
	if p := o.At(1); o.Pages() != 40 || p.Copies != 90 || p.Visits < 50*24 {
		t.Errorf("40 pages share the budget, and 50 are visited every hour: %+v of %v pages", p, o.Pages())
	}
}

// The forecast for a page whose visits are evenly spaced is the mean of its lag over
// that time.
func TestOutlookIsMeanLag(t *testing.T) {
	t.Parallel()
	b := Belief{Pairs: 4, Changes: 1.5, Days: 12}
	apart, sum := 3*day, Lag{}
	const steps = 2000
	for i := range steps {
		l := LagOf(b, daily, time.Duration(float64(apart)*(float64(i)+0.5)/steps), apart)
		sum.Fresh, sum.Age = sum.Fresh+l.Fresh/steps, sum.Age+l.Age/steps
	}
	got := evenly(b.Gamma(daily.prior()), 3, 3)
	if math.Abs(got.fresh-sum.Fresh) > 1e-6 || math.Abs(got.age-sum.Age) > 1e-6 || math.Abs(got.waits/got.rate-1.5) > 1e-9 {
		t.Errorf("%+v, by steps %+v", got, sum)
	}
}
