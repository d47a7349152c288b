package care

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// stuckWorld is an endsWorld whose workflows are stuck.
type stuckWorld struct {
	*endsWorld
	stuck   map[string]bool // by workflow id
	locked  map[string]bool
	heard   []string
	refuses error           // of the store, to note anything
	opaque  map[string]bool // workflows whose history cannot be read
	asked   int             // about opaque ones
}

// errOpaque is Temporal's, of a history that cannot be read.
var errOpaque = errors.New("the history is damaged")

func (w *stuckWorld) NoteTroubles(ctx context.Context, crawlID int64, troubles []store.Trouble) error {
	if w.refuses != nil {
		return w.refuses
	}
	return w.endsWorld.NoteTroubles(ctx, crawlID, troubles)
}

func (w *stuckWorld) Crawl(ctx context.Context, _ string) (store.CrawlRecord, error) {
	all, err := w.ListCrawls(ctx)
	return all[0], err
}

func (w *stuckWorld) Health(_ context.Context, id string) (temporalkit.Health, error) {
	if w.stuck[id] {
		return temporalkit.Health{Condition: temporalkit.Stuck, Why: "TMPRL1100"}, nil
	}
	if w.locked[id] {
		return temporalkit.Health{Condition: temporalkit.Runs, Why: `the key "k3"`}, nil
	}
	return temporalkit.Health{Condition: temporalkit.Runs}, nil
}

func (w *stuckWorld) MendPage(_ context.Context, in contract.PageIn) (temporalkit.Mended, error) {
	id := contract.PageID(in.Page.Crawl, in.Page.URL)
	if w.opaque[id] {
		w.asked++
		return temporalkit.Mended{}, errOpaque
	}
	if w.locked[id] {
		return temporalkit.Mended{Condition: temporalkit.Runs, Why: `the key "k3"`}, nil
	}
	if !w.stuck[id] {
		return temporalkit.Mended{Condition: temporalkit.Runs}, nil
	}
	w.started++
	w.stuck[id] = false
	return temporalkit.Mended{Condition: temporalkit.Stuck, Why: "TMPRL1100"}, nil
}

func (w *stuckWorld) take(limit int) []string {
	n := min(limit, len(w.heard))
	out := w.heard[:n]
	w.heard = w.heard[n:]
	return out
}

// A page that is stuck is restarted at once, and, if it is stuck again, is named for as
// long as it is.
func TestStuckPages(t *testing.T) {
	t.Parallel()
	w := &stuckWorld{endsWorld: newEndsWorld(t), stuck: map[string]bool{}}
	p := &stuckPages{store: w, flows: w, heard: w.take, log: slog.New(slog.DiscardHandler)}
	look := func(started int, trouble string) {
		t.Helper()
		w.started = 0
		if err := p.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, k := range w.care.Troubles {
			got = fmt.Sprintf("%d %t: %s", k.Pages, k.Mended, k.Problem)
		}
		if w.started != started || got != trouble {
			t.Errorf("started %d, noted %q; want %d and %q", w.started, got, started, trouble)
		}
	}
	wedge := func(i int) {
		id := contract.PageID("news", w.url(i))
		w.stuck[id] = true
		w.heard = append(w.heard, id)
	}
	w.heard = []string{contract.PageID("news", w.url(0)), "crawl/news", contract.PageID("news", "https://example.com/unknown")}
	look(0, "") // it was only slow; others have somebody who looks after them
	wedge(0)
	wedge(6) // is stopped
	look(1, "1 true: 1 was stuck (TMPRL1100) and started anew")
	w.now = w.now.Add(time.Minute)
	wedge(1)
	look(1, "2 true: 2 were stuck (TMPRL1100) and started anew")
	wedge(0)
	again := "1 false: 1 was started anew and stuck again (TMPRL1100); the log of a worker names each"
	look(0, again)
	look(0, again)
	w.stuck[contract.PageID("news", w.url(0))] = false
	look(0, "0 false: ") // nothing is wrong
	w.state = crawl.CrawlStopped
	wedge(2)
	look(0, "0 false: ")
}

