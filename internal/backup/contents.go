package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"golang.org/x/sync/errgroup"

	"recrawl/internal/archive"
)

const (
	// batch is how many digests are processed at a time.
	batch = 500
	// atATime is how many contents are copied at a time: each waits for its disk.
	atATime = 8
	// named is how many missing contents are named.
	named = 10
)

// Progress is called now and then with the present step, in words, and how much of it
// is done, 0 to 1.
type Progress func(doing string, part float64)

// digests yields the digests of a store's versions, in order.
func digests(ctx context.Context, s Contents) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for after := ""; ; {
			next, err := s.ListContents(ctx, after, batch)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(next) == 0 || !yield(next, nil) {
				return
			}
			after = next[len(next)-1]
		}
	}
}

// part is how far a walk in the order of digests has come: they are spread evenly.
func part(digest string) float64 {
	n, err := strconv.ParseUint(digest[:min(8, len(digest))], 16, 32)
	if err != nil {
		return 0
	}
	return float64(n) / (1 << 32)
}

// Copied counts the results of a walk over contents.
type Copied struct {
	Contents int   // that were asked for
	Copied   int   // of these, those that were not there yet
	Bytes    int64 // of the copied, uncompressed
	Missing  int   // that the archive they come from does not have
	Damaged  int   // whose bytes there are others
	// Named are some of the missing and damaged ones.
	Named []string
}

// Lacking counts the contents that could not be had.
func (c Copied) Lacking() int { return c.Missing + c.Damaged }

func (c *Copied) add(digest string, bytes int64, err error) error {
	c.Contents++
	switch {
	case errors.Is(err, errThere):
		return nil
	case errors.Is(err, archive.ErrNotFound):
		c.Missing++
	case errors.Is(err, archive.ErrCorrupt):
		c.Damaged++
	case err != nil:
		return err
	default:
		c.Copied++
		c.Bytes += bytes
		return nil
	}
	if len(c.Named) < named {
		c.Named = append(c.Named, digest)
	}
	return nil
}

// copier copies contents from one archive to another.
type copier struct {
	from, to archive.Store
	// mended, unless nil, tells of contents that are damaged where they go to. They are copied, too.
	mended   checked
	doing    string
	progress Progress
}

// restorer is a copier to an archive that may be damaged. Of a bucket nothing is read again.
func restorer(from, to archive.Store, progress Progress) copier {
	mended, _ := to.(checked)
	return copier{from: from, to: to, mended: mended, doing: "copying contents", progress: progress}
}

// checked is an archive that reads what it has. A bucket is none: its server says what it was
// given.
type checked interface{ Intact(digest string) bool }

// batched is an archive that brings many contents to the disk together.
type batched interface {
	Batch() (*archive.Batch, error)
}

// writes is where the contents of a batch are written, until flush has stored them all.
type writes struct {
	create func(ctx context.Context) (archive.Writer, error)
	flush  func() error
	abort  func()
}

// writes begins to write. In an archive without batches each content is stored by itself.
func (c copier) writes() (writes, error) {
	files, is := c.to.(batched)
	if !is {
		return writes{create: c.to.Create, flush: func() error { return nil }, abort: func() {}}, nil
	}
	b, err := files.Batch()
	if err != nil {
		return writes{}, fmt.Errorf("copy contents: %w", err)
	}
	return writes{create: b.Create, flush: b.Flush, abort: b.Abort}, nil
}

// all copies the contents of a store's versions. Each batch is whole, and on the disk, before
// the next begins, and the first failure of an archive as a whole ends it.
func (c copier) all(ctx context.Context, s Contents, see func(digest string)) (Copied, error) {
	var done Copied
	to, err := c.writes()
	if err != nil {
		return done, err
	}
	defer to.abort()
	for next, err := range digests(ctx, s) {
		if err == nil {
			err = c.some(ctx, to, next, &done)
		}
		if err != nil {
			return done, err
		}
		for _, digest := range next {
			see(digest)
		}
		c.progress(c.doing, part(next[len(next)-1]))
	}
	return done, nil
}

func (c copier) some(ctx context.Context, to writes, digests []string, done *Copied) error {
	type result struct {
		bytes int64
		err   error
	}
	results := make([]result, len(digests))
	group := errgroup.Group{}
	group.SetLimit(atATime)
	for i, digest := range digests {
		group.Go(func() error {
			results[i].bytes, results[i].err = c.one(ctx, to, digest)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := to.flush(); err != nil {
		return fmt.Errorf("copy contents: %w", err)
	}
	for i, digest := range digests {
		if err := done.add(digest, results[i].bytes, results[i].err); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// errThere: a content needs no copy.
var errThere = errors.New("there already")

// one copies a content unless it is there. Its bytes are checked as they are read,
// and get the name of their digest when the batch is stored.
func (c copier) one(ctx context.Context, to writes, digest string) (n int64, err error) {
	there, err := c.to.Has(ctx, digest)
	if err != nil {
		return 0, err
	}
	if there && (c.mended == nil || c.mended.Intact(digest)) {
		return 0, errThere
	}
	r, err := c.from.Open(ctx, digest)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	w, err := to.create(ctx)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	if _, err := io.Copy(w, r); err != nil {
		return 0, fmt.Errorf("copy content %s: %w", digest, err)
	}
	_, n, err = w.Commit()
	return n, err
}
