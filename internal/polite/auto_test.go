package polite

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAutoDelay(t *testing.T) {
	t.Parallel()
	const most = 10 * time.Second
	tests := map[string]struct {
		mean    time.Duration
		refused float64
		want    time.Duration
	}{
		"never asked":                {0, RefusalsAtFirst, most},
		"quick":                      {50 * time.Millisecond, 0, time.Second},
		"slow":                       {500 * time.Millisecond, 0, 4500 * time.Millisecond},
		"very slow":                  {time.Minute, 0, most},
		"refuses one of twenty":      {50 * time.Millisecond, 0.05, 5500 * time.Millisecond},
		"refuses one of ten":         {50 * time.Millisecond, 0.1, most},
		"refuses all":                {50 * time.Millisecond, 1, most},
		"slow and refuses a few":     {800 * time.Millisecond, 0.01, 7200 * time.Millisecond},
		"no numbers that make sense": {-time.Second, -1, time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := AutoDelay(tc.mean, tc.refused, most)
			if got.Length.Round(time.Millisecond) != tc.want || got.Reason.Code != GapAuto {
				t.Errorf("%v (%s), want %v", got.Length, got.Reason.Code, tc.want)
			}
		})
	}
}

// The automatic delay is between its ends, and grows with slowness and with refusals. The
// site's Crawl-delay stays a floor of the gap, as it is for the same delay set by hand.
func TestAutoDelayProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := Host{
			Mean:       time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "mean")),
			Refusals:   rapid.Float64Range(0, 1).Draw(t, "refusals"),
			CrawlDelay: time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "site")),
		}
		auto := drawDemand(t, "crawl")
		auto.Delay = max(auto.Delay, AutoLeast)
		auto.Auto = true
		floor := h.Floor(auto).Length
		if floor < AutoLeast || floor > auto.Delay {
			t.Fatalf("%v is not between %v and %v", floor, AutoLeast, auto.Delay)
		}
		worse := h
		worse.Mean, worse.Refusals = h.Mean+time.Second, min(h.Refusals+0.01, 1)
		if got := worse.Floor(auto).Length; got < floor {
			t.Errorf("a worse host has %v, a better one %v", got, floor)
		}
		fixed := auto
		fixed.Auto = false
		byHand := h.Gap(fixed, fixed, 0).Length
		if got := h.Gap(auto, auto, 0).Length; got > byHand || got < min(h.CrawlDelay, byHand) {
			t.Errorf("the gap is %v: by hand %v, Crawl-delay %v", got, byHand, h.CrawlDelay)
		}
		// The stored data of the last request keeps to the same Crawl-delay and factor.
		took := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "took"))
		if got := h.Gap(h.Settled(auto), Demand{}, took).Length; got != h.Gap(auto, Demand{}, took).Length {
			t.Errorf("after a request the gap is %v, before it was %v", got, h.Gap(auto, Demand{}, took).Length)
		}
		if got := h.Settled(fixed); got != fixed {
			t.Errorf("a fixed delay is settled as %+v, not %+v", got, fixed)
		}
	})
}

// A new host begins at the longest delay, earns a short one, and loses it by one refusal.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const most = 10 * time.Second
	share, quick := RefusalsAtFirst, 50*time.Millisecond
	asked := 0
	for AutoDelay(quick, share, most).Length == most {
		share = Refusals(share, Answer{})
		asked++
	}
	if asked < 10 || asked > 15 {
		t.Errorf("%d good answers until the delay falls", asked)
	}
	for range 70 {
		share = Refusals(share, Answer{})
	}
	if got := AutoDelay(quick, share, most).Length; got > 1100*time.Millisecond {
		t.Errorf("after 70 more: %v", got)
	}
	for name, a := range map[string]Answer{"429": {Throttled: true}, "no answer": {Failed: true}} {
		if got := AutoDelay(quick, Refusals(share, a), most).Length; got < 6*time.Second {
			t.Errorf("after %s: %v", name, got)
		}
	}
}
