package schedule

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/mathtest"
)

func TestAllowanceOf(t *testing.T) {
	t.Parallel()
	r := crawl.DefaultSpec().Revisit
	if got := AllowanceOf(r, 500); got.Budget != 500 || !got.Apart {
		t.Errorf("%+v for 500 pages and none said, want a visit a day for each", got)
	}
	r.Budget = "50/h"
	if got := AllowanceOf(r, 500); got.Budget != 1200 || got.Apart {
		t.Errorf("%+v, want 1200 visits a day in all", got)
	}
}

// Without a budget, every page that no rule is about has one visit per default_interval,
// however many visits rules, back-offs and probes plan for others.
func TestRoundsWithoutABudget(t *testing.T) {
	t.Parallel()
	r := spec("sqrt")
	r.DefaultInterval = crawl.Duration(10 * 24 * time.Hour)
	r.Rules = []crawl.RevisitRule{{Host: "b", Policy: "fixed", DefaultInterval: crawl.Duration(time.Hour)}}
	c := newCollection(t, r, 3, 600, 6)
	for i := 0; i < 200; i += 2 { // of the pages that no rule is about
		c.entries[i].State = crawl.Gone
	}
	var round Round
	for range 30 {
		tally := c.tally()
		round = c.settle(AllowanceOf(r, tally.Pages()))
	}
	shared, sum := c.tally().Pages(), 0.0
	for _, e := range c.entries {
		if e.Group == 0 && e.State == crawl.Active {
			sum += 1 / days(e.Planned())
		}
	}
	if want := float64(shared) / 10; shared != 200 || sum < 0.96*want || sum > 1.04*want {
		t.Errorf("%v visits a day are planned for %d pages, want %v", sum, shared, want)
	}
	if !like(round.Interval, 10) {
		t.Errorf("there are %v days for each visit of a page, want 10", round.Interval)
	}
	if all := c.planned(-1); all < 0.98*round.Budget || all > 1.02*round.Budget || all > 1.02*round.Asked || all < 0.98*round.Asked {
		t.Errorf("%v visits a day are planned in all, and said to be %v of %v", all, round.Budget, round.Asked)
	}
}

// A budget that is larger than the pages have use for asks for no more than they have: other
// crawls would be left hardly anything of what the engine makes.
func TestAskedIsOfUse(t *testing.T) {
	t.Parallel()
	r := spec("sqrt")
	r.MinInterval = crawl.Duration(time.Hour)
	c := newCollection(t, r, 3, 50, 2)
	c.entries[0].State, c.entries[0].Due = crawl.Gone, c.entries[0].At.Add(24*time.Hour)
	for _, step := range []struct{ budget, want float64 }{{100, 100}, {1e9, 49*24 + 1}} {
		if got := c.tally().Asked(Allowance{Budget: step.budget}); !mathtest.Alike(got, step.want, 1e-9) {
			t.Errorf("a budget of %v asks for %v visits a day, want %v", step.budget, got, step.want)
		}
	}
}

// A site whose pages all fail is asked again soon, for a day or two. The pages of other sites
// keep half of the budget meanwhile, and all of it is planned again after that.
func TestSitesInTroubleLeaveHalf(t *testing.T) {
	t.Parallel()
	const budget = 200
	for _, name := range []string{"sqrt", "fresh"} {
		c := newCollection(t, spec(name), 9, 600, 6)
		for range 30 {
			c.round(budget, nil)
		}
		ill := func(state crawl.PageState, again time.Duration) {
			for i := range c.entries {
				if e := &c.entries[i]; e.Host < 2 {
					e.State, e.Due = state, e.At.Add(again)
				}
			}
		}
		well := func() (sum float64) {
			for host := int64(2); host < 6; host++ {
				sum += c.planned(host)
			}
			return sum
		}
		for range 30 {
			ill(crawl.Failing, 2*time.Hour)
			c.round(budget, nil)
		}
		if got := well(); got < 0.48*budget || got > 0.53*budget {
			t.Errorf("%s: %v visits a day are planned at the other sites while one fails, of %d", name, got, budget)
		}
		ill(crawl.Active, 72*time.Hour)
		for range 30 {
			c.round(budget, nil)
		}
		if got := c.planned(-1); got < 0.96*budget || got > 1.04*budget {
			t.Errorf("%s: %v visits a day are planned after the trouble, the budget has %d", name, got, budget)
		}
	}
}
