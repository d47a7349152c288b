package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

const (
	// settlePause is the pause between two looks, and settlePatience is how long one call
	// keeps looking. A call that knows of no settled id yet looks for firstPatience: its
	// store has just been opened.
	settlePause    = 10 * time.Millisecond
	settlePatience = 100 * time.Millisecond
	firstPatience  = 2 * time.Second
)

// order is an engine's knowledge of the order in which a table's rows are committed. Only the
// holder of the token in looking uses it.
type order struct {
	settled settled
	looking chan struct{}
}

// settled says how much of the order is known. Ids are given out before the commit, so the
// highest visible id says nothing about those below it. But a transaction that has been given
// an id holds RowExclusiveLock on the table from before that until its end. Whoever has an id
// below a visible one was given it before that was committed. So the ids up to the highest
// visible one are settled as soon as all transactions that held the lock then have ended.
// Nobody waits for the reader, and the reader waits only for transactions that write to this
// table.
//
// What the sequence gave out beyond the highest visible id is not settled even when all
// have ended: after a crash Postgres gives out again what no commit had brought to disk.
type settled struct {
	id    int64 // all rows up to here are committed, or never will be
	known bool  // id is; it is 0 in an empty table too

	// waits: the ids up to id of next are settled when its holders are gone.
	waits bool
	next  view
}

// view is one look at the table.
type view struct {
	id      int64    // the highest visible one
	used    int64    // the highest that was given out
	holders []string // virtual transactions that may have been given an id
}

// see takes a later look into account.
func (s *settled) see(look view) {
	if s.waits && !slices.ContainsFunc(s.next.holders, look.holds) {
		s.id, s.known, s.waits = max(s.id, s.next.id), true, false
	}
	if len(look.holders) == 0 {
		s.id, s.known, s.waits = max(s.id, look.id), true, false
	}
	if !s.waits && s.id < look.id {
		s.waits, s.next = true, look
	}
}

// holds reports whether a transaction that held the lock still may. One that was prepared
// meanwhile has another name, so all prepared ones count.
func (v view) holds(holder string) bool {
	return slices.Contains(v.holders, holder) || slices.ContainsFunc(v.holders, prepared)
}

// preparedMark begins the names of holders that PREPARE TRANSACTION has left.
const preparedMark = "prepared "

func prepared(holder string) bool { return strings.HasPrefix(holder, preparedMark) }

// Settled implements sqlstore.Engine. One caller at a time looks.
func (e *engine) Settled(ctx context.Context, table sqlstore.Ordered) (sqlstore.Settled, error) {
	o := e.orders[table]
	select {
	case o.looking <- struct{}{}:
	case <-ctx.Done():
		return sqlstore.Settled{}, ctx.Err()
	}
	defer func() { <-o.looking }()
	patience := settlePatience
	if !o.settled.known {
		patience = firstPatience
	}
	var asked int64 // the ids visible when the call began are enough
	for waited := time.Duration(0); ; waited += settlePause {
		look, err := e.lookAt(ctx, table, o.settled.id)
		if err != nil {
			return sqlstore.Settled{}, err
		}
		o.settled.see(look)
		if waited == 0 {
			asked = look.id
		}
		if o.settled.id >= asked || waited >= patience || !sleep(ctx, settlePause) {
			return sqlstore.Settled{ID: o.settled.id, Known: o.settled.known, Used: look.used}, ctx.Err()
		}
	}
}

// errOrder is for a standby, where nobody can tell who has been given an id: the locks are those of
// the server that it follows.
var errOrder = fmt.Errorf("a change may come here after others that were made later, so ask the server that takes writes: %w", store.ErrStandby)

// lookAt reads a table's highest visible id and then, if that is not known to be settled, who
// holds the lock. It reads the sequence by its function: as a table it shows, while Postgres
// logs an id, one up to 32 ahead.
func (e *engine) lookAt(ctx context.Context, table sqlstore.Ordered, known int64) (view, error) {
	var look view
	err := e.Read(ctx, func(tx sqlstore.Tx) error {
		look = view{}
		var standby bool
		// The sequence, like locks, is read in its present state, whatever the snapshot.
		err := tx.QueryRow(ctx, fmt.Sprintf(`SELECT (SELECT COALESCE(MAX(id), 0) FROM %[1]s), COALESCE(pg_sequence_last_value('%[1]s_id_seq'), 0), pg_is_in_recovery()`, table),
			nil, &look.id, &look.used, &standby)
		if err != nil {
			return err
		}
		if standby {
			return errOrder
		}
		if look.id <= known {
			return nil
		}
		query := `SELECT CASE WHEN pid IS NULL THEN $1 ELSE '' END || virtualtransaction FROM pg_locks
			WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted AND relation = $2::text::regclass
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
		return tx.Query(ctx, query, []any{preparedMark, string(table)}, func(row sqlstore.Row) error {
			var holder string
			err := row.Scan(&holder)
			look.holders = append(look.holders, holder)
			return err
		})
	})
	return look, err
}
