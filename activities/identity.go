package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"recrawl/internal/contract"
)

// register makes an activity known to a worker. It checks, in one place for all
// activities, that the input belongs to the worker's store.
func register[In contract.Addressed, Out any](w worker.ActivityRegistry, a *Activities, activity contract.Activity[In, Out], do func(context.Context, In) (Out, error)) {
	activity.Register(w, heeding(a, func(ctx context.Context, in In) (Out, error) {
		if err := a.checkStore(in.StoreID()); err != nil {
			var none Out
			return none, err
		}
		return do(ctx, in)
	}))
}

// checkStore returns an error unless this worker may answer for a store's data. This
// worker does not know what another store knows, so it never answers "not found" for
// one, unless the operator said that the store no longer exists.
func (a *Activities) checkStore(id string) error {
	own := a.stores.Crawls.ID()
	if id == "" || id == own {
		return nil
	}
	if a.settings.Ended != nil && a.settings.Ended(id) {
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("of store %s, which is no more: this is store %s", id, own), contract.ErrTypeNotFound, nil)
	}
	if a.settings.Foreign != nil {
		a.settings.Foreign(id)
	}
	text := fmt.Sprintf("it is of store %s, but a worker with store %s took it up: a worker with its own store goes on", id, own)
	return temporal.NewApplicationErrorWithOptions(text, contract.ErrTypeForeignStore, temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})
}
