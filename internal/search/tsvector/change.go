package tsvector

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/search"
)

// kept returns a text without the character that PostgreSQL cannot store.
func kept(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// Delete implements search.Index.
func (x *Index) Delete(ctx context.Context, crawl int64, pages []int64) error {
	return x.ofCrawl(ctx, x.write, crawl, func(q querier) error {
		if err := lock(ctx, q, crawl); err != nil {
			return err
		}
		_, err := remove(ctx, q, crawl, "page = ANY($1)", pages)
		return err
	})
}

// remove removes the pages of a crawl that a condition selects, and returns their number.
func remove(ctx context.Context, q querier, crawl int64, where string, arg any) (n int, err error) {
	err = q.QueryRow(ctx, fmt.Sprintf(`
WITH gone AS (DELETE FROM %[1]s WHERE %[3]s RETURNING page),
found AS (DELETE FROM %[2]s WHERE page IN (SELECT page FROM gone))
SELECT COUNT(*) FROM gone`, docs(crawl), vectors(crawl), where), arg).Scan(&n)
	return n, err
}

// ofCrawl runs do if there is anything of the crawl.
func (x *Index) ofCrawl(ctx context.Context, run func(context.Context, func(querier) error) error, crawl int64, do func(querier) error) error {
	return run(ctx, func(q querier) error {
		var there bool
		if err := q.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM crawls WHERE crawl = $1)", crawl).Scan(&there); err != nil || !there {
			return err
		}
		return do(q)
	})
}

// Weigh implements search.Index.
func (x *Index) Weigh(ctx context.Context, crawl int64, importance map[int64]float64) error {
	if len(importance) == 0 {
		return nil
	}
	return x.ofCrawl(ctx, x.write, crawl, func(q querier) error {
		var pages []int64
		var weights, boosts []float64
		for page, weight := range importance {
			pages, weights, boosts = append(pages, page), append(weights, weight), append(boosts, search.Boost(weight))
		}
		_, err := q.Exec(ctx, "UPDATE "+vectors(crawl)+` w SET importance = n.importance, boost = n.boost
FROM unnest($1::bigint[], $2::float8[], $3::float8[]) AS n (page, importance, boost) WHERE w.page = n.page`, pages, weights, boosts)
		return err
	})
}

// Held implements search.Index.
func (x *Index) Held(ctx context.Context, crawl, after, through int64) (map[int64]search.Held, error) {
	held := map[int64]search.Held{}
	err := x.ofCrawl(ctx, x.read, crawl, func(q querier) error {
		return each(ctx, q, func(row pgx.Rows) error {
			var page int64
			var h search.Held
			err := row.Scan(&page, &h.Mark, &h.Importance)
			held[page] = h
			return err
		}, fmt.Sprintf("SELECT page, d.mark, w.importance FROM %s d JOIN %s w USING (page) WHERE d.page > $1 AND d.page <= $2 AND w.page > $1 AND w.page <= $2",
			docs(crawl), vectors(crawl)), after, through)
	})
	return held, err
}

// Cursor implements search.Index.
func (x *Index) Cursor(ctx context.Context, crawl int64) (cursor string, err error) {
	err = x.read(ctx, func(q querier) error {
		err := q.QueryRow(ctx, "SELECT cursor FROM crawls WHERE crawl = $1", crawl).Scan(&cursor)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return cursor, err
}

// SetCursor implements search.Index.
func (x *Index) SetCursor(ctx context.Context, crawl int64, cursor string) error {
	return x.write(ctx, func(q querier) error {
		if err := lock(ctx, q, crawl); err != nil {
			return err
		}
		_, err := q.Exec(ctx, "UPDATE crawls SET cursor = $2 WHERE crawl = $1", crawl, cursor)
		return err
	})
}

// Drop implements search.Index.
func (x *Index) Drop(ctx context.Context, crawl int64) error {
	return x.ofCrawl(ctx, x.write, crawl, func(q querier) error {
		if _, err := q.Exec(ctx, "DELETE FROM crawls WHERE crawl = $1", crawl); err != nil {
			return err
		}
		_, err := q.Exec(ctx, "DROP TABLE IF EXISTS "+docs(crawl)+", "+vectors(crawl))
		return err
	})
}

// Crawls implements search.Index.
func (x *Index) Crawls(ctx context.Context) (crawls []int64, err error) {
	err = x.read(ctx, func(q querier) error {
		return each(ctx, q, func(row pgx.Rows) error {
			var crawl int64
			err := row.Scan(&crawl)
			crawls = append(crawls, crawl)
			return err
		}, "SELECT crawl FROM crawls ORDER BY crawl")
	})
	return crawls, err
}

// Forget implements search.Index.
func (x *Index) Forget(ctx context.Context, t search.Target) (n int, err error) {
	crawls, err := x.Crawls(ctx)
	if err != nil {
		return 0, err
	}
	column, value := "url", t.URL
	if t.Host != "" {
		column, value = "host", t.Host
	}
	for _, crawl := range crawls {
		err := x.ofCrawl(ctx, x.write, crawl, func(q querier) error {
			if err := lock(ctx, q, crawl); err != nil { // a writer of this page ends first
				return err
			}
			gone, err := remove(ctx, q, crawl, column+" = $1", kept(value))
			n += gone
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Purge implements search.Index: it rewrites the tables, each under an exclusive lock. The
// write-ahead log keeps what it has.
func (x *Index) Purge(ctx context.Context) error {
	crawls, err := x.Crawls(ctx)
	if err != nil || len(crawls) == 0 {
		return err
	}
	conn, err := x.pool.Acquire(ctx)
	if err != nil {
		return named(err)
	}
	defer conn.Release()
	// A large table takes minutes. But whoever asks meanwhile queues behind a wait for one that a
	// pg_dump reads.
	if _, err := conn.Exec(ctx, "SET statement_timeout = 0; SET lock_timeout = '5s'"); err != nil {
		return named(err)
	}
	var failures []error
	for _, crawl := range crawls {
		for _, table := range []string{docs(crawl), vectors(crawl)} {
			_, err := conn.Exec(ctx, "VACUUM (FULL) "+x.identifier()+"."+table) // in no transaction
			failures = append(failures, named(err))
		}
	}
	_, err = conn.Exec(context.WithoutCancel(ctx), "RESET statement_timeout; RESET lock_timeout")
	return errors.Join(append(failures, named(err))...)
}
