package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// This file is the gate's order of events. Every call of the gate is one or more
// transactions, and each transaction takes the same steps in the same order:
//
//  1. open: lock the rows of the hosts that may change, in the order of their ids,
//     and only then read the clock (openGate);
//  2. settle: end a request whose permit has expired (gateHost.settle, in openGate);
//  3. the event that the call is about;
//  4. advance: carry out what the event has made possible (gateHost.advance). First the
//     pump takes stale permits back and grants permits to waiters that are present, as
//     package polite chooses (gate_pump.go). Then the turn promises a better time to
//     waiters whose promise is later than they are wanted, and signals them
//     (gate_turn.go);
//  5. save: write the host's row and the lines that have changed (gateHost.save).
//
// These events move a visit's place through its states. A place that leaves is removed.
//
//	event     by                     place                            in
//	ask       Acquire                none, waiting → waiting, granted gate_ask.go
//	begin     Begin, Acquire         granted → begun, or refused      gate_request.go
//	give back GiveBack               begun → granted                  gate_request.go
//	release   Release, Finish        begun → removed; of a robots.txt gate_request.go
//	                                 begun → waiting
//	expire    whoever opens next     begun → waiting                  gate_host.go (settle, land)
//	revoke    whoever advances next  granted → waiting                gate_pump.go
//	park      Acquire, Begin         any → parked, in a paused crawl  gate_turn.go
//	unpark    Unpark                 parked → waiting                 gate_nudge.go
//	lapse     whoever advances next  waiting → lapsed                 gate_heads.go
//	          Nudge                  waiting → lapsed, then removed   gate_nudge.go
//	leave     Leave, RecordVisit     any → removed                    gate_turn.go
//	block     SetBlocked             granted → waiting                gate_block.go
//	book      RecordVisit, Finish    none → booked, for the next one  gate_call.go
//	arrive    Acquire, or whoever    booked → waiting                 gate_call.go, gate_ask.go
//	          advances when it is due
//
// A gateHost is one host within such a transaction: only its event, advance and save
// change it, one after the other. A question is one ask: open fills it, and decide only
// reads it. All changes of places go through put and drop, which keep the lines' counts
// (gate_place.go); only a place that the pump grants is counted first and written later.

// atHost is one event at a host, within a transaction: steps 1 to 5. The event itself
// does the fourth if there may be something to advance. Without effects nobody is
// turned. reads, which may be nil, returns what the event reads together with the lock.
func (s *Store) atHost(ctx context.Context, tx Tx, effects *store.GateEffects, host int64, reads func(landed bool) []Step, event func(*gateHost) error) error {
	g, err := s.openHost(ctx, tx, effects, host, reads)
	if err != nil {
		return err
	}
	if err := event(g); err != nil {
		return err
	}
	return g.save(ctx)
}

// event is atHost in a transaction of its own.
func (s *Store) event(ctx context.Context, host int64, event func(*gateHost) error) (store.GateEffects, error) {
	return s.eventIn(ctx, write, host, event)
}

// passingEvent is event in a transaction that may be lost with the machine: a forgotten
// permit or place is asked for again, after all hosts have rested.
func (s *Store) passingEvent(ctx context.Context, host int64, event func(*gateHost) error) (store.GateEffects, error) {
	return s.eventIn(ctx, writeLazily, host, event)
}

type writing func(context.Context, *Store, func(Tx) (store.GateEffects, error)) (store.GateEffects, error)

func (s *Store) eventIn(ctx context.Context, write writing, host int64, event func(*gateHost) error) (store.GateEffects, error) {
	return write(ctx, s, func(tx Tx) (effects store.GateEffects, err error) {
		err = s.atHost(ctx, tx, &effects, host, nil, event)
		return effects, err
	})
}

// advance grants and promises what a change of the line or the host has made
// possible: nothing if nobody waits or has a place booked.
func (g *gateHost) advance(ctx context.Context) error {
	if g.waiters() == 0 && !g.anyBooked() {
		return nil
	}
	pump, err := g.pump(ctx, nil)
	if err != nil {
		return err
	}
	_, err = g.turn(ctx, pump, 0)
	return err
}

