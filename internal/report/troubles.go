package report

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// uncaredAfter is how old the last look of a worker at a crawl may be; they look every
// twenty seconds or so.
const uncaredAfter = 2 * time.Minute

type troubleLine struct {
	Part     string `json:"part"`
	Problem  string `json:"problem"`
	Pages    int    `json:"pages"`
	Since    stamp  `json:"since"`
	MendedAt stamp  `json:"mended_at"` // null as long as it lasts
}

// troubles returns what is wrong with a crawl: the troubles that its workers noted, and
// missing workers. It also returns the backlog of the task queue.
func (r Reporter) troubles(ctx context.Context, c store.CrawlRecord, now time.Time) ([]store.TroubleRecord, store.BacklogRecord, error) {
	care, err := r.Store.Care(ctx, c.ID)
	if err != nil {
		return nil, store.BacklogRecord{}, err
	}
	if c.State != crawl.CrawlStopped && !care.LookedAt.IsZero() && now.Sub(care.LookedAt) > uncaredAfter {
		nobody := store.TroubleRecord{Trouble: store.Trouble{Part: store.TroubleWorkers, Problem: "no worker looks after it: is one running?"}, Since: care.LookedAt}
		care.Troubles = append([]store.TroubleRecord{nobody}, care.Troubles...)
	}
	return care.Troubles, care.Backlog, nil
}

func troubleLines(troubles []store.TroubleRecord) []troubleLine {
	lines := []troubleLine{}
	for _, t := range troubles {
		lines = append(lines, troubleLine{t.Part, t.Problem, t.Pages, stamp(t.Since), stamp(t.MendedAt)})
	}
	return lines
}

// troubleWords puts a trouble into words, without its part.
func troubleWords(t store.TroubleRecord, now time.Time) string {
	ago := func(at time.Time) string { return schedule.Rough(max(now.Sub(at), time.Second)) }
	if t.Mended {
		return fmt.Sprintf("%s (mended %s ago)", t.Problem, ago(t.MendedAt))
	}
	return fmt.Sprintf("%s (for %s)", t.Problem, ago(t.Since))
}

// troublePart names a part of a crawl in a sentence.
func troublePart(part string) string {
	switch part {
	case store.TroubleWorkers, store.TroublePages, store.TroubleWorkflow:
		return part
	case store.TroubleEnded, store.TroubleStuck:
		return store.TroublePages
	}
	return "maintenance of " + part
}
