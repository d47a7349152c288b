package deploytest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/store/storetest/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// visibility is Temporal's list of workflows on Postgres, with two thousand of them.
func visibility(t *testing.T) *pgx.Conn {
	t.Helper()
	root, err := Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(root, "bin", "temporal-sql-tool")
	if testing.Short() {
		t.Skip("-short: no other program is run")
	}
	if _, err := os.Stat(tool); err != nil {
		t.Fatal("no temporal-sql-tool: make temporal-server builds it")
	}
	dsn := pgtest.DSN(t)
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"setup-schema", "--version", "0.0"}, {"update-schema", "--schema-name", "postgresql/v12/visibility"}} {
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Env = append(os.Environ(), "SQL_PLUGIN=postgres12_pgx", "SQL_HOST="+config.Host, "SQL_PORT="+fmt.Sprint(config.Port),
			"SQL_USER="+config.User, "SQL_PASSWORD="+config.Password, "SQL_DATABASE="+config.Database)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	run(t, conn, `INSERT INTO executions_visibility (namespace_id, run_id, start_time, execution_time, workflow_id, workflow_type_name, status, encoding,
			task_queue, parent_workflow_id, root_workflow_id, search_attributes)
		SELECT 'n', 'run' || i, now(), now(), 'page' || i, 'Page', CASE WHEN i % 100 = 0 THEN 3 ELSE 1 END, '', 'recrawl',
			CASE WHEN i % 10 = 0 THEN 'crawl' || i END, 'page' || i, jsonb_build_object('Keyword01', 'crawl' || i % 20)
		FROM generate_series(1, 2000) AS i`)
	run(t, conn, `ANALYZE executions_visibility`)
	run(t, conn, `SET enable_seqscan = off`)
	return conn
}

func run(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// texts are the rows of a query of one column.
func texts(t *testing.T, conn *pgx.Conn, query string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The script for a cheaper list of workflows leaves what recrawl and the Temporal UI search
// by in indexes, and finds the same. It can be run again, and undone.
func TestThinVisibility(t *testing.T) {
	t.Parallel()
	conn := visibility(t)
	indexes := `SELECT indexname || ': ' || indexdef FROM pg_indexes WHERE tablename = 'executions_visibility' ORDER BY indexname`
	before := texts(t, conn, indexes)
	search := func(condition string) string {
		return `SELECT run_id FROM executions_visibility WHERE namespace_id = 'n' AND TemporalNamespaceDivision IS NULL AND ` + condition +
			` ORDER BY COALESCE(close_time, '9999-12-31 23:59:59') DESC, start_time DESC, run_id LIMIT 100`
	}
	searches := map[string]string{
		"workflow_id = 'page7'":          "by_workflow_id",
		"parent_workflow_id = 'crawl70'": "by_parent_workflow_id",
		"status = 3":                     "by_status",
		"Keyword01 = 'crawl7'":           "by_keyword_01",
		"status = 1 AND start_time > now() - interval '1 hour'": "",
		"task_queue = 'recrawl'":                                "",
	}
	found := map[string][]string{}
	for condition := range searches {
		found[condition] = texts(t, conn, search(condition))
	}
	thin := read(t, "deploy", "temporal", "thin-visibility.sql")
	run(t, conn, thin)
	after := texts(t, conn, indexes)
	run(t, conn, thin)
	if again := texts(t, conn, indexes); !slices.Equal(again, after) {
		t.Errorf("a second run changes the indexes:\n%q", again)
	}
	if len(before)-len(after) != 9 {
		t.Errorf("%d indexes, before %d", len(after), len(before))
	}
	whole := slices.DeleteFunc(slices.Clone(after), func(index string) bool { return strings.Contains(index, "IS NOT NULL") })
	if names := strings.Join(whole, "\n"); len(whole) != 5 || !strings.Contains(names, "default_idx") {
		t.Errorf("indexes with all rows:\n%s", names)
	}
	for condition, index := range searches {
		if got := texts(t, conn, search(condition)); !slices.Equal(got, found[condition]) {
			t.Errorf("%s finds %q, before %q", condition, got, found[condition])
		}
		plan := strings.Join(texts(t, conn, "EXPLAIN "+search(condition)), "\n")
		if !strings.Contains(plan, index) || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s is answered by\n%s", condition, plan)
		}
	}
	run(t, conn, read(t, "deploy", "temporal", "thin-visibility-undo.sql"))
	if undone := texts(t, conn, indexes); !slices.Equal(undone, before) {
		t.Errorf("undone:\n%s", strings.Join(undone, "\n"))
	}
}
