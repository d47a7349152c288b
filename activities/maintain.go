package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/archive/gc"
	"recrawl/internal/contract"
	"recrawl/internal/maintain"
	"recrawl/internal/maintain/duplicates"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// maintenanceStep is one of the tasks of a pass. None depends on the success of
// another.
type maintenanceStep struct {
	name string // stored
	do   func(ctx context.Context, in contract.MaintainIn, out *contract.MaintainOut) error
}

// Maintain does one part of a maintenance pass: it starts missing workflows and, once
// all pages have been checked, looks after lines, unfinished links, room in the
// windows and the rest. A step that fails does not stop the others; the pass fails
// only if no step succeeds.
func (a *Activities) Maintain(ctx context.Context, in contract.MaintainIn) (contract.MaintainOut, error) {
	record, err := a.stores.Crawls.Crawl(ctx, in.Name)
	if err != nil {
		return contract.MaintainOut{}, translate(err)
	}
	out := contract.MaintainOut{Store: a.stores.Crawls.ID(), State: record.State, Generation: record.Generation}
	steps := a.maintenance()
	var failures []error
	var troubles []store.Trouble
	for _, step := range steps {
		began := time.Now()
		err := within(ctx, step, in, &out)
		a.took(&out, step.name, time.Since(began))
		if err != nil && ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err == nil && out.After > 0 {
			return out, nil // the other steps come when all pages have been checked
		}
		trouble := store.Trouble{Part: step.name}
		if err != nil {
			trouble.Problem = err.Error()
			failures = append(failures, fmt.Errorf("%s: %w", step.name, err))
			a.log.Warn("a step of maintenance failed", "crawl", in.Name, "step", step.name, "error", err)
			note(&out, trouble)
		}
		troubles = append(troubles, trouble)
	}
	if err := a.stores.Crawls.NoteTroubles(ctx, in.CrawlID, troubles); err != nil {
		a.log.Warn("the troubles of a crawl could not be noted", "crawl", in.Name, "error", err)
	}
	if len(failures) == len(steps) {
		return out, translate(errors.Join(failures...))
	}
	return out, nil
}

// within runs a step within its share of the time.
func within(ctx context.Context, step maintenanceStep, in contract.MaintainIn, out *contract.MaintainOut) error {
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	err := step.do(ctx, in, out)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("not done within %s: %w", stepLimit, err)
	}
	return err
}

// took records how long a step took. The answer has only the steps that took long, since it
// is kept in the crawl's history.
func (a *Activities) took(out *contract.MaintainOut, step string, took time.Duration) {
	a.settings.Maintained(step, took)
	if took < longStep {
		return
	}
	if out.Seconds == nil {
		out.Seconds = map[string]float64{}
	}
	out.Seconds[step] = took.Round(100 * time.Millisecond).Seconds()
}

func note(out *contract.MaintainOut, t store.Trouble) {
	if out.Problems == nil {
		out.Problems = map[string]string{}
	}
	out.Problems[t.Part] = t.Problem
}

// maintenance lists the steps of a pass in order.
func (a *Activities) maintenance() []maintenanceStep {
	return []maintenanceStep{
		{contract.StepRestart, a.restart},
		{"lines", a.nudge},
		{"links", a.unfinished},
		// Before pages are woken, which may fetch again what waits to be deleted.
		{"archive", a.sweep},
		{"scope", a.rescope},
		{"traps", a.lookForTraps},
		{"duplicates", a.lookForDuplicates},
		{"room", a.lookForRoom},
		{"plans", a.allocate},
		{"ranks", a.rankDue},
		{"feed", func(ctx context.Context, _ contract.MaintainIn, _ *contract.MaintainOut) error {
			return maintain.TrimFeed(ctx, a.stores.Feed)
		}},
		{"sinks", a.lookAfterSinks},
		{contract.StepCounts, func(ctx context.Context, in contract.MaintainIn, out *contract.MaintainOut) (err error) {
			out.Status, err = a.counts(ctx, in.CrawlID)
			return err
		}},
	}
}

func (a *Activities) nudge(ctx context.Context, _ contract.MaintainIn, out *contract.MaintainOut) error {
	effects, err := a.stores.Gate.Nudge(ctx)
	if err != nil {
		return err
	}
	a.carryOut(ctx, effects)
	out.Turned = len(effects.Turns)
	return nil
}

