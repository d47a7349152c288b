package sqlite

import (
	"fmt"
	"strings"
)

// dialect is SQLite's SQL.
type dialect struct{}

// casts are SQLite's names of the column types of Records.
var casts = map[string]string{"bigint": "INTEGER", "float": "REAL", "text": "TEXT"}

// ForUpdate implements sqlstore.Dialect: the one writer locks all rows.
func (dialect) ForUpdate() string { return "" }

// ForKeyShare implements sqlstore.Dialect.
func (dialect) ForKeyShare() string { return "" }

// LockTable implements sqlstore.Dialect.
func (dialect) LockTable(string, bool) string { return "" }

// Records implements sqlstore.Dialect.
func (dialect) Records(n int, alias string, columns ...string) string {
	fields := make([]string, len(columns))
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		fields[i] = fmt.Sprintf("CAST(value ->> '$.%s' AS %s) AS %s", name, casts[kind], name)
	}
	return fmt.Sprintf("(SELECT %s FROM json_each($%d)) AS %s", strings.Join(fields, ", "), n, alias)
}

// Index implements sqlstore.Dialect.
func (dialect) Index(name string) string {
	if name == "" {
		return " NOT INDEXED"
	}
	return " INDEXED BY " + name
}

// Within implements sqlstore.Dialect.
func (dialect) Within(columns, values string) string {
	return fmt.Sprintf("(%s) = (%s)", columns, values)
}

// LookUp implements sqlstore.Dialect: it has no statistics, and CROSS JOIN keeps the order.
func (dialect) LookUp() string { return "" }

// OfEach implements sqlstore.Dialect: CROSS JOIN keeps the order, and the query has a limit itself.
func (dialect) OfEach(table, alias, condition, _ string) string {
	return fmt.Sprintf("CROSS JOIN %s %s WHERE %s", table, alias, condition)
}

// Unhex implements sqlstore.Dialect.
func (dialect) Unhex(expr string) string { return "unhex(" + expr + ")" }
