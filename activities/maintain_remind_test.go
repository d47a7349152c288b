package activities_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// moveUntold makes pages due that sleep, without telling their workflows, as a worker does that
// is killed in between.
func (w *world) moveUntold(visit int, pages ...crawl.PageRef) {
	w.t.Helper()
	var moves []store.Move
	for _, p := range pages {
		w.plan(p, visit, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
		moves = append(moves, store.Move{PageID: p.PageID, Visit: visit, NextAt: time.Now().Add(-time.Minute)})
	}
	if moved := must[[]store.PageRecord](w.t)(w.store.Reschedule(w.t.Context(), moves)); len(moved) != len(pages) {
		w.t.Fatalf("%d of %d pages are moved", len(moved), len(pages))
	}
}

// A page that was moved, and whose workflow was never told, is told by maintenance once it is
// overdue, and only once for each time.
func TestMaintainTellsWhoWasNotTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, impatient)
	pages := w.living(numbered(4))
	w.flows.runs(numbered(4))
	w.moveUntold(1, pages[:3]...)
	untold := w.page(pages[2].URL)
	w.flows.down = true
	if out := w.maintain(false); !strings.Contains(out.Problems[contract.StepRestart], errDown.Error()) {
		t.Errorf("while Temporal does not answer: %+v", out)
	}
	w.flows.down = false
	w.flows.mended[pages[1].URL] = temporalkit.Mended{} // is gone, and starts at its time
	for range 3 {
		if out := w.maintain(false); out.Problems[contract.StepRestart] != "" {
			t.Errorf("maintained %+v", out)
		}
	}
	// The last of the pages was never visited, so nothing can have moved it.
	if got, want := w.flows.rescheduled, []string{pages[0].URL, pages[2].URL}; !slices.Equal(got, want) {
		t.Errorf("told %q, want each of %q once", got, want)
	}
	if got := w.flows.told; !got.Due.Equal(untold.NextAt) || got.Visit != 1 || got.Why == "" {
		t.Errorf("told %+v, want its time and visit in the store, and why", got)
	}
	w.moveUntold(2, pages[0])
	w.maintain(false)
	if got := w.flows.rescheduled; len(got) != 3 || got[2] != pages[0].URL {
		t.Errorf("told %q, want the first again, of its next visit", got)
	}
}

// A repair looks at all pages; it tells none, and the next pass does.
func TestRepairTellsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, impatient)
	pages := w.living(numbered(2))
	w.flows.runs(numbered(2))
	w.plan(pages[1], 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged}) // sleeps
	w.moveUntold(1, pages[0])
	w.maintain(true)
	if len(w.flows.rescheduled) > 0 {
		t.Errorf("told %q in a repair", w.flows.rescheduled)
	}
	w.maintain(false)
	if got := w.flows.rescheduled; !slices.Equal(got, []string{pages[0].URL}) {
		t.Errorf("told %q, want the overdue page", got)
	}
}

// A page that ended just now is found by the next pass.
func TestMaintainTellsWhoHasJustEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, impatient)
	pages := w.living(numbered(1))
	w.flows.runs(numbered(1))
	w.moveUntold(1, pages[0])
	w.flows.missing = true
	if out := w.maintain(false); out.Problems[contract.StepRestart] != "" {
		t.Errorf("maintained %+v", out)
	}
	w.flows.missing = false
	w.maintain(false)
	if got := w.flows.rescheduled; !slices.Equal(got, []string{pages[0].URL}) {
		t.Errorf("told %q, want it told when it runs", got)
	}
}
