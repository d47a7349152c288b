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

// This file keeps long lines cheap. A page that would wait long sleeps until it is called
// by a turn (polite.Called), and a page that waited for its visit has its next one booked,
// so that it need not even ask for its place (polite.Book). A booked place becomes a
// waiting one when it is due.

// bookedColumn is when the first booked place of line l is due.
const bookedColumn = `COALESCE((SELECT MIN(b.arrived) FROM places b
	WHERE b.host_id = l.host_id AND b.crawl_id = l.crawl_id AND b.class = l.class AND b.state = 5), 0)`

// arrivals bounds the booked places of one line that arrive in one transaction. The next
// transaction goes on, and none makes more than a visit or two possible.
const arrivals = polite.Counted

// sleeps reports whether the waiter comes only when it is called.
func (w *waiter) sleeps() bool { return w.place.called == sleeps }

// calls is how many waiters should be present or on their way, 0 if nobody else is
// needed.
func (g *gateHost) calls(lines []*gateLine, pump pumped) int {
	var absent int64
	for _, l := range lines {
		absent += l.Waiting
	}
	if absent -= int64(pump.others); absent <= 0 || g.row.blocked != 0 {
		return 0
	}
	demand := lines[0].demand
	free := g.free(demand)
	n := polite.Calls(free.At, g.underway(pump.granted), g.expected(demand), free.Rest.Length, g.at()) - len(pump.granted)
	if n <= pump.others {
		return 0
	}
	return n
}

// arrive makes booked places that are due waiting ones.
func (g *gateHost) arrive(ctx context.Context) error {
	for _, l := range g.lines {
		if l.booked == 0 || l.booked > g.now || l.state != crawl.CrawlRunning {
			continue
		}
		due, err := g.bookedPlaces(ctx, l, g.now, arrivals)
		if err != nil {
			return err
		}
		for _, p := range due {
			is := p
			is.state, is.ahead, is.departed = placeWaiting, l.Waiting, l.Departed
			if err := g.put(ctx, p, is); err != nil {
				return err
			}
		}
		l.booked = 0 // until the next transaction reads it
	}
	return nil
}

// anyBooked reports whether a place is booked at the host.
func (g *gateHost) anyBooked() bool {
	return slices.ContainsFunc(g.lines, func(l *gateLine) bool { return l.booked != 0 })
}

// bookedPlaces reads the first booked places of a line that are due by then.
func (g *gateHost) bookedPlaces(ctx context.Context, l *gateLine, by int64, limit int) ([]place, error) {
	query := "SELECT " + placeColumns + ` FROM places p
		WHERE p.host_id = $1 AND p.crawl_id = $2 AND p.class = $3 AND p.state = 5 AND p.arrived <= $4 ORDER BY p.arrived LIMIT $5`
	places, err := collect(ctx, g.tx, query, []any{g.row.id, l.Crawl, int64(l.Class), by, limit}, scanPlace)
	if err != nil {
		return nil, fmt.Errorf("read the booked places of %s: %w", g.row.host, err)
	}
	return places, nil
}

// callBooked lets the booked page that is due first come when it is due, if no request is
// left whose end would call it. Its own end calls the next one.
func (g *gateHost) callBooked(ctx context.Context, pump pumped) error {
	if pump.others > 0 || len(pump.granted) > 0 || g.row.flightPermit != 0 {
		return nil
	}
	var first *gateLine
	for _, l := range g.lines {
		if l.booked > g.now && l.state == crawl.CrawlRunning && (first == nil || l.booked < first.booked) {
			first = l
		}
	}
	if first == nil {
		return nil
	}
	found, err := g.bookedPlaces(ctx, first, first.booked, 1)
	if err != nil || len(found) == 0 {
		return err
	}
	is := found[0]
	at := fromMicros(max(is.arrived, micros(g.free(first.demand).At)))
	if is.promised = ceilMicros(at); is.called == wasCalled {
		return nil
	}
	is.called = wasCalled
	if err := g.put(ctx, found[0], is); err != nil {
		return err
	}
	// It must not come before it is due, and a turn brings a page Lead before its time.
	return g.signal(ctx, is.page, at.Add(2*polite.Lead))
}

