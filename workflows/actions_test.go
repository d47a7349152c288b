package workflows

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
)

// billed is a kind of visit with what Temporal Cloud bills for it, as docs/operations.md
// has it.
type billed struct {
	name string
	want int
	// waits is how often in a visit the page is told to wait in line; turned means that
	// it is called from there, and does not come by itself.
	waits  int
	turned bool
	fetch  func(time.Time) contract.FetchOut // nil is unchanged
	links  int
	// found reports what became of the links, nil if they wait for a Discover; refill means
	// that there are pages to be admitted.
	found  *contract.RegisterOut
	refill bool
	// forbidden: robots.txt forbids the page, which learns that when it asks.
	forbidden bool
}

// fansOut reports whether each visit has a Discover.
func (b billed) fansOut() bool { return b.refill || b.links > 0 && b.found == nil }

// TestActionsPerVisit counts the billed actions of a visit as what three more visits add to
// a page's histories and those of its Discovers.
func TestActionsPerVisit(t *testing.T) {
	t.Parallel()
	for _, b := range []billed{
		{name: "unchanged", want: 3},
		{name: "changed", want: 4, fetch: brief},
		{name: "changed, and large", want: 5, fetch: contracttest.Changed},
		{name: "changed, with links that are known", want: 4, fetch: brief, links: 3, found: &contract.RegisterOut{Seen: 3}},
		{name: "changed, with new links", want: 7, fetch: brief, links: 3, found: &contract.RegisterOut{New: 3, Hosts: []int64{7}}, refill: true},
		{name: "changed, with many links", want: 8, fetch: brief, links: 3},
		{name: "forbidden by robots.txt", want: 2, forbidden: true},
		{name: "unchanged, in line until its time", want: 5, waits: 1},
		{name: "unchanged, called from the line", want: 6, waits: 1, turned: true},
		{name: "unchanged, called twice", want: 9, waits: 2, turned: true},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			const few, many = 2, 5
			s := newOnServer(t)
			if more := b.actions(s, 52, many) - b.actions(s, 51, few); more != b.want*(many-few) {
				t.Errorf("%d visits more are %d actions, want %d each", many-few, more, b.want)
			}
		})
	}
}

// brief is a body that differs and is soon compared.
func brief(at time.Time) contract.FetchOut {
	out := contracttest.Changed(at)
	out.Brief = true
	return out
}

// actions are those of a page that is stopped by its last visit.
func (b billed) actions(s *onServer, page int64, visits int) int {
	s.t.Helper()
	var waiting sync.WaitGroup
	turns := make(chan struct{}, visits*(b.waits+1))
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		out.Refill = b.refill
		if out.NextAt = out.At.Add(time.Second); in.Visit == visits {
			out.State = crawl.Stopped
		}
	}
	s.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if b.forbidden {
			return contract.AcquireOut{Answer: contract.AnswerExcluded, Rule: "Disallow: /"}, nil
		}
		if a.N > b.waits {
			return contract.AcquireOut{}, nil
		}
		wait := time.Second
		if b.turned {
			wait = time.Hour
			turns <- struct{}{}
		}
		return contract.AcquireOut{Answer: contract.AnswerWait, Wait: wait, Reason: "3 before it"}, nil
	}
	s.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if b.fetch == nil {
			return contracttest.Unchanged(try.Now), nil
		}
		return b.fetch(try.Now), nil
	}
	s.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
		return contract.DetectOut{Outcome: in.Fetch.Outcome, Links: b.links, Registered: b.found}, nil
	}
	in := pageIn()
	in.Page.PageID, in.Page.URL = page, fmt.Sprintf("https://example.com/%d", page)
	in.Due = time.Now()
	run := s.startPage(in)
	waiting.Go(func() {
		for range turns {
			// It is asleep once it answers: the ask is one task with the decision to sleep.
			if _, err := s.client.QueryWorkflow(s.ctx, run.GetID(), "", contract.StateQuery); err != nil {
				s.t.Error(err)
			}
			if err := s.client.SignalWorkflow(s.ctx, run.GetID(), "", contract.TurnSignal, contract.TurnArg{}); err != nil {
				s.t.Error(err)
			}
		}
	})
	s.end(run)
	close(turns)
	waiting.Wait()
	n := 0
	for _, history := range s.chain(run) {
		n += contracttest.Actions(history.Events)
	}
	for visit := 1; visit <= visits && b.fansOut(); visit++ {
		discover := s.client.GetWorkflow(s.ctx, contract.DiscoverID(in.Page.Crawl, page, visit), "")
		if err := discover.Get(s.ctx, nil); err != nil {
			s.t.Fatal(err)
		}
		n += contracttest.Actions(s.history(discover.GetID(), "").Events)
	}
	return n
}
