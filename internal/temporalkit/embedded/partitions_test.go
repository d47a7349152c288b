package embedded

import (
	"path/filepath"
	"testing"
)

// Partitions beyond the first are read for as long as tasks wait there, whatever the queue.
func TestReadPartitions(t *testing.T) {
	db := database(t)
	var path string
	if err := db.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path); err != nil {
		t.Fatal(err)
	}
	want := func(want int) {
		t.Helper()
		if n, err := readPartitions(t.Context(), path); n != want || err != nil {
			t.Errorf("%d partitions are read, want %d: %v", n, want, err)
		}
	}
	want(onePartition)
	execute(t, db, `INSERT INTO tasks VALUES (1, CAST('NAMESPACErecrawl1' AS BLOB), 1, x'')`)
	want(onePartition)
	execute(t, db, `INSERT INTO tasks VALUES (2, CAST('NAMESPACE/_sys/recrawl/31' AS BLOB), 1, x'')`)
	want(defaultPartitions)
	execute(t, db, `DELETE FROM tasks WHERE range_hash = 2`)
	want(onePartition)
	execute(t, db, `CREATE TABLE tasks_v2 (range_hash INT NOT NULL, task_queue_id VARBINARY(272) NOT NULL, task_id BIGINT NOT NULL);
		INSERT INTO tasks_v2 VALUES (2, CAST('NAMESPACE/_sys/recrawl/31' AS BLOB), 1)`)
	want(defaultPartitions)
}

// A new server reads one. If the number cannot be found out, all are read.
func TestReadPartitionsOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), DatabaseName)
	if n, err := readPartitions(t.Context(), path); n != onePartition || err != nil {
		t.Errorf("%d partitions of a new server, want one: %v", n, err)
	}
	if n, err := readPartitions(t.Context(), t.TempDir()); n != defaultPartitions || err == nil {
		t.Errorf("%d partitions of what is no database: %v", n, err)
	}
}
