package schedule

import (
	"math"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

var daily = Parameters{Round: day, Min: time.Hour, Max: 120 * day}

// near reports whether d is want moved by the jitter at most.
func near(d, want time.Duration) bool {
	return math.Abs(float64(d-want)) <= float64(want)*Jitter+1
}

func TestByName(t *testing.T) {
	t.Parallel()
	for _, name := range crawl.Policies() {
		if p, err := ByName(name); err != nil || p.Name() != name {
			t.Errorf("ByName(%q) = %v, %v: every policy that a spec may name must exist", name, p, err)
		}
	}
	if _, err := ByName("often"); err == nil || !strings.Contains(err.Error(), "frmax, deltat, fixed") {
		t.Errorf("an unknown policy: %v, want an error that lists the known ones", err)
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		p     Parameters
		want  time.Duration
		words string
	}{
		{"once a round", daily, day, "every 1d"},
		{"a round below min_interval is meant", Parameters{Round: 10 * time.Second, Min: time.Hour, Max: day}, 10500 * time.Millisecond, "every 10s"},
		{"a round above max_interval is cut", Parameters{Round: 10 * day, Min: time.Hour, Max: day}, 23 * time.Hour, "every 10d, not after max_interval 1d"},
	} {
		got := Fixed{}.Next(Page{ID: 1, Visit: 1}, Observation{Outcome: crawl.OutcomeUnchanged}, c.p)
		if !near(got.Interval, c.want) {
			t.Errorf("%s: interval %s, want about %s", c.name, got.Interval, c.want)
		}
		if words := Words(got.Reasons()); words != c.words {
			t.Errorf("%s: reasons %q, want %q", c.name, words, c.words)
		}
	}
}
