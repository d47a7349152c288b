package tsvector

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/search"
	"recrawl/internal/search/searchtest"
	"recrawl/internal/store/storetest/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func opened(t *testing.T, dsn string) *Index {
	t.Helper()
	x, err := Open(t.Context(), dsn, Options{Store: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestIndex(t *testing.T) {
	t.Parallel()
	searchtest.Run(t, func(t *testing.T) search.Index {
		t.Helper()
		return opened(t, pgtest.DSN(t))
	})
}

// Behind a pooler there are no prepared statements.
func TestIndexWithoutPreparedStatements(t *testing.T) {
	t.Parallel()
	searchtest.Run(t, func(t *testing.T) search.Index {
		t.Helper()
		return opened(t, pgtest.DSN(t)+"&default_query_exec_mode=exec")
	})
}

// Connections take the password that is in its file by then, and texts for UTF-8, as the store's do.
func TestConnections(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pgpass")
	write := func(text string) { check(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("*:*:*:*:first")
	config, err := parseConfig("postgres://u@127.0.0.1:1/db?sslmode=disable&passfile=" + url.QueryEscape(file))
	check(t, err)
	if got := config.ConnConfig.RuntimeParams["client_encoding"]; got != "UTF8" {
		t.Errorf("texts are sent in %q", got)
	}
	write("*:*:*:*:second")
	own := config.ConnConfig.Copy()
	if config.BeforeConnect == nil {
		t.Fatal("the file is read once")
	}
	check(t, config.BeforeConnect(t.Context(), own))
	if own.Password != "second" {
		t.Errorf("after the password was replaced it is %q", own.Password)
	}
}

// Two stores of one database, each in a schema, leave each other's index alone.
func TestStoresBesideEachOther(t *testing.T) {
	t.Parallel()
	base := pgtest.DSN(t)
	first := opened(t, base)
	long := strings.Repeat("s", 60)
	_, err := first.pool.Exec(t.Context(), `CREATE SCHEMA "B-2"; CREATE SCHEMA `+long+"a; CREATE SCHEMA "+long+"b")
	check(t, err, first.Put(t.Context(), same(3)), first.SetCursor(t.Context(), 1, "of s1"), first.Close())
	names := map[string]string{"s1": base, "s2": base + "&search_path=%22B-2%22,public", "s3": base + "&search_path=" + long + "a", "s4": base + "&search_path=" + long + "b"}
	for range 2 {
		for store, dsn := range names {
			x, err := Open(t.Context(), dsn, Options{Store: store})
			check(t, err)
			check(t, x.Put(t.Context(), same(2)), x.SetCursor(t.Context(), 1, "of "+store), x.Close())
		}
	}
	for store, dsn := range names {
		x, err := Open(t.Context(), dsn, Options{Store: store, ReadOnly: true})
		check(t, err)
		if cursor, err := x.Cursor(t.Context(), 1); err != nil || cursor != "of "+store {
			t.Errorf("the index of %s has the cursor %q, %v", store, cursor, err)
		}
		check(t, x.Close())
	}
}

// A store in another schema keeps the index that an older release made, and leaves that of
// another store alone.
func TestIndexOfAnOlderReleaseGoesOn(t *testing.T) {
	t.Parallel()
	base := pgtest.DSN(t)
	old := opened(t, base) // as older releases did wherever the store is
	_, err := old.pool.Exec(t.Context(), "CREATE SCHEMA mine; CREATE SCHEMA other")
	check(t, err, old.Put(t.Context(), same(3)), old.SetCursor(t.Context(), 1, "here"), old.Close())
	for _, c := range []struct{ schema, store, want string }{{"other", "s2", ""}, {"mine", "s1", "here"}, {"mine", "s1", "here"}} {
		x, err := Open(t.Context(), base+"&search_path="+c.schema, Options{Store: c.store})
		check(t, err)
		if cursor, err := x.Cursor(t.Context(), 1); err != nil || cursor != c.want {
			t.Errorf("%s has the cursor %q, %v; want %q", c.schema, cursor, err, c.want)
		}
		check(t, x.Close())
	}
}

// same returns documents with the same words, and one word of their own each.
func same(n int) (docs []search.Document) {
	for i := range n {
		docs = append(docs, search.Document{
			Crawl: 1, Page: int64(i + 1), URL: fmt.Sprintf("https://a.test/docs/%d", i), Host: "a.test", Importance: 1,
			Text: strings.Repeat("some words that all have ", 10) + fmt.Sprint("own", i),
		})
	}
	return docs
}

// Writers begin an index of an older release anew, and for queries there is none.
func TestOlderFormat(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	x := opened(t, dsn)
	check(t, x.Put(t.Context(), same(3)), x.SetCursor(t.Context(), 1, "here"))
	_, err := x.pool.Exec(t.Context(), "UPDATE recrawl_search.about SET format = 1; CREATE TABLE recrawl_search.docs_7 (page bigint)")
	check(t, err, x.Close())
	if _, err := Open(t.Context(), dsn, Options{Store: "s1", ReadOnly: true}); !errors.Is(err, search.ErrOlder) || !errors.Is(err, search.ErrNone) {
		t.Errorf("to be asked: %v", err)
	}
	x = opened(t, dsn)
	if cursor, err := x.Cursor(t.Context(), 1); err != nil || cursor != "" {
		t.Errorf("its cursor is %q, %v", cursor, err)
	}
	var tables int
	check(t, x.pool.QueryRow(t.Context(), "SELECT COUNT(*) FROM pg_tables WHERE schemaname = $1", Schema).Scan(&tables))
	if tables != 2 {
		t.Errorf("%d tables, want those without documents", tables)
	}
	check(t, x.Put(t.Context(), same(3)), x.Close())
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// A new importance of all pages writes nothing into the indexes: a page's words are hundreds
// of entries there.
func TestWeighLeavesTheIndexes(t *testing.T) {
	t.Parallel()
	x := opened(t, pgtest.DSN(t))
	const n = 400
	check(t, x.Put(t.Context(), same(n)))
	weights := map[int64]float64{}
	for page := range int64(n) {
		weights[page+1] = 3
	}
	var updated, hot int
	err := x.Together(t.Context(), 1, func(in search.Index) error {
		if err := in.Weigh(t.Context(), 1, weights); err != nil {
			return err
		}
		return in.(*Index).tx.QueryRow(t.Context(), "SELECT pg_stat_get_xact_tuples_updated(o), pg_stat_get_xact_tuples_hot_updated(o) FROM CAST($1 AS text) AS name, CAST(name::regclass AS oid) AS o",
			vectors(1)).Scan(&updated, &hot)
	})
	check(t, err)
	if updated != n || hot != n {
		t.Errorf("%d rows were updated, %d of them without the indexes; want %d", updated, hot, n)
	}
	check(t, x.Close())
}

// However common the words are, and whatever the server knows about them, a query uses the
// index of words, and never reads the vectors of all pages.
func TestQueryGoesByTheIndex(t *testing.T) {
	t.Parallel()
	x := opened(t, pgtest.DSN(t))
	check(t, x.Put(t.Context(), same(3000)))
	_, err := x.pool.Exec(t.Context(), "ANALYZE")
	check(t, err)
	for _, q := range []search.Query{{Words: "some words"}, {Words: "some", Host: "a.test"}, {Words: "some", Prefix: "https://a.test/docs/1"}} {
		q.Crawl = 1
		chosen := choiceOf(q)
		terms := search.TermsOf(q.Words)
		args := []any{chosen.among(queryOf(terms, " & ")), weights, queryOf(terms, " | "), 30}
		if chosen.prefix != "" {
			args = append(args, chosen.prefix)
		}
		var plan []string
		check(t, x.read(t.Context(), func(tx querier) error {
			return each(t.Context(), tx, func(row pgx.Rows) error {
				var line string
				err := row.Scan(&line)
				plan = append(plan, line)
				return err
			}, "EXPLAIN "+findRows(search.Query{Crawl: 1}, chosen), args...)
		}))
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, "Bitmap Index Scan on vectors_1_words") || strings.Contains(text, "Seq Scan") {
			t.Errorf("%+v:\n%s", q, text)
		}
	}
	check(t, x.Close())
}
