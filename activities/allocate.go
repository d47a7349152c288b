package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// entryBatch is how many pages are read at once when all are.
	entryBatch = 5000
	// busyShare is the share of what the slowest host can take, one that asks for all of
	// max_crawl_delay, from which on maintenance asks how much a host can.
	busyShare = 0.2
)

// allocate is maintenance's part in a budget: it takes stock of what is believed of
// the pages, moves the threshold, the hosts' prices and the priors, and now and
// then wakes the sleepers that these moves concern most.
func (a *Activities) allocate(ctx context.Context, in contract.MaintainIn) error {
	view, err := a.crawl(ctx, in.Name, 0)
	if err != nil {
		return err
	}
	before, err := a.store.Steering(ctx, in.CrawlID, true)
	if err != nil {
		return err
	}
	now, err := a.store.Now(ctx)
	if err != nil {
		return err
	}
	stock := schedule.NewStock(view.revisit, before.Steering, before.Hosts, schedule.Period{From: before.At, To: now})
	if err := a.eachEntry(ctx, view, func(e schedule.Entry) { stock.Add(e) }); err != nil {
		return err
	}
	limits, err := a.hostLimits(ctx, view, stock)
	if err != nil {
		return err
	}
	turn := stock.Turn(schedule.BudgetOf(view.Spec.Revisit, stock.Pages()), limits)
	after := store.SteeringRecord{
		Steering: turn.Steering, Planned: turn.Planned, Budget: turn.Budget, At: now, Turns: before.Turns + 1, Reasons: turn.Reasons, Hosts: turn.Hosts,
	}
	if err := a.store.SetSteering(ctx, in.CrawlID, after); err != nil {
		return err
	}
	if after.Turns%schedule.LookEvery != 0 {
		return nil
	}
	for id, h := range before.Hosts {
		if _, moved := turn.Hosts[id]; !moved {
			after.Hosts[id] = h
		}
	}
	visits := schedule.PeriodVisits(turn.Planned, schedule.LookEvery*view.Spec.MaintainEvery.Std())
	return a.reschedule(ctx, view, after, visits)
}

// eachEntry reads all living pages of a crawl that have been visited.
func (a *Activities) eachEntry(ctx context.Context, view *crawlView, each func(schedule.Entry)) error {
	params := store.EntryParams{CrawlID: view.ID, Limit: entryBatch, URLs: view.revisit.Any()}
	return store.EachEntry(ctx, a.store, params, func(e store.EntryRecord) { each(entryOf(view.revisit, e)) })
}

func entryOf(rules schedule.Rules, e store.EntryRecord) schedule.Entry {
	return schedule.Entry{
		Page: schedule.Page{ID: e.PageID, State: e.State, Visit: e.Visits, Belief: schedule.DecodeBelief(e.Belief)},
		Host: e.HostID, Group: rules.Group(e.URL), Weight: e.Weight, At: e.LastAt, Due: e.NextAt,
	}
}

// hostLimits says how many visits a day the busy hosts can take from this crawl: what
// discovery and other crawls leave, and at least an equal share.
func (a *Activities) hostLimits(ctx context.Context, view *crawlView, stock *schedule.Stock) (map[int64]float64, error) {
	p := view.Spec.Politeness
	slowest := schedule.HostLimit(max(p.Delay.Std(), p.MaxCrawlDelay.Std(), time.Millisecond), 0, 0)
	limits := map[int64]float64{}
	for ids := range slices.Chunk(stock.Busy(busyShare*slowest), entryBatch) {
		loads, err := a.store.HostLoads(ctx, view.ID, ids)
		if err != nil {
			return nil, err
		}
		for _, l := range loads {
			kept := polite.Discover(l.Undiscovered, l.Visited).Kept
			limits[l.ID] = schedule.SharedLimit(schedule.HostLimit(max(l.Gap, time.Millisecond), l.Mean, kept), stock.Planned(l.ID), l.Others)
		}
	}
	return limits, nil
}

