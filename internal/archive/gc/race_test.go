//go:build unix

package gc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/gc"
	"recrawl/internal/archive/s3"
	"recrawl/internal/archive/s3/s3test"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// TestNothingIsLostBesideCollection lets visits of a few contents that come and go,
// a busy collection in fast motion, run beside collectors and sweepers that spare
// no content for its age. No version is ever without its bytes, and at the end the
// archive holds exactly the versions' contents.
func TestNothingIsLostBesideCollection(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) store.Store{"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newWorld(t, open(t), racers+1).race(60)
		})
	}
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, onSQLite(t), racers+1)
		server := s3test.Start(t)
		bucket, err := s3.Open(t.Context(), server.URL(server.Bucket(), "pages"), server.Getenv)
		w.check(err)
		w.files = bucket
		w.race(20)
	})
}

const (
	racers       = 4 // pages that are visited at the same time
	raceContents = 6 // that all of them see
)

// race makes the given number of visits of each racing page beside collection. The last
// page is not among them: without its version the archive might seem to be
// another's.
func (w *world) race(visits int) {
	w.t.Helper()
	w.save(racers, 1, w.put("the collection's own"))
	var visitors, keepers sync.WaitGroup
	for page := range racers {
		visitors.Go(func() {
			(&visitor{world: w, page: w.pages[page], source: rand.New(rand.NewPCG(7, uint64(page)))}).visits(visits)
		})
	}
	var deleted atomic.Int64
	over := make(chan struct{})
	keep := func(turn func(context.Context) (int, error)) {
		for {
			select {
			case <-over:
				return
			default:
			}
			n, err := turn(w.t.Context())
			deleted.Add(int64(n))
			if err != nil {
				w.t.Errorf("collection: %v", err)
				return
			}
		}
	}
	for range 2 {
		keepers.Go(func() { keep(w.collectAll) })
	}
	keepers.Go(func() {
		keep(func(ctx context.Context) (int, error) { return gc.Sweep(ctx, w.store, w.files, 3) })
	})
	visitors.Wait()
	close(over)
	keepers.Wait()
	w.t.Logf("%d contents were deleted beside %d visits", deleted.Load(), racers*visits)
	if deleted.Load() == 0 {
		w.t.Error("nothing was deleted: this was no race")
	}
	if _, err := w.collectAll(w.t.Context()); err != nil {
		w.t.Error(err)
	}
	w.agrees()
}

// collectAll deletes whatever no version has, however young.
func (w *world) collectAll(ctx context.Context) (int, error) {
	got, err := gc.Collect(ctx, w.store, w.files, gc.CollectOptions{Age: -time.Hour})
	return got.Deleted, err
}

// visitor plays the visits of one page.
type visitor struct {
	*world
	page   crawl.PageRef
	source *rand.Rand
	had    map[string]bool // digests that the page's versions have
}

func (v *visitor) visits(n int) {
	v.had = map[string]bool{}
	for visit := 1; visit <= n; visit++ {
		err := v.visit(visit)
		for digest := range v.had {
			err = errors.Join(err, v.read(digest))
		}
		if err != nil {
			v.t.Errorf("%s, visit %d: %v", v.page.URL, visit, err)
			return
		}
	}
}

// visit stores a body and saves it as a version; or discards it; or is lost
// before it can do either; or its page is forgotten and found again.
func (v *visitor) visit(visit int) error {
	ctx := v.t.Context()
	body := fmt.Appendf(nil, "content %d", v.source.IntN(raceContents))
	w, err := v.files.Create(ctx)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write(body); err != nil {
		return err
	}
	digest, _, err := w.Commit()
	if errors.Is(err, archive.ErrUnavailable) {
		return nil // the server collides with a deletion beside it; the visit comes again
	}
	if err != nil {
		return err
	}
	switch v.source.IntN(10) {
	case 0, 1, 2:
		return nil
	case 3, 4, 5:
		return v.store.Discard(ctx, []string{digest})
	case 6:
		return v.startOver(ctx)
	}
	if err := v.saveVersion(ctx, visit, digest); err != nil {
		return err
	}
	v.had[digest] = true
	return gc.Secure(ctx, v.files, digest, body)
}

// saveVersion waits while the digest is claimed, as an activity's retries do.
func (v *visitor) saveVersion(ctx context.Context, visit int, digest string) error {
	for {
		_, err := v.store.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: v.page.PageID, Visit: visit, Digest: digest}})
		if !errors.Is(err, store.ErrUnavailable) {
			return err
		}
	}
}

func (v *visitor) startOver(ctx context.Context) error {
	target := store.Target{URL: v.page.URL}
	if _, err := v.store.Forget(ctx, store.ForgetParams{Target: target}); err != nil {
		return err
	}
	v.had = map[string]bool{}
	if err := v.store.Remember(ctx, target); err != nil {
		return err
	}
	again := store.RegisterParams{CrawlID: v.page.CrawlID, URLs: []store.NewURL{{URL: v.page.URL, Host: v.page.Host}}}
	if _, err := v.store.RegisterLinks(ctx, again); err != nil {
		return err
	}
	found, err := v.store.FindPages(ctx, v.page.URL, "")
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d pages after it was forgotten: %w", len(found), err)
	}
	v.page = found[0].PageRef
	return nil
}

// read reads a content that a version has.
func (v *visitor) read(digest string) error {
	r, err := v.files.Open(v.t.Context(), digest)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}
