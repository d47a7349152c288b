//go:build unix

package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/store"
	"recrawl/internal/store/storetest/pgtest"
)

// TestFullDiskIsTold: the server itself is made to report a full disk.
func TestFullDiskIsTold(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for code, full := range map[string]bool{"disk_full": true, "too_many_connections": false} {
		_, err := conn.Exec(t.Context(), `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '`+code+`', MESSAGE = 'could not extend file'; END $$`)
		if err = interpretError(err); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrFull) != full {
			t.Errorf("%s: %v", code, err)
		}
	}
}
