package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

const (
	// forgetAfter is how long a lapsed waiter is remembered for its age. After that
	// its page stands in no line, and reconciliation takes care of it.
	forgetAfter = time.Hour
	// forgetBatch, lapseBatch and hostBatch bound the rows of one transaction.
	forgetBatch = 1000
	lapseBatch  = 200
	hostBatch   = 500
	// nudgeTurns bounds the turns of one Nudge; the next one goes on.
	nudgeTurns = 1000
)

// turn promises a better time to waiters whose promise is later than they are wanted, and
// adds them to the turns to be signalled: the line's first waiters if nobody is present or
// granted who would use the host, and in any case those whose shares of the grants come
// next. In a line where waiters sleep until they are called, the first of them are called
// in time even while others are present. The asker, 0 for none, needs no signal: its new
// time is returned.
func (g *gateHost) turn(ctx context.Context, pump pumped, asker int64) (time.Time, error) {
	var own time.Time
	if g.effects == nil || !g.hasSlot(nil) || g.row.blocked != 0 || slices.ContainsFunc(pump.granted, placeForRobots) {
		return own, nil
	}
	if err := g.arrive(ctx); err != nil {
		return own, err
	}
	lines := g.waitingLines()
	if len(lines) == 0 {
		return own, g.callBooked(ctx, pump)
	}
	demand := lines[0].demand
	step := g.step(demand)
	heads, err := g.heads(ctx, lines, pump, step)
	if err != nil {
		return own, err
	}
	if len(heads.waiters) == 0 {
		return own, g.callBooked(ctx, pump)
	}
	for _, t := range polite.Turns(heads.Heads, g.ledger(), g.underway(pump.granted), g.free(demand).At, step, g.at()) {
		w := heads.waiters[t.ID]
		w.place.promised = ceilMicros(t.At)
		// By itself it would not come for long, as on a blocked host.
		if far := w.was.promised > w.place.promised+spanMicros(polite.Lapse); far || w.sleeps() {
			w.place.called = wasCalled
		}
		if w.place.page == asker {
			w.place.called = comesAlone // it is answered
		}
		if err := g.put(ctx, w.was, w.place); err != nil {
			return own, err
		}
		if w.place.page == asker {
			own = t.At
		} else if err := g.signal(ctx, w.place.page, t.At); err != nil {
			return own, err
		}
	}
	return own, nil
}

// signal adds a turn for a page that is promised at, so that it comes a little earlier.
func (g *gateHost) signal(ctx context.Context, page int64, at time.Time) error {
	t := store.Turn{Page: crawl.PageRef{Store: g.store.id}, In: max(g.until(at)-polite.Lead, 0)}
	query := `SELECT p.id, p.url, c.id, c.name, h.host
		FROM pages p JOIN crawls c ON c.id = p.crawl_id JOIN hosts h ON h.id = p.host_id WHERE p.id = $1`
	err := g.tx.QueryRow(ctx, query, []any{page}, &t.Page.PageID, &t.Page.URL, &t.Page.CrawlID, &t.Page.Crawl, &t.Page.Host)
	if err != nil {
		return fmt.Errorf("read page %d: %w", page, err)
	}
	g.effects.Turns = append(g.effects.Turns, t)
	return nil
}

// late reports whether a waiter has not come for so long that it lapses.
func (g *gateHost) late(p place) bool { return p.promised < g.now-spanMicros(polite.Lapse) }

// park takes a place out of its line until its crawl is resumed.
func (g *gateHost) park(ctx context.Context, was, is place) error {
	is = is.withdrawn(kindPage)
	is.state = placeParked
	if err := g.put(ctx, was, is); err != nil {
		return err
	}
	return g.advance(ctx)
}

// leave takes a place out of its line.
func (g *gateHost) leave(ctx context.Context, p place) error {
	if err := g.drop(ctx, p); err != nil {
		return err
	}
	return g.advance(ctx)
}
