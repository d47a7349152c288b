package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// States of a place. The numbers are stored, and written out in the queries:
// both databases match partial indexes by their constants.
const (
	placeWaiting = 1
	placeGranted = 2
	placeBegun   = 3
	placeParked  = 4
	placeBooked  = 5
)

// How a waiter comes. The numbers are stored.
const (
	comesAlone = 0 // by itself, when it was promised
	sleeps     = 1 // a turn calls it; its promise is only in case the turn is lost
	wasCalled  = 2 // by a turn
)

// Kinds of a place: the purpose of its permit, present or future. The numbers are
// stored.
const (
	kindPage   = 0
	kindRobots = 1
)

// place is a visit's place in a host's line; see migration 0002_gate. The zero
// place means none.
type place struct {
	page, host, home, crawl int64
	visit, class            int64
	rank                    float64
	state, kind             int64
	origin, url             string
	arrived, promised       int64
	present, lapsed         int64
	ahead, departed         int64
	permit, grantedAt       int64
	called                  int64
}

const placeColumns = `p.page_id, p.host_id, p.home_id, p.crawl_id, p.visit, p.class, p.rank, p.state, p.kind,
	p.origin, p.url, p.arrived, p.promised_at, p.present_until, p.lapsed_at, p.ahead, p.departed, p.permit_id, p.granted_at, p.called`

func (p *place) fields() []any {
	return []any{
		&p.page, &p.host, &p.home, &p.crawl, &p.visit, &p.class, &p.rank, &p.state, &p.kind,
		&p.origin, &p.url, &p.arrived, &p.promised, &p.present, &p.lapsed, &p.ahead, &p.departed, &p.permit, &p.grantedAt, &p.called,
	}
}

// counted reports whether the place counts as one of its line's waiting ones.
func (p *place) counted() bool { return p.state == placeWaiting && p.lapsed == 0 }

// withdrawn is the place without its permit, back in state waiting.
func (p place) withdrawn(kind int64) place {
	p.state, p.kind, p.permit, p.grantedAt, p.url = placeWaiting, kind, 0, 0, ""
	p.present, p.lapsed, p.called = 0, 0, comesAlone
	return p
}

// placeOf reads a page's place; it stays the zero place if the page stands in no line.
func placeOf(page int64, p *place) Step {
	*p = place{}
	return oneRow("SELECT "+placeColumns+" FROM places p WHERE p.page_id = $1", []any{page}, p.fields()...)
}

// placeInFlight reads the place of the page whose request to the host is in flight.
func placeInFlight(host int64, p *place) Step {
	*p = place{}
	return oneRow("SELECT "+placeColumns+" FROM hosts h JOIN places p ON p.page_id = h.flight_page WHERE h.id = $1", []any{host}, p.fields()...)
}

// loadPlace reads a page's place; store.ErrNotFound if it stands in no line.
func loadPlace(ctx context.Context, tx Tx, page int64) (place, error) {
	var p place
	err := tx.Pipeline(ctx, placeOf(page, &p))
	if err == nil && p.page == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return place{}, fmt.Errorf("read the place of page %d: %w", page, err)
	}
	return p, nil
}

// put replaces the place was, zero for none, by is, and keeps the counts of the
// host's lines. A place that comes from another host must be recounted there.
func (g *gateHost) put(ctx context.Context, was, is place) error {
	if was == is {
		return nil
	}
	if err := g.recount(ctx, was, is); err != nil {
		return err
	}
	return g.write(ctx, is)
}

// write stores a place that the lines' counts know already.
func (g *gateHost) write(ctx context.Context, is place) error {
	err := g.tx.Queue(ctx, `INSERT INTO places (page_id, host_id, home_id, crawl_id, visit, class, rank, state, kind,
			origin, url, arrived, promised_at, present_until, lapsed_at, ahead, departed, permit_id, granted_at, called)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
		ON CONFLICT (page_id) DO UPDATE SET host_id = excluded.host_id, home_id = excluded.home_id,
			crawl_id = excluded.crawl_id, visit = excluded.visit, class = excluded.class, rank = excluded.rank,
			state = excluded.state, kind = excluded.kind, origin = excluded.origin, url = excluded.url,
			arrived = excluded.arrived, promised_at = excluded.promised_at, present_until = excluded.present_until,
			lapsed_at = excluded.lapsed_at, ahead = excluded.ahead, departed = excluded.departed,
			permit_id = excluded.permit_id, granted_at = excluded.granted_at, called = excluded.called`,
		is.page, is.host, is.home, is.crawl, is.visit, is.class, is.rank, is.state, is.kind,
		is.origin, is.url, is.arrived, is.promised, is.present, is.lapsed, is.ahead, is.departed, is.permit, is.grantedAt, is.called)
	if err != nil {
		return fmt.Errorf("write the place of page %d: %w", is.page, err)
	}
	return nil
}

