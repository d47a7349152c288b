package activities_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// temporalList plays the list of running workflows. It counts how often it was read.
type temporalList struct {
	running []string // URLs
	read    int
}

func (l *temporalList) use(p *parts) { p.settings.Running = l.list }

func (l *temporalList) list(_ context.Context, name string, each func(id string)) error {
	l.read++
	for _, url := range l.running {
		each(contract.PageID(name, url))
	}
	return nil
}

// crowd opens a crawl of many pages that all live.
func (w *world) crowd(many int) []string {
	w.t.Helper()
	urls := numbered(many)
	opened := w.open(urls[:1], func(spec *crawl.Spec) { spec.Limits.Window = many })
	links := store.RegisterParams{CrawlID: opened.CrawlID}
	for _, url := range urls[1:] {
		links.URLs = append(links.URLs, store.NewURL{URL: url, Host: "localhost", Level: 1})
	}
	must[store.RegisterResult](w.t)(w.store.RegisterLinks(w.t.Context(), links))
	all := make([]int64, many)
	for i, url := range urls {
		all[i] = w.page(url).PageID
	}
	must[[]store.PageRecord](w.t)(w.store.Admit(w.t.Context(), store.AdmitParams{CrawlID: opened.CrawlID, Admit: all})) // without a bound
	return urls
}

// crowdWithout is crowd where the workflows of the last pages do not run.
func (w *world) crowdWithout(list *temporalList, many, lost int) []string {
	w.t.Helper()
	urls := w.crowd(many)
	list.running = urls[:many-lost]
	w.flows.runs(list.running)
	return urls
}

// pass is a whole pass of maintenance, in parts; it returns how many there were.
func (w *world) pass(repair bool) (restarted, parts int) {
	w.t.Helper()
	in := contract.MaintainIn{CrawlID: w.crawl().ID, Name: "news", Repair: repair}
	for {
		out := run(w, contract.Maintain, in)
		restarted, parts = restarted+out.Restarted, parts+1
		if in.After = out.After; in.After == 0 {
			return restarted, parts
		}
	}
}

// TestRepairAsksForWhatIsMissing: of many pages, only those that Temporal's list lacks
// are looked up one by one, and the hundred that wait longest.
func TestRepairAsksForWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, repair := range []bool{true, false} {
		t.Run(fmt.Sprintf("repair %t", repair), func(t *testing.T) {
			t.Parallel()
			const many, lost = 2500, 3
			list := &temporalList{}
			w := newWorld(t, impatient, list.use)
			urls := w.crowdWithout(list, many, lost)
			if restarted, parts := w.pass(repair); restarted != lost || parts != 1 || list.read != 1 {
				t.Errorf("restarted %d in %d parts with %d readings of the list, want %d in one part with one", restarted, parts, list.read, lost)
			}
			w.wantStarted(urls[many-lost:]...)
			if w.flows.mends > 100+lost {
				t.Errorf("%d pages were looked at one by one", w.flows.mends)
			}
		})
	}
}

// TestAPageThatFailsKeepsNobody: a page that Temporal lists, and that cannot be mended, as if its
// history needed a key that is lost, keeps nobody from being started, though it waits longest.
func TestAPageThatFailsKeepsNobody(t *testing.T) {
	t.Parallel()
	const many, lost = 700, 3
	list := &temporalList{}
	w := newWorld(t, impatient, list.use)
	urls := w.crowdWithout(list, many, lost)
	w.flows.unmendable = urls[0]
	if out := w.maintain(false); out.Problems[contract.StepRestart] == "" || out.Restarted != lost {
		t.Errorf("maintained %+v, want %d pages restarted and a problem", out, lost)
	}
	w.wantStarted(urls[many-lost:]...)
}

// TestRepairAfterTemporalIsLost: all are started, in parts, and the list is read once.
func TestRepairAfterTemporalIsLost(t *testing.T) {
	t.Parallel()
	const many = 1200
	list := &temporalList{}
	w := newWorld(t, list.use)
	urls := w.crowd(many)
	if restarted, parts := w.pass(true); restarted != many || parts != 3 || list.read != 1 {
		t.Errorf("restarted %d in %d parts with %d readings of the list, want %d in 3 parts with one", restarted, parts, list.read, many)
	}
	w.wantStarted(urls...)
}

// TestRepairWithAWrongList: a list that names pages that do not run is recognised as
// wrong, and all pages are looked up one by one.
func TestRepairWithAWrongList(t *testing.T) {
	t.Parallel()
	const many = 700
	list := &temporalList{}
	w := newWorld(t, impatient, list.use)
	urls := w.crowd(many)
	list.running = urls
	w.pass(false)
	if started := slices.Compact(slices.Sorted(slices.Values(w.flows.started))); len(started) != many {
		t.Errorf("%d of %d pages were started", len(started), many)
	}
}

// TestFewPagesAreLookedAtOneByOne: no list is read if one batch has all pages, and
// stuck ones are found.
func TestFewPagesAreLookedAtOneByOne(t *testing.T) {
	t.Parallel()
	list := &temporalList{}
	w := newWorld(t, impatient, list.use)
	urls := w.crowd(3)
	list.running = urls
	w.flows.runs(urls)
	w.flows.mended[urls[1]] = temporalkit.Mended{Condition: temporalkit.Stuck, Why: "TMPRL1100"}
	if got := w.maintain(false); got.Stuck != 1 || list.read != 0 {
		t.Errorf("maintained %+v with %d readings of the list", got, list.read)
	}
}