// Acquire implements store.Gate.
func (s *Store) Acquire(ctx context.Context, p store.AcquireParams) (store.AcquireResult, error) {
	// Before the first transaction, so that no wake-up is lost between it and the wait.
	woken, unwatch := s.engine.Watch(p.Page.PageID)
	defer unwatch()
	var turns []store.Turn
	for start := time.Now(); ; {
		remaining := max(p.Patience-time.Since(start), 0)
		a, err := s.ask(ctx, p, remaining)
		if err != nil {
			return store.AcquireResult{}, fmt.Errorf("acquire a permit for page %d: %w", p.Page.PageID, err)
		}
		turns = append(turns, a.Effects.Turns...)
		if !a.stays {
			a.Effects.Turns = turns
			return a.AcquireResult, nil
		}
		if err := await(ctx, woken, min(a.retry, remaining)); err != nil {
			return store.AcquireResult{}, fmt.Errorf("wait for %s: %w", p.Page.Host, err)
		}
	}
}

// ask is one transaction of Acquire. The asker can wait in the process for the
// remaining time.
func (s *Store) ask(ctx context.Context, p store.AcquireParams, remaining time.Duration) (asked, error) {
	nothing := func() {}
	giveUp := nothing
	for {
		sent := time.Now()
		a, err := writeLazily(ctx, s, func(tx Tx) (asked, error) {
			giveUp() // of a transaction that is repeated
			q := question{store: s, tx: tx, params: p, remaining: remaining, giveUp: nothing}
			a, err := q.answer(ctx)
			giveUp = q.giveUp
			return a, err
		})
		if errors.Is(err, errMoved) {
			continue
		}
		if err == nil && a.Begun != nil {
			a.Begun.Sent = sent
		} else {
			giveUp()
		}
		return a, err
	}
}

