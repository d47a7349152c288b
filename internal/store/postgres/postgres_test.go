//go:build unix

package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
	"recrawl/internal/store/storetest/pgtest"
	"recrawl/internal/urlkey"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// The databases of the suites that need an empty store for each of many cases. Those of unprepared
// are as behind a connection pooler, where no statement can be prepared by name.
var (
	emptied    = pgtest.Emptied{Make: tables("")}
	unprepared = pgtest.Emptied{Make: tables("&default_query_exec_mode=exec")}
)

// tables makes a store's tables in a database, by connections with more settings in their DSN.
func tables(more string) func(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	return func(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
		e, err := openEngine(ctx, dsn+more, Options{})
		if err != nil {
			return nil, err
		}
		e.retire()
		return e.pool, nil
	}
}

// TestCollection runs every statement of the store also as behind such a pooler.
func TestCollection(t *testing.T) {
	var m modes
	storetest.Run(t, func(t *testing.T) store.Store {
		t.Helper()
		return sqlstore.New(modalEngine{openEmptied(t, &emptied), &m}, sqlstore.Options{})
	})
}

// TestCollectionAtOnce runs behind such a pooler: the engine's own statements, too, are not
// prepared.
func TestCollectionAtOnce(t *testing.T) {
	storetest.RunAtOnce(t, func(t *testing.T) store.Store {
		t.Helper()
		return sqlstore.New(openEmptied(t, &unprepared), sqlstore.Options{})
	})
}

func TestGate(t *testing.T) { storetest.RunGate(t, openAudited) }

func BenchmarkGate(b *testing.B) {
	storetest.BenchGate(b, func(t testing.TB) store.Store {
		t.Helper()
		return openDSN(t, pgtest.DSN(t))
	})
}

// stops stops a server at the test's end.
func stops(t *testing.T, server *pgtest.Server) {
	t.Helper()
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
}

func openDSN(t testing.TB, dsn string) store.Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func BenchmarkRegister(b *testing.B) {
	storetest.BenchmarkRegister(b, openDSN(b, pgtest.DSN(b)))
}

func BenchmarkRecord(b *testing.B) {
	storetest.BenchmarkRecord(b, openDSN(b, pgtest.DSN(b)))
}

func TestGrouping(t *testing.T) {
	storetest.RunGrouping(t, func(t *testing.T) storetest.Opener {
		dsn := pgtest.DSN(t)
		return func(g urlkey.Grouping) (store.Store, error) { return Open(t.Context(), dsn, Options{Grouping: g}) }
	})
}

func TestIdentity(t *testing.T) {
	storetest.RunIdentity(t, func(t *testing.T) storetest.Opener {
		dsn := pgtest.DSN(t)
		return func(g urlkey.Grouping) (store.Store, error) { return Open(t.Context(), dsn, Options{Grouping: g}) }
	})
}

func TestOverdue(t *testing.T) {
	t.Parallel()
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunOverdue(t, e, 50_000)
	dueAreReadAlone(t, e)
	duplicatesAreReadInSteps(t, e)
	mentionsAreReadInSteps(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestOldSketches(t *testing.T) {
	t.Parallel()
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunOldSketches(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestFeedView(t *testing.T) {
	t.Parallel()
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunFeedView(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunDelays(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func BenchmarkLookalikes(b *testing.B) {
	bench(b, storetest.BenchLookalikes, "VACUUM (ANALYZE) sketch_keys, sketches, frontier, duplicates")
}

func BenchmarkFeed(b *testing.B) {
	e, err := openEngine(b.Context(), pgtest.DSN(b)+"&statement_timeout=0", Options{})
	if err != nil {
		b.Fatal(err)
	}
	storetest.BenchFeed(b, e, func() (size int64, err error) {
		err = e.pool.QueryRow(b.Context(), "SELECT pg_total_relation_size('changes')").Scan(&size)
		return size, err
	})
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

func BenchmarkAllocation(b *testing.B) {
	bench(b, storetest.BenchAllocation, "VACUUM (ANALYZE) frontier")
}

// bench runs a benchmark that loads a store and then, as autovacuum does, lets the
// database look after its tables: so that index-only scans need not read them.
func bench(b *testing.B, run func(*testing.B, sqlstore.Engine, func() error), settle string) {
	b.Helper()
	// VACUUM takes its time.
	e, err := openEngine(b.Context(), pgtest.DSN(b)+"&statement_timeout=0", Options{})
	if err != nil {
		b.Fatal(err)
	}
	run(b, e, func() error {
		_, err := e.pool.Exec(b.Context(), settle)
		return err
	})
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

func BenchmarkRanks(b *testing.B) {
	// VACUUM takes its time.
	e, err := openEngine(b.Context(), pgtest.DSN(b)+"&statement_timeout=0", Options{})
	if err != nil {
		b.Fatal(err)
	}
	// As autovacuum does.
	storetest.BenchRanks(b, e, func() error {
		_, err := e.pool.Exec(b.Context(), "VACUUM (ANALYZE) pages, frontier, links, host_crawls, crawl_counts")
		return err
	})
	if err := e.Close(); err != nil {
		b.Error(err)
	}
}

func BenchmarkGuarded(b *testing.B) {
	// ANALYZE takes its time.
	e, err := openEngine(b.Context(), pgtest.DSN(b)+"&statement_timeout=0", Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	}()
	storetest.BenchmarkGuarded(b, sqlstore.New(e, sqlstore.Options{}), func() error {
		_, err := e.pool.Exec(b.Context(), "ANALYZE")
		return err
	})
}

func BenchmarkFigures(b *testing.B) {
	bench(b, storetest.BenchFigures, "VACUUM (ANALYZE) frontier, host_crawls, crawl_counts")
}
