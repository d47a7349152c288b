package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// hostRow is the gate's record of a host; see migration 0002_gate.
type hostRow struct {
	id         int64
	host       string
	crawlDelay int64

	lastEnd, lastDuration, mean int64
	lastDelay, lastCap          int64
	lastFactor                  float64
	flightPermit, flightPage    int64
	flightRobots                int64
	begunAt, expiresAt, lost    int64
	backoffUntil, backoffLevel  int64
	backoffReason               string
	quietSince, failures        int64
	blocked                     int64
	permits, grants, sinceAged  int64
	sinceFirst                  int64
	refusals                    float64
	pace                        int64
}

const hostColumns = `h.id, h.host, h.crawl_delay,
	h.last_end, h.last_duration, h.mean_duration, h.last_delay, h.last_factor, h.last_cap,
	h.flight_permit, h.flight_page, h.flight_robots, h.begun_at, h.expires_at, h.lost_permit,
	h.backoff_until, h.backoff_level, h.backoff_reason, h.quiet_since, h.failures_in_row, h.blocked,
	h.permits, h.grants, h.since_aged, h.since_first, h.refusals, h.pace`

func (h *hostRow) fields() []any {
	return []any{
		&h.id, &h.host, &h.crawlDelay,
		&h.lastEnd, &h.lastDuration, &h.mean, &h.lastDelay, &h.lastFactor, &h.lastCap,
		&h.flightPermit, &h.flightPage, &h.flightRobots, &h.begunAt, &h.expiresAt, &h.lost,
		&h.backoffUntil, &h.backoffLevel, &h.backoffReason, &h.quietSince, &h.failures, &h.blocked,
		&h.permits, &h.grants, &h.sinceAged, &h.sinceFirst, &h.refusals, &h.pace,
	}
}

// gateHost is one host within one gate transaction, its row locked. Changes are
// made to row and lines and written by save, if there are any. Without effects
// nobody is turned: the caller could not signal.
type gateHost struct {
	store    *Store
	tx       Tx
	now      int64
	row, was hostRow
	rested   int64
	lines    []*gateLine
	landed   int64 // the crawl whose request has ended in this transaction, 0 if none has
	// flight is the place of the request in flight, if it was read with the host.
	flight *place
	// permits are the granted places, if they were read with the host and none has changed since.
	permits *[]place
	effects *store.GateEffects
}

// gateLine is one crawl's waiters of one class on the host.
type gateLine struct {
	polite.Line // Served is the crawl's, over all its lines on this host
	was         polite.Line
	served      int64 // of this line alone
	servedWas   int64
	stored      bool
	state       crawl.CrawlState
	demand      polite.Demand
	// undiscovered are the crawl's pages of the host that were never visited, and
	// visited are others.
	undiscovered, visited int64
	booked                int64 // when the first of its booked places is due, 0 without one
}

// ofCrawlColumns are a line's columns from its crawl c and from the crawl's pages at
// the host, hc.
const ofCrawlColumns = `c.state, ` + demandColumns + `,
	COALESCE(hc.known + hc.unattempted, 0), COALESCE(hc.living - hc.unattempted, 0)`

// scanCrawl scans ofCrawlColumns after others.
func (l *gateLine) scanCrawl(scan func(dest ...any) error, others ...any) error {
	var state int64
	var d demandRow
	err := scan(append(append(append(others, &state), d.fields()...), &l.undiscovered, &l.visited)...)
	l.state, l.demand = crawl.CrawlState(state), d.demand()
	return err
}

// openGate locks the hosts in the order of their ids, so that transactions with
// more than one cannot deadlock, reads the clock after that, and closes the
// account of requests that have expired. Turns are added to effects, which may be
// nil, as may reads, which returns what the caller reads under the locks. That is read
// again, with landed set, if a request has ended here, since its end changes places.
func (s *Store) openGate(ctx context.Context, tx Tx, effects *store.GateEffects, ids []int64, reads func(landed bool) []Step) ([]*gateHost, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if reads == nil {
		reads = func(bool) []Step { return nil }
	}
	var gates []*gateHost
	var steps []Step
	for _, id := range ids {
		g := &gateHost{store: s, tx: tx, effects: effects}
		gates = append(gates, g)
		query := "SELECT " + hostColumns + ", (SELECT rested_at FROM rest WHERE id = 1) FROM hosts h WHERE h.id = $1" + s.lock()
		steps = append(steps, oneRow(query, []any{id}, append(g.row.fields(), &g.rested)...))
	}
	var now int64
	steps = append(steps, Step{Clock: &now})
	for i, id := range ids {
		steps = append(steps, gates[i].linesOf(id))
	}
	if err := tx.Pipeline(ctx, append(steps, reads(false)...)...); err != nil {
		return nil, fmt.Errorf("lock the hosts %d and read their lines: %w", ids, err)
	}
	for i, g := range gates {
		if g.row.id == 0 {
			return nil, fmt.Errorf("lock host %d: %w", ids[i], store.ErrNotFound)
		}
		g.was, g.now = g.row, now
	}
	if err := s.boundAll(ctx, tx, gates); err != nil {
		return nil, err
	}
	landed := false
	for _, g := range gates {
		for _, l := range g.lines {
			l.Served = g.servedLast(l.Crawl)
		}
		if err := g.settle(ctx); err != nil {
			return nil, fmt.Errorf("end the expired request to %s: %w", g.row.host, err)
		}
		landed = landed || g.landed != 0
	}
	if landed {
		return gates, tx.Pipeline(ctx, reads(true)...)
	}
	return gates, nil
}

