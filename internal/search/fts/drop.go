package fts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// goneTable is the name of the words of a crawl from when they are dropped until they are
// overwritten.
const goneTable = "gone_"

// steps are the parts in which a crawl is dropped.
type steps struct {
	docs, parts int // rows of documents, and parts of words (4 kB at most), of one transaction
	// between is called between two transactions.
	between func() error
}

// dropSteps are transactions of about ten megabytes.
var dropSteps = steps{docs: 10_000, parts: 2000, between: func() error { return nil }}

// Drop implements search.Index. Everything is overwritten, which takes minutes for a million
// pages. So it is done in steps: others write in between, the log stays short, and what was cut off
// goes on where it was. Until the last step the crawl is there, with an index that must be filled.
func (x *Index) Drop(ctx context.Context, crawl int64) error { return x.drop(ctx, crawl, dropSteps) }

func (x *Index) drop(ctx context.Context, crawl int64, in steps) error {
	if err := x.finishDropped(ctx, in); err != nil {
		return err
	}
	there, err := x.dropDocs(ctx, crawl, in)
	if err != nil || !there {
		return err
	}
	err = x.write(ctx, func(conn *sql.Conn) error {
		// A sink may have begun to fill it again meanwhile.
		if err := exec(ctx, conn, "UPDATE crawls SET cursor = '' WHERE crawl = ?", crawl); err != nil {
			return err
		}
		if err := exec(ctx, conn, "DELETE FROM docs WHERE crawl = ?", crawl); err != nil {
			return err
		}
		if has, err := hasWords(ctx, conn, crawl); err != nil || !has {
			return err
		}
		return exec(ctx, conn, fmt.Sprintf("DROP TABLE IF EXISTS terms_%[1]d; ALTER TABLE words_%[1]d RENAME TO %[2]s%[1]d", crawl, goneTable))
	})
	if err != nil {
		return err
	}
	if err := in.between(); err != nil {
		return err
	}
	if err := x.finishDropped(ctx, in); err != nil {
		return err
	}
	return x.write(ctx, func(conn *sql.Conn) error { return removeEmpty(ctx, conn, crawl) })
}

// dropDocs removes nearly all documents of a crawl. It first notes that its index must be filled:
// their words are still there.
func (x *Index) dropDocs(ctx context.Context, crawl int64, in steps) (there bool, err error) {
	for more := true; more; {
		err := x.write(ctx, func(conn *sql.Conn) error {
			res, err := conn.ExecContext(ctx, "UPDATE crawls SET cursor = '' WHERE crawl = ?", crawl)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n == 0 {
				more = false
				return err
			}
			there = true
			n, err := deleted(ctx, conn, "DELETE FROM docs WHERE crawl = ?1 AND page IN (SELECT page FROM docs WHERE crawl = ?1 LIMIT ?2)", crawl, in.docs)
			more = n == in.docs
			return err
		})
		if err == nil && more {
			err = in.between()
		}
		if err != nil {
			return there, err
		}
	}
	return there, nil
}

// finishDropped overwrites the words of dropped crawls.
func (x *Index) finishDropped(ctx context.Context, in steps) error {
	for {
		name := ""
		err := x.write(ctx, func(conn *sql.Conn) error {
			err := conn.QueryRowContext(ctx, `SELECT name FROM sqlite_master WHERE name LIKE 'gone!_%' ESCAPE '!' AND sql LIKE 'CREATE VIRTUAL TABLE %'`).Scan(&name)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			n, err := deleted(ctx, conn, fmt.Sprintf("DELETE FROM %[1]s_data WHERE id IN (SELECT id FROM %[1]s_data LIMIT ?)", name), in.parts)
			if err != nil || n == in.parts {
				return err
			}
			if err := exec(ctx, conn, "DROP TABLE "+name); err != nil {
				return err
			}
			return removeEmpty(ctx, conn, strings.TrimPrefix(name, goneTable))
		})
		if err == nil && name != "" {
			err = in.between()
		}
		if err != nil || name == "" {
			return err
		}
	}
}

// removeEmpty removes a dropped crawl, unless a sink fills it again.
func removeEmpty(ctx context.Context, conn *sql.Conn, crawl any) error {
	return exec(ctx, conn, "DELETE FROM crawls WHERE crawl = ?1 AND cursor = '' AND NOT EXISTS (SELECT 1 FROM docs WHERE crawl = crawls.crawl)", crawl)
}

// deleted runs a statement that deletes rows, and returns their number.
func deleted(ctx context.Context, conn *sql.Conn, query string, args ...any) (int, error) {
	res, err := conn.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// hasWords reports whether there are words of a crawl: not while it is being dropped.
func hasWords(ctx context.Context, conn *sql.Conn, crawl int64) (bool, error) {
	var n int
	err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE name = ?", fmt.Sprintf("words_%d", crawl)).Scan(&n)
	return n > 0, err
}
