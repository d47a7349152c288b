package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// RestAllHosts makes every host rest one gap from now on: for a store whose last
// owner did not close it, so the end of its last requests is not known.
//
// That owner was the one process that could have had a request in flight, a
// permit to begin, or a waiter present. Its connections are closed and nobody is
// there, so requests in flight end now and permits go back into the line.
func RestAllHosts(ctx context.Context, tx Tx, now int64) error {
	for _, query := range []string{
		"UPDATE rest SET rested_at = $1 WHERE id = 1",
		"UPDATE hosts SET expires_at = $1 WHERE flight_permit <> 0 AND expires_at > $1",
		`UPDATE places SET state = 1, kind = 0, url = '', permit_id = 0, granted_at = 0, lapsed_at = 0, promised_at = $1
			WHERE state = 2`,
		"UPDATE places SET present_until = 0 WHERE state = 1 AND present_until > 0 AND present_until > $1",
	} {
		if _, err := tx.Exec(ctx, query, now); err != nil {
			return fmt.Errorf("let all hosts rest: %w", err)
		}
	}
	_, err := tx.Exec(ctx, `UPDATE lines SET waiting = (SELECT COUNT(*) FROM places p WHERE p.host_id = lines.host_id
		AND p.crawl_id = lines.crawl_id AND p.class = lines.class AND p.state = 1 AND p.lapsed_at = 0)`)
	if err != nil {
		return fmt.Errorf("count the waiters of all hosts: %w", err)
	}
	return nil
}

// Nudge implements store.Gate. Every host is a transaction of its own.
func (s *Store) Nudge(ctx context.Context) (store.GateEffects, error) {
	all, err := s.forgetLapsed(ctx)
	if err != nil {
		return all, fmt.Errorf("nudge: %w", err)
	}
	if err := s.unparkForgotten(ctx, &all); err != nil {
		return all, fmt.Errorf("nudge: %w", err)
	}
	for after := int64(0); len(all.Turns) < nudgeTurns; {
		hosts, err := s.waitingHosts(ctx, after)
		if err != nil || len(hosts) == 0 {
			return all, err
		}
		for _, host := range hosts {
			effects, err := s.nudgeHost(ctx, host)
			if err != nil {
				return all, fmt.Errorf("nudge host %d: %w", host, err)
			}
			all.Turns = append(all.Turns, effects.Turns...)
		}
		after = hosts[len(hosts)-1]
	}
	return all, nil
}

// forgetLapsed removes waiters that lapsed long ago, and calls them a last time: a workflow
// whose turns were lost would sleep for as long as it was told when it asked. Their lines
// do not count them, so no host needs to be locked; the condition is given again because a
// waiter may come back in between.
func (s *Store) forgetLapsed(ctx context.Context) (store.GateEffects, error) {
	type lapsed struct {
		page store.Turn
		at   int64
	}
	effects, err := write(ctx, s, func(tx Tx) (store.GateEffects, error) {
		var all store.GateEffects
		now, err := tx.Now(ctx)
		if err != nil {
			return all, err
		}
		query := `SELECT p.id, p.url, c.id, c.name, h.host, l.lapsed_at
			FROM (SELECT page_id, lapsed_at FROM places WHERE lapsed_at > 0 AND lapsed_at < $1 ORDER BY lapsed_at LIMIT $2) l
			JOIN pages p ON p.id = l.page_id JOIN crawls c ON c.id = p.crawl_id JOIN hosts h ON h.id = p.host_id`
		found, err := collect(ctx, tx, query, []any{now - spanMicros(forgetAfter), forgetBatch}, func(r Row) (l lapsed, err error) {
			p := &l.page.Page
			p.Store = s.id
			return l, r.Scan(&p.PageID, &p.URL, &p.CrawlID, &p.Crawl, &p.Host, &l.at)
		})
		for _, l := range found {
			n, err := tx.Exec(ctx, `DELETE FROM places WHERE page_id = $1 AND lapsed_at = $2`, l.page.Page.PageID, l.at)
			if err != nil {
				return all, err
			}
			if n > 0 {
				all.Turns = append(all.Turns, l.page)
			}
		}
		return all, err
	})
	if err != nil {
		return effects, fmt.Errorf("forget lapsed waiters: %w", err)
	}
	return effects, nil
}

