package sqlstore

import (
	"context"

	"recrawl/internal/polite"
)

// demandColumns are the columns of a crawl c's demand on the gaps between requests.
const demandColumns = `c.delay, c.factor, c.max_crawl_delay, c.auto_delay`

// demandRow is a demand as stored. Releases without automatic delays keep to the
// column delay: the longest.
type demandRow struct {
	delay, ceiling, auto int64
	factor               float64
}

func (d *demandRow) fields() []any { return []any{&d.delay, &d.factor, &d.ceiling, &d.auto} }

func (d *demandRow) demand() polite.Demand {
	return polite.Demand{Delay: span(d.delay), Auto: d.auto != 0, Factor: d.factor, MaxCrawlDelay: span(d.ceiling)}
}

// queryDemand reads a crawl's demand on the gaps between requests.
func queryDemand(ctx context.Context, tx Tx, crawlID int64) (polite.Demand, error) {
	var d demandRow
	err := tx.QueryRow(ctx, `SELECT `+demandColumns+` FROM crawls c WHERE c.id = $1`, []any{crawlID}, d.fields()...)
	return d.demand(), err
}
