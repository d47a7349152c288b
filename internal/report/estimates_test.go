package report

import (
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
