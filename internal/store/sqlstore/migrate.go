package sqlstore

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"recrawl/internal/store"
)

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

// Migrate brings a database to the newest schema: each missing migration in one
// transaction with the record of its name. write must let one process at a time
// into its transaction. The error is store.ErrForeign when the database has
// seen migrations that are not in all, as a newer recrawl leaves it.
func Migrate(ctx context.Context, write func(context.Context, func(Tx) error) error, all []Migration) error {
	for complete := false; !complete; {
		err := write(ctx, func(tx Tx) error {
			var err error
			complete, err = applyNext(ctx, tx, all)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckMigrated returns an error unless the database has exactly the given
// migrations: for connections that must not change it.
func CheckMigrated(ctx context.Context, tx Tx, all []Migration) error {
	applied, err := appliedCount(ctx, tx, all)
	if err != nil {
		return err
	}
	if applied < len(all) {
		return fmt.Errorf("the store is of an older recrawl: open it for writing once to bring it up to date (migration %s is missing)", all[applied].Name)
	}
	return nil
}

// applyNext applies the first missing migration and reports whether none is
// left to apply.
func applyNext(ctx context.Context, tx Tx, all []Migration) (complete bool, err error) {
	const table = `CREATE TABLE IF NOT EXISTS recrawl_migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)`
	if _, err := tx.Exec(ctx, table); err != nil {
		return false, fmt.Errorf("prepare migrations: %w", err)
	}
	applied, err := appliedCount(ctx, tx, all)
	if err != nil || applied == len(all) {
		return err == nil, err
	}
	next := all[applied]
	if _, err := tx.Exec(ctx, next.SQL); err != nil {
		return false, fmt.Errorf("migration %s: %w", next.Name, err)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, `INSERT INTO recrawl_migrations (name, applied_at) VALUES ($1, $2)`, next.Name, now); err != nil {
		return false, fmt.Errorf("record migration %s: %w", next.Name, err)
	}
	return applied+1 == len(all), nil
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
	for i, name := range names {
		if i >= len(all) || all[i].Name != name {
			return 0, fmt.Errorf("made by another, probably newer, version of recrawl (migration %s): %w", name, store.ErrForeign)
		}
	}
	return len(names), nil
}
