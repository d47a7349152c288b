package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"recrawl/internal/archive"
	"recrawl/internal/durable"
)

// Into is the place where a backup is restored.
type Into struct {
	// Store is the store's file, which must not exist.
	Store string
	// Files is its archive. Its existing contents stay, unless they are damaged.
	Files archive.Store
	// Open opens a copy of a store for reading.
	Open func(ctx context.Context, path string) (Copy, error)
	// Renew gives the change feed of a store's file another epoch: cursors of the backed-up
	// store are invalid in the restored one, whose history diverges.
	Renew func(ctx context.Context, path string) error
	// Before, unless nil, is called when all is there except the store's name.
	Before func() error
}

// Restored is the result of Restore.
type Restored struct {
	Manifest Manifest
	Copied   Copied
}

// Restore brings back a backup of a folder by its name, the newest for "". The store
// gets its name last, so that an interrupted restore is no store, and goes on when it is
// run again. Missing contents are counted; the store is restored even without them.
func Restore(ctx context.Context, dir, name string, into Into, progress Progress) (done Restored, err error) {
	if done.Manifest, err = Find(dir, name); err != nil {
		return done, err
	}
	if err := vacant(into.Store); err != nil {
		return done, err
	}
	progress("copying the store", 0)
	copied := file(dir, done.Manifest.Name, copySuffix)
	if err := copyStore(copied, into.Store+partSuffix, done.Manifest); err != nil {
		return done, err
	}
	files, err := open(dir)
	if err != nil {
		return done, err
	}
	opened, err := into.Open(ctx, copied)
	if err != nil {
		return done, err
	}
	done.Copied, err = restorer(files, into.Files, progress).all(ctx, opened, func(string) {})
	if err = errors.Join(err, opened.Close()); err != nil {
		return done, err
	}
	if err := into.Renew(ctx, into.Store+partSuffix); err != nil {
		return done, fmt.Errorf("restore: %w", err)
	}
	if into.Before != nil {
		if err := into.Before(); err != nil {
			return done, err
		}
	}
	if err := claim(into.Store+partSuffix, into.Store); err != nil {
		return done, fmt.Errorf("restore: %w", err)
	}
	return done, nil
}

// RestoreArchive copies all contents of a folder into an archive, without a store. Those that
// are damaged there are replaced.
func RestoreArchive(ctx context.Context, dir string, to archive.Store, progress Progress) (Copied, error) {
	files, err := open(dir)
	if err != nil {
		return Copied{}, err
	}
	return restorer(files, to, progress).all(ctx, listed{files}, func(string) {})
}

// open opens the contents of a backup that exists. It makes nothing there: the backup may be on a
// read-only medium, to which its empty folders were not copied.
func open(dir string) (*archive.Dir, error) {
	path := filepath.Join(dir, archiveDir)
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w: it has no archive", dir, ErrNone)
	case err != nil:
		return nil, fmt.Errorf("restore: %w", err)
	}
	files, _ := archive.ExistingDir(path)
	return files, nil
}

// listed is an archive as a store that has all of it.
type listed struct{ files archive.Store }

// ListContents implements Contents.
func (l listed) ListContents(ctx context.Context, after string, limit int) ([]string, error) {
	var found []string
	for info, err := range l.files.List(ctx, after) {
		if err != nil {
			return nil, err
		}
		if found = append(found, info.Digest); len(found) == limit {
			break
		}
	}
	return found, nil
}

// vacant refuses a place with a store, or with the remains of one: SQLite would take
// another store's log for this one's.
func vacant(path string) error {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return fmt.Errorf("%s exists and %w: move it away, or restore to another place with --data", path+suffix, ErrExists)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyStore copies the store's file and checks that it is the one of the manifest. A restore that
// was killed may have left the journal of its copy, from which SQLite would take pages for this
// one. If it had named its store, the copy is that store's file under another name, which must
// not be written to: the store may have been moved away since, and be in use.
func copyStore(from, to string, m Manifest) (err error) {
	for _, left := range []string{to + "-journal", to} {
		if err := removeIfThere(left); err != nil {
			return fmt.Errorf("restore: %w", err)
		}
	}
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), in)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil && (n != m.Bytes || hex.EncodeToString(sum.Sum(nil)) != m.SHA256) {
		err = fmt.Errorf("%s is not what its manifest says: %w: name an older one with --at", from, ErrDamaged)
	}
	if err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// claim gives a file its name unless something has it.
func claim(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		err = os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists and %w", to, ErrExists)
	default: // a file system without links
		err = os.Rename(from, to)
	}
	return errors.Join(err, durable.Sync(filepath.Dir(to)))
}
