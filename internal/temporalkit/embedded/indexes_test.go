package embedded

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Indexes lose the rows without a value, once, and find what they found before.
func TestThinIndexes(t *testing.T) {
	db := database(t)
	var path string
	if err := db.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path); err != nil {
		t.Fatal(err)
	}
	execute(t, db, `DROP TABLE executions_visibility;
		CREATE TABLE executions_visibility (namespace_id CHAR(64) NOT NULL, run_id CHAR(64) NOT NULL, start_time TIMESTAMP NOT NULL, close_time TIMESTAMP NULL,
			status INT NOT NULL, search_attributes TEXT NULL, Keyword01 VARCHAR(255) GENERATED ALWAYS AS (JSON_EXTRACT(search_attributes, '$.Keyword01')),
			PRIMARY KEY (namespace_id, run_id));
		CREATE INDEX default_idx ON executions_visibility (namespace_id, (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		CREATE INDEX by_status     ON executions_visibility (namespace_id, status,    (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		CREATE INDEX by_keyword_01 ON executions_visibility (namespace_id, Keyword01, (COALESCE(close_time, '9999')) DESC, start_time DESC, run_id);
		INSERT INTO executions_visibility VALUES ('n', 'one', 1, NULL, 1, '{"Keyword01": "a"}'), ('n', 'two', 2, NULL, 1, NULL), ('n', 'three', 3, NULL, 1, '{"Keyword01": "b"}')`)
	search := `SELECT run_id FROM executions_visibility WHERE namespace_id = 'n' AND Keyword01 = 'a' ORDER BY COALESCE(close_time, '9999') DESC, start_time DESC, run_id`
	before, err := texts(t.Context(), db, search)
	if err != nil || len(before) != 1 {
		t.Fatalf("found %v: %v", before, err)
	}
	for _, want := range []int{1, 0} { // the second time there is nothing left to do
		if n, err := thinIndexes(t.Context(), path); n != want || err != nil {
			t.Fatalf("%d indexes were made anew, want %d: %v", n, want, err)
		}
	}
	after, err := texts(t.Context(), db, search)
	if err != nil || !slices.Equal(after, before) {
		t.Errorf("found %v, want %v: %v", after, before, err)
	}
	if used := searchedBy(t, db, search); !strings.Contains(used, "by_keyword_01") {
		t.Errorf("the search is answered by %q", used)
	}
	made, err := texts(t.Context(), db, `SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = 'executions_visibility'`)
	if err != nil {
		t.Fatal(err)
	}
	for _, create := range made {
		if partial := strings.HasSuffix(create, "WHERE Keyword01 IS NOT NULL"); partial != strings.Contains(create, "by_keyword_01") {
			t.Errorf("index %q", create)
		}
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

// A database that is not there, as of a server that does not come up, is an error and no file.
func TestThinIndexesOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), DatabaseName)
	if _, err := thinIndexes(t.Context(), path); err == nil {
		t.Error("no error")
	}
}
