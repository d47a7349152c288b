package care

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// wrongWith returns what is wrong with the workflow of a crawl in this state, or
// "". A stopped crawl needs one only to close its pages, once.
func wrongWith(state crawl.CrawlState, h temporalkit.Health, unclosed bool) string {
	switch {
	case h.Condition == temporalkit.Stuck:
		return "was stuck (" + h.Why + ")"
	case h.Condition == temporalkit.Runs:
		return ""
	case state != crawl.CrawlStopped && h.Ended == "":
		return "was gone"
	case state != crawl.CrawlStopped:
		return "was " + h.Ended
	case unclosed && h.Ended != "completed" && h.Ended != "canceled":
		return "was gone before it had closed the pages"
	}
	return ""
}

// Restart starts the workflow of a crawl from its row. Its first pass starts every
// page that has no workflow. more changes its initial state.
func Restart(ctx context.Context, flows CrawlFlows, rec store.CrawlRecord, replace bool, more func(*contract.CrawlProgress)) error {
	spec, err := json.Marshal(rec.Spec)
	if err != nil {
		return fmt.Errorf("encode spec: %w", err)
	}
	progress := contract.CrawlProgress{
		CrawlID: rec.ID, Name: rec.Spec.Name, State: rec.State, Generation: rec.Generation,
		Every: max(rec.Spec.MaintainEvery.Std(), time.Second), Repair: true, Admit: true,
		// Pages that came due while nobody was there to wake them are woken.
		Waking: rec.State == crawl.CrawlRunning,
	}
	if more != nil {
		more(&progress)
	}
	return flows.RestartCrawl(ctx, spec, progress, replace)
}
