package temporalkit

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"

	"recrawl/internal/contract"
)

// EndUnread terminates a crawl's workflow if no worker has ever opened it because it is encrypted
// with a key that they, or we, lack. It reports whether it did. Nothing but the spec is lost.
func (w Workflows) EndUnread(ctx context.Context, name string) (bool, error) {
	id := contract.CrawlID(name)
	info, err := w.running(ctx, id)
	if err != nil || info == nil {
		return false, err
	}
	c := openCrawl(dataOf(w.Client), name, info)
	if c.Opened || c.TaskQueue != w.queue() {
		return false, nil // it is another store's
	}
	if c.Locked == nil {
		health, err := w.Health(ctx, id)
		if err != nil || !health.WantsKey() {
			return false, err
		}
	}
	err = w.Client.TerminateWorkflow(ctx, id, info.GetExecution().GetRunId(), "stopped; no worker could read it")
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return false, fmt.Errorf("terminate %s: %w", id, err)
	}
	return true, nil
}
