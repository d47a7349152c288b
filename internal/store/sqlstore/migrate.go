package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"recrawl/internal/store"
)

// Compatible is the last migration of the release before this one. Programs of that
// release may go on reading and writing a store that this one has migrated: a fleet is
// upgraded worker by worker, and somebody's `starter status` is older. It holds because
// migrations since then only add (a test sees to that), and no promise of the older
// tables depends on the newer ones. A release that cannot keep this names its own last
// migration here, and says in the change log that all workers stop first.
const Compatible = "0017_workers"

// settingCompatible is the row of settings that holds the Compatible of the newest release
// that has migrated the store.
const settingCompatible = "compatible"

// settingUpgrading is the row of settings that holds the name of an upgrade's first
// migration, from that one on until the last.
const settingUpgrading = "upgrading"

// migrationSettings makes the table settings.
const migrationSettings = "0004_settings"

// Migration is one step of a driver's schema.
type Migration struct {
	Name string // file name without .sql: "0001_collection"
	SQL  string
}

// Migrations reads all .sql files of a driver's embedded folder, in order. The
// names must start with 0001, 0002, … without a gap.
func Migrations(fsys fs.FS) ([]Migration, error) {
	names, err := fs.Glob(fsys, "migrations/*.sql") // sorted by Glob
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	all := make([]Migration, 0, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		base := strings.TrimSuffix(path.Base(name), ".sql")
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(base, want) {
			return nil, fmt.Errorf("migration %s: its name should start with %s", name, want)
		}
		all = append(all, Migration{Name: base, SQL: string(text)})
	}
	return all, nil
}

// Migrate brings a database to the newest schema. A new one gets all migrations in one
// transaction, so that it is created completely or not at all, and at the price of one
// commit. A database of an older release gets each in a separate transaction, with the
// record of its name, so that no step over many rows is made twice. write must let one
// process at a time into its transaction. The error is store.ErrForeign when the database
// has seen migrations that are not in all, unless they are those of a release that is
// compatible with this one; see Compatible.
func Migrate(ctx context.Context, write func(context.Context, func(Tx) error) error, all []Migration) error {
	for complete := false; !complete; {
		err := write(ctx, func(tx Tx) error {
			var err error
			complete, err = applyMissing(ctx, tx, all)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckMigrated returns an error unless the database has the given migrations, and no
// others except those of a compatible release: for connections that must not change it.
func CheckMigrated(ctx context.Context, tx Tx, all []Migration) error {
	applied, err := appliedCount(ctx, tx, all)
	if err != nil {
		return err
	}
	if applied < len(all) {
		return fmt.Errorf("the store is of an older recrawl: start a worker of this release, or `starter dev`, once to bring it up to date, or use the `starter` of that release (migration %s is missing): %w", all[applied].Name, store.ErrUnavailable)
	}
	return nil
}

// FirstMissing returns the name of the first migration that a partly migrated database
// lacks; "" if it has all. begun is the first migration of an upgrade that was cut off; ""
// if the database is as a release left it.
func FirstMissing(ctx context.Context, tx Tx, all []Migration) (missing, begun string, err error) {
	applied, err := appliedCount(ctx, tx, all)
	if err != nil || applied == len(all) {
		return "", "", err
	}
	missing = all[applied].Name
	if missing <= migrationSettings {
		return missing, "", nil
	}
	err = tx.QueryRow(ctx, `SELECT value FROM settings WHERE name = $1`, []any{settingUpgrading}, &begun)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", "", fmt.Errorf("read what upgrade was cut off: %w", err)
	}
	return missing, begun, nil
}

// applyMissing applies the first missing migration, or all of them to a new database, and
// reports whether none is left to apply.
func applyMissing(ctx context.Context, tx Tx, all []Migration) (complete bool, err error) {
	const table = `CREATE TABLE IF NOT EXISTS recrawl_migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)`
	if _, err := tx.Exec(ctx, table); err != nil {
		return false, fmt.Errorf("prepare migrations: %w", err)
	}
	applied, err := appliedCount(ctx, tx, all)
	if err != nil || applied == len(all) {
		return err == nil, err
	}
	last := applied + 1
	if applied == 0 {
		last = len(all)
	}
	for _, next := range all[applied:last] {
		if err := apply(ctx, tx, next); err != nil {
			return false, err
		}
	}
	if all[last-1].Name < migrationSettings {
		return false, nil
	}
	return last == len(all), noteUpgrade(ctx, tx, all[applied].Name, last == len(all))
}

// apply applies a migration and records its name.
func apply(ctx context.Context, tx Tx, m Migration) error {
	if _, err := tx.Exec(ctx, m.SQL); err != nil {
		return fmt.Errorf("migration %s: %w", m.Name, err)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO recrawl_migrations (name, applied_at) VALUES ($1, $2)`, m.Name, now); err != nil {
		return fmt.Errorf("record migration %s: %w", m.Name, err)
	}
	return nil
}

// noteUpgrade records which older programs may use the store from now on, also while some
// migrations are still missing, and whether that is so.
func noteUpgrade(ctx context.Context, tx Tx, next string, complete bool) error {
	_, err := tx.Exec(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, settingCompatible, Compatible)
	if err != nil {
		return fmt.Errorf("note compatible releases: %w", err)
	}
	if complete {
		_, err = tx.Exec(ctx, `DELETE FROM settings WHERE name = $1`, settingUpgrading)
	} else {
		_, err = tx.Exec(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, settingUpgrading, next)
	}
	if err != nil {
		return fmt.Errorf("note how far the upgrade is: %w", err)
	}
	return nil
}

// appliedCount returns how many of the migrations, from the first on, the
// database has seen.
func appliedCount(ctx context.Context, tx Tx, all []Migration) (int, error) {
	names, err := collect(ctx, tx, `SELECT name FROM recrawl_migrations ORDER BY name`, nil, func(row Row) (string, error) {
		var name string
		err := row.Scan(&name)
		return name, err
	})
	if err != nil {
		return 0, fmt.Errorf("read applied migrations: %w", err)
	}
	for i, name := range names[:min(len(names), len(all))] {
		if all[i].Name != name {
			return 0, foreignMigration(name)
		}
	}
	if len(names) <= len(all) {
		return len(names), nil
	}
	var compatible string
	err = tx.QueryRow(ctx, `SELECT value FROM settings WHERE name = $1`, []any{settingCompatible}, &compatible)
	if errors.Is(err, store.ErrNotFound) || err == nil && compatible > all[len(all)-1].Name {
		return 0, foreignMigration(names[len(all)])
	}
	return len(all), err
}

func foreignMigration(name string) error {
	return fmt.Errorf("made by another, probably newer, version of recrawl (migration %s): %w", name, store.ErrForeign)
}
