package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"recrawl/internal/store/sqlite"
)

// Partitions of a task queue. A server divides each into four by default, for several
// processes to share. This one is a single process, in which tasks that come to
// another partition than the first are passed on to the first.
const (
	onePartition      = 1
	defaultPartitions = 4
)

// readPartitions is how many partitions of a task queue the server should read: all that
// may have tasks, which an earlier release has left there. It runs while no server does.
func readPartitions(ctx context.Context, path string) (n int, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return onePartition, nil
	}
	db, err := sqlite.OpenFile(ctx, path)
	if err != nil {
		return defaultPartitions, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	left, err := partitioned(ctx, db)
	if err != nil || left {
		return defaultPartitions, err
	}
	return onePartition, nil
}

// partitioned reports whether tasks wait in other partitions than the first, whose names
// begin so. Both tables are the server's: which one it uses depends on its version.
func partitioned(ctx context.Context, db *sql.DB) (bool, error) {
	for _, table := range []string{"tasks", "tasks_v2"} {
		known, err := texts(ctx, db, `SELECT name FROM sqlite_master WHERE type = 'table' AND name = '`+table+`'`)
		if err != nil {
			return false, err
		}
		if len(known) == 0 {
			continue
		}
		left, err := texts(ctx, db, `SELECT 'left' FROM `+table+` WHERE instr(task_queue_id, CAST('/_sys/' AS BLOB)) > 0 LIMIT 1`)
		if err != nil {
			return false, fmt.Errorf("read %s of Temporal's database: %w", table, err)
		}
		if len(left) > 0 {
			return true, nil
		}
	}
	return false, nil
}
