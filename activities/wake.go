package activities

import (
	"context"

	"recrawl/internal/contract"
)

// unparkBatch is how many pages one WakeParked wakes.
const unparkBatch = 200

// WakeParked wakes a batch of the pages that came due while their crawl was
// paused.
func (a *Activities) WakeParked(ctx context.Context, in contract.WakeParkedIn) (contract.WakeParkedOut, error) {
	effects, err := a.stores.Gate.Unpark(ctx, in.CrawlID, unparkBatch)
	if err != nil {
		return contract.WakeParkedOut{}, translate(err)
	}
	a.carryOut(ctx, effects)
	return contract.WakeParkedOut{Woken: len(effects.Turns), More: len(effects.Turns) > 0}, nil
}
