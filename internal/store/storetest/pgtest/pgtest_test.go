//go:build unix

package pgtest

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

func TestMain(m *testing.M) { Main(m) }

func TestDSNGivesEmptyDatabases(t *testing.T) {
	one, two := DSN(t), DSN(t)
	if one == two {
		t.Fatalf("the same database twice: %s", one)
	}
	for _, dsn := range []string{one, two} {
		if err := execute(t.Context(), dsn, "CREATE TABLE mine (id int)"); err != nil {
			t.Error(err)
		}
	}
}

func TestEmptiedDatabasesAreAsMade(t *testing.T) {
	e := Emptied{Make: func(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
		err := execute(ctx, dsn, `CREATE TABLE parents (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text);
			CREATE TABLE children (parent bigint NOT NULL REFERENCES parents, n bigint);
			INSERT INTO parents (name) VALUES ('made')`)
		if err != nil {
			return nil, err
		}
		return pgxpool.New(ctx, dsn+"&statement_timeout=9s")
	}}
	var first *pgxpool.Pool
	t.Run("changed", func(t *testing.T) {
		first = e.Pool(t)
		if _, err := first.Exec(t.Context(), `DELETE FROM parents; INSERT INTO parents (name) SELECT 'theirs' FROM generate_series(1, 5000);
			INSERT INTO children SELECT id, 1 FROM parents`); err != nil {
			t.Error(err)
		}
	})
	t.Run("as made", func(t *testing.T) {
		pool := e.Pool(t)
		if pool != first {
			t.Fatal("another database")
		}
		if other := e.Pool(t); other == pool {
			t.Error("two tests share a database")
		}
		if err := pool.AcquireFunc(t.Context(), func(lent *pgxpool.Conn) error {
			rows, err := texts(t.Context(), lent.Conn(), `WITH mine AS (INSERT INTO parents (name) VALUES ('mine') RETURNING id, name)
				SELECT id || ' ' || name FROM parents UNION ALL SELECT id || ' ' || name FROM mine
				UNION ALL SELECT 'child of ' || parent FROM children UNION ALL SELECT current_setting('statement_timeout')`)
			if want := []string{"1 made", "2 mine", "9s"}; err == nil && !slices.Equal(rows, want) {
				t.Errorf("rows = %q, want %q", rows, want)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestKillAndRestartKeepData(t *testing.T) {
	server, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := server.dir
	if err := execute(t.Context(), server.DSN(), "CREATE TABLE kept (id int)"); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill9(); err != nil {
		t.Fatal(err)
	}
	if err := execute(t.Context(), server.DSN(), "SELECT 1"); err == nil {
		t.Error("a killed server answers")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := execute(t.Context(), server.DSN(), "INSERT INTO kept VALUES (1)"); err != nil {
		t.Error(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the server's folder is still there: %v", err)
	}
}

func TestWithDatabase(t *testing.T) {
	for _, c := range []struct{ dsn, want string }{
		{"postgres://u:p@h:1/a?sslmode=disable", "postgres://u:p@h:1/b?sslmode=disable"},
		{"host=h dbname=a", "host=h dbname=a dbname=b"},
	} {
		if got, err := withDatabase(c.dsn, "b"); err != nil || got != c.want {
			t.Errorf("withDatabase(%q) = %q, %v; want %q", c.dsn, got, err, c.want)
		}
	}
}