// book books the place of a page's next visit if the page would wait for it as it did for
// this one, and returns until when the page may sleep in it; zero if it is not booked.
func (s *Store) book(ctx context.Context, tx Tx, page frontierRow, v store.VisitRecord, p store.RecordParams, now int64) (time.Time, error) {
	seen := polite.Visited{Late: p.Late, Due: v.NextAt.Sub(fromMicros(now))}
	if v.Visit < 2 || !v.State.Lives() || p.Held > 0 || !seen.Waits() {
		return time.Time{}, nil
	}
	asker, err := loadAsker(ctx, tx, page.pageID)
	if err != nil || asker.crawlState != crawl.CrawlRunning {
		return time.Time{}, err
	}
	var until time.Time
	err = s.atHost(ctx, tx, nil, page.hostID, nil, func(g *gateHost) error {
		until, err = g.book(ctx, asker, v, seen)
		return err
	})
	return until, err
}

func (g *gateHost) book(ctx context.Context, asker asker, v store.VisitRecord, seen polite.Visited) (time.Time, error) {
	if stands, err := standsInLine(ctx, g.tx, asker.id); err != nil || stands || g.row.blocked != 0 {
		return time.Time{}, err
	}
	for _, l := range g.waitingLines() {
		if l.Class == crawl.ClassRevisit || l.Class == crawl.ClassProbe {
			seen.Waiting += l.Waiting
		}
	}
	seen.Step = g.step(asker.demand)
	uncalled, ok := polite.Book(seen)
	if !ok {
		return time.Time{}, nil
	}
	class := v.State.RevisitClass()
	if _, err := g.line(ctx, asker.crawl, class); err != nil { // save stores it, if it is new
		return time.Time{}, err
	}
	until := v.NextAt.Add(uncalled)
	is := place{
		page: asker.id, host: g.row.id, home: g.row.id, crawl: asker.crawl, visit: int64(v.Visit) + 1, class: int64(class),
		state: placeBooked, origin: asker.origin, arrived: micros(v.NextAt), promised: ceilMicros(until), called: sleeps,
	}
	return until, g.put(ctx, place{}, is)
}

// standsInLine reports whether a page has a place, in any state.
func standsInLine(ctx context.Context, tx Tx, page int64) (bool, error) {
	_, err := loadPlace(ctx, tx, page)
	return err == nil, ignoreNotFound(err)
}

// bookedUntil is until when a page may sleep in the place that is booked for a visit; zero
// if there is none.
func bookedUntil(ctx context.Context, tx Tx, page int64, visit int) (time.Time, error) {
	p, err := loadPlace(ctx, tx, page)
	if err != nil || p.state != placeBooked || p.visit != int64(visit) || p.called != sleeps {
		return time.Time{}, ignoreNotFound(err)
	}
	return fromMicros(p.promised), nil
}

// recallAfter is how late a called waiter must be for Recall to check its host. It is
// passed over when it is polite.Grace late.
const recallAfter = polite.Grace

// Recall implements store.Gate. Every host is a transaction of its own.
func (s *Store) Recall(ctx context.Context, limit int) (store.GateEffects, error) {
	var all store.GateEffects
	hosts, err := read(ctx, s, func(tx Tx) ([]int64, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		// Limited before DISTINCT: a host may have many.
		query := `SELECT DISTINCT l.host_id FROM (SELECT p.host_id FROM places p
			WHERE p.state = 1 AND p.called = 2 AND p.lapsed_at = 0 AND p.promised_at < $1 ORDER BY p.promised_at LIMIT $2) l`
		return collect(ctx, tx, query, []any{now - spanMicros(recallAfter), limitOr(limit)}, scanID)
	})
	if err != nil {
		return all, fmt.Errorf("recall: %w", err)
	}
	for _, host := range hosts {
		effects, err := s.nudgeHost(ctx, host)
		if err != nil {
			return all, fmt.Errorf("recall host %d: %w", host, err)
		}
		all.Turns = append(all.Turns, effects.Turns...)
	}
	return all, nil
}
