package backup

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"recrawl/internal/archive"
	"recrawl/internal/durable"
)

// removeOld removes all backups except the newest ones: the manifest first, so that
// an interrupted removal leaves no backup. The one that was just made always stays.
func removeOld(dir string, keep int, made string) (int, error) {
	all, err := List(dir)
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, m := range all[min(max(keep, 1), len(all)):] {
		if m.Name == made {
			continue
		}
		for _, suffix := range []string{manifestSuffix, copySuffix} {
			if err := os.Remove(file(dir, m.Name, suffix)); err != nil {
				return removed, fmt.Errorf("remove an old backup: %w", err)
			}
		}
		removed++
	}
	// Before their contents go: no power cut may bring back a backup without them.
	return removed, durable.Sync(filepath.Join(dir, storeDir))
}

// prune deletes the contents that no backup has: it goes through the folder and all
// copies side by side, in the order of the digests. After the deletion of a large crawl most are
// to go: to wait for the disk for each of them would take longer than the backup.
func prune(ctx context.Context, open func(context.Context, string) (Copy, error), dir string, files *archive.Dir, progress Progress) (pruned int, err error) {
	all, err := List(dir)
	if err != nil {
		return 0, err
	}
	var walks []*walk
	defer func() {
		for _, w := range walks {
			w.stop()
		}
	}()
	for _, m := range all {
		opened, failed := open(ctx, file(dir, m.Name, copySuffix))
		if failed != nil {
			return 0, failed
		}
		defer func() { err = errors.Join(err, opened.Close()) }()
		walks = append(walks, newWalk(ctx, opened))
	}
	to, err := files.Batch()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, to.Flush()) }()
	seen := 0
	for info, err := range files.List(ctx, "") {
		if err != nil {
			return pruned, err
		}
		if seen++; seen%batch == 0 {
			progress("removing contents that no backup has", part(info.Digest))
		}
		wanted, err := anyHas(walks, info.Digest)
		if err != nil {
			return pruned, err
		}
		if wanted {
			continue
		}
		if err := to.Delete(ctx, info.Digest); err != nil {
			return pruned, err
		}
		pruned++
	}
	return pruned, nil
}

// anyHas reports whether one of the stores has a digest. All of them move on.
func anyHas(walks []*walk, digest string) (bool, error) {
	wanted := false
	for _, w := range walks {
		has, err := w.has(digest)
		if err != nil {
			return false, err
		}
		wanted = wanted || has
	}
	return wanted, nil
}

// walk goes through the digests of a store in step with ascending queries.
type walk struct {
	next func() ([]string, error, bool)
	stop func()
	left []string
	done bool
}

func newWalk(ctx context.Context, s Contents) *walk {
	w := &walk{}
	w.next, w.stop = iter.Pull2(digests(ctx, s))
	return w
}

func (w *walk) has(digest string) (bool, error) {
	for {
		for len(w.left) > 0 && w.left[0] < digest {
			w.left = w.left[1:]
		}
		if len(w.left) > 0 || w.done {
			return len(w.left) > 0 && w.left[0] == digest, nil
		}
		next, err, ok := w.next()
		if err != nil {
			return false, err
		}
		w.left, w.done = next, !ok
	}
}
