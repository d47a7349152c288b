package polite

import (
	"math"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestNextFree(t *testing.T) {
	t.Parallel()
	const s = time.Second
	ten := Demand{Delay: 10 * s}
	tests := map[string]struct {
		host      Host
		want      time.Duration // from noon
		backoff   bool
		estimated bool
	}{
		"never asked":             {host: Host{}},
		"rested":                  {host: Host{LastEnd: noon.Add(-time.Minute), Last: ten}},
		"resting":                 {host: Host{LastEnd: noon.Add(-4 * s), Last: ten}, want: 6 * s},
		"in flight":               {host: Host{BegunAt: noon.Add(-s), Mean: 3 * s, Last: ten}, want: 12 * s, estimated: true},
		"in flight for long":      {host: Host{BegunAt: noon.Add(-9 * s), Mean: 3 * s, Last: ten}, want: 10 * s, estimated: true},
		"slow, with a factor":     {host: Host{BegunAt: noon.Add(-9 * s), Mean: 3 * s, Last: Demand{Factor: 2}}, want: 18 * s, estimated: true},
		"in back-off":             {host: Host{LastEnd: noon, Last: ten, BackoffUntil: noon.Add(time.Hour)}, want: time.Hour, backoff: true},
		"back-off within the gap": {host: Host{LastEnd: noon, Last: ten, BackoffUntil: noon.Add(s)}, want: 10 * s},
		"back-off over":           {host: Host{BackoffUntil: noon.Add(-s)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := NextFree(tc.host, Demand{Delay: s}, noon)
			if wait := got.At.Sub(noon); wait != tc.want || got.Backoff != tc.backoff || got.Estimated != tc.estimated {
				t.Errorf("free in %v (back-off %v, estimated %v), want %v (%v, %v)",
					wait, got.Backoff, got.Estimated, tc.want, tc.backoff, tc.estimated)
			}
			if tc.want > 0 && !got.Since.Equal(got.At) || tc.want == 0 && got.Since.After(noon) {
				t.Errorf("free at %v, since %v", got.At, got.Since)
			}
		})
	}
}

func TestFreeSince(t *testing.T) {
	t.Parallel()
	got := NextFree(Host{LastEnd: noon.Add(-time.Minute), Last: Demand{Delay: 10 * time.Second}}, Demand{}, noon)
	if want := noon.Add(-50 * time.Second); !got.Since.Equal(want) {
		t.Errorf("free since %v, want %v", got.Since, want)
	}
}

func TestPromise(t *testing.T) {
	t.Parallel()
	host := Host{Mean: 2 * time.Second, CrawlDelay: 5 * time.Second}
	step := host.Step(Demand{Delay: time.Second, Factor: 3, MaxCrawlDelay: time.Hour})
	if want := 8 * time.Second; step != want {
		t.Fatalf("step %v, want %v", step, want)
	}
	if got := Promise(noon, 3, step); !got.Equal(noon.Add(24 * time.Second)) {
		t.Errorf("promise %v", got)
	}
	if got := Promise(noon, math.MaxInt32, time.Hour); !got.Equal(noon.Add(farAhead)) {
		t.Errorf("a promise beyond all bounds is %v", got)
	}
}
