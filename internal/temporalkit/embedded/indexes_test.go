package embedded

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listedDatabase is a server's database with a list of workflows, in which Keyword01 is
// registered and has values.
func listedDatabase(t *testing.T) (db *sql.DB, path string) {
	t.Helper()
	db = database(t)
	if err := db.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path); err != nil {
		t.Fatal(err)
	}
	execute(t, db, `DROP TABLE executions_visibility;
		CREATE TABLE namespaces (id BINARY(16) NOT NULL PRIMARY KEY, data MEDIUMBLOB NOT NULL);
		INSERT INTO namespaces VALUES (1, CAST('..default..Keyword01..CrawlName' AS BLOB));
		CREATE TABLE executions_visibility (namespace_id CHAR(64) NOT NULL, run_id CHAR(64) NOT NULL, start_time TIMESTAMP NOT NULL, close_time TIMESTAMP NULL,
			status INT NOT NULL, task_queue VARCHAR(255) NOT NULL DEFAULT '', parent_workflow_id VARCHAR(255) NULL, search_attributes TEXT NULL,
			Keyword01 VARCHAR(255) GENERATED ALWAYS AS (JSON_EXTRACT(search_attributes, '$.Keyword01')),
			Keyword02 VARCHAR(255) GENERATED ALWAYS AS (JSON_EXTRACT(search_attributes, '$.Keyword02')),
			Keyword03 VARCHAR(255) GENERATED ALWAYS AS (JSON_EXTRACT(search_attributes, '$.Keyword03')),
			PRIMARY KEY (namespace_id, run_id));
		CREATE INDEX default_idx ON executions_visibility (namespace_id, (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		CREATE INDEX by_status     ON executions_visibility (namespace_id, status,    (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		CREATE INDEX by_task_queue ON executions_visibility (namespace_id, task_queue, (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		CREATE INDEX by_parent_workflow_id ON executions_visibility (namespace_id, parent_workflow_id, (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		CREATE INDEX by_keyword_01 ON executions_visibility (namespace_id, Keyword01, (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		CREATE INDEX by_keyword_02 ON executions_visibility (namespace_id, Keyword02, (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		CREATE INDEX by_keyword_03 ON executions_visibility (namespace_id, Keyword03, (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		INSERT INTO executions_visibility (namespace_id, run_id, start_time, status, search_attributes) VALUES
			('n', 'one', 1, 1, '{"Keyword01": "a"}'), ('n', 'two', 2, 1, '{"Keyword03": "c"}'), ('n', 'three', 3, 1, '{"Keyword01": "b"}')`)
	return db, path
}

// wantThin makes the indexes thin, which must change the given number, and nothing the
// second time.
func wantThin(t *testing.T, path string, want int) {
	t.Helper()
	for _, want := range []int{want, 0} {
		if n, err := thinIndexes(t.Context(), path); n != want || err != nil {
			t.Fatalf("%d indexes were changed, want %d: %v", n, want, err)
		}
	}
}

// Indexes lose the rows without a value, indexes that nobody searches by are removed, and
// searches find the same as before.
func TestThinIndexes(t *testing.T) {
	db, path := listedDatabase(t)
	byKeyword := `SELECT run_id FROM executions_visibility WHERE namespace_id = 'n' AND %s ORDER BY COALESCE(close_time, '9999') DESC, start_time DESC, run_id`
	for _, search := range []struct{ condition, index string }{
		{"Keyword01 = 'a'", "by_keyword_01"},
		{"Keyword03 = 'c'", "by_keyword_03"},
		{"status = 1", "by_status"},
		{"Keyword02 = 'b'", "default_idx"},
		{"task_queue = ''", "default_idx"},
	} {
		query := fmt.Sprintf(byKeyword, search.condition)
		before, err := texts(t.Context(), db, query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := thinIndexes(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		after, err := texts(t.Context(), db, query)
		if err != nil || !slices.Equal(after, before) {
			t.Errorf("%s found %v, want %v: %v", search.condition, after, before, err)
		}
		if used := searchedBy(t, db, query); !strings.Contains(used, search.index) {
			t.Errorf("%s is answered by %q, want %s", search.condition, used, search.index)
		}
	}
	made, err := texts(t.Context(), db, `SELECT name || coalesce(substr(sql, nullif(instr(sql, ' WHERE '), 0)), '') FROM sqlite_master
		WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = 'executions_visibility' ORDER BY name`)
	want := []string{
		"by_keyword_01 WHERE Keyword01 IS NOT NULL", "by_keyword_03 WHERE Keyword03 IS NOT NULL",
		"by_parent_workflow_id WHERE parent_workflow_id IS NOT NULL", "by_status", "default_idx",
	}
	if err != nil || !slices.Equal(made, want) {
		t.Errorf("indexes %q, want %q: %v", made, want, err)
	}
}

func TestThinIndexesOnce(t *testing.T) {
	_, path := listedDatabase(t)
	wantThin(t, path, 5) // of seven, all but two
}

// An attribute that is registered later gets its index back.
func TestThinIndexesOfLaterAttribute(t *testing.T) {
	db, path := listedDatabase(t)
	wantThin(t, path, 5)
	execute(t, db, `UPDATE namespaces SET data = CAST('..default..Keyword01..CrawlName..Keyword02..Mine' AS BLOB)`)
	wantThin(t, path, 1)
	search := `SELECT run_id FROM executions_visibility WHERE namespace_id = 'n' AND Keyword02 = 'b'`
	if found, err := texts(t.Context(), db, search); len(found) != 0 || err != nil {
		t.Fatalf("found %v: %v", found, err)
	}
	if used := searchedBy(t, db, search); !strings.Contains(used, "by_keyword02") {
		t.Errorf("the search is answered by %q", used)
	}
}

// searchedBy is how SQLite answers a query.
func searchedBy(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var id, parent, unused int
	var detail string
	if err := db.QueryRow(`EXPLAIN QUERY PLAN `+query).Scan(&id, &parent, &unused, &detail); err != nil {
		t.Fatal(err)
	}
	return detail
}

// The script for Postgres removes the same indexes.
func TestThinIndexesOnPostgres(t *testing.T) {
	script, err := os.ReadFile("../../../deploy/temporal/thin-visibility.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(script), "ARRAY[")
	list, _, _ = strings.Cut(list, "]")
	columns := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(" ',\n", r) })
	if !slices.Equal(columns, unsearched) {
		t.Errorf("the script has %q, want %q", columns, unsearched)
	}
}

// A database that is not there, as of a server that does not come up, is an error and no file.
func TestThinIndexesOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), DatabaseName)
	if _, err := thinIndexes(t.Context(), path); err == nil {
		t.Error("no error")
	}
}
