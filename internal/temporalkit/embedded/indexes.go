package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"recrawl/internal/store/sqlite"
)

// listedTable has a row for each workflow, which lists and searches read.
const listedTable = "executions_visibility"

// unsearched are columns that every row, or every row of an ended workflow, has a value in
// and that neither recrawl nor the UI searches by. A search by one gets the same answer,
// from all rows. parent_workflow_id stays: takedowns and deletions search by it for the
// children of a workflow. deploy/temporal/thin-visibility.sql has the same list.
var unsearched = []string{
	"execution_time", "task_queue", "root_workflow_id", "root_run_id", "parent_run_id",
	"history_length", "history_size_bytes", "execution_duration", "state_transition_count",
}

// columnIndex matches how the server makes the index of a column of listedTable.
var columnIndex = regexp.MustCompile(`^(CREATE INDEX (\w+)\s+ON ` + listedTable + ` \(namespace_id, (\w+),(.*\)))( WHERE .*)?$`)

// thinIndexes makes the server's list of workflows cheap to write. The server has an index
// for every attribute that anybody could ever search for, each row is in all 45, and
// every statement that writes a row is compiled for all of them. An index stays if somebody
// may search by its column, but without the rows that have no value: no comparison finds
// NULL, and lists without a condition come from another index. It runs beside the server,
// and does nothing on a second run.
func thinIndexes(ctx context.Context, path string) (changed int, err error) {
	db, err := sqlite.OpenFile(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// As the server does: a power cut can lose only this from the log.
	if _, err := db.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return 0, err
	}
	plan, err := planIndexes(ctx, db)
	if err != nil {
		return 0, fmt.Errorf("indexes of Temporal's database: %w", err)
	}
	for _, change := range plan {
		if err := change.make(ctx, db); err != nil {
			return changed, fmt.Errorf("index %s of Temporal's database: %w", change.name, err)
		}
		changed++
	}
	return changed, nil
}

// listed describes the server's list: its columns and indexes.
type listed struct {
	nullable   []string // columns that may be NULL
	attributes []string // those of search attributes
	registered []string // of these, those that an attribute was registered for
	filled     []string // of these, those with an index and a value
	indexes    []string // how each index was made
}

// indexChange is an index to remove, make, or both.
type indexChange struct {
	name   string
	remove bool
	create string // the statement that makes it anew; "" if it is not made
}

// planIndexes returns the changes to make.
func planIndexes(ctx context.Context, db *sql.DB) ([]indexChange, error) {
	l, err := readListed(ctx, db)
	if err != nil {
		return nil, err
	}
	return l.plan(), nil
}

func readListed(ctx context.Context, db *sql.DB) (l listed, err error) {
	for _, read := range []struct {
		into  *[]string
		query string
	}{
		{&l.nullable, `SELECT name FROM pragma_table_xinfo('` + listedTable + `') WHERE "notnull" = 0`},
		// Generated and not stored: the stored ones are in full-text indexes.
		{&l.attributes, `SELECT name FROM pragma_table_xinfo('` + listedTable + `') WHERE hidden = 2`},
		// For each namespace the server records which attribute is in which column.
		{&l.registered, `SELECT name FROM pragma_table_xinfo('` + listedTable + `') c WHERE hidden = 2
			AND EXISTS (SELECT 1 FROM namespaces n WHERE instr(n.data, CAST(c.name AS BLOB)) > 0)`},
		{&l.indexes, `SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '` + listedTable + `' AND sql IS NOT NULL`},
	} {
		if *read.into, err = texts(ctx, db, read.query); err != nil {
			return l, err
		}
	}
	for _, create := range l.indexes {
		column := indexedColumn(create)
		if !slices.Contains(l.attributes, column) {
			continue
		}
		found, err := texts(ctx, db, `SELECT '`+column+`' WHERE EXISTS (SELECT 1 FROM `+listedTable+` WHERE `+column+` IS NOT NULL)`)
		if err != nil {
			return l, err
		}
		l.filled = append(l.filled, found...)
	}
	return l, nil
}

func indexedColumn(create string) string {
	if m := columnIndex.FindStringSubmatch(create); m != nil {
		return m[3]
	}
	return ""
}

// plan makes the decisions. Attributes that are registered later get their index at the
// next start.
func (l listed) plan() (changes []indexChange) {
	rest, have := "", map[string]bool{}
	for _, create := range l.indexes {
		m := columnIndex.FindStringSubmatch(create)
		if m == nil {
			continue
		}
		name, column, partial := m[2], m[3], m[5] != ""
		rest, have[column] = m[4], true
		attribute := slices.Contains(l.attributes, column)
		switch {
		case slices.Contains(unsearched, column),
			attribute && !slices.Contains(l.registered, column) && !slices.Contains(l.filled, column):
			changes = append(changes, indexChange{name: name, remove: true})
		case !partial && slices.Contains(l.nullable, column):
			changes = append(changes, indexChange{name: name, remove: true, create: m[1] + withValue(column)})
		}
	}
	for _, column := range l.registered {
		if name := "by_" + strings.ToLower(column); !have[column] && rest != "" {
			changes = append(changes, indexChange{name: name, create: `CREATE INDEX ` + name + ` ON ` + listedTable + ` (namespace_id, ` + column + `,` + rest + withValue(column)})
		}
	}
	return changes
}

func withValue(column string) string { return ` WHERE ` + column + ` IS NOT NULL` }

// make carries out the change. Each is a separate transaction, for the server waits
// meanwhile.
func (c indexChange) make(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if c.remove {
		_, err = tx.ExecContext(ctx, `DROP INDEX `+c.name)
	}
	if err == nil && c.create != "" {
		_, err = tx.ExecContext(ctx, c.create)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// texts reads the one column of a query.
func texts(ctx context.Context, db *sql.DB, query string) (found []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}
