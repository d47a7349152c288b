package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
)

// passedOver is how many more of a line's first waiters are read than are wanted
// now: some do not come, and some cannot be granted a permit.
const passedOver = polite.MaxTurns

// waitingLines lists the lines of running crawls with waiters, in their order: by
// class, and the crawls of a class in turn.
func (g *gateHost) waitingLines() []*gateLine {
	lines := slices.DeleteFunc(slices.Clone(g.lines), func(l *gateLine) bool {
		return l.Waiting == 0 || l.state != crawl.CrawlRunning
	})
	slices.SortFunc(lines, func(a, b *gateLine) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Served, b.Served), cmp.Compare(a.Crawl, b.Crawl))
	})
	return lines
}

// heads are the waiters that may be wanted next at a host, with their places.
type heads struct {
	polite.Heads
	waiters map[int64]*waiter
}

// heads reads the waiters that may be wanted next: the first waiters of all lines if
// the host is idle, and those whose shares of the grants come next and who are not
// present.
func (g *gateHost) heads(ctx context.Context, lines []*gateLine, pump pumped, step time.Duration) (heads, error) {
	ledger := g.ledger()
	idle := pump.others == 0 && len(pump.granted) == 0
	calls := g.calls(lines, pump)
	firsts, elders := polite.FirstSlots(ledger, step)-pump.firsts, polite.AgedSlots(ledger, step)
	var look []foremost
	for _, l := range lines {
		switch {
		case idle || calls > 0:
			look = append(look, foremost{line: l, limit: max(polite.Slots(step), calls) + passedOver})
		case l.Class == crawl.ClassFirst && firsts > 0:
			look = append(look, foremost{line: l, limit: firsts + passedOver})
		}
	}
	if elders > 0 {
		look = append(look, eldestOf(lines, elders+passedOver)...)
	}
	waiters, err := g.foremost(ctx, look, nil)
	if err != nil {
		return heads{}, err
	}
	h := heads{waiters: make(map[int64]*waiter, len(waiters))}
	for _, w := range waiters {
		h.waiters[w.place.page] = w
	}
	queues := queuesOf(waiters, lines)
	if sleeping := slices.ContainsFunc(waiters, (*waiter).sleeps); idle || calls > 0 && sleeping {
		h.Order = headsOf(queues)
		if sleeping {
			h.Present, h.Slots = pump.others, calls
		}
	}
	if firsts > 0 {
		h.First = headsOf(slices.DeleteFunc(queues, func(q queue) bool { return q.line.Class != crawl.ClassFirst }))
	}
	if elders > 0 {
		slices.SortFunc(waiters, byAge)
		h.Eldest = asHeads(waiters[:min(elders+passedOver, len(waiters))])
	}
	return h, nil
}

// awaited is when the expected waiter that has waited longest of the whole line
// arrived, 0 if only the asker is expected.
func (g *gateHost) awaited(ctx context.Context, asker *waiter) (int64, error) {
	waiters, err := g.foremost(ctx, eldestOf(g.waitingLines(), 1+passedOver), asker)
	slices.SortFunc(waiters, byAge)
	for _, w := range waiters {
		if !polite.Overdue(fromMicros(w.place.promised), g.at()) {
			return w.place.arrived, err
		}
	}
	return 0, err
}

func byAge(a, b *waiter) int {
	return cmp.Or(cmp.Compare(a.place.arrived, b.place.arrived), cmp.Compare(a.place.page, b.place.page))
}

// foremost are the first waiters of a line or, without one, those of a crawl that
// have waited longest.
type foremost struct {
	line  *gateLine
	crawl int64
	limit int
}

// eldestOf are the waiters that have waited longest of each crawl with lines.
func eldestOf(lines []*gateLine, limit int) []foremost {
	var all []foremost
	for _, l := range lines {
		if !slices.ContainsFunc(all, func(f foremost) bool { return f.crawl == l.Crawl }) {
			all = append(all, foremost{crawl: l.Crawl, limit: limit})
		}
	}
	return all
}