// sweep deletes the bytes of visits that brought nothing new to keep, of versions that
// retention removed, and of pages that were forgotten while they were being fetched. It goes
// on until none wait, or until its time is over: one batch a pass would be fewer than come
// in as soon as a visit a second leaves bytes.
func (a *Activities) sweep(ctx context.Context, _ contract.MaintainIn, _ *contract.MaintainOut) error {
	pace := newPace(aFifth, sweepLimit)
	for {
		n, err := gc.Sweep(ctx, a.stores.Contents, a.archive, sweepBatch)
		if err != nil || n < sweepBatch {
			return err
		}
		if more, err := pace.next(ctx); err != nil || !more {
			return err
		}
	}
}

func (a *Activities) lookForRoom(ctx context.Context, in contract.MaintainIn, out *contract.MaintainOut) error {
	if err := a.stores.Frontier.Recount(ctx, in.CrawlID); err != nil {
		return err
	}
	engine := a.settings.Engine()
	candidates, err := a.stores.Frontier.Candidates(ctx, store.CandidateParams{CrawlID: in.CrawlID, Limit: 1, Engine: &engine})
	if out.Room = err == nil && len(candidates) > 0; out.Room || err != nil {
		return err
	}
	// Visits move the bound; where all of them hang, nobody else would, however idle the
	// engine is. The next pass finds the room.
	_, err = a.stores.Frontier.Admit(ctx, store.AdmitParams{CrawlID: in.CrawlID, Engine: &engine})
	return err
}

func (a *Activities) rescope(ctx context.Context, in contract.MaintainIn, _ *contract.MaintainOut) error {
	view, err := a.crawl(ctx, in.Name)
	if err != nil {
		return err
	}
	return maintain.Rescope{
		Store: a.stores.Scope, Crawl: a.maintained(view), Forbidden: a.forbiddenIn(view),
		Wake: a.wakeRescoped, Next: newPace(aFifth, scopeLimit).next,
	}.Look(ctx)
}

func (a *Activities) lookForTraps(ctx context.Context, in contract.MaintainIn, _ *contract.MaintainOut) error {
	view, err := a.crawl(ctx, in.Name)
	if err != nil {
		return err
	}
	guard := a.guard(view)
	guard.Next = newPace(aTenth, trapsLimit).next
	return guard.Look(ctx)
}

// lookForDuplicates compares new contents with all other pages, and schedules visits
// of the pages that became duplicates or no longer are.
func (a *Activities) lookForDuplicates(ctx context.Context, in contract.MaintainIn, _ *contract.MaintainOut) error {
	view, err := a.crawl(ctx, in.Name)
	if err != nil {
		return err
	}
	rule := duplicates.Rule{
		CrawlID: in.CrawlID, Threshold: view.Spec.Content.NearDuplicate,
		Rest: func(p store.ContentRecord) time.Duration {
			group := view.revisit.At(view.revisit.Group(p.URL))
			return group.Steer(schedule.Steering{}, schedule.HostSteering{}, 0).Rest(schedule.Page{ID: p.PageID})
		},
		Tell: func(ctx context.Context, pages []store.PageRecord) error {
			return a.tellMoved(ctx, pages, "other pages with its content have come, changed or gone")
		},
		Next: newPace(aTenth, lookLimit).next,
	}
	_, err = duplicates.Look(ctx, a.stores.Duplicates, rule)
	return err
}

func (a *Activities) allocate(ctx context.Context, in contract.MaintainIn, _ *contract.MaintainOut) error {
	view, err := a.crawl(ctx, in.Name)
	if err != nil {
		return err
	}
	moves, err := maintain.Allocate(ctx, a.stores.Allocation, a.maintained(view))
	if err != nil {
		return err
	}
	return a.move(ctx, moves)
}

func (a *Activities) rankDue(ctx context.Context, in contract.MaintainIn, out *contract.MaintainOut) error {
	view, err := a.crawl(ctx, in.Name)
	if err != nil {
		return err
	}
	out.RankDue, err = maintain.RankDue(ctx, a.stores.Ranks, in.CrawlID, view.Spec.Rank.Every.Std())
	return err
}
