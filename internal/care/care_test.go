package care

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/temporalkit"
)

func TestWrongWithAWorkflow(t *testing.T) {
	t.Parallel()
	const running, paused, stopped = crawl.CrawlRunning, crawl.CrawlPaused, crawl.CrawlStopped
	gone, runs := temporalkit.Health{}, temporalkit.Health{Condition: temporalkit.Runs}
	stuck := temporalkit.Health{Condition: temporalkit.Stuck, Why: "TMPRL1100"}
	ended := func(how string) temporalkit.Health { return temporalkit.Health{Ended: how} }
	for _, c := range []struct {
		state    crawl.CrawlState
		health   temporalkit.Health
		unclosed bool
		want     string
	}{
		{running, runs, false, ""},
		{running, gone, false, "was gone"},
		{running, ended("terminated"), false, "was terminated"},
		{running, ended("completed"), false, "was completed"}, // by a worker that did not know the crawl
		{running, stuck, false, "was stuck (TMPRL1100)"},
		{paused, runs, false, ""},
		{paused, ended("canceled"), false, "was canceled"},
		{stopped, runs, true, ""}, // it closes the pages
		{stopped, stuck, true, "was stuck (TMPRL1100)"},
		{stopped, gone, false, ""},
		{stopped, gone, true, "was gone before it had closed the pages"},
		{stopped, ended("terminated"), true, "was gone before it had closed the pages"},
		{stopped, ended("completed"), true, ""}, // the pages are at it
		{stopped, ended("canceled"), true, ""},
	} {
		if got := wrongWith(c.state, c.health, c.unclosed); got != c.want {
			t.Errorf("%s, %+v, unclosed %t: %q, want %q", c.state, c.health, c.unclosed, got, c.want)
		}
	}
}

// fakeFlows is Temporal with one crawl.
type fakeFlows struct {
	health  temporalkit.Health
	err     error // of asking
	refused error // of starting
	started []string
}

func (f *fakeFlows) CrawlHealth(context.Context, string) (temporalkit.Health, error) {
	return f.health, f.err
}

func (f *fakeFlows) RestartCrawl(_ context.Context, spec json.RawMessage, p contract.CrawlProgress, replace bool) error {
	if f.refused != nil {
		return f.refused
	}
	parsed, err := crawl.ParseSpec(spec)
	if err != nil {
		return err
	}
	f.started = append(f.started, fmt.Sprintf("%s %s repair %t waking %t replace %t", parsed.Name, p.State, p.Repair, p.Waking, replace))
	return nil
}

// A crawl whose workflow is gone is started from its row, in its state there, and
// the store records the trouble.
func TestCareForCrawls(t *testing.T) {
	t.Parallel()
	s := crawltest.Store(t)
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "news", []string{"http://127.0.0.1:2/"}
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	flows := &fakeFlows{health: temporalkit.Health{Condition: temporalkit.Runs}}
	care := &Care{store: s, flows: flows, log: slog.New(slog.DiscardHandler)}
	look := func(what string, started []string, troubles ...string) {
		t.Helper()
		flows.started = nil
		rec, err = s.Crawl(t.Context(), "news")
		if err != nil {
			t.Fatal(err)
		}
		if err := care.care(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		known, err := s.Care(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, k := range known.Troubles {
			got = append(got, fmt.Sprintf("%s: %s, mended %t", k.Part, k.Problem, k.Mended))
		}
		if !slices.Equal(flows.started, started) || fmt.Sprint(got) != fmt.Sprint(troubles) {
			t.Errorf("%s: started %q, troubles %q; want %q and %q", what, flows.started, got, started, troubles)
		}
	}
	look("all is well", nil)
	flows.err = errors.New("no answer")
	look("Temporal is down", nil, "workflow: Temporal does not say how it is: no answer, mended false")
	flows.err = nil
	look("and is back", nil)
	care.strange = "worker 4@other has another store"
	look("a stranger came", nil, "workers: worker 4@other has another store, mended false")
	look("and stays", nil, "workers: worker 4@other has another store, mended false")
	care.strange = ""
	look("and has gone", nil)
	flows.health = temporalkit.Health{Ended: "terminated"}
	flows.refused = errors.New("busy")
	look("cannot be started", nil, "workflow: it was terminated and cannot be started anew: busy, mended false")
	flows.refused = nil
	look("is started", []string{"news running repair true waking true replace false"}, "workflow: it was terminated and was started anew, mended true")
	flows.health = temporalkit.Health{Condition: temporalkit.Runs, Why: "encrypted"}
	look("no worker has the key", nil, "workflow: it waits for a worker with the key: encrypted, mended false")
	flows.health = temporalkit.Health{Condition: temporalkit.Runs}
	look("one has", nil)
	flows.health = temporalkit.Health{Condition: temporalkit.Stuck, Why: "x"}
	if _, err := s.SetCrawlState(t.Context(), "news", crawl.CrawlPaused); err != nil {
		t.Fatal(err)
	}
	look("is replaced", []string{"news paused repair true waking false replace true"}, "workflow: it was stuck (x) and was started anew, mended true")
	if _, err := s.SetCrawlState(t.Context(), "news", crawl.CrawlStopped); err != nil {
		t.Fatal(err)
	}
	flows.health = temporalkit.Health{}
	look("is stopped, and has no pages", nil, "workflow: it was stuck (x) and was started anew, mended true")

	// Of all looks one gets the crawl.
	flows.health = temporalkit.Health{Condition: temporalkit.Stuck}
	flows.started = nil
	for range 3 {
		care.look(t.Context())
	}
	if len(flows.started) != 1 {
		t.Errorf("three workers started %q", flows.started)
	}
}

// silent is Temporal that does not answer.
type silent struct{ fakeFlows }

func (silent) CrawlHealth(ctx context.Context, _ string) (temporalkit.Health, error) {
	<-ctx.Done()
	return temporalkit.Health{}, ctx.Err()
}

// notes is a store that takes notes, from those who have time left.
type notes struct {
	crawlStore
	taken []store.Trouble
}

func (*notes) Care(ctx context.Context, _ int64) (store.CareRecord, error) {
	return store.CareRecord{}, ctx.Err()
}

func (n *notes) NoteTroubles(ctx context.Context, _ int64, troubles []store.Trouble) error {
	n.taken = append(n.taken, troubles...)
	return ctx.Err()
}

// A Temporal that takes up all the time of the care leaves some for the note about that.
func TestNoteHasTimeOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &notes{}
		care := &Care{store: s, flows: &silent{}, log: slog.New(slog.DiscardHandler)}
		if err := care.care(t.Context(), store.CrawlRecord{ID: 1}); err != nil {
			t.Fatal(err)
		}
		if len(s.taken) != 1 || s.taken[0].Problem != "Temporal does not say how it is: context deadline exceeded" {
			t.Errorf("%+v", s.taken)
		}
	})
}