// reschedule wakes the sleepers that what has moved concerns most.
func (a *Activities) reschedule(ctx context.Context, view *crawlView, s store.SteeringRecord, visits float64) error {
	now, err := a.store.Now(ctx)
	if err != nil {
		return err
	}
	var moved schedule.Moved
	wanted := map[int64]store.Move{}
	err = a.eachEntry(ctx, view, func(e schedule.Entry) {
		sleeper, sleeps := e.Sleeper(view.revisit.At(e.Group), s.Steering, s.Hosts[e.Host], now)
		if sleeps && moved.Add(sleeper) {
			wanted[e.ID] = store.Move{PageID: e.ID, Visit: e.Visit, NextAt: e.At.Add(sleeper.Wanted)}
		}
	})
	if err != nil {
		return err
	}
	var moves []store.Move
	for _, id := range moved.Choose(visits) {
		moves = append(moves, wanted[id])
	}
	for len(moves) > 0 {
		n := min(len(moves), restartBatch)
		if err := a.move(ctx, moves[:n], "the crawl's threshold, or what is believed of its pages, has moved"); err != nil {
			return err
		}
		moves = moves[n:]
	}
	return nil
}

// move tells the store and the workflows of pages' new times, and why.
func (a *Activities) move(ctx context.Context, moves []store.Move, why string) error {
	pages, err := a.store.Reschedule(ctx, moves)
	if err != nil {
		return err
	}
	return a.tellMoved(ctx, pages, why)
}

// tellMoved tells the workflows of pages the times that the store has of them.
func (a *Activities) tellMoved(ctx context.Context, pages []store.PageRecord, why string) error {
	for _, p := range pages {
		arg := contract.RescheduleArg{Due: p.NextAt, Why: why, Visit: p.Visits}
		err := a.workflows.Reschedule(ctx, p.PageRef, arg)
		if err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			return fmt.Errorf("%s: %w", pageLabel(p.PageRef), err)
		}
	}
	return nil
}

// internal is what is known of the pages that a page of the selective rule links
// to.
func (a *Activities) internal(ctx context.Context, view *crawlView, page store.PageRecord) (schedule.Internal, error) {
	if _, selective := view.selective(page.URL); !selective {
		return schedule.Internal{}, nil
	}
	since := schedule.DecodeBelief(page.Belief).ComparedAt()
	if since.IsZero() {
		return schedule.Internal{}, nil
	}
	return a.store.Internal(ctx, page.PageID, since)
}

// selective is the rule that may skip a page's turn, if there is one.
func (v *crawlView) selective(url string) (schedule.FRMax, bool) {
	if !v.Spec.Revisit.Selective {
		return schedule.FRMax{}, false
	}
	rule, is := v.revisit.At(v.revisit.Group(url)).Policy.(schedule.FRMax)
	return rule, is
}

// skips decides whether the turn of a page that has come is skipped, and why. Only
// a turn that nobody asked for may be.
func (a *Activities) skips(ctx context.Context, in contract.AcquireIn) (skip bool, why []crawl.Reason, err error) {
	// The view may be of before a change of the spec: no request hangs on it.
	view, err := a.crawl(ctx, in.Page.Crawl, 1)
	if err != nil {
		return false, nil, err
	}
	rule, selective := view.selective(in.Page.URL)
	if !selective {
		return false, nil, nil
	}
	page, err := a.store.Page(ctx, in.Page.PageID)
	if err != nil || page.Visits >= in.Visit {
		return false, nil, err
	}
	internal, err := a.internal(ctx, view, page)
	if err != nil {
		return false, nil, err
	}
	visit, why := rule.Select(pageOf(page), internal)
	if visit {
		return false, nil, nil
	}
	effects, err := a.store.Leave(ctx, in.Page.PageID)
	if err != nil {
		return false, nil, err
	}
	a.carryOut(ctx, effects)
	return true, why, nil
}
