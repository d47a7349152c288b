package postgres

import (
	"fmt"
	"strings"
)

// dialect is PostgreSQL's SQL.
type dialect struct{}

// types are PostgreSQL's names of the column types of Records.
var types = map[string]string{"bigint": "bigint", "float": "double precision", "text": "text"}

// ForUpdate implements sqlstore.Dialect.
func (dialect) ForUpdate() string { return " FOR UPDATE" }

// ForKeyShare implements sqlstore.Dialect.
func (dialect) ForKeyShare() string { return " FOR KEY SHARE" }

// LockTable implements sqlstore.Dialect. Neither mode conflicts with plain
// reading, nor with a backup that runs for hours.
func (dialect) LockTable(table string, exclusive bool) string {
	if exclusive {
		return "LOCK TABLE " + table + " IN EXCLUSIVE MODE"
	}
	return "LOCK TABLE " + table + " IN ROW SHARE MODE"
}

// Records implements sqlstore.Dialect.
func (dialect) Records(n int, alias string, columns ...string) string {
	fields := make([]string, len(columns))
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		fields[i] = name + " " + types[kind]
	}
	return fmt.Sprintf("json_to_recordset($%d::json) AS %s(%s)", n, alias, strings.Join(fields, ", "))
}

// Index implements sqlstore.Dialect: Postgres has statistics.
func (dialect) Index(string) string { return "" }

// Within implements sqlstore.Dialect.
func (dialect) Within(columns, values string) string {
	return fmt.Sprintf("(%[1]s) >= (%[2]s) AND (%[1]s) <= (%[2]s)", columns, values)
}

// LookUp implements sqlstore.Dialect. Without joins of whole tables, what is left is to look
// up each row of a list. Without bitmaps, a look that wants some rows of many ends with these, and
// marks those in the index that are dead, so that the next look passes over them.
func (dialect) LookUp() string {
	return "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), " +
		"set_config('enable_bitmapscan', 'off', true)"
}

// OfEach implements sqlstore.Dialect. The planner does not turn a limit for each row around.
func (dialect) OfEach(table, alias, condition, limit string) string {
	return fmt.Sprintf("CROSS JOIN LATERAL (SELECT * FROM %[1]s %[2]s WHERE %[3]s LIMIT %[4]s) AS %[2]s", table, alias, condition, limit)
}

// Unhex implements sqlstore.Dialect.
func (dialect) Unhex(expr string) string { return "decode(" + expr + ", 'hex')" }
