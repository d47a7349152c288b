package embedded

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// taskTables hold the tasks of workflows, each a protobuf message that names one.
// Deleting a workflow leaves its tasks, which have no effect when they are due:
// timers, in the worst case, after the longest interval of a crawl.
var taskTables = []struct {
	name    string
	wrapped bool // the message's first field holds the task
}{
	{"timer_tasks", false},
	{"transfer_tasks", false},
	{"visibility_tasks", false},
	{"tasks", true},
	{"tasks_v2", true},
}

// sweptTogether bounds the rows that one transaction deletes: the server writes
// beside it.
const sweptTogether = 200

// Swept is the result of Sweep.
type Swept struct {
	Deleted int
	// Waiting are tasks of workflows that are gone but still listed: the server has not
	// got to them yet.
	Waiting int
}

// Sweep deletes the tasks of workflows that are gone, from the server's database
// while it runs, if they contain one of the texts. It deletes nothing of a workflow
// that still exists, or is listed. It skips a table that this version of the server
// does not have.
func Sweep(ctx context.Context, db *sql.DB, texts []string) (Swept, error) {
	var swept Swept
	for _, table := range taskTables {
		var exists int
		err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`, table.name).Scan(&exists)
		if err == nil && exists > 0 {
			var some Swept
			some, err = sweepTable(ctx, db, table.name, table.wrapped, texts)
			swept.add(some)
		}
		if err != nil {
			return swept, fmt.Errorf("sweep %s of Temporal's database: %w", table.name, err)
		}
	}
	return swept, nil
}

func (s *Swept) add(more Swept) {
	s.Deleted += more.Deleted
	s.Waiting += more.Waiting
}

func sweepTable(ctx context.Context, db *sql.DB, table string, wrapped bool, texts []string) (Swept, error) {
	var rows []taskRow
	for _, text := range texts {
		found, err := readTasks(ctx, db, table, text)
		if err != nil {
			return Swept{}, err
		}
		rows = append(rows, found...)
	}
	var swept Swept
	for chunk := range slices.Chunk(rows, sweptTogether) {
		some, err := deleteGone(ctx, db, table, wrapped, chunk)
		if err != nil {
			return swept, err
		}
		swept.add(some)
	}
	return swept, nil
}

// taskRow is one row of a table of tasks.
type taskRow struct {
	id   int64
	data []byte
}

func readTasks(ctx context.Context, db *sql.DB, table, text string) (found []taskRow, err error) {
	rows, err := db.QueryContext(ctx, `SELECT rowid, data FROM `+table+` WHERE instr(data, CAST($1 AS BLOB)) > 0`, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row taskRow
		if err := rows.Scan(&row.id, &row.data); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// deleteGone deletes those rows whose workflows are gone.
func deleteGone(ctx context.Context, db *sql.DB, table string, wrapped bool, rows []taskRow) (swept Swept, _ error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return Swept{}, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	for _, row := range rows {
		t, ok := parseTask(row.data, wrapped)
		if !ok {
			continue
		}
		gone, listed, err := t.state(ctx, tx)
		switch {
		case err != nil:
			return Swept{}, err
		case gone && listed:
			swept.Waiting++
		case gone:
			// The content shows whether it is still the row that was read.
			res, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE rowid = $1 AND data = $2`, row.id, row.data)
			if err != nil {
				return Swept{}, err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return Swept{}, err
			}
			swept.Deleted += int(n)
		}
	}
	return swept, tx.Commit()
}

// task is the common beginning of all messages of tasks.
type task struct {
	namespace, workflow, run string
	namespaceID, runID       []byte // as executions has them
}

// state says whether the task's run is gone, and whether lists of workflows still
// show it.
func (t task) state(ctx context.Context, tx *sql.Tx) (gone, listed bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM shards s JOIN executions e ON e.shard_id = s.shard_id
			WHERE e.namespace_id = $1 AND e.workflow_id = $2 AND e.run_id = $3),
		EXISTS (SELECT 1 FROM executions_visibility v WHERE v.namespace_id = $4 AND v.run_id = $5)`,
		t.namespaceID, t.workflow, t.runID, t.namespace, t.run).Scan(&gone, &listed)
	return gone, listed, err
}

// The fields of a task's message.
const (
	fieldNamespace protowire.Number = 1
	fieldWorkflow  protowire.Number = 2
	fieldRun       protowire.Number = 3
)

// parseTask reads the workflow that a task names; false if it is no such message.
func parseTask(message []byte, wrapped bool) (t task, ok bool) {
	if wrapped {
		inner, found := field(message, 1)
		if !found {
			return t, false
		}
		message = inner
	}
	for number, dest := range map[protowire.Number]*string{fieldNamespace: &t.namespace, fieldWorkflow: &t.workflow, fieldRun: &t.run} {
		value, found := field(message, number)
		if !found || len(value) == 0 {
			return t, false
		}
		*dest = string(value)
	}
	var err1, err2 error
	t.namespaceID, err1 = hex.DecodeString(strings.ReplaceAll(t.namespace, "-", ""))
	t.runID, err2 = hex.DecodeString(strings.ReplaceAll(t.run, "-", ""))
	return t, err1 == nil && err2 == nil && len(t.namespaceID) == 16 && len(t.runID) == 16
}

// field returns the first field of a message with a number, if that is a string,
// bytes or a message.
func field(message []byte, number protowire.Number) ([]byte, bool) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, false
		}
		message = message[size:]
		if n == number && kind == protowire.BytesType {
			value, size := protowire.ConsumeBytes(message)
			return value, size >= 0
		}
		if size = protowire.ConsumeFieldValue(n, kind, message); size < 0 {
			return nil, false
		}
		message = message[size:]
	}
	return nil, false
}
