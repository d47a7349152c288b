package activities_test

import (
	"errors"
	"strings"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

const foreign = "00000000-0000-4000-8000-000000000000"

// every activity is run, for a page or crawl of a store.
func every(w *world, id string) map[string]error {
	page := crawl.PageRef{Store: id, CrawlID: 7, Crawl: "news", PageID: 12345, URL: "http://example.com/", Host: "example.com"}
	errs := map[string]error{}
	called(w, errs, contract.OpenCrawl, contract.OpenCrawlIn{Store: id})
	called(w, errs, contract.SetCrawlState, contract.SetCrawlStateIn{Store: id, Name: "news", State: crawl.CrawlPaused})
	called(w, errs, contract.Maintain, contract.MaintainIn{Store: id, CrawlID: 7, Name: "news"})
	called(w, errs, contract.ClosePages, contract.ClosePagesIn{Store: id, CrawlID: 7, Name: "news"})
	called(w, errs, contract.WakeParked, contract.WakeParkedIn{Store: id, CrawlID: 7})
	called(w, errs, contract.Rank, contract.RankIn{Store: id, CrawlID: 7, Name: "news"})
	called(w, errs, contract.Replace, contract.ReplaceIn{Store: id, CrawlID: 7, Name: "news"})
	called(w, errs, contract.Acquire, contract.AcquireIn{Page: page, Visit: 1})
	called(w, errs, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: 1})
	called(w, errs, contract.Fetch, contract.FetchIn{Page: page, Visit: 1})
	called(w, errs, contract.DetectChange, contract.DetectIn{Page: page, Visit: 1})
	called(w, errs, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1})
	called(w, errs, contract.LeaveLine, contract.LeaveIn{Page: page})
	called(w, errs, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1})
	called(w, errs, contract.Admit, contract.AdmitIn{Store: id, CrawlID: 7, Limit: 1})
	called(w, errs, contract.Deliver, contract.DeliverIn{Store: id, CrawlID: 7, Crawl: "news", Sink: "team"})
	called(w, errs, contract.CommandSink, contract.SinkCommandIn{Store: id, CrawlID: 7, Crawl: "news", Sink: "team", Command: contract.Pause})
	return errs
}

func called[In, Out any](w *world, errs map[string]error, activity contract.Activity[In, Out], in In) {
	_, errs[activity.Name] = try(w, activity, in)
}

// No activity answers for another store's data: not "not found", which would end its
// workflow, and not at all until the operator says that the store no longer exists.
func TestForeignStore(t *testing.T) {
	t.Parallel()
	told := 0
	w := newWorld(t, func(p *parts) { p.settings.Foreign = func(string) { told++ } })
	errs := every(w, foreign)
	all := &registry{}
	w.activities.Register(all)
	if len(errs) != all.n || told != len(errs) {
		t.Errorf("%d activities are tried, of %d we were told, there are %d", len(errs), told, all.n)
	}
	for name, err := range errs {
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != contract.ErrTypeForeignStore || app.NonRetryable() ||
			!strings.Contains(err.Error(), foreign) || !strings.Contains(err.Error(), w.store.ID()) {
			t.Errorf("%s: %v, want an error that names both stores and is tried again", name, err)
		}
	}
	ended := newWorld(t, func(p *parts) { p.settings.Ended = func(id string) bool { return id == foreign } })
	for name, err := range every(ended, foreign) {
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != contract.ErrTypeNotFound || !app.NonRetryable() {
			t.Errorf("%s, of a store that is no more: %v, want that it is not there", name, err)
		}
	}
}

// The worker answers for data of this store, or of any; a workflow that does not know
// its store is told it.
func TestOwnStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"", w.store.ID()} {
		for name, err := range every(w, id) {
			var app *temporal.ApplicationError
			if errors.As(err, &app) && app.Type() == contract.ErrTypeForeignStore {
				t.Errorf("%s for store %q: %v", name, id, err)
			}
		}
	}
	w.open([]string{"http://127.0.0.1:8000/"})
	page := w.living([]string{"http://127.0.0.1:8000/"})[0]
	if page.Store != w.store.ID() {
		t.Errorf("a page is of store %q", page.Store)
	}
	if known := w.acquire(page, 1); known.Store != "" {
		t.Errorf("a page that knows its store is told %q", known.Store)
	}
	page.Store = ""
	if learned := w.acquire(page, 1); learned.Store != w.store.ID() {
		t.Errorf("a page that does not know its store is told %q, want %q", learned.Store, w.store.ID())
	}
}

// registry counts the registered activities.
type registry struct {
	worker.ActivityRegistry
	n int
}

func (r *registry) RegisterActivityWithOptions(any, activity.RegisterOptions) { r.n++ }
