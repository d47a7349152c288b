package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// Options are settings of a Store.
type Options struct {
	// Grouping is how a new store groups hosts, and must equal the grouping of an
	// existing one; "" is urlkey.ByHost for a new one and anything for an existing
	// one.
	Grouping urlkey.Grouping
	// Log is told when the clock went back; nil for nobody.
	Log *slog.Logger
	// ReadOnly is for an engine that cannot write.
	ReadOnly bool
}

// Store is store.Store over an Engine.
//
// Every transaction takes its row locks in one order, so that concurrent ones
// wait for each other but never deadlock: the table forgotten, the crawl's row
// (Admit and Swap only), new pages by URL hash, links, frontier by page id, pages by id
// (a transaction that has a page's frontier row may take its row here later), duplicates
// by page id, hosts and places (the gate's), contents by digest, host_crawls by host and
// crawl, mirrors, crawl_counts, feed, sinks, undelivered, and last refills and
// admission_bound. A sink's move locks the page of a refused change after the sink, which
// no transaction that holds a page does.
type Store struct {
	engine   Engine
	grouping urlkey.Grouping
	id       string // "" unless opened by Open
	minutes  minutes
	clock    clockWarnings
}

// New returns the store on an engine, which it owns from then on, without
// looking at its settings; see Open.
func New(e Engine, o Options) *Store {
	return &Store{engine: observed(e), grouping: o.Grouping, clock: clockWarnings{log: o.Log}}
}

// Now implements store.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	now, err := glance(ctx, s, func(tx Tx) (int64, error) { return tx.Now(ctx) })
	if err != nil {
		return time.Time{}, fmt.Errorf("read the store's clock: %w", err)
	}
	return fromMicros(now), nil
}

// Close implements store.Store.
func (s *Store) Close() error { return s.engine.Close() }

// records is a FROM item over a JSON array; see Dialect.Records.
func (s *Store) records(n int, alias string, columns ...string) string {
	return s.engine.Dialect().Records(n, alias, columns...)
}

// ids is a sub-query over the JSON array of numbers in placeholder $n made by
// idList.
func (s *Store) ids(n int) string {
	return "SELECT r.id FROM " + s.records(n, "r", "id bigint")
}

// ofEach is the crawl in placeholder $n, for a comparison with the crawl_id of rows that are looked
// up for each r of records, which has this number. Postgres has no statistics of a crawl that is new
// in a large store, and takes it for empty. If it knew that all are of this crawl, it would read the
// whole crawl, and compare each row with the list.
func ofEach(n int, number string) string {
	return fmt.Sprintf("CAST($%d AS BIGINT) + 0 * %s", n, number)
}

// hostsOf is a sub-query of keys of host_crawls: the hosts of the JSON array in placeholder $list,
// in the crawl in placeholder $crawl.
func (s *Store) hostsOf(list, crawl int) string {
	return "SELECT r.id, " + ofEach(crawl, "r.id") + " FROM " + s.records(list, "r", "id bigint")
}

// lock is the clause that locks the rows of a SELECT.
func (s *Store) lock() string { return s.engine.Dialect().ForUpdate() }

// read runs fn in a read-only transaction and returns its value.
func read[T any](ctx context.Context, s *Store, fn func(Tx) (T, error)) (T, error) {
	return inTx(ctx, s.engine.Read, fn)
}

// glance is read for a few rows that every visit reads; see Engine.Glance.
func glance[T any](ctx context.Context, s *Store, fn func(Tx) (T, error)) (T, error) {
	return inTx(ctx, s.engine.Glance, fn)
}

// write runs fn in a read-write transaction and returns the value of the run
// that was committed.
func write[T any](ctx context.Context, s *Store, fn func(Tx) (T, error)) (T, error) {
	return inTx(ctx, s.engine.Write, fn)
}

// writeLazily is write for changes that may be lost with the machine; see
// Engine.WriteLazily.
func writeLazily[T any](ctx context.Context, s *Store, fn func(Tx) (T, error)) (T, error) {
	return inTx(ctx, s.engine.WriteLazily, fn)
}

func inTx[T any](ctx context.Context, run func(context.Context, func(Tx) error) error, fn func(Tx) (T, error)) (T, error) {
	var out T
	err := run(ctx, func(tx Tx) error {
		var err error
		out, err = fn(tx)
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return out, nil
}

// collect returns one value per result row; never nil.
func collect[T any](ctx context.Context, tx Tx, query string, args []any, scan func(Row) (T, error)) ([]T, error) {
	all := []T{}
	err := tx.Query(ctx, query, args, func(row Row) error {
		one, err := scan(row)
		if err != nil {
			return err
		}
		all = append(all, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// scanID scans a row of one number.
func scanID(row Row) (int64, error) {
	var id int64
	err := row.Scan(&id)
	return id, err
}

// idRecord is one element of idList.
type idRecord struct {
	ID int64 `json:"id"`
}

// idList makes the argument for Store.ids.
func idList(ids []int64) string {
	list := make([]idRecord, len(ids))
	for i, id := range ids {
		list[i].ID = id
	}
	return jsonText(list)
}

// jsonText encodes plain data of this package, which cannot fail.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("sqlstore: encode %T: %v", v, err))
	}
	return string(text)
}

// clean makes text storable in both databases alike: PostgreSQL refuses NUL and
// invalid UTF-8, SQLite would keep them. Text from the web has been through
// crawl.Clean, so this changes only what slipped through.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// micros is a time as stored: microseconds since 1970 UTC, 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// fromMicros is the inverse of micros.
func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// limitOr is limit, or a page of results when the caller named none.
func limitOr(limit int) int {
	if limit <= 0 {
		return defaultLimit
	}
	return limit
}

const defaultLimit = 100

var _ store.Store = (*Store)(nil)
