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

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{
		"0": 0, "17": 17, " 10 MiB ": 10 << 20, "1.5KiB": 1536, "2kB": 2000, "2KB": 2000, "3MB": 3_000_000, "1GiB": 1 << 30, "1GB": 1e9, "7B": 7, "1e3": 1000,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "B", "MiB", "lots", "-1", "-1KiB", "NaN", "inf", "1e300GiB", "10M", "10 MiB/s", "1 000"} {
		if got, err := ParseSize(text); err == nil || got != 0 {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
}
