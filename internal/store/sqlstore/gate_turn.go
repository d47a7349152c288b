package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

const (
	// headLimit is how many first waiters of each line are looked at for turns:
	// enough for those who are due turns and as many that are passed over.
	headLimit = 2 * polite.MaxTurns
	// forgetAfter is how long a lapsed waiter is remembered for its age. After that
	// its page stands in no line, and reconciliation sees to it.
	forgetAfter = time.Hour
	// forgetBatch, lapseBatch and hostBatch bound the rows of one transaction.
	forgetBatch = 1000
	lapseBatch  = 200
	hostBatch   = 500
	// nudgeTurns bounds the turns of one Nudge; the next one goes on.
	nudgeTurns = 1000
)

// turn promises the line's first waiters a better time when they are promised
// later than the host is free and nobody is present or granted who would use it,
// and adds them to the turns to be signalled. The asker, 0 for none, needs no
// signal: its new time is returned.
func (g *gateHost) turn(ctx context.Context, pump pumped, asker int64) (time.Time, error) {
	var own time.Time
	if g.effects == nil || pump.others > 0 || len(pump.granted) > 0 || g.row.flightRobots != 0 || g.row.blocked != 0 {
		return own, nil
	}
	heads, err := g.heads(ctx)
	if err != nil || len(heads) == 0 {
		return own, err
	}
	promises := make([]time.Time, len(heads))
	for i, w := range heads {
		promises[i] = fromMicros(w.place.promised)
	}
	demand := g.demand(heads[0].place.crawl)
	for _, t := range polite.Turns(promises, g.free(demand).At, g.step(demand), g.at()) {
		w := heads[t.Index]
		w.place.promised = ceilMicros(t.At)
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

// signal adds a turn for a page that is promised at, to come a little before.
func (g *gateHost) signal(ctx context.Context, page int64, at time.Time) error {
	t := store.Turn{In: max(g.until(at)-polite.Lead, 0)}
	query := `SELECT p.id, p.url, c.id, c.name, h.host
		FROM pages p JOIN crawls c ON c.id = p.crawl_id JOIN hosts h ON h.id = p.host_id WHERE p.id = $1`
	err := g.tx.QueryRow(ctx, query, []any{page}, &t.Page.PageID, &t.Page.URL, &t.Page.CrawlID, &t.Page.Crawl, &t.Page.Host)
	if err != nil {
		return fmt.Errorf("read page %d: %w", page, err)
	}
	g.effects.Turns = append(g.effects.Turns, t)
	return nil
}

// heads lists the first waiters of the host in the order of its line: by class,
// and the crawls of a class in turn. Waiters that cannot be granted a permit are
// left out, and those that have not come for long lapse.
func (g *gateHost) heads(ctx context.Context) ([]*waiter, error) {
	lines := slices.DeleteFunc(slices.Clone(g.lines), func(l *gateLine) bool {
		return l.Waiting == 0 || l.state != crawl.CrawlRunning
	})
	slices.SortFunc(lines, func(a, b *gateLine) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Served, b.Served), cmp.Compare(a.Crawl, b.Crawl))
	})
	var heads []*waiter
	for len(lines) > 0 && len(heads) < polite.MaxTurns {
		n := 1
		for n < len(lines) && lines[n].Class == lines[0].Class {
			n++
		}
		queues := make([][]*waiter, n)
		for i, l := range lines[:n] {
			var err error
			if queues[i], err = g.lineHeads(ctx, l); err != nil {
				return nil, err
			}
		}
		heads = append(heads, inTurn(queues)...)
		lines = lines[n:]
	}
	return heads, nil
}

// inTurn takes one of each queue in turn until all are empty.
func inTurn(queues [][]*waiter) []*waiter {
	var all []*waiter
	for i, took := 0, true; took; i++ {
		took = false
		for _, q := range queues {
			if i < len(q) {
				all, took = append(all, q[i]), true
			}
		}
	}
	return all
}

// lineHeads lists the first waiters of one line, in its order.
func (g *gateHost) lineHeads(ctx context.Context, l *gateLine) ([]*waiter, error) {
	query := "SELECT " + placeColumns + ", " + robotsColumns + ", " + dutyColumn + `
		FROM places p LEFT JOIN robots r ON r.origin = p.origin
		WHERE p.host_id = $1 AND p.crawl_id = $2 AND p.class = $3 AND p.state = 1 AND p.lapsed_at = 0
		ORDER BY p.rank DESC, p.arrived LIMIT $4`
	all, err := collect(ctx, g.tx, query, []any{g.row.id, l.Crawl, int64(l.Class), headLimit}, scanWaiter)
	if err != nil {
		return nil, fmt.Errorf("read the heads of the line of %s: %w", g.row.host, err)
	}
	var heads []*waiter
	for _, w := range all {
		if g.late(w.place) {
			if err := g.lapse(ctx, w.place); err != nil {
				return nil, err
			}
			continue
		}
		if _, ok := g.permitFor(w); ok {
			heads = append(heads, w)
		}
	}
	return heads, nil
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

// advance grants and promises what a change of the line or the host has made
// possible.
func (g *gateHost) advance(ctx context.Context) error {
	pump, err := g.pump(ctx, nil)
	if err != nil {
		return err
	}
	_, err = g.turn(ctx, pump, 0)
	return err
}

// Leave implements store.Gate.
func (s *Store) Leave(ctx context.Context, pageID int64) (store.GateEffects, error) {
	effects, err := write(ctx, s, func(tx Tx) (store.GateEffects, error) {
		var effects store.GateEffects
		_, err := s.leaves(ctx, tx, pageID, &effects)
		return effects, err
	})
	if err != nil {
		return store.GateEffects{}, fmt.Errorf("leave the line: %w", err)
	}
	return effects, nil
}

// leaveLine takes the page out of its line, within a transaction that changes
// more of the page, and reports whether it stood in one. It turns nobody:
// maintenance does.
func (s *Store) leaveLine(ctx context.Context, tx Tx, pageID int64) (left bool, err error) {
	return s.leaves(ctx, tx, pageID, nil)
}

// leaves removes the page's place, if there is one. The host is known only from
// the place, which may have moved by the time the host is locked.
func (s *Store) leaves(ctx context.Context, tx Tx, pageID int64, effects *store.GateEffects) (left bool, err error) {
	p, err := loadPlace(ctx, tx, pageID)
	for err == nil {
		var g *gateHost
		if g, err = s.openHost(ctx, tx, effects, p.host); err != nil {
			return false, err
		}
		host := p.host
		if p, err = loadPlace(ctx, tx, pageID); err == nil && p.host == host {
			return true, errors.Join(g.leave(ctx, p), g.save(ctx))
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return false, err
}
