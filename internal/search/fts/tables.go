package fts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"recrawl/internal/search"
)

// tables are the tables beside the words. The words of each crawl have a table of their
// own, so that the rarity of a word is that in the crawl, and a crawl is dropped at once.
const tables = `
CREATE TABLE about (id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL, store TEXT NOT NULL);
CREATE TABLE crawls (crawl INTEGER PRIMARY KEY, cursor TEXT NOT NULL);
CREATE TABLE docs (
    crawl INTEGER NOT NULL, page INTEGER NOT NULL, version INTEGER NOT NULL, url TEXT NOT NULL, host TEXT NOT NULL, title TEXT NOT NULL,
    digest TEXT NOT NULL, importance REAL NOT NULL, boost REAL NOT NULL, at INTEGER NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (crawl, page)
) WITHOUT ROWID;
CREATE INDEX docs_by_digest ON docs (crawl, digest) WHERE digest <> '';
`

// wordsTable returns the full text index of a crawl, by the numbers of pages. It holds no
// text, only the places of words. Words come separated by spaces, in ASCII or beyond, which
// this tokenizer leaves as it is.
func wordsTable(crawl int64) string {
	return fmt.Sprintf(`
CREATE VIRTUAL TABLE IF NOT EXISTS words_%[1]d USING fts5(title, headings, text, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE VIRTUAL TABLE IF NOT EXISTS terms_%[1]d USING fts5vocab(words_%[1]d, row);
INSERT INTO crawls (crawl, cursor) VALUES (%[1]d, '') ON CONFLICT DO NOTHING;`, crawl)
}

// claim makes sure that the file is ours, or new, before anything is written to it.
func (x *Index) claim(ctx context.Context, store string) error {
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	id, count, err := identify(ctx, conn)
	if err != nil {
		return err
	}
	if id != applicationID && (id != 0 || count != 0) {
		return fmt.Errorf("a database of another program: %w", search.ErrForeign)
	}
	if err := exec(ctx, conn, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	return x.write(ctx, func(conn *sql.Conn) error {
		have, err := aboutOf(ctx, conn)
		switch {
		case err != nil:
			return err
		case have.format == format && have.store == store:
			return nil
		case have.format > format || have.format != 0 && have.store != store:
			return have.foreign()
		}
		return begin(ctx, conn, store)
	})
}

// check makes sure that the file can be queried.
func (x *Index) check(ctx context.Context, store string) error {
	return x.read(ctx, func(conn *sql.Conn) error {
		id, count, err := identify(ctx, conn)
		if err != nil {
			return err
		}
		if id == 0 && count == 0 {
			return search.ErrNone // a kill, or a full disk, came before its tables
		}
		if id != applicationID {
			return fmt.Errorf("a database of another program: %w", search.ErrForeign)
		}
		have, err := aboutOf(ctx, conn)
		switch {
		case err != nil:
			return err
		case have.format == 0:
			return search.ErrNone // the next worker makes it
		case have.format > format || have.store != store:
			return have.foreign()
		case have.format < format:
			return search.ErrOlder
		}
		return nil
	})
}

func identify(ctx context.Context, conn *sql.Conn) (id, count int64, err error) {
	err = conn.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT COUNT(*) FROM sqlite_master)").Scan(&id, &count)
	return id, count, err
}

// about describes a file; format 0 means a new one.
type about struct {
	format int
	store  string
}

func aboutOf(ctx context.Context, conn *sql.Conn) (a about, err error) {
	var there int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'about'").Scan(&there); err != nil || there == 0 {
		return a, err
	}
	err = conn.QueryRowContext(ctx, "SELECT format, store FROM about").Scan(&a.format, &a.store)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return a, err
}

func (a about) foreign() error {
	if a.format > format {
		return fmt.Errorf("it is of a newer release (format %d, this one reads up to %d): %w", a.format, format, search.ErrForeign)
	}
	return fmt.Errorf("it belongs to another store: keep each store in a folder of its own, or delete the file: %w", search.ErrForeign)
}

// begin makes the tables anew.
func begin(ctx context.Context, conn *sql.Conn, store string) error {
	if err := dropTables(ctx, conn); err != nil {
		return err
	}
	if err := exec(ctx, conn, tables); err != nil {
		return err
	}
	if err := exec(ctx, conn, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return err
	}
	return exec(ctx, conn, "INSERT INTO about (id, format, store) VALUES (1, ?, ?)", format, store)
}

// dropTables drops the tables of an older format. With a virtual table, those that belong
// to it go too.
func dropTables(ctx context.Context, conn *sql.Conn) error {
	for _, which := range []string{"sql LIKE 'CREATE VIRTUAL TABLE % USING fts5vocab%'", "sql LIKE 'CREATE VIRTUAL TABLE %'", "type = 'table'"} {
		var names []string
		err := each(ctx, conn, func(row *sql.Rows) error {
			var name string
			err := row.Scan(&name)
			names = append(names, name)
			return err
		}, "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' AND "+which)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := exec(ctx, conn, fmt.Sprintf("DROP TABLE IF EXISTS %q", name)); err != nil {
				return err
			}
		}
	}
	return nil
}