// foremost reads first waiters, in no order, without those that cannot be granted a
// permit and the asker, who may be nil. Those that have not come for long lapse; the asker has
// come, however late its stored place is.
func (g *gateHost) foremost(ctx context.Context, look []foremost, asker *waiter) ([]*waiter, error) {
	if len(look) == 0 {
		return nil, nil
	}
	args := []any{g.row.id}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	ids := make([]string, len(look))
	for i, f := range look {
		var which string
		if f.line != nil {
			which = "crawl_id = " + arg(f.line.Crawl) + " AND class = " + arg(int64(f.line.Class)) + " AND state = 1 AND lapsed_at = 0 ORDER BY rank DESC, arrived"
		} else {
			which = "crawl_id = " + arg(f.crawl) + " AND state = 1 AND lapsed_at = 0 ORDER BY arrived"
		}
		ids[i] = fmt.Sprintf("SELECT page_id FROM (SELECT page_id FROM places WHERE host_id = $1 AND %s LIMIT %s) AS f%d", which, arg(f.limit), i)
	}
	query := "SELECT " + placeColumns + ", " + robotsColumns + ", " + dutyColumn + `
		FROM places p LEFT JOIN robots r ON r.origin = p.origin
		WHERE p.page_id IN (` + strings.Join(ids, " UNION ALL ") + ")"
	all, err := collect(ctx, g.tx, query, args, scanWaiter)
	if err != nil {
		return nil, fmt.Errorf("read the heads of the line of %s: %w", g.row.host, err)
	}
	var fit []*waiter
	for _, w := range all {
		if asker != nil && asker.place.page == w.place.page {
			continue
		}
		if g.late(w.place) {
			if err := g.lapse(ctx, w.place); err != nil {
				return nil, err
			}
			continue
		}
		if _, ok := g.permitFor(w); ok {
			fit = append(fit, w)
		}
	}
	return fit, nil
}

// queue is the first waiters of a line, in its order.
type queue struct {
	line    *gateLine
	waiters []*waiter
}

// queuesOf sorts waiters into their lines, which keep their order.
func queuesOf(waiters []*waiter, lines []*gateLine) []queue {
	queues := make([]queue, len(lines))
	for i, l := range lines {
		queues[i].line = l
		for _, w := range waiters {
			if w.place.crawl == l.Crawl && crawl.Class(w.place.class) == l.Class {
				queues[i].waiters = append(queues[i].waiters, w)
			}
		}
		slices.SortFunc(queues[i].waiters, func(a, b *waiter) int {
			return cmp.Or(cmp.Compare(b.place.rank, a.place.rank), byAge(a, b))
		})
	}
	return queues
}

// headsOf puts queues, sorted by class, into one: the crawls of a class in turn.
func headsOf(queues []queue) []polite.Head {
	var all []*waiter
	for len(queues) > 0 {
		n := 1
		for n < len(queues) && queues[n].line.Class == queues[0].line.Class {
			n++
		}
		for i, took := 0, true; took; i++ {
			took = false
			for _, q := range queues[:n] {
				if i < len(q.waiters) {
					all, took = append(all, q.waiters[i]), true
				}
			}
		}
		queues = queues[n:]
	}
	return asHeads(all)
}

func asHeads(waiters []*waiter) []polite.Head {
	list := make([]polite.Head, len(waiters))
	for i, w := range waiters {
		list[i] = polite.Head{ID: w.place.page, Class: crawl.Class(w.place.class), Promised: fromMicros(w.place.promised)}
	}
	return list
}

// ledger holds the host's debts to those who have shares of its grants. The share
// of first visits follows from all that running crawls know of the host.
func (g *gateHost) ledger() polite.Ledger {
	var undiscovered, visited int64
	counted := map[int64]bool{}
	for _, l := range g.lines {
		if l.state == crawl.CrawlRunning && !counted[l.Crawl] {
			counted[l.Crawl] = true
			undiscovered, visited = undiscovered+l.undiscovered, visited+l.visited
		}
	}
	return polite.Ledger{
		Aged: int(g.row.sinceAged), First: int(g.row.sinceFirst),
		FirstEvery: polite.Discover(undiscovered, visited).Every,
	}
}

// settleShares records a grant.
func (g *gateHost) settleShares(class crawl.Class, aged bool) {
	l := g.ledger().After(class, aged)
	g.row.sinceAged, g.row.sinceFirst = int64(l.Aged), int64(l.First)
}
