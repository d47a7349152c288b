package tsvector

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/search"
)

// tables are the tables beside the documents. Names have no schema, here and elsewhere: a
// transaction sees only the index's own.
const tables = `
CREATE TABLE about (id integer PRIMARY KEY CHECK (id = 1), format integer NOT NULL, store text NOT NULL);
CREATE TABLE crawls (crawl bigint PRIMARY KEY, cursor text NOT NULL);
`

// docs is the table with what is shown of a crawl's pages; vectors is the one by which they
// are found and ranked. Each crawl has two tables of its own, so that it pays nothing for a
// word that is common in another crawl, and can be dropped at once.
func docs(crawl int64) string { return fmt.Sprintf("docs_%d", crawl) }

// vectors: see docs.
func vectors(crawl int64) string { return fmt.Sprintf("vectors_%d", crawl) }

// crawlTables are the tables of a crawl.
//
// Rows of vectors are short, and read by the hundred thousand where a word is common: so
// each tsvector is stored outside the table, uncompressed since it would not get smaller.
// Half of each page stays free: a new importance is then written beside the old one, and no
// index is touched. Without statistics the planner takes every word to be rare, and never
// reads the tsvectors of all pages instead of the index.
const crawlTables = `
CREATE TABLE IF NOT EXISTS %[2]s (
    page bigint PRIMARY KEY, importance double precision NOT NULL, boost real NOT NULL, words tsvector NOT NULL
) WITH (fillfactor = 45, toast_tuple_target = 128);
ALTER TABLE %[2]s ALTER words SET STORAGE EXTERNAL, ALTER words SET STATISTICS 0;
CREATE INDEX IF NOT EXISTS vectors_%[3]d_words ON %[2]s USING gin (words);
CREATE TABLE IF NOT EXISTS %[1]s (
    page bigint PRIMARY KEY, digest uuid, version integer NOT NULL, url text NOT NULL, host text NOT NULL, title text NOT NULL, mark text NOT NULL
);
CREATE INDEX IF NOT EXISTS docs_%[3]d_digest ON %[1]s (digest) WHERE digest IS NOT NULL;
INSERT INTO crawls (crawl, cursor) VALUES (%[3]d, '') ON CONFLICT DO NOTHING;`

// makeTables makes the tables of a crawl.
func makeTables(ctx context.Context, q querier, crawl int64) error {
	if _, err := q.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", makeLock)); err != nil {
		return err
	}
	_, err := q.Exec(ctx, fmt.Sprintf(crawlTables, docs(crawl), vectors(crawl), crawl))
	return err
}

// claim makes the schema, unless it is there. One of an older format is begun anew, and one
// of another store: then this database is a copy of that store's.
func (x *Index) claim(ctx context.Context, store string) error {
	have, err := x.about(ctx)
	if err != nil || have == (about{format, store}) {
		return err
	}
	return x.write(ctx, func(q querier) error {
		if _, err := q.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", makeLock)); err != nil {
			return err
		}
		if err := x.inherit(ctx, q, store); err != nil {
			return err
		}
		have, err := aboutOf(ctx, q) // another may have been faster
		switch {
		case err != nil || have == (about{format, store}):
			return err
		case have.format > format:
			return have.newer()
		}
		for _, statement := range []string{
			"DROP SCHEMA IF EXISTS " + x.identifier() + " CASCADE", "CREATE SCHEMA " + x.identifier(), tables,
			fmt.Sprintf("INSERT INTO about (id, format, store) VALUES (1, %d, %s)", format, quoted(store)),
		} {
			if _, err := q.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// inherit takes over the index that an older release kept for this store: it gave all the
// stores of a database one schema, where each began the index of the others anew.
func (x *Index) inherit(ctx context.Context, q querier, store string) error {
	if x.schema == Schema {
		return nil
	}
	var old string
	var has bool
	const look = "SELECT COALESCE(to_regclass($1)::text, ''), to_regnamespace($2) IS NOT NULL"
	if err := q.QueryRow(ctx, look, Schema+".about", x.identifier()).Scan(&old, &has); err != nil || old == "" || has {
		return err
	}
	var ours bool
	if err := q.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+Schema+".about WHERE store = $1)", store).Scan(&ours); err != nil || !ours {
		return err
	}
	_, err := q.Exec(ctx, "ALTER SCHEMA "+Schema+" RENAME TO "+x.identifier())
	return err
}

// check makes sure that there is an index to query.
func (x *Index) check(ctx context.Context, store string) error {
	have, err := x.about(ctx)
	switch {
	case err != nil:
		return err
	case have.format > format:
		return named(have.newer())
	case have.store == store && have.format != 0 && have.format < format:
		return named(search.ErrOlder)
	case have != about{format, store}:
		return named(search.ErrNone) // the next worker makes it
	}
	return nil
}

// about describes a schema; format 0 means none.
type about struct {
	format int
	store  string
}

func (x *Index) about(ctx context.Context) (a about, err error) {
	err = x.read(ctx, func(q querier) error {
		a, err = aboutOf(ctx, q)
		return err
	})
	return a, err
}

func aboutOf(ctx context.Context, q querier) (a about, err error) {
	var there bool
	if err := q.QueryRow(ctx, "SELECT to_regclass('about') IS NOT NULL").Scan(&there); err != nil || !there {
		return a, err
	}
	err = q.QueryRow(ctx, "SELECT format, store FROM about").Scan(&a.format, &a.store)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return a, err
}

func (a about) newer() error {
	return fmt.Errorf("it is of a newer release (format %d, this one reads up to %d): %w", a.format, format, search.ErrForeign)
}
