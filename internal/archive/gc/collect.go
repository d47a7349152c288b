package gc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/store"
)

const (
	// DefaultAge is how old bytes must be for Collect, by default. A visit saves or
	// discards the bytes that it has put into the archive within minutes, or within
	// the hours of an outage of the store.
	DefaultAge = 24 * time.Hour
	// batch is how many contents are claimed, deleted or checked in one go.
	batch = 500
)

// ErrForeign: the archive does not belong to the store.
var ErrForeign = errors.New("the archive holds nothing of the store's versions: is it the store's own?")

// CollectOptions are the settings of Collect.
type CollectOptions struct {
	// Age is how long ago bytes must have been stored, to be deleted.
	Age time.Duration
	// Dry only counts.
	Dry bool
	// Progress, unless nil, is called now and then with the progress.
	Progress func(Progress)
}

// Collected counts the findings of Collect in the archive.
type Collected struct {
	Deleted int   // contents that no version has; counted only, in a dry run
	Bytes   int64 // that they took
	Kept    int   // contents that versions have, that wait for a page's second look, or that another process is deleting
	Young   int   // contents that no version has, and that are too young
	Claimed int   // of those kept, about how many another process has claimed to delete, perhaps a killed one
}

// Progress is the progress of a walk through all contents.
type Progress struct {
	Contents int     // so far
	Bytes    int64   // so far: deleted, or read
	Damaged  int     // so far
	Part     float64 // of the way, 0 to 1
}

// part is how far a walk in the order of digests has come: they are spread evenly.
func part(digest string) float64 {
	n, err := strconv.ParseUint(digest[:min(8, len(digest))], 16, 32)
	if err != nil {
		return 0
	}
	return float64(n) / (1 << 32)
}

// Collect deletes the contents of the archive that no version has. It refuses an
// archive that holds nothing of the store's, and so anything that might be another
// store's. If it is cut off, it has deleted what it reports, and can be run again.
func Collect(ctx context.Context, s store.Contents, files archive.Store, o CollectOptions) (Collected, error) {
	c := collector{CollectOptions: o, store: s, files: files, known: &contents{store: s}, before: time.Now().Add(-o.Age)}
	if err := c.belongs(ctx); err != nil {
		return Collected{}, err
	}
	for info, err := range files.List(ctx, "") {
		if err == nil {
			err = c.see(ctx, info)
		}
		if err != nil {
			return c.found, err
		}
	}
	if err := c.flush(ctx); err != nil || c.unclaimed == 0 {
		return c.found, err
	}
	waiting, err := c.store.Waiting(ctx)
	c.found.Claimed = min(c.unclaimed, waiting)
	return c.found, err
}

type collector struct {
	CollectOptions
	store  store.Contents
	files  archive.Store
	known  *contents
	before time.Time
	found  Collected
	seen   int
	orphan []archive.Info // to be claimed and deleted
	// unclaimed counts those that could not be claimed.
	unclaimed int
}

// belongs returns ErrForeign unless one of the first contents that versions have
// is in the archive, or the archive has nothing to delete.
func (c *collector) belongs(ctx context.Context) error {
	first, err := c.store.ListContents(ctx, "", 10)
	if err != nil {
		return err
	}
	for _, digest := range first {
		there, err := c.files.Has(ctx, digest)
		if err != nil || there {
			return err
		}
	}
	for _, err := range c.files.List(ctx, "") {
		if err == nil {
			err = ErrForeign
		}
		return err
	}
	return nil
}

// see judges the next content.
func (c *collector) see(ctx context.Context, info archive.Info) error {
	had, err := c.known.has(ctx, info.Digest)
	switch {
	case err != nil:
		return err
	case had:
		c.found.Kept++
	case !info.At.Before(c.before):
		c.found.Young++
	default:
		c.orphan = append(c.orphan, info)
	}
	if c.seen++; len(c.orphan) >= batch || c.seen%batch == 0 {
		err = c.flush(ctx)
		if c.Progress != nil {
			c.Progress(Progress{Contents: c.seen, Bytes: c.found.Bytes, Part: part(info.Digest)})
		}
	}
	return err
}

// flush deletes the contents that seem to belong to no version. The claim knows.
func (c *collector) flush(ctx context.Context) error {
	sizes := map[string]int64{}
	digests := make([]string, len(c.orphan))
	for i, info := range c.orphan {
		digests[i], sizes[info.Digest] = info.Digest, info.Size
	}
	c.orphan = c.orphan[:0]
	deleted, err := c.remove(ctx, digests)
	if err != nil {
		return err
	}
	for _, digest := range deleted {
		c.found.Bytes += sizes[digest]
	}
	c.found.Deleted += len(deleted)
	c.found.Kept += len(digests) - len(deleted)
	c.unclaimed += len(digests) - len(deleted)
	return nil
}

// remove deletes those of the digests that it can claim. A dry run only asks which.
func (c *collector) remove(ctx context.Context, digests []string) ([]string, error) {
	switch {
	case len(digests) == 0:
		return nil, nil
	case c.Dry:
		return c.store.Claimable(ctx, digests)
	}
	return remove(ctx, c.store, c.files, func(ctx context.Context) ([]string, error) { return c.store.Claim(ctx, digests) })
}

// contents walks through the digests that versions have, beside a walk through
// the archive.
type contents struct {
	store store.Contents
	next  []string // in order
	last  string   // read from the store
	ended bool
}

// has reports whether versions have a digest, which must come after the one of the
// previous call.
func (c *contents) has(ctx context.Context, digest string) (bool, error) {
	for {
		for len(c.next) > 0 && c.next[0] < digest {
			c.next = c.next[1:]
		}
		if len(c.next) > 0 || c.ended {
			return len(c.next) > 0 && c.next[0] == digest, nil
		}
		// Those before the digest need not be read.
		var err error
		if c.next, err = c.store.ListContents(ctx, max(c.last, before(digest)), batch); err != nil {
			return false, fmt.Errorf("what versions have: %w", err)
		}
		if c.ended = len(c.next) == 0; !c.ended {
			c.last = c.next[len(c.next)-1]
		}
	}
}

// before is a text that sorts before a digest and after all smaller ones.
func before(digest string) string { return digest[:len(digest)-1] }
