package visits

import (
	"context"
	"errors"
	"strconv"
	"time"

	"recrawl/internal/bench"
)

// bareKind is one kind of bare workflows.
type bareKind struct {
	title    string
	locals   int
	children bool // first visits
}

// bareKinds lists the bare workflows of a round. The first kind runs before the product, the
// others after it.
var bareKinds = []bareKind{{title: BareLoop}, {title: BareLocals, locals: 2}, {title: BareFirst, children: true}}

// sleeping is how long bare workflows sleep after their first visits: as long as a page
// does by default.
const sleeping = 24 * time.Hour

func (k bareKind) args(o Options) []string {
	if k.children {
		return []string{"-children", "-timer", sleeping.String()}
	}
	return []string{"-timer", o.Timer.String(), "-locals", strconv.Itoa(k.locals)}
}

// whole reports whether a case consists of workflows that make several visits, of which only
// whole ones are counted.
func whole(name string) bool {
	return name == Unchanged || name == Changed || name == BareLoop || name == BareLocals
}

// bare measures bare workflows at a place of the given name, if counting until they have made
// enough visits, else for as long as a figure is measured.
func (e *engineRun) bare(ctx context.Context, name string, kind bareKind, counting bool, m measured) error {
	o := e.r.Options
	return o.withBare(ctx, e.d, name, kind, func(w *bareWorker, s subject) error {
		if kind.children {
			return m(ctx, kind.title, s, func(ctx context.Context) error { return o.firstBare(ctx, w, s, counting) })
		}
		if err := o.settleBare(ctx, w, s); err != nil {
			return err
		}
		return m(ctx, kind.title, s, func(ctx context.Context) error {
			if counting {
				return s.more(ctx, o.cycles())
			}
			return bench.Rest(ctx, o.Window, s.worker)
		})
	})
}

// firstBare waits for the same first visits as session.first.
func (o Options) firstBare(ctx context.Context, w *bareWorker, s subject, counting bool) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	if !counting {
		return s.reach(ctx, int64(firstShare*float64(o.Pages)))
	}
	if err := s.reach(ctx, int64(o.Pages)); err != nil {
		return err
	}
	return bench.Rest(ctx, o.Settle, s.worker)
}

// settleBare starts bare workflows, and waits until they have been through their first timers.
func (o Options) settleBare(ctx context.Context, w *bareWorker, s subject) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	return s.more(ctx, o.Pages)
}

// withBare runs do with a bare worker that has no workflow yet.
func (o Options) withBare(ctx context.Context, d deployment, name string, kind bareKind, do func(*bareWorker, subject) error) (err error) {
	at, err := d.bare(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.stop(ctx)) }()
	w, err := o.startBare(ctx, at, kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	return do(w, subject{at: at, worker: w.Process, visits: func(ctx context.Context) (int64, error) { return w.asker.visits(ctx, w.Process) }})
}
