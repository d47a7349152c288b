package sqlite

import (
	"context"
	"sync/atomic"
	"time"

	"recrawl/internal/store/sqlstore"
)

// clockSlack is by how much the clock may differ from the machine's. A smaller step is
// ignored until more of them have come.
const clockSlack = time.Second

// clock is the owner's clock: the machine's when it was set, and from then on the time that
// really passed. The machine's may be set, and goes on while the machine sleeps; but gaps, and
// the deadlines of requests under way, are measured in time that the process has seen.
type clock struct {
	set     atomic.Pointer[setting]
	machine func(time.Time) time.Time // what the machine's clock says at a moment
}

type setting struct {
	wall time.Time
	at   time.Time // the same moment; only its monotonic reading is used
}

func newClock() *clock {
	c := &clock{machine: func(t time.Time) time.Time { return t.Round(0) }}
	c.setAt(time.Now())
	return c
}

func (c *clock) setAt(t time.Time) { c.set.Store(&setting{wall: c.machine(t), at: t}) }

// at returns what the clock says at a moment, which must have a monotonic reading.
func (c *clock) at(t time.Time) time.Time {
	set := c.set.Load()
	return set.wall.Add(t.Sub(set.at))
}

// keepTime sets the owner's clock if the machine's has been set, or has gone on while the
// machine slept. After a jump ahead all hosts rest, and requests under way may last as long as
// they could. It must be called between two transactions. sqlstore sees to a clock that went back.
func (e *engine) keepTime() error {
	if e.clock == nil {
		return nil
	}
	t := time.Now()
	now := e.clock.machine(t)
	off := now.Sub(e.clock.at(t))
	if off.Abs() <= clockSlack {
		return nil
	}
	if off > 0 {
		if err := e.jump(now, off); err != nil {
			return err
		}
	}
	e.clock.setAt(t)
	if e.log != nil {
		e.log.Warn("the machine's clock was set, or the machine slept: hosts rest before they are asked again", "by", off.Round(time.Second))
	}
	return nil
}

// jump is a transaction of its own: the clock must not be set unless it is committed.
func (e *engine) jump(now time.Time, by time.Duration) error {
	if err := e.begin(writesDurably); err != nil {
		return err
	}
	if err := sqlstore.ClockJumped(context.Background(), &tx{session: e.writer, detached: true, clock: e.clock}, now, by); err != nil {
		e.writer.rollback()
		return err
	}
	if err := e.writer.control("COMMIT"); err != nil {
		e.writer.rollback()
		return err
	}
	return nil
}
