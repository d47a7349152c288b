package activities

import (
	"context"
	"errors"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
)

// errUnsettled: there is more to do before the visit can be recorded.
var errUnsettled = errors.New("the visit is not settled")

// finish ends the permit's request and records its visit in one transaction, if the
// answer leaves nothing else to do: no body to compare, no redirect to follow. If
// it could not, it returns false; then the permit must still be released, and the
// workflow does the rest.
func (a *Activities) finish(ctx context.Context, view *crawlView, page store.PageRecord, in contract.FetchIn, begun store.BeginResult, r fetch.Result, out contract.FetchOut) (contract.FetchOut, bool) {
	if !in.Plans || out.Outcome == crawl.OutcomeRedirected && !out.Respelled {
		return out, false
	}
	var finished contract.FetchOut
	err := tell(ctx, in.Permit, begun, func(ctx context.Context) (err error) {
		finished, err = a.record(ctx, view, page, in, r, out)
		return err
	})
	switch {
	case err == nil:
		if in.Ahead {
			a.workflows.FallBack(ctx, in.Page)
		}
		return finished, true
	case !errors.Is(err, errUnsettled) && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound):
		a.log.Warn("a visit could not be recorded with the end of its request; its workflow has it recorded", "page", in.Page.URL, "error", err)
	}
	return out, false
}

// record tries finish once.
func (a *Activities) record(ctx context.Context, view *crawlView, page store.PageRecord, in contract.FetchIn, r fetch.Result, out contract.FetchOut) (contract.FetchOut, error) {
	if r.Content {
		if err := a.compareDigests(ctx, page, &out); err != nil {
			return out, err
		}
		if out.Differs {
			return out, errUnsettled
		}
	}
	made, beside, err := a.beside(ctx, view, page, contract.PlanIn{Page: in.Page, Visit: in.Visit, Fetch: out})
	if err != nil {
		return out, err
	}
	if err := a.discardSuspect(ctx, page, out.Outcome); err != nil {
		return out, err
	}
	done, err := a.stores.Gate.Finish(ctx, store.FinishParams{
		Release: releaseOf(in.Permit, r), Page: page.PageID, Generation: view.Generation,
		Plan: func(held time.Duration) store.RecordParams {
			made.Fetch.Held = held
			return recordOf(page, made, decide(view.revisit, page, made, beside), view.Spec.Retention)
		},
	})
	if err != nil {
		return out, err
	}
	out.Held = done.Effects.Held
	a.carryOut(ctx, done.Effects)
	a.afterwards(ctx, page, out, done.Copied)
	plan, err := a.planned(ctx, view, done.RecordResult)
	out.Plan = &plan
	return out, err
}
