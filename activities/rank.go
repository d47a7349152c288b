package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/rank"
)

// rankDue says why the crawl should be ranked now; nil if it should not.
func (a *Activities) rankDue(ctx context.Context, in contract.MaintainIn) (*crawl.Reason, error) {
	view, err := a.crawl(ctx, in.Name, 0)
	if err != nil {
		return nil, err
	}
	last, links, err := a.store.Ranking(ctx, in.CrawlID)
	if err != nil {
		return nil, err
	}
	now, err := a.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	due, why := rank.Due(rank.Last{At: last.At, Links: last.Links}, links, now, view.Spec.Rank.Every.Std())
	if !due {
		return nil, nil
	}
	return &why, nil
}

// Rank ranks the pages of a crawl by the links between them. It heartbeats with how
// far it is. One that is cut off is made again, from the ranks that it wrote.
func (a *Activities) Rank(ctx context.Context, in contract.RankIn) (contract.RankOut, error) {
	view, err := a.crawl(ctx, in.Name, 0)
	if err != nil {
		return contract.RankOut{}, translate(err)
	}
	if err := a.ranking.Acquire(ctx, 1); err != nil {
		return contract.RankOut{}, err
	}
	defer a.ranking.Release(1)
	spec := view.Spec.Rank
	rec, err := maintain.Rank(ctx, a.store, in.CrawlID, maintain.RankOptions{
		Damping: spec.Damping, Personalised: spec.Personalised, Reason: in.Reason,
		Progress: func(p maintain.RankProgress) { activity.RecordHeartbeat(ctx, p) },
	})
	if err != nil {
		return contract.RankOut{}, translate(err)
	}
	a.log.Info("pages ranked", "crawl", in.Name, "why", rank.Words(in.Reason), "pages", rec.Pages, "links", rec.Links,
		"rounds", rec.Rounds, "residual", rec.Residual, "took", rec.Took)
	return contract.RankOut{At: rec.At, Pages: rec.Pages, Links: rec.Links, Rounds: rec.Rounds, Residual: rec.Residual, Took: rec.Took}, nil
}
