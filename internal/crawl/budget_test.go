package crawl

import (
	"math"
	"testing"
)

func TestParseBudget(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"10000/day": 10000, "50/h": 1200, "50/hour": 1200, " 2 / min ": 2880, "0.5/s": 43200, "1e3/d": 1000, "3/m": 4320, "7/minute": 10080, "1/sec": 86400, "2/second": 172800,
	} {
		if got, err := ParseBudget(text); err != nil || got != want {
			t.Errorf("ParseBudget(%q) = %v, %v, want %v a day", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/", "10000", "/day", "10000/", "10000/week", "0/day", "-5/day", "NaN/day", "Inf/day", "1e308/s", "1e999/day", "5 5/day", "10,000/day", "ten/day", "5/day/day"} {
		if got, err := ParseBudget(text); err == nil {
			t.Errorf("ParseBudget(%q) = %v, want an error", text, got)
		}
	}
}

func FuzzParseBudget(f *testing.F) {
	for _, text := range []string{"10000/day", "50/h", "-1/s", "1e308/s", "0x1p-1074/d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := ParseBudget(text); err == nil && !(got > 0 && got <= math.MaxFloat64) {
			t.Errorf("ParseBudget(%q) = %v, want a positive number or an error", text, got)
		}
	})
}