// awaited is the condition that somebody waits in line l, or has booked a place in it.
const awaited = `(l.waiting > 0 OR EXISTS (SELECT 1 FROM places b
	WHERE b.host_id = l.host_id AND b.crawl_id = l.crawl_id AND b.class = l.class AND b.state = 5))`

// waitingHosts lists hosts with waiters after the given one.
func (s *Store) waitingHosts(ctx context.Context, after int64) ([]int64, error) {
	query := `SELECT DISTINCT l.host_id FROM lines l WHERE l.host_id > $1 AND ` + awaited + ` ORDER BY l.host_id LIMIT $2`
	hosts, err := read(ctx, s, func(tx Tx) ([]int64, error) {
		return collect(ctx, tx, query, []any{after, hostBatch}, scanID)
	})
	if err != nil {
		return nil, fmt.Errorf("list hosts with waiters: %w", err)
	}
	return hosts, nil
}

// recountEmpty corrects lines that count waiters and have none: earlier releases counted a page
// twice whose permit had become too old. Nobody is granted a permit that begins at once where somebody
// seems to wait.
func (g *gateHost) recountEmpty(ctx context.Context) error {
	if g.waiters() == 0 {
		return nil
	}
	query := `SELECT l.crawl_id, l.class FROM lines l WHERE l.host_id = $1 AND l.waiting > 0
		AND NOT EXISTS (SELECT 1 FROM places p WHERE p.host_id = l.host_id AND p.crawl_id = l.crawl_id AND p.class = l.class AND p.state = 1 AND p.lapsed_at = 0)`
	err := g.tx.Query(ctx, query, []any{g.row.id}, func(row Row) error {
		var crawlID, class int64
		err := row.Scan(&crawlID, &class)
		for _, l := range g.lines {
			if l.Crawl == crawlID && int64(l.Class) == class {
				l.Waiting = 0
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("look for empty lines of %s: %w", g.row.host, err)
	}
	return nil
}

// lapseLate lapses the waiters that did not come. Those of a blocked host have
// nothing to come for.
func (g *gateHost) lapseLate(ctx context.Context) error {
	if g.row.blocked != 0 {
		return nil
	}
	query := "SELECT " + placeColumns + ` FROM places p
		WHERE p.host_id = $1 AND p.state = 1 AND p.lapsed_at = 0 AND p.promised_at < $2 ORDER BY p.promised_at LIMIT $3`
	late, err := collect(ctx, g.tx, query, []any{g.row.id, g.now - spanMicros(polite.Lapse), lapseBatch}, scanPlace)
	if err != nil {
		return fmt.Errorf("read the late waiters of %s: %w", g.row.host, err)
	}
	for _, p := range late {
		if err := g.lapse(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// unparkForgotten takes back pages that are parked although their crawls run, and adds their
// turns: a page may park while its crawl is being resumed.
func (s *Store) unparkForgotten(ctx context.Context, all *store.GateEffects) error {
	query := `SELECT c.id FROM crawls c WHERE c.state = 1 AND EXISTS (SELECT 1 FROM places q WHERE q.crawl_id = c.id AND q.state = 4) ORDER BY c.id`
	crawls, err := read(ctx, s, func(tx Tx) ([]int64, error) { return collect(ctx, tx, query, nil, scanID) })
	if err != nil {
		return fmt.Errorf("list crawls with parked pages: %w", err)
	}
	for _, id := range crawls {
		if len(all.Turns) >= nudgeTurns {
			return nil
		}
		effects, err := s.unparkPages(ctx, id, nudgeTurns-len(all.Turns))
		all.Turns = append(all.Turns, effects.Turns...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Unpark implements store.Gate. Every host is a transaction of its own; if a call
// fails after it took back a page, the page is waiting, and its promise brings it
// back like any other.
func (s *Store) Unpark(ctx context.Context, crawlID int64, limit int) (store.GateEffects, error) {
	all, err := s.unparkPages(ctx, crawlID, limit)
	if err != nil || len(all.Turns) > 0 {
		return all, err
	}
	return s.resumeLines(ctx, crawlID, limit)
}

func (s *Store) unparkPages(ctx context.Context, crawlID int64, limit int) (store.GateEffects, error) {
	var all store.GateEffects
	parked, err := s.parkedPlaces(ctx, crawlID, limit)
	if err != nil {
		return all, fmt.Errorf("unpark: %w", err)
	}
	for len(parked) > 0 {
		n := 1
		for n < len(parked) && parked[n].host == parked[0].host && n < lapseBatch {
			n++
		}
		effects, err := s.unparkHost(ctx, crawlID, parked[:n])
		if err != nil {
			return all, fmt.Errorf("unpark pages of host %d: %w", parked[0].host, err)
		}
		all.Turns = append(all.Turns, effects.Turns...)
		parked = parked[n:]
	}
	return all, nil
}

// coming is the condition that a page of line l's host and crawl comes soon: by itself between
// $2 and $3, or because it was called. It calls the others.
const coming = `(EXISTS (SELECT 1 FROM places w WHERE w.host_id = l.host_id AND w.crawl_id = l.crawl_id
		AND w.state = 1 AND w.lapsed_at = 0 AND (w.called = 2 OR w.called = 0 AND w.promised_at BETWEEN $2 AND $3))
	OR l.waiting = 0 AND EXISTS (SELECT 1 FROM places b WHERE b.host_id = l.host_id AND b.crawl_id = l.crawl_id
		AND b.state = 5 AND b.called = 2))`

// resumeLines turns the lines of a resumed crawl in which everybody is asleep until a turn calls:
// pages that came while the crawl was paused called nobody. Every host is a transaction of its
// own, and one whose page was called is not looked at again by the next call.
func (s *Store) resumeLines(ctx context.Context, crawlID int64, limit int) (store.GateEffects, error) {
	var all store.GateEffects
	query := `SELECT DISTINCT l.host_id FROM host_crawls hc JOIN lines l ON l.host_id = hc.host_id AND l.crawl_id = hc.crawl_id
		JOIN crawls c ON c.id = hc.crawl_id WHERE hc.crawl_id = $1 AND c.state = 1 AND ` + awaited + ` AND NOT ` + coming + ` ORDER BY l.host_id`
	hosts, err := read(ctx, s, func(tx Tx) ([]int64, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		return collect(ctx, tx, query, []any{crawlID, now - spanMicros(polite.Lapse), now + spanMicros(polite.Lapse)}, scanID)
	})
	if err != nil {
		return all, fmt.Errorf("list the hosts of a resumed crawl: %w", err)
	}
	for _, host := range hosts {
		effects, err := s.nudgeHost(ctx, host)
		if err != nil {
			return all, fmt.Errorf("turn the line of host %d: %w", host, err)
		}
		if all.Turns = append(all.Turns, effects.Turns...); len(all.Turns) >= limitOr(limit) {
			break
		}
	}
	return all, nil
}

// parkedPlaces lists the oldest parked places of a running crawl by host, at most
// limit; none while the crawl does not run.
func (s *Store) parkedPlaces(ctx context.Context, crawlID int64, limit int) ([]place, error) {
	// Limited before they are sorted by host: a crawl may have many parked.
	query := "SELECT " + placeColumns + ` FROM places p WHERE p.page_id IN
			(SELECT q.page_id FROM places q WHERE q.crawl_id = $1 AND q.state = 4 ORDER BY q.arrived, q.page_id LIMIT $2)
		AND EXISTS (SELECT 1 FROM crawls c WHERE c.id = $3 AND c.state = 1)
		ORDER BY p.host_id, p.class, p.arrived`
	return read(ctx, s, func(tx Tx) ([]place, error) {
		return collect(ctx, tx, query, []any{crawlID, limitOr(limit), crawlID}, scanPlace)
	})
}

// unpark takes one parked place back, promises it its time and signals it. A place
// that has changed since it was seen is left alone.
func (g *gateHost) unpark(ctx context.Context, crawlID int64, seen place) error {
	p, err := loadPlace(ctx, g.tx, seen.page)
	if errors.Is(err, store.ErrNotFound) || (err == nil && p != seen) {
		return nil
	}
	if err != nil {
		return err
	}
	own, err := g.line(ctx, crawlID, crawl.Class(p.class))
	if err != nil || own.state != crawl.CrawlRunning {
		return err
	}
	is := p.withdrawn(kindPage)
	is.ahead, is.departed = own.Waiting, own.Departed
	granted, err := g.granted(ctx)
	if err != nil {
		return err
	}
	position, err := g.position(ctx, &is, granted)
	if err != nil {
		return err
	}
	at := polite.Promise(g.free(own.demand).At, position, g.step(own.demand))
	// Its workflow sleeps for long: if this turn is lost, it is called once more.
	is.promised, is.called = ceilMicros(at), wasCalled
	if err := g.put(ctx, p, is); err != nil {
		return err
	}
	return g.signal(ctx, p.page, at)
}
