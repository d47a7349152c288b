package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
)

// presentLimit bounds the waiters of one line, and presentElders those that have
// waited longest, among which one grant chooses. Only waiters whose turn is
// expected within an Acquire's patience are present, so the limit is reached only
// on hosts without a gap.
const (
	presentLimit  = 32
	presentElders = 4
)

// waiter is a place that may be granted a permit, with the needs of its origin's
// robots.txt.
type waiter struct {
	was    place // as stored; the zero place if it is not
	place  place
	robots robotsRow
}

// pumped is the result of a pump.
type pumped struct {
	granted []place // permits granted and not begun
	others  int     // waiters present, except the asker and the granted
	firsts  int     // of these, those that wait for first visits
	// soon is when the next grant may be due, 0 if only another call of the gate can
	// bring it about.
	soon time.Duration
}

// pump grants the best present waiters permits, as many as the host takes soon, and
// wakes their Acquire. The asker, which may be nil, is present through the running
// call; its place is changed and, if granted, counted: the caller, who may begin at once, writes it.
func (g *gateHost) pump(ctx context.Context, asker *waiter) (pumped, error) {
	granted, err := g.granted(ctx)
	if err != nil {
		return pumped{}, err
	}
	if asker != nil {
		// Its own permit, if it had one, is taken back, though its stored place still has it.
		granted = slices.DeleteFunc(granted, func(p place) bool { return p.page == asker.place.page })
	}
	present, err := g.presentWaiters(ctx, asker)
	if err != nil {
		return pumped{}, err
	}
	if asker != nil {
		present = append(present, asker)
	}
	out := pumped{granted: granted}
	if len(present) > 0 && g.row.blocked == 0 {
		if present, err = g.grantPresent(ctx, &out, present, asker); err != nil {
			return pumped{}, err
		}
	}
	for _, w := range present {
		if w != asker {
			out.others++
			out.firsts += int(count(crawl.Class(w.place.class) == crawl.ClassFirst))
		}
	}
	return out, nil
}

// grantPresent grants permits to the waiters that are present, and returns the rest.
func (g *gateHost) grantPresent(ctx context.Context, out *pumped, present []*waiter, asker *waiter) ([]*waiter, error) {
	var err error
	if out.granted, err = g.revoke(ctx, out.granted); err != nil {
		return nil, err
	}
	for len(present) > 0 && g.hasSlot(out.granted) {
		i, aged, err := g.choose(ctx, present, asker)
		if err != nil || i < 0 {
			return present, err
		}
		w := present[i]
		demand := g.demand(w.place.crawl)
		if out.soon = polite.UntilGrant(g.free(demand).At, g.underway(out.granted), g.step(demand), g.at()); out.soon > 0 {
			return present, nil
		}
		if err := g.grant(ctx, w, aged); err != nil {
			return nil, err
		}
		if w != asker {
			if err := g.write(ctx, w.place); err != nil {
				return nil, err
			}
			g.tx.Wake(w.place.page)
		}
		out.granted = append(out.granted, w.place)
		present = slices.Delete(present, i, i+1)
	}
	return present, nil
}

// hasSlot reports whether one more permit may be out: none while a robots.txt is
// being fetched, for it may change the host's gap.
func (g *gateHost) hasSlot(granted []place) bool {
	robots := g.row.flightRobots != 0 || slices.ContainsFunc(granted, func(p place) bool { return p.kind == kindRobots })
	return len(granted) < polite.MaxGranted && !robots
}

// granted lists the places with a permit that is not begun.
func (g *gateHost) granted(ctx context.Context) ([]place, error) {
	if g.permits != nil {
		return slices.Clone(*g.permits), nil
	}
	var places []place
	if err := g.tx.Pipeline(ctx, grantedAt(g.row.id, &places)); err != nil {
		return nil, fmt.Errorf("read the granted permits of %s: %w", g.row.host, err)
	}
	return places, nil
}

// grantedAt reads the granted places of a host.
func grantedAt(host int64, places *[]place) Step {
	*places = nil
	query := "SELECT " + placeColumns + " FROM places p WHERE p.host_id = $1 AND p.state = 2 ORDER BY p.permit_id"
	return Step{Query: query, Args: []any{host}, Scan: func(row Row) error {
		p, err := scanPlace(row)
		*places = append(*places, p)
		return err
	}}
}

func scanPlace(row Row) (place, error) {
	var p place
	err := row.Scan(p.fields()...)
	return p, err
}

