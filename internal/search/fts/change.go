package fts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"recrawl/internal/search"
)

// Put implements search.Index.
func (x *Index) Put(ctx context.Context, docs []search.Document) error {
	return x.write(ctx, func(conn *sql.Conn) error {
		made := map[int64]bool{}
		for _, d := range docs {
			if !made[d.Crawl] {
				if err := exec(ctx, conn, wordsTable(d.Crawl)); err != nil {
					return err
				}
				made[d.Crawl] = true
			}
			if err := put(ctx, conn, d); err != nil {
				return err
			}
		}
		return nil
	})
}

const putDoc = `INSERT OR REPLACE INTO docs (crawl, page, version, url, host, title, digest, importance, boost, at, mark)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

func put(ctx context.Context, conn *sql.Conn, d search.Document) error {
	err := exec(ctx, conn, putDoc, d.Crawl, d.Page, d.Version, d.URL, d.Host, d.Title, d.Digest, d.Importance, search.Boost(d.Importance), d.At.UnixMicro(), d.Mark)
	if err != nil {
		return err
	}
	w := search.WordsOf(d)
	join := func(words []string) string { return strings.Join(words, " ") }
	return exec(ctx, conn, fmt.Sprintf("INSERT OR REPLACE INTO words_%d (rowid, title, headings, text) VALUES (?, ?, ?, ?)", d.Crawl),
		d.Page, join(w.Title), join(w.Headings), join(w.Text))
}

// Delete implements search.Index.
func (x *Index) Delete(ctx context.Context, crawl int64, pages []int64) error {
	return x.write(ctx, func(conn *sql.Conn) error {
		for _, page := range pages {
			if _, err := remove(ctx, conn, "crawl = ? AND page = ?", crawl, page); err != nil {
				return err
			}
		}
		return nil
	})
}

// remove removes the documents that a condition selects, and returns their number.
func remove(ctx context.Context, conn *sql.Conn, where string, args ...any) (n int, err error) {
	type row struct{ crawl, page int64 }
	var rows []row
	err = each(ctx, conn, func(r *sql.Rows) error {
		var one row
		err := r.Scan(&one.crawl, &one.page)
		rows = append(rows, one)
		return err
	}, "SELECT crawl, page FROM docs WHERE "+where, args...)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		if err := exec(ctx, conn, fmt.Sprintf("DELETE FROM words_%d WHERE rowid = ?", r.crawl), r.page); err != nil {
			return 0, err
		}
		if err := exec(ctx, conn, "DELETE FROM docs WHERE crawl = ? AND page = ?", r.crawl, r.page); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// Forget implements search.Index.
func (x *Index) Forget(ctx context.Context, t search.Target) (n int, err error) {
	where, arg := "url = ?", t.URL
	if t.Host != "" {
		where, arg = "host = ?", t.Host
	}
	err = x.write(ctx, func(conn *sql.Conn) error {
		n, err = remove(ctx, conn, where, arg)
		return err
	})
	return n, err
}

// Weigh implements search.Index.
func (x *Index) Weigh(ctx context.Context, crawl int64, importance map[int64]float64) error {
	return x.write(ctx, func(conn *sql.Conn) error {
		for page, is := range importance {
			if err := exec(ctx, conn, "UPDATE docs SET importance = ?, boost = ? WHERE crawl = ? AND page = ?", is, search.Boost(is), crawl, page); err != nil {
				return err
			}
		}
		return nil
	})
}

// Held implements search.Index.
func (x *Index) Held(ctx context.Context, crawl, after, through int64) (map[int64]search.Held, error) {
	held := map[int64]search.Held{}
	err := x.read(ctx, func(conn *sql.Conn) error {
		return each(ctx, conn, func(row *sql.Rows) error {
			var page int64
			var h search.Held
			err := row.Scan(&page, &h.Mark, &h.Importance)
			held[page] = h
			return err
		}, "SELECT page, mark, importance FROM docs WHERE crawl = ? AND page > ? AND page <= ?", crawl, after, through)
	})
	return held, err
}

// Cursor implements search.Index.
func (x *Index) Cursor(ctx context.Context, crawl int64) (cursor string, err error) {
	err = x.read(ctx, func(conn *sql.Conn) error {
		err := conn.QueryRowContext(ctx, "SELECT cursor FROM crawls WHERE crawl = ?", crawl).Scan(&cursor)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return cursor, err
}

// SetCursor implements search.Index.
func (x *Index) SetCursor(ctx context.Context, crawl int64, cursor string) error {
	return x.write(ctx, func(conn *sql.Conn) error {
		if err := exec(ctx, conn, wordsTable(crawl)); err != nil {
			return err
		}
		return exec(ctx, conn, "UPDATE crawls SET cursor = ? WHERE crawl = ?", cursor, crawl)
	})
}

// Crawls implements search.Index.
func (x *Index) Crawls(ctx context.Context) (crawls []int64, err error) {
	err = x.read(ctx, func(conn *sql.Conn) error {
		return each(ctx, conn, func(row *sql.Rows) error {
			var crawl int64
			err := row.Scan(&crawl)
			crawls = append(crawls, crawl)
			return err
		}, "SELECT crawl FROM crawls ORDER BY crawl")
	})
	return crawls, err
}

// mergeAtOnce is the number of pages of the index that one step of a merge writes.
const mergeAtOnce = 4000

// mergeAll merges all parts of an index of words into one, in steps: the log holds one of them,
// and others write in between.
func (x *Index) mergeAll(ctx context.Context, crawl int64) error {
	merge := fmt.Sprintf("INSERT INTO words_%[1]d (words_%[1]d, rank) VALUES ('merge', ?)", crawl)
	for pages := -mergeAtOnce; ; pages = mergeAtOnce { // a negative one begins with all parts
		var before, after int64
		err := x.write(ctx, func(conn *sql.Conn) error {
			if has, err := hasWords(ctx, conn, crawl); err != nil || !has {
				return err // somebody drops it
			}
			const changes = "SELECT total_changes()"
			if err := conn.QueryRowContext(ctx, changes).Scan(&before); err != nil {
				return err
			}
			if err := exec(ctx, conn, merge, pages); err != nil {
				return err
			}
			return conn.QueryRowContext(ctx, changes).Scan(&after)
		})
		if err != nil || after-before < 2 { // the statement itself is one
			return err
		}
	}
}

// Purge implements search.Index. Deleted words stay in an index until its parts are merged,
// which rewrites them, and in the log until that is emptied.
func (x *Index) Purge(ctx context.Context) error {
	if err := x.finishDropped(ctx, dropSteps); err != nil {
		return err
	}
	crawls, err := x.Crawls(ctx)
	if err != nil {
		return err
	}
	for _, crawl := range crawls {
		if err := x.mergeAll(ctx, crawl); err != nil {
			return err
		}
	}
	return x.read(ctx, func(conn *sql.Conn) error {
		var busy, log, moved int64
		if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil {
			return err
		}
		if busy != 0 {
			return fmt.Errorf("somebody reads it for long: %w", search.ErrBusy)
		}
		return nil
	})
}
