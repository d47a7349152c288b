package activities_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// lame is a store in which one step of maintenance cannot be done.
type lame struct {
	store.Store
	step string
}

var errLame = errors.New("lame")

func (l *lame) fails(step string) error {
	if l.step == step || l.step == "all" {
		return errLame
	}
	return nil
}

func (l *lame) DuePages(ctx context.Context, p store.DueParams) ([]store.PageRecord, error) {
	pages, err := l.Store.DuePages(ctx, p)
	return pages, errors.Join(err, l.fails(contract.StepRestart))
}

func (l *lame) Nudge(ctx context.Context) (store.GateEffects, error) {
	effects, err := l.Store.Nudge(ctx)
	return effects, errors.Join(err, l.fails("lines"))
}

func (l *lame) UnfinishedLinks(context.Context, int64, time.Duration, int) ([]store.PendingLinks, error) {
	return []store.PendingLinks{{Page: crawl.PageRef{PageID: 1}, Visit: 1}}, l.fails("links")
}

func (l *lame) Traps(ctx context.Context, f store.TrapFilter) ([]store.TrapRecord, error) {
	traps, err := l.Store.Traps(ctx, f)
	return traps, errors.Join(err, l.fails("traps"))
}

func (l *lame) Unlooked(ctx context.Context, crawlID, after int64, limit int) ([]int64, error) {
	pages, err := l.Store.Unlooked(ctx, crawlID, after, limit)
	return pages, errors.Join(err, l.fails("duplicates"))
}

func (l *lame) Candidates(ctx context.Context, p store.CandidateParams) ([]store.PageRecord, error) {
	pages, err := l.Store.Candidates(ctx, p)
	return pages, errors.Join(err, l.fails("room"))
}

func (l *lame) SetSteering(ctx context.Context, id int64, s store.SteeringRecord) error {
	if err := l.fails("plans"); err != nil {
		return err
	}
	return l.Store.SetSteering(ctx, id, s)
}

func (l *lame) ScopeLook(ctx context.Context, id int64) (store.ScopeLook, error) {
	look, err := l.Store.ScopeLook(ctx, id)
	return look, errors.Join(err, l.fails("scope"))
}

func (l *lame) Ranking(context.Context, int64) (store.RankingRecord, int, error) {
	return store.RankingRecord{}, 100, l.fails("ranks")
}

func (l *lame) Unreferenced(ctx context.Context, limit int) ([]string, error) {
	digests, err := l.Store.Unreferenced(ctx, limit)
	return digests, errors.Join(err, l.fails("archive"))
}

func (l *lame) TrimChanges(ctx context.Context, before time.Time, limit int) (bool, error) {
	more, err := l.Store.TrimChanges(ctx, before, limit)
	return more, errors.Join(err, l.fails("feed"))
}

func (l *lame) ListSinks(ctx context.Context, crawlID int64) ([]store.SinkRecord, error) {
	sinks, err := l.Store.ListSinks(ctx, crawlID)
	return sinks, errors.Join(err, l.fails("sinks"))
}

func (l *lame) Status(ctx context.Context, id int64) (store.StatusRecord, error) {
	s, err := l.Store.Status(ctx, id)
	return s, errors.Join(err, l.fails(contract.StepCounts))
}

var maintenanceSteps = []string{contract.StepRestart, "lines", "links", "archive", "scope", "traps", "duplicates", "room", "plans", "ranks", "feed", "sinks", contract.StepCounts}

// A step that fails leaves the others alone, and the store shows the failure until the
// step succeeds.
func TestMaintenanceStepsAreIndependent(t *testing.T) {
	t.Parallel()
	for _, failing := range maintenanceSteps {
		t.Run(failing, func(t *testing.T) {
			t.Parallel()
			broken := &lame{}
			w := newWorld(t, impatient, func(p *parts) { broken.Store, p.store = p.store, broken })
			opened := w.open(numbered(3), func(spec *crawl.Spec) { spec.Limits.Window = 2 })
			run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 1})
			broken.step = failing
			out := w.maintain(false)
			if got := slices.Collect(maps.Keys(out.Problems)); len(got) != 1 || got[0] != failing || !strings.Contains(out.Problems[failing], "lame") {
				t.Errorf("problems %v, want that of %s", out.Problems, failing)
			}
			done := map[string]bool{
				contract.StepRestart: out.Restarted == 1, "links": len(out.Unfinished) == 1, "room": out.Room,
				"plans": w.steering().Rounds == 1, "ranks": out.RankDue != nil, contract.StepCounts: out.Status.Hosts == 1,
			}
			for step, done := range done {
				if done == (step == failing) {
					t.Errorf("%s done: %t", step, done)
				}
			}
			w.wantTroubles(false, failing+": lame")
			broken.step = ""
			if out := w.maintain(false); len(out.Problems) != 0 {
				t.Errorf("problems %v of a pass in which all is well", out.Problems)
			}
			w.wantTroubles(false)
		})
	}
}

// When no step succeeds the pass is tried again.
func TestMaintenanceWithoutASuccess(t *testing.T) {
	t.Parallel()
	broken := &lame{}
	w := newWorld(t, func(p *parts) { broken.Store, p.store = p.store, broken })
	page := w.living(numbered(1))[0]
	broken.step = "all"
	if out, err := try(w, contract.Maintain, contract.MaintainIn{CrawlID: page.CrawlID, Name: "news"}); err == nil {
		t.Errorf("maintained %+v, although every step failed", out)
	}
}

// wantTroubles asserts which troubles of the crawl last, or were mended.
func (w *world) wantTroubles(mended bool, want ...string) {
	w.t.Helper()
	care := must[store.CareRecord](w.t)(w.store.Care(w.t.Context(), w.crawl().ID))
	got := []string{}
	for _, t := range care.Troubles {
		if t.Mended == mended {
			got = append(got, t.Part+": "+t.Problem)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("troubles %q, want %q", got, want)
	}
}
