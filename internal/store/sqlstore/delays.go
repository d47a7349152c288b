package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// readDelays counts the automatic delays of the crawl's hosts that have been asked, in one
// pass over them. It computes polite.AutoDelay in the database, since a crawl may have
// hundreds of thousands of hosts; storetest compares the two.
func readDelays(ctx context.Context, tx Tx, crawlID int64, demand polite.Demand) (store.Delays, error) {
	if !demand.Auto {
		return store.Delays{}, nil
	}
	slow, least, strain := polite.AutoTerms(demand.Delay)
	var counts strings.Builder
	for _, bound := range store.DelayBounds {
		fmt.Fprintf(&counts, ", COALESCE(SUM(CASE WHEN d.delay <= %d THEN 1 ELSE 0 END), 0)", bound.Microseconds())
	}
	query := `SELECT COUNT(*), CAST(COALESCE(SUM(d.delay), 0) AS DOUBLE PRECISION)` + counts.String() + fmt.Sprintf(` FROM (
			SELECT CASE WHEN t.slow >= $3 OR t.strained >= $3 THEN $3 WHEN t.slow > t.strained THEN t.slow ELSE t.strained END AS delay
			FROM (SELECT CAST(h.mean_duration AS DOUBLE PRECISION) * %d AS slow, %d + h.refusals * CAST($2 AS DOUBLE PRECISION) AS strained
				FROM host_crawls hc JOIN hosts h ON h.id = hc.host_id WHERE hc.crawl_id = $1 AND h.mean_duration > 0) t) d`, slow, least.Microseconds())
	delays := store.Delays{UpTo: make([]int, len(store.DelayBounds))}
	var sum float64
	into := []any{&delays.Hosts, &sum}
	for i := range delays.UpTo {
		into = append(into, &delays.UpTo[i])
	}
	args := []any{crawlID, float64(strain) / float64(time.Microsecond), float64(demand.Delay.Microseconds())}
	if err := tx.QueryRow(ctx, query, args, into...); err != nil {
		return store.Delays{}, fmt.Errorf("count automatic delays: %w", err)
	}
	delays.Sum = time.Duration(sum * float64(time.Microsecond))
	return delays, nil
}
