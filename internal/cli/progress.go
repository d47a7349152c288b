package cli

import (
	"fmt"
	"time"

	"recrawl/internal/schedule"
)

// progressEvery is the time between two lines of progress that are not written over.
const progressEvery = 5 * time.Second

// progress shows how far a long command has come: on a terminal a line that is
// written over, else now and then a line of the standard error output.
type progress struct {
	line *progressLine
	last time.Time // of a line; of the start before the first
}

func newProgress(s *session) *progress { return &progress{line: s.progressLine(), last: time.Now()} }

func (p *progress) show(text string) {
	env := p.line.s.env
	if env.draws() {
		p.line.write(text)
		return
	}
	if now := time.Now(); now.Sub(p.last) >= progressEvery {
		fmt.Fprintln(env.Stderr, text)
		p.last = now
	}
}

func (p *progress) clear() { p.line.clear() }

// remaining tells how much longer something takes, by how far it has come since it was first
// asked: what an earlier command did counts for no speed.
type remaining struct {
	begun time.Time
	from  float64
}

// words are what to add to how far it has come, a part of 0 to 1: "; about 3m left", and nothing
// where that cannot be told yet.
func (r *remaining) words(part float64, now time.Time) string {
	if r.begun.IsZero() {
		r.begun, r.from = now, part
	}
	took := now.Sub(r.begun)
	if part <= r.from || part > 1 || took < time.Second {
		return ""
	}
	left := time.Duration(float64(took) * (1 - part) / (part - r.from))
	return fmt.Sprintf("; about %s left", schedule.Rough(left))
}

// share is how much of all is done, 0 if nobody knows of how much.
func share(done, all int) float64 {
	if all <= 0 {
		return 0
	}
	return float64(done) / float64(all)
}
