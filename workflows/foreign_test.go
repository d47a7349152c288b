package workflows

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
)

// Whichever part of a visit a worker with another store picks up, the page lives on, reports
// it, and makes its visit once.
func TestPageOutlivesAForeignWorker(t *testing.T) {
	t.Parallel()
	for _, foreign := range []string{contract.Acquire.Name, contract.Fetch.Name, contract.DetectChange.Name, contract.PlanRevisit.Name} {
		t.Run(foreign, func(t *testing.T) {
			t.Parallel()
			l := newLive(t, look(30*time.Minute), stopAt(5*time.Hour))
			l.world.Foreign = func(activity string, now time.Time) bool {
				return activity == foreign && now.Before(start.Add(time.Hour))
			}
			made := 0
			l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
				made++
				return contracttest.Changed(try.Now), nil
			}
			l.stopped(l.page(visited(start)))
			if got := l.world.Visits(); made != 1 || len(got) != 1 || !got[0].Outcome.Changed() {
				t.Errorf("%d requests, visits %v: want one that found a change", made, got)
			}
			if doing := l.views[0].Doing; !strings.Contains(doing, "store a") || !strings.Contains(doing, "store b") {
				t.Errorf("doing %q, want both stores named", doing)
			}
		})
	}
}

func TestPageLeavesAfterAForeignWorker(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(time.Minute))
	l.world.Foreign = func(activity string, now time.Time) bool {
		return activity == contract.LeaveLine.Name && now.Before(start.Add(time.Hour))
	}
	in := visited(start.Add(time.Hour))
	l.stopped(l.page(in))
	if took := l.now.Sub(start); took < time.Hour {
		t.Errorf("it ended after %s, while nobody could take it out of the line", took)
	}
}

func TestCrawlOutlivesAForeignWorker(t *testing.T) {
	t.Parallel()
	var status contract.CrawlProgress
	l := newCrawl(t, do(25*time.Minute, func(l *live) { status = l.status() }), crawlStop(5*time.Hour))
	l.world.Foreign = func(activity string, now time.Time) bool {
		return activity == contract.Maintain.Name && now.Before(start.Add(time.Hour))
	}
	if _, err := l.crawl(newsSpec, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(status.Problem, "store b") {
		t.Errorf("its problem is %q, want the foreign store named", status.Problem)
	}
}

// A Discover can wait days for a worker with its store, and loses nothing.
func TestDiscoverOutlivesAForeignWorker(t *testing.T) {
	t.Parallel()
	for _, foreign := range []string{contract.RegisterLinks.Name, contract.Admit.Name} {
		t.Run(foreign, func(t *testing.T) {
			t.Parallel()
			d := newDiscovered(t)
			d.world.AddKnown(knownPages(1)...)
			d.world.Foreign = func(activity string, now time.Time) bool {
				return activity == foreign && now.Before(start.Add(6*time.Hour))
			}
			if foreign == contract.RegisterLinks.Name { // the test environment tries an activity ten times only
				d.world.Foreign = func(activity string, _ time.Time) bool { return activity == foreign && d.runs < 3 }
			}
			if err := d.discover(linksOf(4)); err != nil {
				t.Fatal(err)
			}
			if d.out.Started != 1 || d.runs < 2 {
				t.Errorf("started %d pages in %d runs, want one, after a run that began anew", d.out.Started, d.runs)
			}
		})
	}
}

// A workflow from before stores had an identity adopts that of the first store that answers,
// keeps it, and passes it to its children.
func TestStoreIsLearned(t *testing.T) {
	t.Parallel()
	t.Run("page", func(t *testing.T) {
		t.Parallel()
		l := newLive(t, stopAt(50*time.Hour))
		l.world.Store = "a"
		l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) { return contracttest.Changed(try.Now), nil }
		l.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
			return contract.DetectOut{Outcome: in.Fetch.Outcome, Links: 2}, nil
		}
		in := visited(start)
		in.Tuning.VisitsPerRun = 1
		l.stopped(l.page(in))
		if len(l.world.Visits()) < 2 || l.world.Unsure() != 1 {
			t.Errorf("%d visits with %d activities for any store, want only the first", len(l.world.Visits()), l.world.Unsure())
		}
		if d := l.world.Discovers(); len(d) == 0 || d[0].Store != "a" || d[0].Page.Store != "a" {
			t.Errorf("Discovers %+v, want the store named", d)
		}
	})
	t.Run("crawl", func(t *testing.T) {
		t.Parallel()
		l := newCrawl(t, crawlStop(25*time.Minute))
		l.world.Store = "a"
		var memos []any
		l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) {
			env.OnUpsertMemo(mock.MatchedBy(func(memo map[string]any) bool {
				memos = append(memos, memo[contract.MemoStore])
				return true
			})).Return(nil)
		})
		if _, err := l.crawl(newsSpec, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(memos, []any{"a"}) || l.world.Unsure() != 1 {
			t.Errorf("memo written %v, %d activities for any store: want one each", memos, l.world.Unsure())
		}
		if d := l.world.Discovers(); len(d) != 1 || d[0].Store != "a" {
			t.Errorf("Discovers %+v, want the store named", d)
		}
	})
	t.Run("cancelled crawl", func(t *testing.T) {
		t.Parallel()
		l := newCrawl(t, do(25*time.Minute, func(l *live) { l.env.CancelWorkflow() }))
		if _, err := l.crawl(newsSpec, &contract.CrawlProgress{Store: "a"}); !temporal.IsCanceledError(err) {
			t.Fatalf("ended with %v, want cancelled", err)
		}
		if l.world.Unsure() != 0 {
			t.Errorf("%d activities for any store, want none", l.world.Unsure())
		}
	})
}
