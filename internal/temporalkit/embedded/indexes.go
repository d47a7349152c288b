package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"

	"recrawl/internal/store/sqlite"
)

// listedTable has a row for each workflow, which lists and searches read.
const listedTable = "executions_visibility"

// nullableIndex matches how the server makes the index of a column of listedTable.
var nullableIndex = regexp.MustCompile(`^(CREATE INDEX (\w+)\s+ON ` + listedTable + ` \(namespace_id, (\w+),.*\))$`)

// thinIndexes takes the rows without a value out of the indexes of the server's list of
// workflows. The server has an index for every attribute that anybody could ever search
// for, and each row is in all 45, so that a page's row was 12 kB, nearly all of it entries
// of NULL. An index without them answers the same searches: no comparison finds NULL, and
// lists without a condition come from another index. It runs beside the server, and does
// nothing where it was before.
func thinIndexes(ctx context.Context, path string) (thinned int, err error) {
	db, err := sqlite.OpenFile(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// As the server does: what the log loses in a power cut is only this.
	if _, err := db.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return 0, err
	}
	remake, err := fullIndexes(ctx, db)
	if err != nil {
		return 0, fmt.Errorf("indexes of Temporal's database: %w", err)
	}
	for _, index := range remake {
		if err := index.thin(ctx, db); err != nil {
			return thinned, fmt.Errorf("index %s of Temporal's database: %w", index.name, err)
		}
		thinned++
	}
	return thinned, nil
}

// fullIndex is an index with an entry for every row, although its column may be NULL.
type fullIndex struct {
	name, create string // create makes it without NULL
}

func fullIndexes(ctx context.Context, db *sql.DB) (found []fullIndex, err error) {
	nullable, err := texts(ctx, db, `SELECT name FROM pragma_table_xinfo('`+listedTable+`') WHERE "notnull" = 0`)
	if err != nil {
		return nil, err
	}
	mayBeNull := map[string]bool{}
	for _, column := range nullable {
		mayBeNull[column] = true
	}
	made, err := texts(ctx, db, `SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '`+listedTable+`' AND sql IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	for _, create := range made {
		if m := nullableIndex.FindStringSubmatch(create); m != nil && mayBeNull[m[3]] {
			found = append(found, fullIndex{name: m[2], create: m[1] + ` WHERE ` + m[3] + ` IS NOT NULL`})
		}
	}
	return found, nil
}

// thin makes the index anew. Each is a transaction of its own, for the server waits
// meanwhile.
func (i fullIndex) thin(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DROP INDEX `+i.name)
	if err == nil {
		_, err = tx.ExecContext(ctx, i.create)
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
