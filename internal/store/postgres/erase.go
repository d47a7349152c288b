package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Erase implements sqlstore.Engine. VACUUM takes what was deleted out of the tables
// but leaves its bytes in their pages until something else needs the room; VACUUM
// FULL writes the tables and their indexes anew, one after the other, each under a
// lock that nobody else passes. Neither touches the write-ahead log.
func (e *engine) Erase(ctx context.Context, rewrite bool, tables []string) (err error) {
	config := e.pool.Config().ConnConfig
	config.RuntimeParams["statement_timeout"] = "0" // a large table takes minutes
	conn, err := pgx.ConnectConfig(ctx, config)
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
