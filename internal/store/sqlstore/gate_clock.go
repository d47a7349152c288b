package sqlstore

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"recrawl/internal/polite"
)

// This file is about clocks that are set. If one goes back, times that are already stored lie
// ahead of it, and a host would stand still until the clock has caught up. If it jumps ahead,
// requests that are under way seem to have expired, and gaps to be over.

// ClockJumped is for an owner whose clock has jumped ahead by a duration to now, as when the
// machine slept: every host rests one gap from now on, and requests under way, which are all
// the owner's, expire as much later.
func ClockJumped(ctx context.Context, tx Tx, now time.Time, by time.Duration) error {
	if _, err := tx.Exec(ctx, "UPDATE rest SET rested_at = $1 WHERE id = 1", micros(now)); err != nil {
		return fmt.Errorf("let all hosts rest: %w", err)
	}
	_, err := tx.Exec(ctx, "UPDATE hosts SET begun_at = begun_at + $1, expires_at = expires_at + $2 WHERE flight_permit <> 0",
		spanMicros(by), spanMicros(by))
	if err != nil {
		return fmt.Errorf("move the ends of requests under way: %w", err)
	}
	return nil
}

// clockSlack is how far ahead of the clock a host's times may be without it having gone back:
// a request that was given up ends a little later than it is released.
const clockSlack = polite.CutGrace

// bound moves the host's times back to where this clock could have put them, and returns how
// far ahead they were. The last request counts as ended just now, and one in flight as begun
// just now: so the host rests a whole gap, which is longer than it must.
func (g *gateHost) bound() time.Duration {
	h := &g.row
	slack := clockSlack.Microseconds()
	ahead := max(h.lastEnd-slack, g.rested-slack, h.begunAt) - g.now
	if h.lastEnd > g.now+slack {
		h.lastEnd = g.now
	}
	if g.rested > g.now+slack {
		g.rested = g.now
	}
	if h.begunAt > g.now {
		h.begunAt, h.expiresAt = g.now, g.now+h.expiresAt-h.begunAt
	}
	h.backoffUntil = min(h.backoffUntil, g.now+spanMicros(polite.MaxRetryAfter))
	h.quietSince = min(h.quietSince, max(g.now, h.backoffUntil))
	return span(max(ahead, 0))
}

// boundAll is bound for hosts that are locked. The time since which all hosts rest is moved
// back for the others, too.
func (s *Store) boundAll(ctx context.Context, tx Tx, gates []*gateHost) error {
	for _, g := range gates {
		rested := g.rested
		if ahead := g.bound(); ahead > 0 {
			s.clock.wentBack(g.now, g.row.host, ahead)
		}
		if g.rested == rested {
			continue
		}
		if err := tx.Queue(ctx, "UPDATE rest SET rested_at = $1 WHERE id = 1 AND rested_at > $1", g.now); err != nil {
			return fmt.Errorf("move the hosts' rest back to now: %w", err)
		}
	}
	return nil
}

// clockWarnings tells people that the clock went back, at most once a minute.
type clockWarnings struct {
	log  *slog.Logger // nil for nobody
	last atomic.Int64 // by the clock
}

func (c *clockWarnings) wentBack(now int64, host string, ahead time.Duration) {
	last := c.last.Load()
	if c.log == nil || span(max(now-last, last-now)) < time.Minute || !c.last.CompareAndSwap(last, now) {
		return
	}
	c.log.Warn("the store's clock went back: the last request to a host is noted for later than now. Such hosts rest one gap from now",
		"host", host, "ahead", ahead.Round(time.Second))
}
