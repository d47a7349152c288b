package web

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// lived returns a life with visits at these hours before noon, the last first.
func lived(next time.Duration, hoursAgo ...float64) life {
	l := life{Now: noon}
	if next != 0 {
		l.Next = noon.Add(next)
	}
	for i, h := range hoursAgo {
		l.Visits = append(l.Visits, store.VisitRecord{Visit: len(hoursAgo) - i, At: noon.Add(-time.Duration(h * float64(time.Hour))), Outcome: crawl.OutcomeUnchanged})
	}
	return l
}

func TestTimelineScale(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		life     life
		now, end px // where the present and the next visit are, of 1000 between the edges
		broken   bool
	}{
		"to scale":                  {lived(25*time.Hour, 25, 75), 750, 1000, false},
		"the next one is far away":  {lived(1000*time.Hour, 10), 740, 930, true},
		"due":                       {lived(time.Millisecond, 100), 952, 952, false},
		"overdue":                   {lived(-time.Hour, 100), 952, 952, false},
		"no next visit":             {lived(0, 100), 952, 952, false},
		"seen a moment ago, at all": {lived(30*time.Second, 0), 667, 1000, false},
	} {
		got := drawTimeline(c.life, 1058) // less the margins at both sides
		if near := func(a, b px) bool { return a-b < 1 && b-a < 1 }; !near(got.Now-got.Left, c.now) || !near(got.Next-got.Left, c.end) || got.Broken != c.broken {
			t.Errorf("%s: now at %v, next at %v, broken %v; want %v, %v, %v", name, got.Now-got.Left, got.Next-got.Left, got.Broken, c.now, c.end, c.broken)
		}
		if got.HasNext == c.life.Next.IsZero() {
			t.Errorf("%s: it has a next visit: %v", name, got.HasNext)
		}
	}
}

var numberIn = regexp.MustCompile(`-?\d+(\.\d+)?`)

// Whatever a page lived through, all of it is drawn, in its order, within the drawing.
func TestTimelineHoldsEveryLife(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	outcomes := crawl.Outcomes()
	for range 300 {
		l := life{Now: noon, Next: noon.Add(time.Duration(random.Int64N(int64(90*24*time.Hour))) - 24*time.Hour)}
		at := noon
		for range random.IntN(40) {
			at = at.Add(-time.Duration(1 + random.Int64N(int64(20*24*time.Hour)>>random.IntN(30))))
			l.Visits = append(l.Visits, store.VisitRecord{At: at, Outcome: outcomes[random.IntN(len(outcomes))]})
			mean := 1 / (0.001 + 1000*random.Float64())
			l.Beliefs = append([]report.BeliefAt{{At: at, Mean: mean, Low: mean * random.Float64(), High: mean * (1 + 50*random.Float64())}}, l.Beliefs...)
		}
		for _, width := range []px{960, 340} {
			got := drawTimeline(l, width)
			last := got.Left
			for _, m := range got.Marks {
				if m.X < last || m.X > got.Now {
					t.Fatalf("a mark at %v after one at %v, now is %v: %+v", m.X, last, got.Now, l)
				}
				last = m.X
			}
			if len(got.Marks) != len(l.Visits) || got.Now > got.Right || got.Next < got.Now || got.Next > got.Right {
				t.Fatalf("%d marks of %d, now %v, next %v of %v", len(got.Marks), len(l.Visits), got.Now, got.Next, got.Right)
			}
			if n := len(got.Ticks); n > int(width/60) {
				t.Fatalf("%d ticks on %v px: %v", n, width, got.Ticks)
			}
			for _, text := range numberIn.FindAllString(got.Band+got.Mean, -1) {
				if n, err := strconv.ParseFloat(text, 64); err != nil || n < 0 || px(n) > width {
					t.Fatalf("%s is out of the drawing: %s", text, got.Band)
				}
			}
			if (got.Band == "") != (len(l.Beliefs) == 0) || strings.ContainsAny(got.Band+got.Mean, "NI") {
				t.Fatalf("band %q", got.Band)
			}
		}
	}
}

func TestTimelineOfALongLifeHasYears(t *testing.T) {
	t.Parallel()
	got := drawTimeline(lived(time.Hour, 1, 24*365*6), 960)
	for i, tick := range got.Ticks {
		if want := strconv.Itoa(2021 + i); !strings.HasSuffix(tick.Label, want) {
			t.Errorf("tick %d is %s, want %s", i, tick.Label, want)
		}
	}
	if len(got.Ticks) < 5 {
		t.Errorf("ticks %v", got.Ticks)
	}
}

func TestTimelineInWords(t *testing.T) {
	t.Parallel()
	l := lived(3*time.Hour, 1, 49)
	l.Visits[0].Outcome = crawl.OutcomeChanged
	l.Beliefs = []report.BeliefAt{{At: noon, Mean: 0.5, Low: 0.1, High: 2}}
	const want = "2 visits since 27 Feb 2026 11:00 UTC, of which 1 found a change. It is believed to change about every 2d, with a probability of 90 % every 12h to 10d. The next visit is in 3h."
	if got := drawTimeline(l, 960).About; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := drawTimeline(life{Now: noon}, 960).About; got != "There are no visits yet." {
		t.Error(got)
	}
}
