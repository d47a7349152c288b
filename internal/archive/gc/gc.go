// Package gc keeps the archive and the store in agreement: every version has
// its bytes, and no others stay for long. It may run beside crawls and beside
// itself, in any number of processes.
//
// Bytes are put into the archive before their version is saved, and deleted under
// a claim, which keeps versions from being saved (see store.Contents). So bytes
// that were found in the archive may be gone when their version is saved, but
// nobody deletes them from then on. Hence three rules, whatever is killed or slow
// in between:
//
//  1. A process that saves a version checks once more whether its bytes are there,
//     and puts them back: Secure.
//  2. Bytes are deleted under a claim, and no later than half-way through it.
//  3. Bytes that nobody looks after, because their visit was lost before it could
//     save or discard them, are found by Collect when they are older than any visit
//     lasts.
package gc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawl/internal/archive"
	"recrawl/internal/store"
)

const (
	// deleteFor is how long after its begin a claim is used.
	deleteFor = store.ClaimFor / 2
	// secureFor bounds each wait of Secure, and so all of them together to twice as long.
	// Anything longer is an outage, in which the page's next visit brings the bytes.
	secureFor = 5 * time.Second
	// atATime is how many contents are read or deleted at a time: enough that an
	// archive across a network does not spend all its time waiting.
	atATime = 8
)

// Secure makes sure that the bytes of a version that was just saved are in the
// archive; body holds them. Perhaps nobody else has them, so it keeps asking an
// archive that does not answer for some seconds.
func Secure(ctx context.Context, files archive.Store, digest string, body []byte) error {
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		err := secure(ctx, files, digest, body)
		if !errors.Is(err, archive.ErrUnavailable) || wait > secureFor {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

func secure(ctx context.Context, files archive.Store, digest string, body []byte) error {
	there, err := files.Has(ctx, digest)
	if err != nil || there {
		return err
	}
	w, err := files.Create(ctx)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.Copy(w, bytes.NewReader(body)); err != nil {
		return err
	}
	stored, _, err := w.Commit()
	if err == nil && stored != digest {
		err = fmt.Errorf("the bytes of %s hash to %s", digest, stored)
	}
	return err
}

// Sweep deletes the bytes of up to limit digests that wait for it in the store,
// and returns their number: 0 when none wait.
func Sweep(ctx context.Context, s store.Contents, files archive.Store, limit int) (int, error) {
	deleted, err := remove(ctx, s, files, func(ctx context.Context) ([]string, error) { return s.Unreferenced(ctx, limit) })
	return len(deleted), err
}

// remove deletes the bytes of the digests that claim returns. Those that it does
// not reach are given out again when the claim has ended.
func remove(ctx context.Context, s store.Contents, files archive.Store, claim func(context.Context) ([]string, error)) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, deleteFor) // from before the claim
	defer cancel()
	digests, err := claim(ctx)
	if err != nil || len(digests) == 0 {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for _, digest := range digests {
		group.Go(func() error {
			if err := files.Delete(groupCtx, digest); err != nil {
				return fmt.Errorf("delete %s from the archive: %w", digest, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return digests, s.Deleted(ctx, digests)
}