// A page whose worker lacks a key is named for as long as it waits.
func TestLockedPages(t *testing.T) {
	t.Parallel()
	w := &stuckWorld{endsWorld: newEndsWorld(t), locked: map[string]bool{}}
	p := &stuckPages{store: w, flows: w, heard: w.take, log: slog.New(slog.DiscardHandler)}
	for i := range 2 {
		id := contract.PageID("news", w.url(i))
		w.locked[id] = true
		w.heard = append(w.heard, id)
	}
	for _, want := range []string{"2 wait for a worker with the key (the key \"k3\"); `starter repair` starts such pages anew without", ""} {
		for range 2 {
			if err := p.look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(w.care.Troubles) != 1 || w.care.Troubles[0].Problem != want {
				t.Errorf("noted %+v, want %q", w.care.Troubles, want)
			}
		}
		clear(w.locked)
	}
}

// A restart that the store did not take note of is told later.
func TestStuckPagesAreToldLater(t *testing.T) {
	t.Parallel()
	id := ""
	w := &stuckWorld{endsWorld: newEndsWorld(t), stuck: map[string]bool{}, refuses: errors.New("the database is away")}
	p := &stuckPages{store: w, flows: w, heard: w.take, log: slog.New(slog.DiscardHandler)}
	for i := range 2 {
		id = contract.PageID("news", w.url(i))
		w.stuck[id] = true
		w.heard = append(w.heard, id)
		if err := p.look(t.Context()); !errors.Is(err, w.refuses) {
			t.Errorf("a look says %v", err)
		}
	}
	w.refuses = nil
	for range 2 { // the second time there is nothing new
		if err := p.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(w.care.Troubles) != 1 || w.care.Troubles[0].Problem != "2 were stuck (TMPRL1100) and started anew" {
			t.Errorf("noted %+v", w.care.Troubles)
		}
	}
}

// A page whose workflow was ended, and the one after it is stuck, is told as stuck too: the
// worker that walks the list of ends may find it before the one that got its task.
func TestStuckPagesAmongEnded(t *testing.T) {
	t.Parallel()
	w := &stuckWorld{endsWorld: newEndsWorld(t), stuck: map[string]bool{}}
	p := &stuckPages{store: w, flows: w, heard: w.take, log: slog.New(slog.DiscardHandler)}
	ends := &pageEnds{store: w, flows: w, queue: "recrawl", stuck: p, log: slog.New(slog.DiscardHandler)}
	w.end(temporalkit.EndTerminated, w.url(0), 20*time.Second)
	w.stuck[contract.PageID("news", w.url(0))] = true
	if err := ends.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.started != 1 || len(w.care.Troubles) != 1 || w.care.Troubles[0].Problem != "1 was stuck (TMPRL1100) and started anew" {
		t.Errorf("started %d, noted %+v", w.started, w.care.Troubles)
	}
}

// A page whose history cannot be read keeps nobody else's from being looked at; where many
// cannot, the look gives up.
func TestStuckPagesBesideOpaqueOnes(t *testing.T) {
	t.Parallel()
	w := &stuckWorld{endsWorld: newEndsWorld(t), stuck: map[string]bool{}, opaque: map[string]bool{}}
	p := &stuckPages{store: w, flows: w, heard: w.take, log: slog.New(slog.DiscardHandler)}
	opaque, stuck := contract.PageID("news", w.url(0)), contract.PageID("news", w.url(1))
	w.opaque[opaque], w.stuck[stuck] = true, true
	w.heard = []string{opaque, stuck}
	if err := p.look(t.Context()); !errors.Is(err, errOpaque) || w.started != 1 {
		t.Errorf("%v; started %d, want the page after the opaque one", err, w.started)
	}
	w.asked = 0
	for range 2 * stuckFailures {
		w.heard = append(w.heard, opaque)
	}
	if err := p.look(t.Context()); !errors.Is(err, errOpaque) || w.asked != stuckFailures {
		t.Errorf("%v; asked %d times about one that cannot be read, want %d", err, w.asked, stuckFailures)
	}
}
