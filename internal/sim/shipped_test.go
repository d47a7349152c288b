package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"recrawl/internal/schedule"
)

// stepsOf returns the intervals in days that a policy chooses after the visits of a page: U
// is one that found it unchanged, C changed. Each visit is made when it is due. The first
// one is the page's first fetch.
func stepsOf(t *testing.T, policy, visits string) []float64 {
	t.Helper()
	p, err := Choose([]string{policy})
	if err != nil {
		t.Fatal(err)
	}
	pace := &Pace{budget: Budget{Each: 1}, live: 1}
	s := p[0].scheduler(Setting{Pages: []Known{{Weight: 1}}, Hosts: 1, Pace: pace, Days: 1000}, nil)
	at, last, due := 0.0, 0.0, 0.0
	var steps []float64
	for i, v := range strings.Fields(visits) {
		if i == 0 {
			due = s.Enter(0, at)
		} else {
			due = s.Visit(0, Look{At: at, Gap: at - last, Changed: v == "C"})
		}
		steps = append(steps, due-at)
		at, last = due, at
	}
	return steps
}

// The schedulers of other crawlers do step by step what their code does.
func TestShippedSteps(t *testing.T) {
	t.Parallel()
	const visits = "U C U U C C U U U U"
	for policy, want := range map[string]string{
		"nutch":          "30.0000 30.0000 30.0000 30.0000 30.0000 30.0000 30.0000 30.0000 30.0000 30.0000",
		"nutch-adaptive": "30.0000 24.0000 26.4000 35.2800 40.3200 32.2560 35.4816 47.4163 80.6077 81.0000",
		"storm":          "1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000",
		"storm-adaptive": "1.0000 0.5208 0.7812 1.1715 0.6063 0.3236 0.4854 0.7278 1.0917 1.6375",
		"news-crawl":     "1.0000 0.8125 1.2188 1.8278 1.4743 1.1917 1.7875 2.6813 4.0215 6.0319",
		"heritrix":       "1.0000 0.6667 1.0000 1.5000 1.0000 0.6667 1.0000 1.5000 2.2500 3.3750",
		"frontera":       "1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000",
	} {
		var got []string
		for _, step := range stepsOf(t, policy, visits) {
			got = append(got, fmt.Sprintf("%.4f", step))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s:\n got %s\nwant %s", policy, text, want)
		}
	}
}

// So do the rules of papers, except for the product's jitter of 5 %.
func TestRuleSteps(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string][]float64{
		"frmax":  {2, 1, 1, 2, 2, 1, 1, 1, 1, 2},
		"deltat": {1, .5714, .5714, .5714, .5714, .5714, .5714, .5714, .5714, .7619},
	} {
		for i, step := range stepsOf(t, policy, "U C U U C C U U U U") {
			if math.Abs(step/want[i]-1) > 1.001*schedule.Jitter {
				t.Errorf("%s, step %d: %.4f, want %.4f and jitter", policy, i+1, step, want[i])
			}
		}
	}
}

// Nutch's oddities, where the steps above do not lead.
func TestNutchOddities(t *testing.T) {
	t.Parallel()
	n := newNutchAdaptive(Setting{Pages: make([]Known, 1)}, nil).(*nutchAdaptive)
	p := &n.pages[0]

	// An interval beyond 90 days: the page is forgotten, its next fetch stays.
	*p = nutchPage{interval: 80, modified: 920, signed: true}
	if due := n.Visit(0, Look{At: 1000}); math.Abs(due-(1000+112-0.3*80)) > 1e-9 {
		t.Errorf("due %v, want 1000 + 112 − 24", due)
	}
	if p.interval != 81 || p.signed || !math.IsNaN(p.modified) {
		t.Errorf("%+v, want an interval of 81 days and nothing to compare with", *p)
	}
	// So the next visit learns nothing, whatever it sees.
	if due := n.Visit(0, Look{At: 1100, Changed: true}); due != 1181 || p.interval != 81 {
		t.Errorf("due %v with interval %v, want 1181 and 81", due, p.interval)
	}
	// Due more than 90 days ahead: fetched at once.
	*p = nutchPage{interval: 88, modified: 990, signed: true}
	if due := n.Visit(0, Look{At: 1000}); due != 1000 {
		t.Errorf("due %v, want at once", due)
	}
	// sync_delta lengthens an interval below the time since the last change.
	*p = nutchPage{interval: 10, modified: 960, signed: true}
	if due := n.Visit(0, Look{At: 1000}); math.Abs(due-(1000+40-12)) > 1e-9 {
		t.Errorf("due %v, want 1000 + 40 − 12", due)
	}
}

