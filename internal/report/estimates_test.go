package report

import (
	"math"
	"reflect"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// A visit that saw no content does not end the time between two looks, and a first
// copy is compared with nothing.
func TestLooksOf(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	visit := func(day int, outcome crawl.Outcome) store.VisitRecord {
		return store.VisitRecord{At: start.AddDate(0, 0, day), Outcome: outcome}
	}
	got := looksOf([]store.VisitRecord{
		visit(9, crawl.OutcomeFailed), visit(8, crawl.OutcomeUnchanged), visit(5, crawl.OutcomeFailed),
		visit(4, crawl.OutcomeChanged), visit(1, crawl.OutcomeNew), visit(0, crawl.OutcomeFailed),
	})
	want := []schedule.Look{{Days: 4}, {Days: 3, Changed: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("looks %v, want %v", got, want)
	}
}

// Figures have three significant digits, and none is written as 7.11e+03.
func TestFigure(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{
		0: "0", 1: "1", 0.33333: "0.333", 12.345: "12.3", 7113: "7110", 999_999: "1000000", 0.000123456: "0.000123",
		12_345_678: "1.23e+07", 0.00000123456: "1.23e-06", -7113: "-7110", math.Inf(1): "+Inf",
	} {
		if got := figure(x); got != want {
			t.Errorf("figure(%v) = %s, want %s", x, got, want)
		}
	}
}