// openHost is openGate for one host.
func (s *Store) openHost(ctx context.Context, tx Tx, effects *store.GateEffects, id int64, reads func(landed bool) []Step) (*gateHost, error) {
	gates, err := s.openGate(ctx, tx, effects, []int64{id}, reads)
	if err != nil {
		return nil, err
	}
	return gates[0], nil
}

// linesOf reads the lines of the gate's host.
func (g *gateHost) linesOf(host int64) Step {
	query := `SELECT l.crawl_id, l.class, l.waiting, l.departed, l.served, ` + bookedColumn + `, ` + ofCrawlColumns + `
		FROM lines l JOIN crawls c ON c.id = l.crawl_id
			LEFT JOIN host_crawls hc ON hc.host_id = l.host_id AND hc.crawl_id = l.crawl_id
		WHERE l.host_id = $1`
	return Step{Query: query, Args: []any{host}, Scan: func(row Row) error {
		l := &gateLine{stored: true}
		if err := l.scanCrawl(row.Scan, &l.Crawl, &l.Class, &l.Waiting, &l.Departed, &l.served, &l.booked); err != nil {
			return err
		}
		l.was, l.servedWas = l.Line, l.served
		g.lines = append(g.lines, l)
		return nil
	}}
}

// waiters counts the waiters at the host, expected or present. A lapsed one is neither.
func (g *gateHost) waiters() int64 {
	var n int64
	for _, l := range g.lines {
		n += l.Waiting
	}
	return n
}

// servedLast orders the crawls by their last grant on this host.
func (g *gateHost) servedLast(crawlID int64) int64 {
	var last int64
	for _, l := range g.lines {
		if l.Crawl == crawlID {
			last = max(last, l.served)
		}
	}
	return last
}

// line returns the line of a crawl and class, which may be new.
func (g *gateHost) line(ctx context.Context, crawlID int64, class crawl.Class) (*gateLine, error) {
	for _, l := range g.lines {
		if l.Crawl == crawlID && l.Class == class {
			return l, nil
		}
	}
	l := &gateLine{Line: polite.Line{Crawl: crawlID, Class: class, Served: g.servedLast(crawlID)}}
	query := "SELECT " + ofCrawlColumns + `
		FROM crawls c LEFT JOIN host_crawls hc ON hc.host_id = $1 AND hc.crawl_id = c.id WHERE c.id = $2`
	err := l.scanCrawl(func(dest ...any) error { return g.tx.QueryRow(ctx, query, []any{g.row.id, crawlID}, dest...) })
	if err != nil {
		return nil, fmt.Errorf("read crawl %d: %w", crawlID, err)
	}
	g.lines = append(g.lines, l)
	return l, nil
}

// save writes the changes of the host and its lines.
func (g *gateHost) save(ctx context.Context) error {
	if err := g.saveLines(ctx); err != nil {
		return fmt.Errorf("write the lines of %s: %w", g.row.host, err)
	}
	if g.row == g.was {
		return nil
	}
	h := &g.row
	err := g.tx.Queue(ctx, `UPDATE hosts SET
		last_end = $1, last_duration = $2, mean_duration = $3, last_delay = $4, last_factor = $5, last_cap = $6,
		flight_permit = $7, flight_page = $8, flight_robots = $9, begun_at = $10, expires_at = $11, lost_permit = $12,
		backoff_until = $13, backoff_level = $14, quiet_since = $15, failures_in_row = $16,
		blocked = $17, permits = $18, grants = $19, since_aged = $20, since_first = $21,
		backoff_reason = $22, refusals = $23, pace = $24 WHERE id = $25`,
		h.lastEnd, h.lastDuration, h.mean, h.lastDelay, h.lastFactor, h.lastCap,
		h.flightPermit, h.flightPage, h.flightRobots, h.begunAt, h.expiresAt, h.lost,
		h.backoffUntil, h.backoffLevel, h.quietSince, h.failures,
		h.blocked, h.permits, h.grants, h.sinceAged, h.sinceFirst, h.backoffReason, h.refusals, h.pace, h.id)
	if err != nil {
		return fmt.Errorf("write host %s: %w", g.row.host, err)
	}
	g.was = g.row
	return nil
}

