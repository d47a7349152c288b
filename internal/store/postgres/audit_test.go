//go:build unix

package postgres

import (
	"context"
	"strings"
	"testing"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
	"recrawl/internal/store/storetest/pgtest"
)

// openAudited opens an empty store; see openEmptied.
func openAudited(t *testing.T) store.Store {
	t.Helper()
	return sqlstore.New(openEmptied(t, &emptied), sqlstore.Options{})
}

// openEmptied opens an empty database in which all delta counts are checked after the test:
// here, unlike in SQLite, writers run at the same time. Its connections outlive the engine.
func openEmptied(t *testing.T, of *pgtest.Emptied) *engine {
	t.Helper()
	e := newEngine(of.Pool(t))
	t.Cleanup(func() {
		audit(t, e)
		e.retire()
	})
	return e
}

func audit(t *testing.T, e *engine) {
	t.Helper()
	for name, query := range storetest.Audits() {
		var wrong []string
		// Not the test's context: it has ended when clean-up begins.
		err := e.Read(context.Background(), func(tx sqlstore.Tx) error {
			wrong = nil
			return tx.Query(context.Background(), query, nil, func(row sqlstore.Row) error {
				var text string
				err := row.Scan(&text)
				wrong = append(wrong, text)
				return err
			})
		})
		if err != nil || len(wrong) > 0 {
			t.Errorf("%s: %v, %s", name, err, strings.Join(wrong, "; "))
		}
	}
}
