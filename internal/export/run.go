package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/feed"
)

// checkpointBytes and checkpointPages bound the work that is done again after a kill: bytes
// of bodies and pages since the last checkpoint.
const (
	checkpointBytes = 64 << 20
	checkpointPages = 2000
)

// internals are options for tests only. They do not change the result.
type internals struct {
	bytes, pages int64 // between checkpoints
	// fault is asked before each change of the disk; with an error the change is
	// made in part or not at all.
	fault func() error
}

func export(ctx context.Context, src Source, out string, o Options, in internals) (_ Result, err error) {
	if err := o.check(); err != nil {
		return Result{}, err
	}
	place, err := openPlace(out, in.fault)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, place.close()) }()
	j, err := place.choose(o)
	if err != nil {
		return Result{}, err
	}
	done := Result{Folder: j.path(), At: j.At, Since: j.Since, Cursor: j.Cursor, Already: j.published}
	if !j.published {
		if err := j.write(ctx, src, o, in); err != nil {
			return Result{}, fmt.Errorf("export: %w", err)
		}
	}
	done.Counts = j.Counts
	return done, nil
}

// writer writes one format.
type writer interface {
	// add takes the next exchange.
	add(ctx context.Context, x Exchange) error
	// endPage is called after the last exchange of each page.
	endPage(ctx context.Context) error
	// finish is called once, after the last page.
	finish(ctx context.Context) error
}

// write writes the missing part of an export.
func (j *job) write(ctx context.Context, src Source, o Options, in internals) (err error) {
	defer func() { err = errors.Join(err, j.close()) }()
	if err := j.open(); err != nil {
		return err
	}
	if !j.Done {
		r := runner{job: j, options: o, internals: in, saved: j.Counts}
		if err := r.run(ctx, src); err != nil {
			return err
		}
	}
	return j.publish()
}

// runner passes on the exchanges that belong to the export, and keeps count.
type runner struct {
	job       *job
	writer    writer
	options   Options
	internals internals
	query     Query
	last      Exchange // zero before the first
	saved     Counts   // at the last checkpoint
	read      int      // exchanges, for the progress
}

// saidEvery is how many exchanges are read between two reports of progress: a page may have
// tens of thousands, and the export may want none of them.
const saidEvery = 1000

func (r *runner) run(ctx context.Context, src Source) (err error) {
	if r.writer, err = newWriter(ctx, src, r.job, r.options); err != nil {
		return err
	}
	r.query = Query{After: r.job.After, Until: r.job.At, Found: r.job.Format.isTree()}
	if r.job.Since != (feed.Cursor{}) {
		// A page that came back stands again, even with its old version.
		r.query.Found = r.query.Found && !r.job.Format.standing()
		r.query.Until, r.query.Since, r.query.Through = time.Time{}, r.job.Since, r.job.Cursor
	}
	for x, err := range src.Exchanges(ctx, r.query) {
		if err == nil {
			err = r.exchange(ctx, x)
		}
		if err != nil {
			return err
		}
	}
	if err := r.endPage(ctx); err != nil {
		return err
	}
	if err := r.writer.finish(ctx); err != nil {
		return err
	}
	if err := r.changes(ctx, src); err != nil {
		return err
	}
	return r.job.finish()
}

func (r *runner) exchange(ctx context.Context, x Exchange) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := inOrder(r.last, x); err != nil {
		return err
	}
	if r.read++; r.read%saidEvery == 0 && r.options.Progress != nil {
		r.options.Progress(r.job.Counts)
	}
	if !r.wants(x) {
		return nil // more than was asked for
	}
	if x.Page != r.last.Page {
		if err := r.endPage(ctx); err != nil {
			return err
		}
	}
	r.last = x
	r.job.Visits++
	return r.writer.add(ctx, x)
}

// wants reports whether an exchange belongs in the export.
func (r *runner) wants(x Exchange) bool {
	q, f := r.query, r.job.Format
	switch {
	case x.Page <= q.After || !q.Until.IsZero() && x.At.After(q.Until):
		return false
	case !f.holds(x), q.Found && !x.brings():
		return false
	}
	return !f.isTree() || x.Version.Seq > 0
}

// changesName is the file, in an export since a cursor, that lists the changes, including
// pages that are gone.
const changesName = "changes.jsonl"

// changes writes the changes into an export since a cursor.
func (r *runner) changes(ctx context.Context, src Source) error {
	if r.job.Since == (feed.Cursor{}) {
		return nil
	}
	changing, ok := src.(Changing)
	if !ok {
		return fmt.Errorf("%w: it does not know what changed", ErrSource)
	}
	file, err := r.job.stream(changesName)
	if err != nil {
		return err
	}
	for e, err := range changing.Changes(ctx, r.job.Since, r.job.Cursor) {
		if err == nil {
			err = writeLine(file, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inOrder checks an exchange against the source's promises.
func inOrder(last, x Exchange) error {
	switch {
	case x.Page <= 0 || x.Visit <= 0 || x.Version.Visit > x.Visit:
	case x.Page < last.Page || x.Page == last.Page && (x.Visit <= last.Visit || x.At.Before(last.At) || x.URL != last.URL):
	default:
		return nil
	}
	return fmt.Errorf("%w: page %d visit %d of %s comes after page %d visit %d", ErrSource, x.Page, x.Visit, x.URL, last.Page, last.Visit)
}

// endPage ends the page of the last exchange, if there was one.
func (r *runner) endPage(ctx context.Context) error {
	if r.last.Page == 0 {
		return nil
	}
	if err := r.writer.endPage(ctx); err != nil {
		return err
	}
	r.job.Pages++
	if r.options.Progress != nil {
		r.options.Progress(r.job.Counts)
	}
	if r.job.Bytes-r.saved.Bytes < r.internals.bytes && r.job.Pages-r.saved.Pages < r.internals.pages {
		return nil
	}
	r.saved = r.job.Counts
	return r.job.checkpoint(r.last.Page)
}

// body opens a version's body. It is nil for one that is lost, which is counted.
func (j *job) body(ctx context.Context, src Source, digest string) (io.ReadCloser, error) {
	body, err := src.Body(ctx, digest)
	return j.found(body, err)
}

// found counts a body that is lost.
func (j *job) found(body io.ReadCloser, err error) (io.ReadCloser, error) {
	if j.lost(err) {
		return nil, nil
	}
	return body, err
}

// lost reports whether an error says that a body is gone or damaged, and counts it. The
// export goes on without it: one such body must not keep people from all others.
func (j *job) lost(err error) bool {
	switch {
	case errors.Is(err, archive.ErrNotFound):
		j.Missing++
	case errors.Is(err, archive.ErrCorrupt):
		j.Damaged++
	default:
		return false
	}
	return true
}

// text returns a version's main text. It reports false where the body is lost,
// which is counted.
func (j *job) text(ctx context.Context, src Source, x Exchange) (string, bool, error) {
	text, err := src.Text(ctx, x)
	if j.lost(err) {
		return "", false, nil
	}
	j.Versions++
	j.Bytes += x.Version.Bytes
	return text, err == nil, err
}
