package maintain

import (
	"context"
	"slices"
	"time"

	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

const (
	// entryBatch is how many pages are read at once when all are read.
	entryBatch = 5000
	// busyShare is a share of the capacity of the slowest host, one that asks for all of
	// max_crawl_delay. Above it, maintenance looks up a host's capacity.
	busyShare = 0.2
)

// whyAllocated is the reason given for moved pages.
const whyAllocated = "the crawl's threshold or spec, or what is believed of its pages, has moved"

// AllocationStore is the part of a store that allocation uses.
type AllocationStore interface {
	Steering(ctx context.Context, crawlID int64, hosts bool) (store.SteeringRecord, error)
	SetSteering(ctx context.Context, crawlID int64, rec store.SteeringRecord) error
	Entries(ctx context.Context, p store.EntryParams) ([]store.EntryRecord, error)
	HostLoads(ctx context.Context, crawlID int64, hosts []int64) ([]store.HostLoad, error)
	Engine(ctx context.Context, crawlID int64) (store.EngineRecord, error)
	Now(ctx context.Context) (time.Time, error)
}

// Allocate is maintenance's part in a budget: it tallies the beliefs about the pages
// and moves the threshold, the hosts' prices and the priors. Now and then it returns
// the sleepers that these moves affect most, to be moved.
func Allocate(ctx context.Context, s AllocationStore, c Crawl) (Moves, error) {
	before, err := s.Steering(ctx, c.ID, true)
	if err != nil {
		return Moves{}, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return Moves{}, err
	}
	tally := schedule.NewTally(c.Revisit, before.Steering, before.Hosts, schedule.Period{From: before.At, To: now})
	if err := eachEntry(ctx, s, c, func(e schedule.Entry) { tally.Add(e) }); err != nil {
		return Moves{}, err
	}
	limits, err := hostLimits(ctx, s, c, tally)
	if err != nil {
		return Moves{}, err
	}
	may := schedule.AllowanceOf(c.Spec.Revisit, tally.Pages())
	may.Hosts = limits
	if may.Engine, err = engineShare(ctx, s, c, tally.Asked(may)); err != nil {
		return Moves{}, err
	}
	round := tally.Settle(may)
	after := store.SteeringRecord{
		Steering: round.Steering, Planned: round.Planned, Budget: round.Budget, Asked: round.Asked, At: now, Rounds: before.Rounds + 1, Reasons: round.Reasons, Hosts: round.Hosts,
	}
	if err := s.SetSteering(ctx, c.ID, after); err != nil {
		return Moves{}, err
	}
	if after.Rounds%schedule.LookEvery != 0 {
		return Moves{}, nil
	}
	for id, h := range before.Hosts {
		if _, moved := round.Hosts[id]; !moved {
			after.Hosts[id] = h
		}
	}
	// After a larger budget, or shorter intervals, the plans are still those of before.
	asked := round.Asked
	if may.Engine > 0 {
		asked = min(asked, may.Engine)
	}
	visits := schedule.PeriodVisits(max(round.Planned, round.Budget, asked), schedule.LookEvery*c.Spec.MaintainEvery.Std())
	moves, err := sleepers(ctx, s, c, after, visits)
	return Moves{Pages: moves, Why: whyAllocated}, err
}

// eachEntry reads all living pages of a crawl that have been visited.
func eachEntry(ctx context.Context, s store.EntryLister, c Crawl, each func(schedule.Entry)) error {
	params := store.EntryParams{CrawlID: c.ID, Limit: entryBatch, URLs: c.Revisit.Any()}
	return store.EachEntry(ctx, s, params, func(e store.EntryRecord) { each(entryOf(c.Revisit, e)) })
}

func entryOf(rules schedule.Rules, e store.EntryRecord) schedule.Entry {
	return schedule.Entry{
		Page: schedule.Page{ID: e.PageID, State: e.State, Visit: e.Visits, Belief: schedule.DecodeBelief(e.Belief)},
		Host: e.HostID, Group: rules.Group(e.URL), Weight: e.Weight, At: e.LastAt, Due: e.NextAt, Hinted: e.Hinted,
	}
}

// engineShare returns how many visits a day the engine leaves to the crawl, which asks for some:
// what other crawls do not ask for, or its share if there is not enough for all. It is 0 if
// the engine bounds nothing.
func engineShare(ctx context.Context, s AllocationStore, c Crawl, asked float64) (float64, error) {
	engine, err := s.Engine(ctx, c.ID)
	if err != nil || engine.PerDay == 0 {
		return 0, err
	}
	return schedule.SharedLimit(engine.PerDay, asked, engine.Others), nil
}

// hostLimits returns how many visits a day the busy hosts can take from this crawl: the part
// that discovery and other crawls leave, or a share in proportion to what each plans there.
func hostLimits(ctx context.Context, s AllocationStore, c Crawl, tally *schedule.Tally) (map[int64]float64, error) {
	p := c.Spec.Politeness
	slowest := schedule.HostLimit(max(p.Delay.Std(), p.MaxCrawlDelay.Std(), time.Millisecond), 0, 0)
	limits := map[int64]float64{}
	for ids := range slices.Chunk(tally.Busy(busyShare*slowest), entryBatch) {
		loads, err := s.HostLoads(ctx, c.ID, ids)
		if err != nil {
			return nil, err
		}
		for _, l := range loads {
			kept := polite.Discover(l.Undiscovered, l.Visited).Kept
			limits[l.ID] = schedule.SharedLimit(schedule.HostLimit(max(l.Gap, time.Millisecond), l.Mean, kept), tally.Planned(l.ID), l.Others)
		}
	}
	return limits, nil
}

// sleepers returns the moves of the sleepers that the changes affect most.
func sleepers(ctx context.Context, s AllocationStore, c Crawl, steering store.SteeringRecord, visits float64) ([]store.Move, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	var moved schedule.Moved
	wanted := map[int64]store.Move{}
	err = eachEntry(ctx, s, c, func(e schedule.Entry) {
		sleeper, sleeps := e.Sleeper(c.Revisit.At(e.Group), steering.Steering, steering.Hosts[e.Host], now)
		if sleeps && moved.Add(sleeper) {
			wanted[e.ID] = store.Move{PageID: e.ID, Visit: e.Visit, NextAt: e.At.Add(sleeper.Wanted)}
		}
	})
	if err != nil {
		return nil, err
	}
	var moves []store.Move
	for _, id := range moved.Choose(visits) {
		moves = append(moves, wanted[id])
	}
	return moves, nil
}