// recount moves the counts of this host's lines from was to is; either may be
// of another host. Where one of them has a permit, the list of permits is no longer true.
func (g *gateHost) recount(ctx context.Context, was, is place) error {
	if was.state == placeGranted || is.state == placeGranted {
		g.permits = nil
	}
	leaves := was.counted() && was.host == g.row.id
	joins := is.counted() && is.host == g.row.id
	if leaves && joins && was.crawl == is.crawl && was.class == is.class {
		return nil
	}
	if leaves {
		l, err := g.line(ctx, was.crawl, crawl.Class(was.class))
		if err != nil {
			return err
		}
		l.Waiting, l.Departed = max(l.Waiting-1, 0), l.Departed+1
	}
	if joins {
		l, err := g.line(ctx, is.crawl, crawl.Class(is.class))
		if err != nil {
			return err
		}
		l.Waiting++
	}
	return nil
}

// drop removes a place of this host.
func (g *gateHost) drop(ctx context.Context, p place) error {
	if p.page == 0 {
		return nil
	}
	if err := g.recount(ctx, p, place{}); err != nil {
		return err
	}
	if err := g.tx.Queue(ctx, "DELETE FROM places WHERE page_id = $1", p.page); err != nil {
		return fmt.Errorf("remove the place of page %d: %w", p.page, err)
	}
	return nil
}

// requeue takes a place's permit, or parking, back: it waits again, with its
// age, and is expected at once.
func (g *gateHost) requeue(ctx context.Context, p place, kind int64) error {
	is := p.withdrawn(kind)
	is.promised = g.now
	if err := g.anchor(ctx, &is); err != nil {
		return err
	}
	return g.put(ctx, p, is)
}

// anchor records the length of the place's line as it joins it.
func (g *gateHost) anchor(ctx context.Context, p *place) error {
	l, err := g.line(ctx, p.crawl, crawl.Class(p.class))
	if err != nil {
		return err
	}
	p.ahead, p.departed = l.Waiting, l.Departed
	return nil
}

// lapse removes a waiter that did not come from the count of its line. It keeps its
// age, and gets its place back when it asks. A waiter that was called is called
// once more: the turn may have been lost, and by itself it would not come for long.
func (g *gateHost) lapse(ctx context.Context, p place) error {
	if p.called == wasCalled && g.effects == nil {
		return nil // the caller that can signal does it
	}
	is := p
	is.lapsed, is.present, is.kind, is.url = g.now, 0, kindPage, ""
	if p.called == wasCalled {
		is.called = comesAlone
		if err := g.signal(ctx, p.page, g.at()); err != nil {
			return err
		}
	}
	return g.put(ctx, p, is)
}

// position returns how many places come before a place of this host, whether it is
// stored yet or not, and moves its anchor on.
func (g *gateHost) position(ctx context.Context, p *place, granted []place) (int, error) {
	own, err := g.line(ctx, p.crawl, crawl.Class(p.class))
	if err != nil {
		return 0, err
	}
	var counted, older int
	args := []any{p.host, p.crawl, p.class, p.rank, p.page, p.arrived}
	crawls := make([]string, 0, 1)
	for _, f := range eldestOf(g.waitingLines(), 0) {
		args = append(args, f.crawl)
		crawls = append(crawls, fmt.Sprintf("$%d", len(args)))
	}
	if len(crawls) == 0 {
		crawls = append(crawls, "$2")
	}
	// Those ahead are the first of the line. Its order determines the index: a planner
	// without statistics on the table may take any, and read a whole line.
	err = g.tx.QueryRow(ctx, fmt.Sprintf(`SELECT
		(SELECT COUNT(*) FROM (SELECT rank, arrived FROM places WHERE host_id = $1 AND crawl_id = $2 AND class = $3
			AND state = 1 AND lapsed_at = 0 AND rank >= $4 AND page_id <> $5 ORDER BY rank DESC, arrived LIMIT %[1]d) a
			WHERE rank > $4 OR arrived < $6),
		(SELECT COUNT(*) FROM (SELECT arrived FROM places WHERE host_id = $1 AND crawl_id IN (%[2]s)
			AND state = 1 AND lapsed_at = 0 AND arrived < $6 AND page_id <> $5 ORDER BY arrived LIMIT %[1]d) b)`,
		polite.Counted+1, strings.Join(crawls, ", ")), args, &counted, &older)
	if err != nil {
		return 0, fmt.Errorf("count the waiters ahead: %w", err)
	}
	ahead, anchor := polite.Ahead(counted, polite.Anchor{Ahead: p.ahead, Departed: p.departed}, own.Line)
	p.ahead, p.departed = anchor.Ahead, anchor.Departed
	lines := make([]polite.Line, len(g.lines))
	for i, l := range g.lines {
		if l.state == crawl.CrawlRunning {
			lines[i] = l.Line
		}
	}
	ledger, underway := g.ledger(), g.underway(granted)
	position := polite.Position(own.Line, ahead, lines, underway, ledger)
	if older <= polite.Counted {
		position = min(position, polite.ByAge(older, underway, ledger))
	}
	return position, nil
}

func placeForRobots(p place) bool { return p.kind == kindRobots }

// underway counts the requests that come before every waiter: the granted
// permits, and those of the pages behind robots permits, which come back at once.
func (g *gateHost) underway(granted []place) int {
	n := int(g.row.flightRobots)
	for _, p := range granted {
		n += 1 + int(p.kind)
	}
	return n
}
