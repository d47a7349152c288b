package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"recrawl/internal/contract"
	"recrawl/internal/maintain"
	"recrawl/internal/rank"
)

// Rank ranks the pages of a crawl by the links between them. Its heartbeats carry
// its progress. If it is cut off, the next attempt starts from the ranks that it
// wrote.
func (a *Activities) Rank(ctx context.Context, in contract.RankIn) (contract.RankOut, error) {
	view, err := a.crawl(ctx, in.Name)
	if err != nil {
		return contract.RankOut{}, translate(err)
	}
	if err := a.ranking.Acquire(ctx, 1); err != nil {
		return contract.RankOut{}, err
	}
	defer a.ranking.Release(1)
	spec := view.Spec.Rank
	rec, err := maintain.Rank(ctx, a.stores.Ranks, in.CrawlID, maintain.RankOptions{
		Damping: spec.Damping, Personalised: spec.Personalised, Reason: in.Reason,
		Progress: func(p maintain.RankProgress) { activity.RecordHeartbeat(ctx, p) },
		Rest:     newPace(aFifth, 0).rest,
	})
	if err != nil {
		return contract.RankOut{}, translate(err)
	}
	a.settings.Maintained("ranking", rec.Took)
	a.log.Info("pages ranked", "crawl", in.Name, "why", rank.Words(in.Reason), "pages", rec.Pages, "links", rec.Links,
		"rounds", rec.Rounds, "residual", rec.Residual, "took", rec.Took)
	return contract.RankOut{At: rec.At, Pages: rec.Pages, Links: rec.Links, Rounds: rec.Rounds, Residual: rec.Residual, Took: rec.Took}, nil
}
