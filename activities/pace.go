package activities

import (
	"context"
	"time"
)

const (
	// A long task of maintenance works a fifth or a tenth of the time, which leaves most of the
	// machine, and of the embedded store's one writer, to visits. A tenth is for work that nobody
	// waits for. At a fifth, looking for traps and duplicates took 0.1 to 0.2 of a core for three
	// of every ten minutes of a first pass.
	aFifth, aTenth = 5, 10
	// longestRest bounds a rest: a batch that took longer did not work all that time, but
	// waited for others.
	longestRest = 10 * time.Second
)

// pace makes a long task rest between its batches.
type pace struct {
	oneIn int       // it works 1/oneIn of the time
	until time.Time // when the task should end; zero for no limit
	since time.Time // when the last rest ended
}

// newPace begins a task that works 1/oneIn of the time and should end within a limit; 0 means no
// limit.
func newPace(oneIn int, limit time.Duration) *pace {
	p := &pace{oneIn: oneIn, since: time.Now()}
	if limit > 0 {
		p.until = p.since.Add(limit)
	}
	return p
}

// next rests in proportion to the time since the last rest, and reports true. If that would
// last until the task's end, it does not rest and reports false. Its error is the context's.
func (p *pace) next(ctx context.Context) (bool, error) {
	now := time.Now()
	rest := min(time.Duration(p.oneIn-1)*now.Sub(p.since), longestRest)
	if !p.until.IsZero() && !now.Add(rest).Before(p.until) {
		return false, nil
	}
	err := sleep(ctx, rest)
	p.since = time.Now()
	return err == nil, err
}

// rest is next for a task without an end.
func (p *pace) rest(ctx context.Context) error {
	_, err := p.next(ctx)
	return err
}

// sleep waits for a time, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
