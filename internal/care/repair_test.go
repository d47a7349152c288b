package care

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/temporalkit"
)

// repairedFlows is Temporal as a repair finds it: a crawl, and pages of which some have no
// workflow, or one that is stuck.
type repairedFlows struct {
	fakeFlows
	conditions map[int64]temporalkit.Condition // of pages; the others run
	ended      map[int64]bool                  // pages whose Discover is stuck

	mu     sync.Mutex
	looked []int64
}

func (f *repairedFlows) MendPage(_ context.Context, in contract.PageIn) (temporalkit.Mended, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked = append(f.looked, in.Page.PageID)
	condition, ok := f.conditions[in.Page.PageID]
	if !ok {
		condition = temporalkit.Runs
	}
	return temporalkit.Mended{Condition: condition, Why: "TMPRL1100"}, nil
}

func (f *repairedFlows) EndStuckDiscover(_ context.Context, page crawl.PageRef, _ int) (bool, error) {
	return f.ended[page.PageID], nil
}

// A repair looks at every living page once, however many batches they are, and counts what
// it starts anew.
func TestRepair(t *testing.T) {
	t.Parallel()
	c := crawltest.New(t, func(s *crawl.Spec) { s.Seeds, s.Limits.Window = []string{"http://127.0.0.1:2/"}, 2*repairBatch+1 })
	ids := livingPages(t, c, 2*repairBatch+1)
	if err := c.Store.SetPageState(t.Context(), ids[3], crawl.Stopped); err != nil {
		t.Fatal(err)
	}
	flows := &repairedFlows{
		fakeFlows:  fakeFlows{health: temporalkit.Health{Ended: "terminated"}},
		conditions: map[int64]temporalkit.Condition{ids[0]: temporalkit.Gone, ids[repairBatch]: temporalkit.Stuck, ids[2*repairBatch]: temporalkit.Gone},
	}
	var told []int
	r := &Repair{Store: c.Store, Flows: flows, Crawl: c.Record, Progress: func(r Repaired) { told = append(told, r.Pages) }}
	got, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := Repaired{Crawl: "was terminated", Pages: 2 * repairBatch, Of: 2 * repairBatch, Missing: 2, Stuck: 1, Why: "TMPRL1100"}
	if got != want {
		t.Errorf("repaired %+v, want %+v", got, want)
	}
	if !slices.Equal(told, []int{repairBatch, 2 * repairBatch}) {
		t.Errorf("told of %d pages", told)
	}
	slices.Sort(flows.looked)
	if want := slices.Delete(slices.Clone(ids), 3, 4); !slices.Equal(flows.looked, want) {
		t.Errorf("looked at %d pages, not at each of %d once", len(flows.looked), len(want))
	}
	if want := []string{"news running repair true waking true replace false"}; !slices.Equal(flows.started, want) {
		t.Errorf("started %q, want %q", flows.started, want)
	}
}

// livingPages makes pages of one host, all admitted.
func livingPages(t *testing.T, c *crawltest.Crawl, n int) (ids []int64) {
	t.Helper()
	urls := make([]store.NewURL, n)
	for i := range urls {
		urls[i] = store.NewURL{URL: fmt.Sprintf("http://127.0.0.1:2/%d", i), Host: "127.0.0.1:2"}
	}
	if _, err := c.Store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: c.Record.ID, URLs: urls}); err != nil {
		t.Fatal(err)
	}
	filter := store.PageFilter{CrawlID: c.Record.ID, Limit: n}
	for len(ids) < n {
		pages, err := c.Store.ListPages(t.Context(), filter)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%d of %d pages: %v", len(ids), n, err)
		}
		for _, p := range pages {
			ids = append(ids, p.PageID)
		}
		filter.After = ids[len(ids)-1]
	}
	if _, err := c.Store.Admit(t.Context(), store.AdmitParams{CrawlID: c.Record.ID, Admit: ids}); err != nil {
		t.Fatal(err)
	}
	return ids
}
