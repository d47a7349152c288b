package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Erase implements sqlstore.Engine. VACUUM removes deleted rows from the tables but
// leaves their bytes in the pages until other rows need the room. VACUUM FULL
// rewrites the tables and their indexes, one after the other, each under an
// exclusive lock. Neither touches the write-ahead log.
func (e *engine) Erase(ctx context.Context, rewrite bool, tables []string) (err error) {
	config := e.pool.Config()
	config.ConnConfig.RuntimeParams["statement_timeout"] = "0" // a large table takes minutes
	conn, err := connectAlone(ctx, config)
	if err != nil {
		return interpretError(err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	vacuum := "VACUUM "
	if rewrite {
		vacuum = "VACUUM (FULL) "
	}
	for _, table := range tables {
		if _, err := conn.Exec(ctx, vacuum+pgx.Identifier{table}.Sanitize()); err != nil {
			return fmt.Errorf("table %s: %w", table, interpretError(err))
		}
	}
	return nil
}
