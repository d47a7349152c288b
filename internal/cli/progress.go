package cli

import (
	"fmt"
	"time"
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
