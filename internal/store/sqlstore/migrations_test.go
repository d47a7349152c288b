package sqlstore_test

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"recrawl/internal/store/sqlstore"
)

var (
	createTable = regexp.MustCompile(`(?s)CREATE TABLE (\w+) \((.*?)\n\)`)
	addColumn   = regexp.MustCompile(`ALTER TABLE (\w+) ADD COLUMN (\w+)`)
	createIndex = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX ([^;]+);`)
	column      = regexp.MustCompile(`(?m)^    ([a-z_0-9]+) `)
	keys        = regexp.MustCompile(`(?m)^    ((?:PRIMARY KEY|UNIQUE) \([^)]*\))`)
)

// schema lists the tables with their columns and keys, and the indexes, of a
// driver's migrations.
func schema(t *testing.T, driver string) map[string]bool {
	t.Helper()
	all, err := sqlstore.Migrations(os.DirFS("../" + driver))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]bool{}
	for _, m := range all {
		parts["migration "+m.Name] = true
		for _, table := range createTable.FindAllStringSubmatch(m.SQL, -1) {
			for _, c := range slices.Concat(column.FindAllStringSubmatch(table[2], -1), keys.FindAllStringSubmatch(table[2], -1)) {
				parts[table[1]+" "+c[1]] = true
			}
		}
		for _, c := range addColumn.FindAllStringSubmatch(m.SQL, -1) {
			parts[c[1]+" "+c[2]] = true
		}
		for _, index := range createIndex.FindAllStringSubmatch(m.SQL, -1) {
			parts["index "+strings.Join(strings.Fields(index[1]), " ")] = true
		}
	}
	return parts
}

// TestDriversHaveOneSchema compares the drivers' migrations. SQLite alone has
// the table owner: it has one.
func TestDriversHaveOneSchema(t *testing.T) {
	sqlite, postgres := schema(t, "sqlite"), schema(t, "postgres")
	maps.DeleteFunc(sqlite, func(part string, _ bool) bool { return strings.HasPrefix(part, "owner ") })
	for part := range sqlite {
		if !postgres[part] {
			t.Errorf("only SQLite has %s", part)
		}
	}
	for part := range postgres {
		if !sqlite[part] {
			t.Errorf("only PostgreSQL has %s", part)
		}
	}
	if len(sqlite) < 100 {
		t.Errorf("only %d parts found", len(sqlite))
	}
}

func TestMigrationsAreNumbered(t *testing.T) {
	files := func(names ...string) fstest.MapFS {
		fs := fstest.MapFS{}
		for _, name := range names {
			fs["migrations/"+name] = &fstest.MapFile{Data: []byte("SELECT 1")}
		}
		return fs
	}
	all, err := sqlstore.Migrations(files("0002_b.sql", "0001_a.sql"))
	if err != nil || len(all) != 2 || all[0].Name != "0001_a" || all[1].Name != "0002_b" {
		t.Errorf("got %v, %v", all, err)
	}
	for _, names := range [][]string{{"0002_b.sql"}, {"0001_a.sql", "0003_c.sql"}, {"0001_a.sql", "0001_b.sql"}, {"a.sql"}} {
		if _, err := sqlstore.Migrations(files(names...)); err == nil {
			t.Error(errors.Join(errors.New("a gap was accepted in "+strings.Join(names, ", ")), err))
		}
	}
}

// adds is a statement that a program of the previous release does not notice: it
// makes something new, or adds a column with a default value.
var adds = regexp.MustCompile(`(?is)^(CREATE TABLE|CREATE INDEX|(CREATE( OR REPLACE)?|DROP) VIEW recrawl_changes|INSERT INTO (settings|feed) |ALTER TABLE \w+ ADD COLUMN (\w+ )+((NOT NULL )?DEFAULT|NULL)|ALTER TABLE \w+ ADD COLUMN \w+ \w+$)`)

// loosens are migrations that also admit values refused before: programs of the previous
// release go on writing the old values, and read unexpected ones without harm.
var loosens = map[string]string{
	"0028_duplicates_by_claim": "the original of a duplicate may have the higher id",
}

// TestMigrationsOnlyAdd: a program that knows the migrations up to Compatible may go on
// with a store that has all.
func TestMigrationsOnlyAdd(t *testing.T) {
	comment := regexp.MustCompile(`(?m)--.*$`)
	for _, driver := range []string{"sqlite", "postgres"} {
		all, err := sqlstore.Migrations(os.DirFS("../" + driver))
		if err != nil {
			t.Fatal(err)
		}
		known := slices.IndexFunc(all, func(m sqlstore.Migration) bool { return m.Name == sqlstore.Compatible })
		if known < 0 {
			t.Fatalf("%s has no migration %s", driver, sqlstore.Compatible)
		}
		for _, m := range all[known+1:] {
			if loosens[m.Name] != "" {
				continue
			}
			for _, statement := range strings.Split(comment.ReplaceAllString(m.SQL, ""), ";") {
				statement = strings.Join(strings.Fields(statement), " ")
				if statement != "" && !adds.MatchString(statement) {
					t.Errorf("%s: %s does more than add, so that programs of the last release would break: %s", driver, m.Name, statement)
				}
			}
		}
	}
}
