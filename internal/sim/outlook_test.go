package sim

import (
	"math"
	"testing"

	"recrawl/internal/schedule"
)

// A crawl's forecast for a budget, from its beliefs under another one, agrees with a
// simulation of that budget.
func TestOutlookIsSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	const pages, days, warmup, known = 200, 200, 100, 0.3
	for _, world := range []string{"cho", "limited"} {
		w := outlookWorld(t, world, Spec{Pages: pages, Days: days, Seed: 3})
		for _, name := range []string{"sqrt", "fresh", "age"} {
			p, err := Choose([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			noted, d := withDiary(p[0])
			Run(w, noted, Options{Budget: Budget{Each: known}, Mode: Timers, Warmup: warmup, Seed: 3})
			outlook := outlookOf(d.scheduler.(*product))
			for _, each := range []float64{known / 2, 2 * known, 4 * known} {
				made := Run(w, p[0], Options{Budget: Budget{Each: each}, Mode: Timers, Warmup: warmup, Seed: 3})
				expected := outlook.At(each * pages)
				t.Logf("%s, %s, %.2f visits a day: fresh %.3f expected, %.3f simulated; age %.3f, %.3f; delay %.3f, %.3f; visits %.1f, %.1f; %d full hosts",
					world, name, each, expected.Fresh, 1-made.Staleness, expected.Age, made.Age, expected.Delay, made.Delay, expected.Visits, made.Visits, len(expected.Full))
				if math.Abs(expected.Fresh-(1-made.Staleness)) > 0.02 {
					t.Errorf("%s, %s, %v: fresh %.3f expected, %.3f simulated", world, name, each, expected.Fresh, 1-made.Staleness)
				}
				// Which pages fresh gives up, and so how long they wait, depends on tiny
				// differences.
				if off := expected.Delay/made.Delay - 1; name != "fresh" && math.Abs(off) > 0.1 {
					t.Errorf("%s, %s, %v: a change waits %.3f days, simulated %.3f", world, name, each, expected.Delay, made.Delay)
				}
			}
		}
	}
}

// outlookWorld makes a world by its kind; "limited" is host, where half of the hosts take
// at most half a visit a day for each page.
func outlookWorld(t *testing.T, kind string, s Spec) *World {
	if kind != "limited" {
		return draw(t, kind, s)
	}
	w := draw(t, "host", s)
	count := make([]float64, w.Hosts)
	for _, p := range w.Pages {
		count[p.Host]++
	}
	for i := range w.Hosts {
		w.HostLimits = append(w.HostLimits, count[i]/2*float64((i+1)%2))
	}
	return w
}

// outlookOf returns the outlook from a crawl's beliefs.
func outlookOf(p *product) *schedule.Outlook {
	m := p.maintenance
	limits := map[int64]float64{}
	for host, limit := range m.limits {
		if limit > 0 {
			limits[host] = limit
		}
	}
	tally := schedule.NewOutlookTally(m.rules, m.steering, m.hosts, limits)
	p.entries(func(e schedule.Entry) { tally.Add(e, 1) })
	return tally.Settle()
}