// Where multiplicative rules settle: at one chance of change per visit for every
// page, which makes them proportional.
func TestEquilibria(t *testing.T) {
	t.Parallel()
	storm := newStormAdaptive(Setting{}, nil).(*stormAdaptive)
	news := newNewsCrawl(Setting{}, nil).(*stormAdaptive)
	for _, c := range []struct {
		name      string
		grow, cut float64
		want      string
	}{
		{"nutch-adaptive without sync_delta", 1 + nutchIncrease, 1 - nutchDecrease, "0.6013 0.9194 0.6539"},
		{"storm-adaptive", 1 + storm.increase, 1 - storm.shrink, "0.3691 0.4606 0.8013"},
		{"news-crawl", 1 + news.increase, 1 - news.shrink, "0.6450 1.0357 0.6228"},
		{"heritrix", heritrixFactor, 1 / heritrixFactor, "0.5000 0.6931 0.7213"},
	} {
		p := math.Log(c.grow) / (math.Log(c.grow) - math.Log(c.cut))
		x := -math.Log1p(-p)
		if got := fmt.Sprintf("%.4f %.4f %.4f", p, x, -math.Expm1(-x)/x); got != c.want {
			t.Errorf("%s: chance, changes per visit and freshness %s, want %s", c.name, got, c.want)
		}
	}
}

// Aduana's frequencies are in proportion to (changes+1)/time.
func TestAduana(t *testing.T) {
	t.Parallel()
	pace := &Pace{budget: Budget{PerDay: 2}, live: 2}
	a := newAduana(Setting{Pages: make([]Known, 2), Pace: pace}, nil)
	a.Enter(0, 0)
	a.Enter(1, 0)
	a.Visit(0, Look{At: 10})
	a.Visit(1, Look{At: 10})
	// Rates 3/20 and 1/20 share two visits a day as 1.5 and 0.5.
	a.Visit(0, Look{At: 15, Changed: true})
	second := a.Visit(1, Look{At: 20}) - 20
	first := a.Visit(0, Look{At: 20, Changed: true}) - 20
	if math.Abs(first-1/1.5) > 1e-9 || math.Abs(second-(0.05+2./15)/(2*0.05)) > 1e-9 {
		t.Errorf("intervals %v and %v, want %v and %v", first, second, 1/1.5, (0.05+2./15)/(2*0.05))
	}
}

// A work-conserving run is never idle; a capped one is when nothing is due.
func TestModes(t *testing.T) {
	t.Parallel()
	w, err := Draw("cho", Spec{Pages: 100, Days: 60, Seed: 1, Weights: "equal"})
	if err != nil {
		t.Fatal(err)
	}
	nutch, _ := Choose([]string{"nutch"})
	o := Options{Budget: Budget{Each: 0.1}, Warmup: 30, Mode: WorkConserving}
	if r := Run(w, nutch[0], o); r.Idle != 0 || math.Abs(r.Visits-10) > 0.1 {
		t.Errorf("work-conserving: idle %v, %v visits a day; want 0 and 10", r.Idle, r.Visits)
	}
	o.Mode = Capped
	if r := Run(w, nutch[0], o); math.Abs(r.Idle-2./3) > 0.05 {
		t.Errorf("capped: idle %v; pages every 30 days use a third of a visit every 10", r.Idle)
	}
	o.Mode = Timers
	if r := Run(w, nutch[0], o); math.Abs(r.Visits-100./30) > 0.2 {
		t.Errorf("timers: %v visits a day, want %v", r.Visits, 100./30)
	}
}
