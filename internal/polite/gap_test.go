package polite

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestGap(t *testing.T) {
	t.Parallel()
	const s = time.Second
	mild, strict := Demand{Delay: s, MaxCrawlDelay: time.Hour}, Demand{Delay: 10 * s, MaxCrawlDelay: time.Hour}
	tests := map[string]struct {
		prev, next       Demand
		crawlDelay, last time.Duration
		want             time.Duration
		code             string
	}{
		"the previous crawl is stricter": {strict, mild, 0, 0, 10 * s, GapDelay},
		"the next crawl is stricter":     {mild, strict, 0, 0, 10 * s, GapDelay},
		"a slow answer":                  {mild, Demand{Delay: s, Factor: 2}, 0, 3 * s, 6 * s, GapFactor},
		"a slow answer to the previous":  {Demand{Factor: 2}, mild, 0, 3 * s, 6 * s, GapFactor},
		"no factor":                      {mild, mild, 0, time.Hour, s, GapDelay},
		"the site's Crawl-delay":         {mild, mild, 5 * s, 0, 5 * s, GapCrawlDelay},
		"a Crawl-delay below our delay":  {strict, mild, 5 * s, 0, 10 * s, GapDelay},
		"an absurd Crawl-delay":          {mild, mild, 24 * time.Hour, 0, time.Hour, GapCapped},
		"a cap below our delay":          {Demand{}, Demand{Delay: 10 * s, MaxCrawlDelay: s}, time.Minute, 0, 10 * s, GapCapped},
		"the laxer cap holds":            {mild, Demand{MaxCrawlDelay: 2 * time.Hour}, 24 * time.Hour, 0, 2 * time.Hour, GapCapped},
		"a negative duration":            {Demand{Factor: 1}, Demand{Factor: 1}, 0, -s, 0, GapDelay},
		"no demands":                     {Demand{}, Demand{}, 0, time.Hour, 0, GapDelay},
		"a factor beyond all bounds":     {Demand{Factor: math.MaxFloat64}, mild, 0, s, math.MaxInt64 / 2, GapFactor},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := gapOf(tc.prev, tc.next, tc.crawlDelay, tc.last)
			if got.Length != tc.want || got.Reason.Code != tc.code {
				t.Errorf("Gap = %v (%s), want %v (%s)", got.Length, got.Reason.Code, tc.want, tc.code)
			}
			if seconds := got.Reason.Num["gap"]; seconds != tc.want.Seconds() {
				t.Errorf("the reason says %v s, want %v", seconds, tc.want.Seconds())
			}
		})
	}
}

// gapOf is the gap of a host of which only the Crawl-delay is known, 0 for none.
func gapOf(prev, next Demand, crawlDelay, last time.Duration) Rest {
	return Host{CrawlDelay: crawlDelay, Refusals: RefusalsAtFirst}.Gap(prev, next, last)
}

func drawDemand(t *rapid.T, label string) Demand {
	return Demand{
		Delay:         time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, label+" delay")),
		Factor:        rapid.Float64Range(0, 100).Draw(t, label+" factor"),
		MaxCrawlDelay: time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, label+" cap")),
	}
}

// The gap is never below either crawl's demand, is the same whoever comes first,
// and grows with each thing it depends on.
func TestGapProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawDemand(t, "a"), drawDemand(t, "b")
		site := time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "crawl delay"))
		last := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "last"))
		got := gapOf(a, b, site, last).Length
		for _, d := range []Demand{a, b} {
			floor := max(d.Delay, time.Duration(float64(last)*d.Factor), min(site, max(d.MaxCrawlDelay, d.Delay)))
			if got < floor {
				t.Fatalf("gap %v is below the demand %v", got, floor)
			}
		}
		if back := gapOf(b, a, site, last).Length; back != got {
			t.Fatalf("gap is %v one way and %v the other", got, back)
		}
		if more := gapOf(a, b, site+time.Second, last+time.Second).Length; more < got {
			t.Fatalf("gap shrinks from %v to %v", got, more)
		}
	})
}
