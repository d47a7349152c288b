//go:build unix

package postgres

import (
	"errors"
	"strings"
	"testing"

	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
	"recrawl/internal/store/storetest/pgtest"
)

func TestEngine(t *testing.T) {
	storetest.RunEngine(t, func(t *testing.T) sqlstore.Engine { return testEngine(t, pgtest.DSN(t)) })
}

// TestQueuedFailureSaysWhich: the error of a statement that was queued comes with another one,
// and names the first.
func TestQueuedFailureSaysWhich(t *testing.T) {
	e := testEngine(t, pgtest.DSN(t))
	err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
		return errors.Join(tx.Queue(t.Context(), "INSERT INTO hosts (host) VALUES ($1)", "a"), tx.Queue(t.Context(), "INSERT INTO hosts (host) VALUES ($1)", "a"))
	})
	if err == nil || !strings.Contains(err.Error(), "INSERT INTO hosts") {
		t.Errorf("error %v does not name the statement", err)
	}
}

// TestFailurePassedOver: nothing is committed after a statement that has failed, also if it could
// not even be prepared, for which the server needs no transaction.
func TestFailurePassedOver(t *testing.T) {
	e := testEngine(t, pgtest.DSN(t))
	const add = "INSERT INTO hosts (host) VALUES ($1)"
	for name, failing := range map[string]struct {
		query string
		arg   any
	}{
		"not prepared": {"INSERT INTO hosts (nothing) VALUES ($1)", "a"},
		"refused":      {"SELECT 1 / $1::bigint", 0},
	} {
		err := e.Write(t.Context(), func(tx sqlstore.Tx) error {
			if _, err := tx.Exec(t.Context(), failing.query, failing.arg); err == nil {
				t.Errorf("%s: the statement succeeded", name)
			}
			if _, err := tx.Exec(t.Context(), add, "b"); err == nil {
				t.Errorf("%s: a statement ran after one that had failed", name)
			}
			return tx.Queue(t.Context(), add, "c")
		})
		if err == nil {
			t.Errorf("%s: the transaction was committed", name)
		}
		err = e.Write(t.Context(), func(tx sqlstore.Tx) error {
			_, _ = tx.Exec(t.Context(), failing.query, failing.arg)
			return nil
		})
		if err == nil {
			t.Errorf("%s: an empty transaction was committed", name)
		}
	}
	var n int
	err := e.Read(t.Context(), func(tx sqlstore.Tx) error { return tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM hosts", nil, &n) })
	if err != nil || n != 0 {
		t.Errorf("%d hosts, %v; want none", n, err)
	}
}
