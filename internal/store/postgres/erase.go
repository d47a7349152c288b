package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/store"
)

const (
	// erasePatience is how long a rewrite tries to get at a table, and erasePause the time
	// between two tries, in which others get at it.
	erasePatience = time.Minute
	erasePause    = 3 * time.Second
)

// Erase implements sqlstore.Engine. VACUUM removes deleted rows from the tables but
// leaves their bytes in the pages until other rows need the room. VACUUM FULL
// rewrites the tables and their indexes, one after the other, each under an
// exclusive lock. Neither touches the write-ahead log.
func (e *engine) Erase(ctx context.Context, rewrite bool, tables []string) (err error) {
	return e.erase(ctx, rewrite, tables, erasePatience)
}

// erase is Erase. It waits for a table no longer than lockPatience at a time, as a migration does
// and for the same reason: behind a pg_dump of an hour all workers would stop for that hour.
func (e *engine) erase(ctx context.Context, rewrite bool, tables []string, patience time.Duration) (err error) {
	config := e.pool.Config()
	config.ConnConfig.RuntimeParams["statement_timeout"] = "0" // a large table takes minutes
	conn, err := connectAlone(ctx, config)
	if err != nil {
		return interpretError(err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, fmt.Sprintf("SET lock_timeout = %d", lockPatience.Milliseconds())); err != nil {
		return interpretError(err)
	}
	vacuum := "VACUUM "
	if rewrite {
		vacuum = "VACUUM (FULL) "
	}
	for _, table := range tables {
		if err := eraseTable(ctx, conn, vacuum+pgx.Identifier{table}.Sanitize(), patience); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	return nil
}

// eraseTable runs a statement as soon as it gets at its table.
func eraseTable(ctx context.Context, conn *pgx.Conn, statement string, patience time.Duration) error {
	for end := time.Now().Add(patience); ; {
		_, err := conn.Exec(ctx, statement)
		if !isLockTimeout(err) {
			return interpretError(err)
		}
		if time.Now().After(end) {
			return &storeError{store.ErrUnavailable, "it waits for a long transaction in the database, such as a pg_dump", err}
		}
		if !sleep(ctx, erasePause) {
			return ctx.Err()
		}
	}
}
