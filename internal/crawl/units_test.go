package crawl

import (
	"math"
	"testing"
	"time"
)

// Numbers that do not fit a duration become the longest, whatever the machine makes of them.
func TestSeconds(t *testing.T) {
	t.Parallel()
	for s, want := range map[float64]time.Duration{
		0: 0, 1.5: 1500 * time.Millisecond, -2: -2 * time.Second,
		1e10: math.MaxInt64, math.MaxFloat64: math.MaxInt64, math.Inf(1): math.MaxInt64,
		time.Duration(math.MaxInt64).Seconds(): math.MaxInt64,
		-1e10:                                  -math.MaxInt64, math.Inf(-1): -math.MaxInt64,
	} {
		if got := Seconds(s); got != want {
			t.Errorf("%v s is %v, want %v", s, got, want)
		}
	}
	if got := Seconds(math.NaN()); got != 0 {
		t.Errorf("no number is %v", got)
	}
}

// Every duration can be printed, the least too, which has no opposite.
func TestFormatExtremeDurations(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		math.MaxInt64: "106751d23h47m16.854775807s", -math.MaxInt64: "-106751d23h47m16.854775807s",
		math.MinInt64: "-106751d23h47m16.854775807s", 0: "0s", -time.Minute: "-1m",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%d ns is %q, want %q", int64(d), got, want)
		}
	}
}
