package testsite

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRates(t *testing.T) {
	t.Parallel()
	const span = 10_000 * time.Second
	every := newTimeline(Every(5*time.Second), rngOf(1)).until(span)
	for i, at := range every {
		if i > 0 && at-every[i-1] != 5*time.Second || i == 0 && (at <= 0 || at > 5*time.Second) {
			t.Fatalf("change %d at %s", i, at)
		}
	}
	if len(every) != 2000 {
		t.Errorf("every 5 s: %d changes in %s", len(every), span)
	}
	random := newTimeline(Poisson(5*time.Second), rngOf(1)).until(span)
	// Five standard deviations of the count, and the variance of an exponential.
	if n := float64(len(random)); math.Abs(n-2000) > 5*math.Sqrt(2000) {
		t.Errorf("at random: %g changes in %s", n, span)
	}
	long := 0
	for i := 1; i < len(random); i++ {
		if random[i]-random[i-1] > 5*time.Second {
			long++
		}
	}
	if share := float64(long) / float64(len(random)); math.Abs(share-1/math.E) > 0.06 {
		t.Errorf("at random: %g of the gaps are longer than the mean", share)
	}
	if never := newTimeline(Rate{}, rngOf(1)).until(span); never != nil {
		t.Errorf("never: %v", never)
	}
}

// A timeline does not depend on when it was asked.
func TestTimelineProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rate := rapid.SampledFrom([]Rate{Every(3 * time.Second), Poisson(3 * time.Second)}).Draw(t, "rate")
		asked := rapid.SliceOfN(rapid.Int64Range(-1, int64(5*time.Minute)), 1, 10).Draw(t, "asked")
		piecemeal, at := newTimeline(rate, rngOf(seed)), newTimeline(rate, rngOf(seed)).until(5*time.Minute)
		for _, elapsed := range asked {
			got := piecemeal.until(time.Duration(elapsed))
			n := 0
			for n < len(at) && at[n] <= time.Duration(elapsed) {
				n++
			}
			if !slices.Equal(got, at[:n]) {
				t.Fatalf("until %d: %v, want %v", elapsed, got, at[:n])
			}
		}
		for _, change := range at[:min(3, len(at))] {
			if n := len(piecemeal.until(change)) - len(piecemeal.until(change-1)); n != 1 {
				t.Fatalf("%d changes at %s", n, change)
			}
		}
	})
}
