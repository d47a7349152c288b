package schedule

import (
	"math"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// A page that changes at every look, under fresh, is looked at early at every other
// visit until it is known well enough to be given up; then it is left alone.
func TestExploratoryLooks(t *testing.T) {
	t.Parallel()
	p := Parameters{Round: day, Min: time.Minute, Max: 120 * day, Prior: gamma.Distribution{A: 0.7, B: 1.4}, Threshold: 1.2}
	page, gap, early := Page{ID: 1, State: crawl.Active}, 8*day, 0
	for page.Visit = 1; page.Visit < 60 && gap < 100*day; page.Visit++ {
		d := Budgeted{Fresh{}}.Next(page, Observation{Outcome: crawl.OutcomeChanged, Gap: gap}, p)
		page.Belief = d.Belief
		for _, r := range d.Reasons() {
			if r.Code == CodeEarly {
				if early++; page.Visit%2 != 0 || d.Interval > gap && page.Visit > 2 {
					t.Errorf("visit %d: early after %s", page.Visit, d.Interval)
				}
			}
		}
		gap = d.Interval
	}
	if early < 2 || early > 10 || gap < 100*day {
		t.Errorf("%d early looks in %d visits, then one after %s", early, page.Visit, gap)
	}
}

func TestNoExploratoryLooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		o    Objective
		g    gamma.Distribution
		due  float64
		want bool
	}{
		{"a page that may be worth its visits", Fresh{}, gamma.Distribution{A: 2, B: 1}, 5, true},
		{"known well", Fresh{}, gamma.Distribution{A: 8, B: 4}, 5, false},
		{"looks when it is due say enough", Fresh{}, gamma.Distribution{A: 2, B: 4}, 5, false},
		{"given up", Fresh{}, gamma.Distribution{A: 2, B: 1}, 120, false},
		{"an objective that gives nothing up", Delay{}, gamma.Distribution{A: 2, B: 1}, 5, false},
	} {
		if _, is := exploratoryLook(c.o, c.g, c.due, 120); is != c.want {
			t.Errorf("%s: early %t, want %t", c.name, is, c.want)
		}
	}
}

// First looks lie between a round and the usual interval, pages apart, and are not
// moved for pages that are due within a round anyway.
func TestFirstLook(t *testing.T) {
	t.Parallel()
	g := gamma.Distribution{A: 0.7, B: 700}
	low, high, sum := math.Inf(1), 0.0, 0.0
	for page := range int64(1000) {
		u := math.Log(firstLook(page, g, 100, 1)) / math.Log(100)
		low, high, sum = min(low, u), max(high, u), sum+u/1000
	}
	if low < 0.25 || high > 0.75 || high-low < 0.49 || !mathtest.Alike(sum, 0.5, 0.02) {
		t.Errorf("at %.3f to %.3f of the way, %.3f on average; want 0.25 to 0.75, 0.5", low, high, sum)
	}
	if due := firstLook(1, g, 0.6, 1); due != 0.6 {
		t.Errorf("a page due after 0.6 rounds is looked at after %v", due)
	}
	if due := firstLook(1, gamma.Distribution{A: 0.7, B: 0.07}, 100, 1); !mathtest.Alike(due, gamma.MostInformative/10, 1e-9) {
		t.Errorf("a page that changes ten times a day is looked at after %v", due)
	}
}
