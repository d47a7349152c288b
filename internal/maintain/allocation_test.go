package maintain

import (
	"context"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// sleeping is an AllocationStore of pages that all sleep.
type sleeping struct {
	now      time.Time
	entries  []store.EntryRecord
	steering store.SteeringRecord
}

func (s *sleeping) Steering(context.Context, int64, bool) (store.SteeringRecord, error) {
	return s.steering, nil
}

func (s *sleeping) SetSteering(_ context.Context, _ int64, rec store.SteeringRecord) error {
	s.steering = rec
	return nil
}

func (s *sleeping) Entries(context.Context, store.EntryParams) ([]store.EntryRecord, error) {
	return s.entries, nil
}

func (s *sleeping) HostLoads(_ context.Context, _ int64, hosts []int64) ([]store.HostLoad, error) {
	var loads []store.HostLoad
	for _, id := range hosts {
		loads = append(loads, store.HostLoad{ID: id, Gap: time.Second})
	}
	return loads, nil
}

func (s *sleeping) Engine(context.Context, int64) (store.EngineRecord, error) {
	return store.EngineRecord{}, nil
}

func (s *sleeping) Now(context.Context) (time.Time, error) { return s.now, nil }

// moved puts a move into effect.
func (s *sleeping) moved(moves []store.Move) {
	for _, m := range moves {
		for i := range s.entries {
			if s.entries[i].PageID == m.PageID {
				s.entries[i].NextAt = m.NextAt
			}
		}
	}
}

// The sleepers of a small crawl are planned again when its budget grows, at least
// one each time that maintenance looks: between two looks at them, it makes fewer than twenty visits.
func TestSleepersOfASmallCrawl(t *testing.T) {
	t.Parallel()
	const pages = 50
	spec := crawl.DefaultSpec()
	spec.Revisit.Budget = "1/day"
	s := &sleeping{now: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
	for i := range pages {
		visited := s.now.Add(-time.Hour)
		belief := schedule.Belief{Pairs: 10, Looks: 5, Apart: 20, Days: 100, Since: visited.UnixMilli(), Compared: visited.UnixMilli()}
		s.entries = append(s.entries, store.EntryRecord{
			PageID: int64(i + 1), HostID: 1, State: crawl.Active, Visits: 11,
			LastAt: visited, NextAt: visited.Add(pages * 24 * time.Hour), Belief: belief.Encode(),
		})
	}
	c := Crawl{CrawlRecord: store.CrawlRecord{ID: 1, Spec: spec}}
	pass := func() int {
		rules, err := schedule.NewRules(c.Spec.Revisit)
		if err != nil {
			t.Fatal(err)
		}
		c.Revisit = rules
		s.now = s.now.Add(c.Spec.MaintainEvery.Std())
		moves, err := Allocate(t.Context(), s, c)
		if err != nil {
			t.Fatal(err)
		}
		s.moved(moves.Pages)
		return len(moves.Pages)
	}
	for range 3 * schedule.LookEvery {
		if n := pass(); n > 1 {
			t.Fatalf("%d sleepers are moved while nothing changes", n)
		}
	}

	c.Spec.Revisit.Budget = "100/day"
	moved := 0
	for range pages * schedule.LookEvery {
		moved += pass()
	}
	if moved < pages-5 {
		t.Errorf("%d of %d pages are planned again in two and a half days after the budget became a hundred times larger", moved, pages)
	}
}

// Pages of policies without a budget do not sleep on when the spec wants them much sooner: after a
// shorter interval, another policy, or a rule that is new. As many are moved as the new intervals
// make visits.
func TestSleepersOfAnotherSpec(t *testing.T) {
	t.Parallel()
	const pages, month, hour = 100, crawl.Duration(30 * 24 * time.Hour), crawl.Duration(time.Hour)
	for name, change := range map[string]func(*crawl.RevisitSpec){
		"a shorter interval": func(r *crawl.RevisitSpec) { r.DefaultInterval = hour },
		"another policy":     func(r *crawl.RevisitSpec) { r.Policy, r.DefaultInterval = "deltat", hour },
		"a rule": func(r *crawl.RevisitSpec) {
			r.Rules = []crawl.RevisitRule{{Prefix: "https://example.com/news/", Policy: "frmax", DefaultInterval: hour / 2}}
		},
	} {
		spec := crawl.DefaultSpec()
		spec.Revisit.Policy, spec.Revisit.DefaultInterval = "fixed", month
		s := &sleeping{now: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
		for i := range pages {
			visited := s.now.Add(-time.Minute)
			belief := schedule.Belief{Compared: visited.UnixMilli()}
			s.entries = append(s.entries, store.EntryRecord{
				PageID: int64(i + 1), HostID: 1, URL: "https://example.com/news/", State: crawl.Active, Visits: 1,
				LastAt: visited, NextAt: visited.Add(month.Std()), Belief: belief.Encode(),
			})
		}
		looks := func(n int) (moved int) {
			rules, err := schedule.NewRules(spec.Revisit)
			if err != nil {
				t.Fatal(err)
			}
			for range n * schedule.LookEvery {
				s.now = s.now.Add(spec.MaintainEvery.Std())
				moves, err := Allocate(t.Context(), s, Crawl{CrawlRecord: store.CrawlRecord{ID: 1, Spec: spec}, Revisit: rules})
				if err != nil {
					t.Fatal(err)
				}
				s.moved(moves.Pages)
				moved += len(moves.Pages)
			}
			return moved
		}
		if n := looks(2); n > 0 {
			t.Errorf("%s: %d pages are moved while nothing changes", name, n)
		}
		change(&spec.Revisit)
		if n := looks(pages / 2); n != pages {
			t.Errorf("%s: %d of %d pages are moved in %d looks", name, n, pages, pages/2)
		}
	}
}
