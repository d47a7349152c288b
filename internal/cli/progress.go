package cli

import (
	"fmt"
	"io"
	"time"

	"recrawl/internal/archive/gc"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
)

// progressEvery is the time between two lines of progress that are not overwritten.
const progressEvery = 5 * time.Second

// progress shows how far a long command has come: on a terminal a line that is
// overwritten, else now and then a line of the standard error output.
type progress struct {
	line *progressLine
	last time.Time // of a line; of the start before the first
}

func newProgress(s *session) *progress { return &progress{line: &progressLine{s: s}, last: time.Now()} }

// atOnce shows the first word at once, where the output is no terminal too.
func (p *progress) atOnce() *progress {
	p.last = time.Time{}
	return p
}

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

// archive shows the progress of work on an archive.
func (p *progress) archive() func(gc.Progress) {
	left := remaining{}
	return func(q gc.Progress) {
		p.show(fmt.Sprint(report.ArchiveProgress(q)) + left.words(q.Part, time.Now()))
	}
}

// pages shows how many pages have been read, of about how many; 0 if that is not known.
func (p *progress) pages() func(done, all int) {
	left := remaining{}
	return func(done, all int) {
		p.show("reading: " + count(done, "page") + left.words(share(done, all), time.Now()))
	}
}

// of shows the progress of a reporter's reading, until it writes.
func (p *progress) of(r report.Reporter) report.Reporter {
	r.Reading, r.Out = p.pages(), clearing{p, r.Out}
	return r
}

// clearing clears the progress before it writes.
type clearing struct {
	p *progress
	io.Writer
}

func (c clearing) Write(b []byte) (int, error) {
	c.p.clear()
	return c.Writer.Write(b)
}

func (p *progress) clear() { p.line.clear() }

// remaining estimates how much longer something takes, from its progress since the first
// call: an earlier command's work does not count for the speed.
type remaining struct {
	begun time.Time
	from  float64
}

// words returns the addition to a progress, a part of 0 to 1: "; about 3m left", and
// nothing if there is no estimate yet, or the rest is not counted: after its pages, a deletion has
// contents to delete.
func (r *remaining) words(part float64, now time.Time) string {
	if r.begun.IsZero() {
		r.begun, r.from = now, part
	}
	took := now.Sub(r.begun)
	if part <= r.from || part >= 1 || took < time.Second {
		return ""
	}
	left := time.Duration(float64(took) * (1 - part) / (part - r.from))
	return fmt.Sprintf("; about %s left", schedule.Rough(left))
}

// share is the part of the total that is done, 0 if the total is not known.
func share(done, all int) float64 {
	if all <= 0 {
		return 0
	}
	return float64(done) / float64(all)
}
