package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"go.temporal.io/sdk/client"

	"recrawl/internal/archive"
	"recrawl/internal/backup"
	"recrawl/internal/cli"
	"recrawl/internal/config"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/temporalkit/embedded"
)

// Backup implements cli.Backend.
func (Backend) Backup(ctx context.Context, at cli.Target, dir string, o cli.BackupOptions) (made backup.Made, err error) {
	path, ok := strings.CutPrefix(at.Store, "sqlite:")
	if !ok {
		return made, errors.New("the store is no SQLite file")
	}
	if err := storeThere(path); err != nil {
		return made, err
	}
	files, err := openArchive(ctx, at.Archive, storeRead)
	if err != nil {
		return made, err
	}
	root := archiveFolder(at.Archive)
	err = withBackup(dir, root, func() error {
		live, err := sqlite.OpenCopy(ctx, path) // of any release: an upgrade is a reason to back up
		if err != nil {
			return err
		}
		made, err = backup.Make(ctx, backup.Source{
			Store: live, Files: files, Root: root, Open: openCopy,
			Snapshot: func(ctx context.Context, to string) error { return sqlite.Snapshot(ctx, path, to) },
		}, dir, backup.Options{Now: time.Now(), Software: "recrawl/" + config.VersionText(), Keep: o.Keep, Progress: o.Progress})
		return errors.Join(err, live.Close())
	})
	return made, err
}

// BackupArchive implements cli.Backend.
func (Backend) BackupArchive(ctx context.Context, at cli.Target, dir string, progress backup.Progress) (done backup.Copied, err error) {
	root := archiveFolder(at.Archive)
	err = withContents(ctx, at, storeRead, func(s store.Store, files archive.Store) error {
		return withBackup(dir, root, func() (err error) {
			done, err = backup.CopyArchive(ctx, backup.Source{Store: s, Files: files, Root: root, Open: openCopy}, dir, progress)
			return err
		})
	})
	return done, err
}

// withBackup locks a backup's folder for as long as do writes to it, making it if
// necessary. Root is the folder of the archive to back up.
func withBackup(dir, root string, do func() error) error {
	if err := backup.CheckFolder(dir, root); err != nil {
		return err
	}
	if err := makeFolder(dir); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	lock := flock.New(filepath.Join(dir, backup.LockFile))
	got, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("folder %s cannot be locked: %w", dir, err)
	}
	if !got {
		return fmt.Errorf("folder %s is in use by another backup or restore: wait for its end", dir)
	}
	return errors.Join(do(), lock.Unlock())
}

// readBackup locks a backup's folder for as long as do reads it, where that is
// possible: it may be on a read-only medium. It makes no lock file, which would say that
// the folder is one of backups.
func readBackup(dir string, do func() error) error {
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	lock := flock.New(filepath.Join(dir, backup.LockFile), flock.SetFlag(os.O_RDONLY))
	got, err := lock.TryRLock()
	if err != nil {
		return do()
	}
	if !got {
		return fmt.Errorf("folder %s is in use by a backup: wait for its end", dir)
	}
	return errors.Join(do(), lock.Unlock())
}

func openCopy(ctx context.Context, path string) (backup.Copy, error) {
	return sqlite.OpenCopy(ctx, path)
}

// Restore implements cli.Backend.
func (Backend) Restore(ctx context.Context, dir string, o cli.RestoreOptions) (done backup.Restored, err error) {
	err = readBackup(dir, func() error {
		if _, err := backup.Find(dir, o.At); err != nil {
			return err // before any folder is made
		}
		if path, ok := strings.CutPrefix(o.Store, "sqlite:"); ok {
			done, err = restoreTo(ctx, dir, path, o.Archive, o, nil)
			return err
		}
		done, err = restoreData(ctx, dir, o)
		return err
	})
	return done, err
}

func restoreTo(ctx context.Context, dir, path, files string, o cli.RestoreOptions, before func() error) (backup.Restored, error) {
	to, err := openArchive(ctx, files, storeOwn)
	if err != nil {
		return backup.Restored{}, err
	}
	return backup.Restore(ctx, dir, o.At, backup.Into{Store: path, Files: to, Open: openCopy, Renew: sqlite.NewEpoch, Before: before}, o.Progress)
}

// restoreData restores to a data folder of `starter dev`, which nobody else may use
// meanwhile. A Temporal database that is there belongs to another store.
func restoreData(ctx context.Context, dir string, o cli.RestoreOptions) (done backup.Restored, err error) {
	data, err := openDataDir(o.Data)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, data.close()) }()
	if _, err := os.Lstat(data.file(embedded.DatabaseName)); !errors.Is(err, fs.ErrNotExist) {
		return done, fmt.Errorf("data folder %s has been used and %w: name a new one with --data", o.Data, backup.ErrExists)
	}
	// The state comes before the store's name: where a kill leaves a store, commands find it.
	return restoreTo(ctx, dir, data.file(storeFile), data.file(archiveDir), o, func() error {
		return data.writeState(config.DevState{
			Store: "sqlite:" + data.file(storeFile), Archive: data.file(archiveDir), TemporalNamespace: client.DefaultNamespace,
		})
	})
}

// RestoreArchive implements cli.Backend.
func (Backend) RestoreArchive(ctx context.Context, url, dir string, progress backup.Progress) (done backup.Copied, err error) {
	err = readBackup(dir, func() error {
		to, err := openArchive(ctx, url, storeOwn)
		if err != nil {
			return err
		}
		done, err = backup.RestoreArchive(ctx, dir, to, progress)
		return err
	})
	return done, err
}
