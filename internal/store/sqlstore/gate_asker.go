package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// asker is the gate's view of a page, its crawl and its frontier.
type asker struct {
	id, home, crawl  int64
	url, origin      string
	crawlState       crawl.CrawlState
	generation, life int64
	demand           polite.Demand
	state            crawl.PageState
	visits           int64
	priority         float64
	held             int64 // the back-off that its last visit caused at its host
}

func loadAsker(ctx context.Context, tx Tx, page int64) (a asker, err error) {
	err = tx.Pipeline(ctx, askerOf(page, &a))
	return a, a.found(page, err)
}

// found is the error of reading a page that must exist.
func (a *asker) found(page int64, err error) error {
	if err == nil && a.id == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read page %d: %w", page, err)
	}
	return nil
}

// askerOf reads the gate's view of a page. asker.found says whether the page exists.
func askerOf(page int64, a *asker) Step {
	query := `SELECT g.host_id, g.crawl_id, g.url, c.state, c.generation, c.permit_life, ` + demandColumns + `,
			f.state, f.visit, f.priority, f.held_host
		FROM pages g JOIN crawls c ON c.id = g.crawl_id JOIN frontier f ON f.page_id = g.id WHERE g.id = $1`
	return Step{Query: query, Args: []any{page}, Scan: func(row Row) error {
		var d demandRow
		dest := append([]any{&a.home, &a.crawl, &a.url, &a.crawlState, &a.generation, &a.life}, d.fields()...)
		err := row.Scan(append(dest, &a.state, &a.visits, &a.priority, &a.held)...)
		if err == nil {
			a.id, a.demand = page, d.demand()
			a.origin, err = originOf(a.url)
		}
		return err
	}}
}

// stopped reports whether the page is not to be fetched any more.
func (a *asker) stopped() bool {
	return a.crawlState == crawl.CrawlStopped || a.state == crawl.Stopped || a.outside()
}

// outside reports whether the page has been removed from the collection without its
// workflow: for a better one, or because a trap holds it now.
func (a *asker) outside() bool { return a.state == crawl.Evicted || a.state == crawl.Held }

// farewell answers a page that is stopped.
func (a *asker) farewell() store.GateAnswer {
	if a.outside() {
		return store.GateEvicted
	}
	return store.GateStopped
}
