package gc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"recrawl/internal/archive"
	"recrawl/internal/store"
)

// Damage is the fault of a content that a version has.
type Damage string

// The damages.
const (
	Missing    Damage = "missing"    // it is not in the archive
	Corrupt    Damage = "corrupt"    // its bytes are others
	Unreadable Damage = "unreadable" // the archive fails to read it, again and again perhaps
)

// Problem is a content that a version has and that cannot be read.
type Problem struct {
	Digest string
	Damage Damage
	Detail string // of unreadable contents
	// Pages are URLs of some pages that have, or had, it. They are looked up only for
	// the first problems.
	Pages []string
}

// namedProblems is how many problems have Pages. If there are many more, the
// pages will not be mended one by one.
const namedProblems = 100

// Verified counts what Verify read.
type Verified struct {
	Contents                     int   // that versions have
	Bytes                        int64 // of those that are intact, uncompressed
	Missing, Corrupt, Unreadable int
}

// Damaged is the number of contents that are not intact.
func (v Verified) Damaged() int { return v.Missing + v.Corrupt + v.Unreadable }

// VerifyOptions are the settings of Verify.
type VerifyOptions struct {
	// Report is called with each problem; an error ends Verify.
	Report func(Problem) error
	// Progress, unless nil, is called now and then with the progress.
	Progress func(Progress)
}

// Verify reads every content that a version has. It ends early only if the store
// or the archive as a whole does not answer, and then reports its findings so far.
func Verify(ctx context.Context, s store.Contents, files archive.Store, o VerifyOptions) (Verified, error) {
	v := verifier{VerifyOptions: o, store: s, files: files}
	err := v.walk(ctx)
	if err == nil {
		err = v.name(ctx)
	}
	return v.found, errors.Join(err, v.report())
}

type verifier struct {
	VerifyOptions
	store    store.Contents
	files    archive.Store
	found    Verified
	problems []Problem // that have not been reported
	named    bool      // the pages of the first problems have been looked for
}

func (v *verifier) walk(ctx context.Context) error {
	after := ""
	for {
		digests, err := v.store.ListContents(ctx, after, batch)
		if err != nil || len(digests) == 0 {
			return err
		}
		if err := v.check(ctx, digests); err != nil {
			return err
		}
		after = digests[len(digests)-1]
		if v.Progress != nil {
			v.Progress(Progress{Contents: v.found.Contents, Bytes: v.found.Bytes, Damaged: v.found.Damaged(), Part: part(after)})
		}
	}
}

// reading is the result of reading one content.
type reading struct {
	bytes int64
	err   error
}

// check reads contents and reports those that are not intact, in order.
func (v *verifier) check(ctx context.Context, digests []string) error {
	read := make([]reading, len(digests))
	group := errgroup.Group{}
	group.SetLimit(atATime)
	for i, digest := range digests {
		group.Go(func() error {
			read[i] = v.read(ctx, digest)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, digest := range digests {
		if err := v.judge(ctx, digest, read[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) read(ctx context.Context, digest string) reading {
	r, err := v.files.Open(ctx, digest)
	if err != nil {
		return reading{err: err}
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	return reading{n, err}
}

// judge counts a content, and keeps it as a problem unless it is intact or no
// version has it any more.
func (v *verifier) judge(ctx context.Context, digest string, r reading) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("verify the archive: %w", err)
	}
	p := Problem{Digest: digest}
	switch {
	case r.err == nil:
		v.found.Contents++
		v.found.Bytes += r.bytes
		return nil
	case errors.Is(r.err, archive.ErrUnavailable):
		return r.err
	case errors.Is(r.err, archive.ErrNotFound):
		p.Damage = Missing
	case errors.Is(r.err, archive.ErrCorrupt):
		p.Damage = Corrupt
	default:
		p.Damage, p.Detail = Unreadable, r.err.Error()
	}
	still, err := v.store.ListContents(ctx, before(digest), 1)
	if err != nil || len(still) == 0 || still[0] != digest {
		return err // forgotten meanwhile
	}
	v.found.Contents++
	switch p.Damage {
	case Missing:
		v.found.Missing++
	case Corrupt:
		v.found.Corrupt++
	case Unreadable:
		v.found.Unreadable++
	}
	v.problems = append(v.problems, p)
	if v.named {
		return v.report()
	}
	if len(v.problems) < namedProblems {
		return nil
	}
	return errors.Join(v.name(ctx), v.report())
}

// name finds the pages of the first problems.
func (v *verifier) name(ctx context.Context) error {
	if v.named || len(v.problems) == 0 {
		return nil
	}
	v.named = true
	digests := make([]string, len(v.problems))
	for i, p := range v.problems {
		digests[i] = p.Digest
	}
	with, err := v.store.PagesWith(ctx, digests)
	pages := map[string][]string{}
	for _, p := range with {
		pages[p.Digest] = append(pages[p.Digest], p.URL)
	}
	for i := range v.problems {
		v.problems[i].Pages = pages[v.problems[i].Digest]
	}
	return err
}

// report reports the problems that have not been reported.
func (v *verifier) report() error {
	for _, p := range v.problems {
		if err := v.Report(p); err != nil {
			return err
		}
	}
	v.problems = nil
	return nil
}