// presentWaiters lists the waiters whose Acquire waits in some process, except the
// asker.
func (g *gateHost) presentWaiters(ctx context.Context, asker *waiter) ([]*waiter, error) {
	var self int64
	others := g.waiters()
	if asker != nil {
		self = asker.place.page
		others -= count(asker.was.counted() && asker.was.host == g.row.id)
	}
	if others == 0 {
		return nil, nil
	}
	query := "SELECT " + placeColumns + ", " + robotsColumns + ", " + dutyColumn + `
		FROM (SELECT w.*, ROW_NUMBER() OVER (PARTITION BY w.crawl_id, w.class ORDER BY w.rank DESC, w.arrived) AS nth,
					ROW_NUMBER() OVER (ORDER BY w.arrived) AS age
				FROM places w
				WHERE w.host_id = $1 AND w.state = 1 AND w.present_until > 0 AND w.present_until >= $2 AND w.page_id <> $3) AS p
			LEFT JOIN robots r ON r.origin = p.origin
		WHERE p.nth <= $4 OR p.age <= $5`
	waiters, err := collect(ctx, g.tx, query, []any{g.row.id, g.now, self, presentLimit, presentElders}, scanWaiter)
	if err != nil {
		return nil, fmt.Errorf("read who is present at %s: %w", g.row.host, err)
	}
	return waiters, nil
}

// dutyColumn is 1 if another place fetches the robots.txt of p's origin.
const dutyColumn = `(CASE WHEN EXISTS (SELECT 1 FROM places d WHERE d.origin = p.origin AND d.kind = 1 AND d.page_id <> p.page_id) THEN 1 ELSE 0 END)`

func scanWaiter(row Row) (*waiter, error) {
	w := &waiter{}
	err := row.Scan(append(append(w.place.fields(), w.robots.fields()...), &w.robots.duty)...)
	w.was = w.place
	return w, err
}

// revoke takes back permits that were not begun though they could have been for
// GrantLife. It is called when others want the slot.
func (g *gateHost) revoke(ctx context.Context, granted []place) ([]place, error) {
	kept := granted[:0]
	for _, p := range granted {
		free := g.free(g.demand(p.crawl))
		if g.row.flightPermit != 0 || !polite.Stale(fromMicros(p.grantedAt), free.Since, g.at()) {
			kept = append(kept, p)
			continue
		}
		if err := g.requeue(ctx, p, kindPage); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// choose picks the waiter to be granted a permit, -1 if none can have one, and
// reports whether it is chosen for its age.
func (g *gateHost) choose(ctx context.Context, present []*waiter, asker *waiter) (i int, aged bool, err error) {
	var candidates []polite.Candidate
	var index []int
	for i, w := range present {
		if _, ok := g.permitFor(w); !ok || !g.running(w.place.crawl) {
			continue
		}
		candidates = append(candidates, polite.Candidate{
			Crawl: w.place.crawl, Class: crawl.Class(w.place.class), Rank: w.place.rank,
			Arrived: w.place.arrived, Served: g.servedLast(w.place.crawl), Tie: w.place.page,
		})
		index = append(index, i)
	}
	ledger := g.ledger()
	choice := polite.Choose(candidates, ledger, 0)
	if choice.Aged {
		eldest, err := g.awaited(ctx, asker)
		if err != nil {
			return -1, false, err
		}
		choice = polite.Choose(candidates, ledger, eldest)
	}
	if choice.Index < 0 {
		return -1, false, nil
	}
	return index[choice.Index], choice.Aged, nil
}

// permitFor returns what a waiter of this host may be granted now: its page ("") or
// a robots.txt; false if its robots.txt is being fetched elsewhere, or forbids, or
// its own Acquire has to move it first.
func (g *gateHost) permitFor(w *waiter) (robotsURL string, ok bool) {
	need := w.robots.need(w.place.origin, g.now)
	atHome := w.place.host == w.place.home
	switch {
	case need.ready:
		return "", atHome
	case need.unreachable > 0 || w.robots.duty != 0:
		return "", false
	case need.host == "":
		return need.url, atHome
	}
	return need.url, need.host == g.row.host
}

// grant gives a waiter a permit, and takes it out of the count of its line. The caller writes its
// place.
func (g *gateHost) grant(ctx context.Context, w *waiter, aged bool) error {
	p := &w.place
	p.url, _ = g.permitFor(w)
	p.kind = kindPage
	if p.url != "" {
		p.kind = kindRobots
	}
	g.row.permits++
	g.row.grants++
	g.settleShares(crawl.Class(p.class), aged)
	p.state, p.permit, p.grantedAt, p.promised = placeGranted, g.row.permits, g.now, g.now
	p.present, p.lapsed = 0, 0
	own, err := g.line(ctx, p.crawl, crawl.Class(p.class))
	if err != nil {
		return err
	}
	own.served = g.row.grants
	for _, l := range g.lines {
		if l.Crawl == p.crawl {
			l.Served = own.served
		}
	}
	return g.recount(ctx, w.was, *p)
}

// running reports whether a crawl's pages may be fetched.
func (g *gateHost) running(crawlID int64) bool {
	for _, l := range g.lines {
		if l.Crawl == crawlID {
			return l.state == crawl.CrawlRunning
		}
	}
	return false
}

// demand is a crawl's demand on the gap, for a crawl with a line on this host.
func (g *gateHost) demand(crawlID int64) polite.Demand {
	for _, l := range g.lines {
		if l.Crawl == crawlID {
			return l.demand
		}
	}
	return polite.Demand{}
}