// await returns when woken, after the time, or with the context's error.
func await(ctx context.Context, woken <-chan struct{}, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Begin implements store.Gate.
func (s *Store) Begin(ctx context.Context, p store.BeginParams) (store.BeginResult, error) {
	woken, unwatch := s.engine.Watch(p.Page.PageID)
	defer unwatch()
	for start := time.Now(); ; {
		b, err := s.tryBegin(ctx, p)
		switch {
		case err != nil:
			return store.BeginResult{}, fmt.Errorf("begin permit %d of host %d: %w", p.Permit.ID, p.Permit.HostID, err)
		case b.refused != "":
			return store.BeginResult{}, fmt.Errorf("permit %d of host %d: %s: %w", p.Permit.ID, p.Permit.HostID, b.refused, store.ErrRefused)
		}
		remaining := p.Patience - time.Since(start)
		if b.Wait == 0 || b.retry > remaining {
			return b.BeginResult, nil
		}
		if err := await(ctx, woken, b.retry); err != nil {
			return store.BeginResult{}, fmt.Errorf("wait for %s: %w", p.Page.Host, err)
		}
	}
}

// tryBegin tries Begin once, with what the request needs besides the permit.
func (s *Store) tryBegin(ctx context.Context, p store.BeginParams) (begun, error) {
	giveUp := func() {}
	if p.Take != nil {
		if b, err := s.inFlight(ctx, p.Permit); err != nil || b.Wait > 0 {
			return b, err
		}
		var err error
		if giveUp, err = p.Take(ctx); err != nil {
			return begun{}, err
		}
	}
	sent := time.Now()
	b, err := writeLazily(ctx, s, func(tx Tx) (begun, error) { return s.begin(ctx, tx, p) })
	b.Sent = sent
	if err != nil || b.refused != "" || b.Wait > 0 {
		giveUp()
	}
	return b, err
}

// inFlight looks, without a lock, for another request in flight to the permit's host, whose
// release wakes the asker. An attempt would come to nothing, and until it did would hold what
// other hosts need.
func (s *Store) inFlight(ctx context.Context, own crawl.Permit) (begun, error) {
	return read(ctx, s, func(tx Tx) (b begun, err error) {
		var now, permit, expires, begunAt int64
		err = tx.Pipeline(ctx, Step{Clock: &now},
			oneRow(`SELECT flight_permit, expires_at, begun_at FROM hosts WHERE id = $1`, []any{own.HostID}, &permit, &expires, &begunAt))
		expires -= max(begunAt-now, 0) // see gateHost.bound
		if err == nil && permit != 0 && permit != own.ID && expires > now {
			b.Wait = span(expires - now)
			b.retry = min(b.Wait, polite.PollEvery)
		}
		return b, err
	})
}

// begin is one transaction of Begin. A refusal is a result, not an error: its
// effect on the place must be committed.
func (s *Store) begin(ctx context.Context, tx Tx, p store.BeginParams) (b begun, err error) {
	page, err := loadAsker(ctx, tx, p.Page.PageID)
	if err != nil {
		return begun{}, err
	}
	var held place
	reads := func(bool) []Step { return []Step{placeOf(page.id, &held)} }
	err = s.atHost(ctx, tx, nil, p.Permit.HostID, reads, func(g *gateHost) error {
		if b, err = g.begin(ctx, p, page, held); err != nil {
			return err
		}
		return g.advance(ctx)
	})
	return b, err
}

// Release implements store.Gate.
func (s *Store) Release(ctx context.Context, p store.ReleaseParams) (store.GateEffects, error) {
	effects, err := write(ctx, s, func(tx Tx) (store.GateEffects, error) {
		effects, _, err := s.release(ctx, tx, p)
		return effects, err
	})
	if err != nil {
		return store.GateEffects{}, fmt.Errorf("release permit %d of host %d: %w", p.Permit.ID, p.Permit.HostID, err)
	}
	return effects, nil
}

// release is Release within a transaction. It also returns when that was.
func (s *Store) release(ctx context.Context, tx Tx, p store.ReleaseParams) (effects store.GateEffects, now int64, err error) {
	if p.Page != 0 { // the page's row is locked before its host's
		if err := tx.Queue(ctx, `UPDATE frontier SET fetched = $2 WHERE page_id = $1`, p.Page, clean(p.Digest)); err != nil {
			return effects, 0, fmt.Errorf("note what was fetched: %w", err)
		}
	}
	var flight place
	var known int64
	var permits []place
	reads := func(bool) []Step {
		steps := []Step{placeInFlight(p.Permit.HostID, &flight), grantedAt(p.Permit.HostID, &permits)}
		if known = 0; p.Page != 0 {
			steps = append(steps, oneRow(`SELECT page_id FROM frontier WHERE page_id = $1`, []any{p.Page}, &known))
		}
		return steps
	}
	err = s.atHost(ctx, tx, &effects, p.Permit.HostID, reads, func(g *gateHost) error {
		g.flight, g.permits, now = &flight, &permits, g.now
		return g.release(ctx, p)
	})
	effects.Known = known != 0
	return effects, now, err
}

// GiveBack implements store.Gate.
func (s *Store) GiveBack(ctx context.Context, permit crawl.Permit) (store.GateEffects, error) {
	effects, err := s.passingEvent(ctx, permit.HostID, func(g *gateHost) error { return g.giveBack(ctx, permit) })
	if err != nil {
		return store.GateEffects{}, fmt.Errorf("give permit %d of host %d back: %w", permit.ID, permit.HostID, err)
	}
	return effects, nil
}

// Leave implements store.Gate.
func (s *Store) Leave(ctx context.Context, pageID int64) (store.GateEffects, error) {
	effects, err := writeLazily(ctx, s, func(tx Tx) (store.GateEffects, error) {
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
		if g, err = s.openHost(ctx, tx, effects, p.host, nil); err != nil {
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

// nudgeHost lapses the late waiters of one host and grants and promises what is
// due.
func (s *Store) nudgeHost(ctx context.Context, host int64) (store.GateEffects, error) {
	return s.passingEvent(ctx, host, func(g *gateHost) error {
		if err := g.recountEmpty(ctx); err != nil {
			return err
		}
		if err := g.lapseLate(ctx); err != nil {
			return err
		}
		return g.advance(ctx)
	})
}

// unparkHost takes parked places of one host back into its lines. It promises each its
// time itself, so nothing is left to advance.
func (s *Store) unparkHost(ctx context.Context, crawlID int64, parked []place) (store.GateEffects, error) {
	return s.event(ctx, parked[0].host, func(g *gateHost) error {
		for _, seen := range parked {
			if err := g.unpark(ctx, crawlID, seen); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetBlocked implements store.Gate.
func (s *Store) SetBlocked(ctx context.Context, host string, blocked bool) (store.GateEffects, error) {
	key, err := s.unitOf(host)
	if err != nil {
		return store.GateEffects{}, err
	}
	if key == "" {
		return store.GateEffects{}, errors.New("block a host: it has no name")
	}
	effects, err := write(ctx, s, func(tx Tx) (effects store.GateEffects, err error) {
		id, err := blockable(ctx, tx, key, blocked)
		if err != nil {
			return effects, err
		}
		changed := false
		err = s.atHost(ctx, tx, &effects, id, nil, func(g *gateHost) error {
			changed = g.row.blocked != count(blocked)
			return g.setBlocked(ctx, blocked)
		})
		if err != nil || !changed {
			return effects, err
		}
		return effects, noteNow(ctx, tx, feed.Change{Kind: feed.HostBlocked, Data: feed.Data{HostID: id, Blocked: blocked}})
	})
	if err != nil {
		return store.GateEffects{}, fmt.Errorf("block host %s (%t): %w", key, blocked, err)
	}
	return effects, nil
}