func (g *gateHost) saveLines(ctx context.Context) error {
	for _, l := range g.lines {
		if l.stored && l.Waiting == l.was.Waiting && l.Departed == l.was.Departed && l.served == l.servedWas {
			continue
		}
		err := g.tx.Queue(ctx, `INSERT INTO lines (host_id, crawl_id, class, waiting, departed, served)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (host_id, crawl_id, class) DO UPDATE SET
			waiting = excluded.waiting, departed = excluded.departed, served = excluded.served`,
			g.row.id, l.Crawl, int64(l.Class), l.Waiting, l.Departed, l.served)
		if err != nil {
			return err
		}
		l.was, l.servedWas, l.stored = l.Line, l.served, true
	}
	return nil
}

// settle ends a request whose permit has expired without a release: it counts
// as lasting until then.
func (g *gateHost) settle(ctx context.Context) error {
	h := &g.row
	if h.flightPermit == 0 || g.now < h.expiresAt {
		return nil
	}
	h.lost = h.flightPermit
	return g.land(ctx, h.expiresAt, h.expiresAt-h.begunAt, false)
}

// land ends the request in flight at end. Its place is given up if the page had
// its request; otherwise it waits again with its old age: a robots permit's
// until its page asks for its own, a lost one's until it asks once more.
func (g *gateHost) land(ctx context.Context, end, duration int64, released bool) error {
	h := &g.row
	permit, page, kind := h.flightPermit, h.flightPage, h.flightRobots
	before := h.lastEnd
	h.lastEnd, h.lastDuration = end, duration
	h.flightPermit, h.flightPage, h.flightRobots, h.begunAt, h.expiresAt = 0, 0, 0, 0, 0
	p, err := g.flying(ctx, page)
	if err != nil {
		return err
	}
	if p.page == 0 || p.host != h.id || p.permit != permit || p.state != placeBegun {
		return nil // it left the line meanwhile
	}
	g.landed = p.crawl
	h.pace = spanMicros(polite.Pace(span(h.pace), span(end-max(before, p.arrived))))
	if released && kind == kindPage {
		return g.drop(ctx, p)
	}
	if done, err := isRecorded(ctx, g.tx, p); err != nil || done {
		return errors.Join(err, g.drop(ctx, p))
	}
	if !released {
		kind = kindPage
	}
	return g.requeue(ctx, p, kind)
}

// flying is the place of the page whose request is in flight, the zero place if it has none.
func (g *gateHost) flying(ctx context.Context, page int64) (place, error) {
	if g.flight != nil {
		return *g.flight, nil
	}
	p, err := loadPlace(ctx, g.tx, page)
	return p, ignoreNotFound(err)
}

// isRecorded reports whether the visit of a place is done.
func isRecorded(ctx context.Context, tx Tx, p place) (bool, error) {
	var visit int64
	err := tx.QueryRow(ctx, "SELECT visit FROM frontier WHERE page_id = $1", []any{p.page}, &visit)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return visit >= p.visit, err
}

// state is the host as package polite sees it.
func (g *gateHost) state() polite.Host {
	h := polite.Host{
		LastEnd:      fromMicros(max(g.row.lastEnd, g.rested)),
		LastDuration: span(g.row.lastDuration),
		Last:         polite.Demand{Delay: span(g.row.lastDelay), Factor: g.row.lastFactor, MaxCrawlDelay: span(g.row.lastCap)},
		Mean:         span(g.row.mean),
		Refusals:     g.row.refusals,
		CrawlDelay:   span(g.row.crawlDelay),
		BackoffUntil: fromMicros(g.row.backoffUntil),
	}
	if g.row.flightPermit != 0 {
		h.BegunAt = fromMicros(g.row.begunAt)
	}
	return h
}

// free returns from when on the host may be asked for a crawl with this demand.
func (g *gateHost) free(d polite.Demand) polite.Free {
	return polite.NextFree(g.state(), d, g.at())
}

// step is the least time from one request to the next.
func (g *gateHost) step(d polite.Demand) time.Duration { return g.state().Step(d) }

// expected is the time from one request to the next that waiters should count on.
func (g *gateHost) expected(d polite.Demand) time.Duration {
	return polite.Expected(g.step(d), span(g.row.pace))
}

// at is now as a time.
func (g *gateHost) at() time.Time { return fromMicros(g.now) }

// until is the time from now to t, not negative.
func (g *gateHost) until(t time.Time) time.Duration { return max(t.Sub(g.at()), 0) }

// span is a stored duration.
func span(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// spanMicros is a duration as stored, rounded up: no hold may get shorter.
func spanMicros(d time.Duration) int64 {
	return int64((max(d, 0) + time.Microsecond - 1) / time.Microsecond)
}

// ceilMicros is a time as stored, rounded up.
func ceilMicros(t time.Time) int64 { return micros(t.Add(time.Microsecond - 1)) }
