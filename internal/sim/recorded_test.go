package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// recording is a crawl of a week: hours are counted from its start.
func recording(pages ...RecordedPage) *Recording {
	return &Recording{Name: "news", Pages: pages, Until: epoch.Add(7 * day)}
}

func visitAt(hours float64, o crawl.Outcome) RecordedVisit {
	return RecordedVisit{epoch.Add(time.Duration(hours * float64(time.Hour))), o}
}

var recorded = recording(
	RecordedPage{"changing", "a", []RecordedVisit{
		visitAt(0, crawl.OutcomeNew), visitAt(24, crawl.OutcomeChanged), visitAt(48, crawl.OutcomeUnchanged),
		visitAt(60, crawl.OutcomeFailed), visitAt(72, crawl.OutcomeChanged), visitAt(96, crawl.OutcomeCosmetic),
	}},
	RecordedPage{"gone", "b", []RecordedVisit{visitAt(12, crawl.OutcomeNew), visitAt(36, crawl.OutcomeChanged), visitAt(60, crawl.OutcomeGone)}},
	RecordedPage{"never seen", "b", []RecordedVisit{visitAt(12, crawl.OutcomeFailed)}},
	RecordedPage{"back", "a", []RecordedVisit{visitAt(24, crawl.OutcomeNew), visitAt(48, crawl.OutcomeGone), visitAt(72, crawl.OutcomeUnchanged)}},
)

// A recording becomes a world in which each change lies in the gap in which it was
// found.
func TestRecordingWorld(t *testing.T) {
	t.Parallel()
	w, err := recorded.World(1)
	if err != nil {
		t.Fatal(err)
	}
	if w.Days != 7 || w.Hosts != 2 || len(w.Pages) != 3 || w.Stationary {
		t.Fatalf("%+v", w)
	}
	changing, gone, back := w.Pages[0], w.Pages[1], w.Pages[2]
	if c := changing.Changes; len(c) != 2 || c[0] <= 0 || c[0] > 1 || c[1] <= 2 || c[1] > 3 {
		t.Errorf("changes at %v, want one in the first day and one in the third", c)
	}
	if gone.Birth != 0.5 || gone.Death != 2.5 || len(gone.Changes) != 1 || gone.Rate != 0.5 {
		t.Errorf("%+v", gone)
	}
	if back.Birth != 1 || !math.IsInf(back.Death, 1) || len(back.Changes) != 0 {
		t.Errorf("%+v", back)
	}
	other, _ := recorded.World(2)
	if other.Pages[0].Changes[0] == changing.Changes[0] {
		t.Error("two seeds put a change at the same time")
	}
	// Compared visits after each page's first: 4, 1 and 1 in 7 days.
	if b := recorded.Budget(); math.Abs(b.PerDay-6./7) > 1e-9 {
		t.Errorf("budget %v, want 6 visits in 7 days", b)
	}
}

// Visiting as the crawl did finds what the crawl found.
func TestAsCrawled(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		w, err := recorded.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		p, d := withDiary(recorded.Policy())
		r := Run(w, p, Options{Budget: recorded.Budget(), Mode: WorkConserving, Warmup: 0})
		want := []struct {
			page    int
			at      float64
			changed bool
		}{{0, 1, true}, {1, 1.5, true}, {0, 2, false}, {0, 3, true}, {2, 3, false}, {0, 4, false}}
		if len(d.visits) != len(want) || r.Mode != Timers {
			t.Fatalf("visits %+v in mode %s", d.visits, r.Mode)
		}
		for i, v := range d.visits {
			if v.page != want[i].page || math.Abs(v.At-want[i].at) > 1e-6 || v.Changed != want[i].changed {
				t.Errorf("visit %d: page %d at %v changed %v, want %+v", i, v.page, v.At, v.Changed, want[i])
			}
		}
	}
}

func TestEmptyRecording(t *testing.T) {
	t.Parallel()
	empty := recording(RecordedPage{"p", "a", []RecordedVisit{visitAt(1, crawl.OutcomeFailed)}})
	if _, err := empty.World(1); err == nil || !strings.Contains(err.Error(), "crawl news has no recorded visit") {
		t.Errorf("%v, want an error that says what to do", err)
	}
}
