package report

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

type heldLine struct {
	Worker string `json:"worker"` // "" for any of this machine
	Since  stamp  `json:"since"`
	Reason string `json:"reason"`
}

// held returns the workers that make no request. A worker may have no room to say so in the
// store, so if there are none, Reporter.Short is asked.
func (r Reporter) held(ctx context.Context) ([]store.HeldWorker, error) {
	workers, err := r.Store.HeldWorkers(ctx)
	if err != nil || len(workers) > 0 || r.Short == nil {
		return workers, err
	}
	if reason := r.Short(); reason != "" {
		workers = []store.HeldWorker{{Reason: reason}}
	}
	return workers, nil
}

// heldWorkers writes a line for each worker that makes no request.
func (r Reporter) heldWorkers(ctx context.Context, now time.Time) error {
	held, err := r.held(ctx)
	if err != nil {
		return err
	}
	for _, w := range held {
		if _, err := fmt.Fprintln(r.Out, heldWords(w, now)); err != nil {
			return err
		}
	}
	return nil
}

func heldLines(workers []store.HeldWorker) []heldLine {
	lines := []heldLine{}
	for _, w := range workers {
		lines = append(lines, heldLine{w.Name, stamp(w.Since), w.Reason})
	}
	return lines
}

// heldWords puts one worker into words.
func heldWords(w store.HeldWorker, now time.Time) string {
	if w.Name == "" {
		return "no worker of this machine makes a request: " + w.Reason
	}
	since := ""
	if !w.Since.IsZero() {
		since = " for " + schedule.Rough(max(now.Sub(w.Since), time.Second))
	}
	return fmt.Sprintf("worker %s has made no request%s: %s", w.Name, since, w.Reason)
}
