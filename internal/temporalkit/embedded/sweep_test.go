package embedded

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	_ "modernc.org/sqlite"
)

const namespace = "01a20339-40bb-7a51-bd83-b6c8662db504"

// message is a task as Temporal encodes it: the beginning of a TransferTaskInfo or
// TimerTaskInfo, and a time.
func message(workflow, run string) []byte {
	var m []byte
	for i, value := range []string{namespace, workflow, run} {
		m = protowire.AppendTag(m, protowire.Number(i+1), protowire.BytesType)
		m = protowire.AppendString(m, value)
	}
	m = protowire.AppendTag(m, 4, protowire.VarintType)
	return protowire.AppendVarint(m, 77)
}

// allocated wraps a task as the task queues' tables have it.
func allocated(task []byte) []byte {
	m := protowire.AppendTag(nil, 1, protowire.BytesType)
	return protowire.AppendBytes(m, task)
}

func runID(n int) string { return fmt.Sprintf("01a20339-4be1-78d8-8eae-%012d", n) }

// database has the tables of the server of tools/temporal that matter here.
func database(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "temporal.db"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	execute(t, db, `CREATE TABLE shards (shard_id INT NOT NULL PRIMARY KEY);
		INSERT INTO shards VALUES (1);
		CREATE TABLE executions (shard_id INT NOT NULL, namespace_id BINARY(16) NOT NULL, workflow_id VARCHAR(255) NOT NULL, run_id BINARY(16) NOT NULL,
			PRIMARY KEY (shard_id, namespace_id, workflow_id, run_id));
		CREATE TABLE executions_visibility (namespace_id CHAR(64) NOT NULL, run_id CHAR(64) NOT NULL, PRIMARY KEY (namespace_id, run_id));
		CREATE TABLE timer_tasks (shard_id INT NOT NULL, visibility_timestamp TIMESTAMP NOT NULL, task_id BIGINT NOT NULL, data MEDIUMBLOB NOT NULL,
			PRIMARY KEY (shard_id, visibility_timestamp, task_id));
		CREATE TABLE transfer_tasks (shard_id INT NOT NULL, task_id BIGINT NOT NULL, data MEDIUMBLOB NOT NULL, PRIMARY KEY (shard_id, task_id));
		CREATE TABLE visibility_tasks (shard_id INT NOT NULL, task_id BIGINT NOT NULL, data MEDIUMBLOB NOT NULL, PRIMARY KEY (shard_id, task_id));
		CREATE TABLE tasks (range_hash INT NOT NULL, task_queue_id VARBINARY(272) NOT NULL, task_id BIGINT NOT NULL, data MEDIUMBLOB NOT NULL,
			PRIMARY KEY (range_hash, task_queue_id, task_id))`)
	return db
}

func execute(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, db *sql.DB, query string) int {
	t.Helper()
	n := 0
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Tasks of vanished workflows are deleted; those of existing workflows, and of
// others than were asked for, stay; those still listed are waited for.
func TestSweep(t *testing.T) {
	t.Parallel()
	db := database(t)
	const gone, there, other = "page/t/http://gone.test/a", "page/t/http://gone.test/there", "page/t/http://other.test/a"
	for i := range 500 {
		execute(t, db, "INSERT INTO timer_tasks VALUES (1, $1, $1, $2)", i, message(gone, runID(i)))
	}
	execute(t, db, "INSERT INTO executions SELECT 1, unhex('01a2033940bb7a51bd83b6c8662db504'), $1, unhex(replace($2, '-', ''))", there, runID(1000))
	execute(t, db, "INSERT INTO executions_visibility VALUES ($1, $2)", namespace, runID(2000))
	for i, data := range [][]byte{
		message(there, runID(1000)),
		message(there, runID(1001)),  // an earlier run of it
		message(other, runID(1)),     // not asked for
		message(gone, runID(2000)),   // listed yet
		message(gone, "not a run's"), // none of ours
		[]byte("\xff\xff" + gone),
		append(message(gone, runID(3))[:5], gone...),
	} {
		execute(t, db, "INSERT INTO transfer_tasks VALUES (1, $1, $2)", i, data)
		execute(t, db, "INSERT INTO tasks VALUES (1, 'q', $1, $2)", i, allocated(data))
	}

	swept, err := Sweep(t.Context(), db, []string{"gone.test"})
	if want := (Swept{Deleted: 502, Waiting: 2}); err != nil || swept != want {
		t.Errorf("swept %+v, %v; want %+v", swept, err, want)
	}
	for table, want := range map[string]int{"timer_tasks": 0, "transfer_tasks": 6, "tasks": 6} {
		if n := count(t, db, "SELECT COUNT(*) FROM "+table); n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
	execute(t, db, "DELETE FROM executions_visibility")
	swept, err = Sweep(t.Context(), db, []string{"gone.test", "elsewhere.test"})
	if want := (Swept{Deleted: 2}); err != nil || swept != want {
		t.Errorf("after the lists were brought up to date %+v, %v; want %+v", swept, err, want)
	}
}
