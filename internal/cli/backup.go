package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"recrawl/internal/backup"
	"recrawl/internal/config"
	"recrawl/internal/report"
)

type backupCmd struct {
	Dir         string `arg:"" placeholder:"DIR" help:"The folder of the backups: new, empty, or with earlier ones."`
	Keep        int    `default:"3" placeholder:"N" help:"How many backups stay in the folder, with this one, by default 3. Contents that none of them has are deleted there."`
	ArchiveOnly bool   `help:"Copy the archive without the store: for Postgres, which pg_dump backs up."`
}

// BackupOptions are the settings of Backend.Backup.
type BackupOptions struct {
	Keep     int
	Progress backup.Progress
}

// Help implements kong.HelpProvider.
func (backupCmd) Help() string {
	return `Copies the store and what is new in the archive to a folder, while crawls run. A backup counts when it is whole:
what is cut off leaves the earlier ones as they are, and the same command goes on. Temporal's database is not part
of it: whatever that knows can be made again from the store, except for intervals and snoozes that people set.

    starter backup /mnt/backup
    starter restore /mnt/backup --data restored`
}

// Run makes a backup.
func (c backupCmd) Run(s *session) error {
	if c.Keep < 1 {
		return usagef("--keep %d: write how many backups stay, at least 1", c.Keep)
	}
	return s.withArchive(func(at Target) error {
		line := newProgress(s)
		if c.ArchiveOnly {
			done, err := s.env.Backend.BackupArchive(s.ctx, at, c.Dir, line.part)
			line.clear()
			if err == nil {
				err = report.ArchiveCopied(done).Write(s.env.Stdout, s.global.Output)
			}
			return orLacking(done, 0, err)
		}
		if !strings.HasPrefix(at.Store, "sqlite:") {
			return usagef("Postgres is backed up with pg_dump, and its archive with `starter backup %s --archive-only`: see docs/backup.md", c.Dir)
		}
		made, err := s.env.Backend.Backup(s.ctx, at, c.Dir, BackupOptions{Keep: c.Keep, Progress: line.part})
		line.clear()
		if err == nil {
			err = report.BackedUp(made).Write(s.env.Stdout, s.global.Output)
		}
		return orLacking(made.Copied, 0, err)
	})
}

// orLacking is the error for missing contents, beyond those that are known to be
// missing.
func orLacking(done backup.Copied, known int, err error) error {
	if err != nil || done.Lacking() <= known {
		return err
	}
	return fmt.Errorf("%d of %s cannot be had, such as %s: `starter archive verify` names them, with their pages",
		done.Lacking(), count(done.Contents, "content"), strings.Join(done.Named, ", "))
}

type restoreCmd struct {
	Dir         string `arg:"" placeholder:"DIR" help:"The folder of the backups."`
	At          string `placeholder:"NAME" help:"The backup's name, as starter backup said it; by default the newest."`
	ArchiveOnly bool   `help:"Bring back the archive without the store: for Postgres, after pg_restore."`
}

// RestoreOptions are the settings of Backend.Restore.
type RestoreOptions struct {
	At string // the backup's name; "" is the newest
	// Store and Archive are the places that the operator gave; if Store is "", Data is
	// the data folder of a `starter dev`.
	Store, Archive, Data string
	Progress             backup.Progress
}

// Help implements kong.HelpProvider.
func (restoreCmd) Help() string {
	return `Brings a backup to a new data folder, or to the store and archive that are named. It overwrites nothing, and checks
every byte. It may be cut off: the same command goes on. Temporal starts empty: every page's workflow is started again
by the first pass of maintenance, at its old time. Hosts rest for one delay first.

    starter restore /mnt/backup --data restored
    starter dev --data restored`
}

// Run restores a backup.
func (c restoreCmd) Run(s *session) error {
	archive := cmp.Or(s.global.Archive, s.cfg.Archive)
	line := newProgress(s)
	if c.ArchiveOnly {
		if archive == "" {
			return usage(config.ErrNoArchive)
		}
		done, err := s.env.Backend.RestoreArchive(s.ctx, archive, c.Dir, line.part)
		line.clear()
		if err == nil {
			err = report.ArchiveCopied(done).Write(s.env.Stdout, s.global.Output)
		}
		return orLacking(done, 0, err)
	}
	store, err := s.storeOrFolder()
	switch {
	case err != nil:
		return err
	case store == "" && s.global.Archive != "":
		return usagef("--archive goes with --store: a data folder has its archive in it")
	case store != "" && !strings.HasPrefix(store, "sqlite:"):
		return usagef("Postgres is restored with pg_restore, and its archive with `starter restore %s --archive-only`: see docs/backup.md", c.Dir)
	case store != "" && archive == "":
		return usage(config.ErrNoArchive)
	}
	o := RestoreOptions{At: c.At, Store: store, Archive: archive, Data: s.places.Data, Progress: line.part}
	done, err := s.env.Backend.Restore(s.ctx, c.Dir, o)
	line.clear()
	if errors.Is(err, backup.ErrNone) {
		return &failure{ExitNotFound, "", err}
	}
	if err == nil {
		err = report.Restored(done).Write(s.env.Stdout, s.global.Output)
	}
	return orLacking(done.Copied, done.Manifest.Lacking, err)
}

// storeOrFolder is the store that --store or RECRAWL_STORE names, "" for that of the data folder. A
// --data beside the variable is refused: the variable would come first, and the command would act
// on a store that nobody has in mind.
func (s *session) storeOrFolder() (dsn string, err error) {
	if s.global.Data != "" && s.global.Store == "" && s.cfg.Store != "" {
		return "", usagef("--data %s names a data folder, and %s a store: unset that, or leave --data out", s.global.Data, config.EnvStore)
	}
	return cmp.Or(s.global.Store, s.cfg.Store), nil
}

// part shows the present step, and how much of it is done.
func (p *progress) part(doing string, part float64) {
	if part > 0 {
		doing = fmt.Sprintf("%s: %.0f %%", doing, 100*part)
	}
	p.show(doing)
}
