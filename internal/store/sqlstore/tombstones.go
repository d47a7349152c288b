package sqlstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"recrawl/internal/store"
)

// Kinds of tombstones. The numbers are stored.
const (
	tombURL  = 1
	tombHost = 2
)

// tombstone is the key of a forgotten URL or host.
type tombstone struct {
	Kind int    `json:"kind"`
	Hash string `json:"hash"` // urlHash in hex
}

func newTombstone(kind int, text string) tombstone {
	sum := urlHash(text)
	return tombstone{kind, hex.EncodeToString(sum[:])}
}

// targetTombstone checks and cleans a target.
func (s *Store) targetTombstone(t store.Target) (store.Target, tombstone, error) {
	t.URL, t.Host = clean(t.URL), clean(t.Host)
	switch {
	case (t.URL == "") == (t.Host == ""):
		return t, tombstone{}, errors.New("name either a URL or a host")
	case t.URL != "":
		return t, newTombstone(tombURL, t.URL), nil
	}
	_, err := s.unitOf(t.Host)
	return t, newTombstone(tombHost, t.Host), err
}

// tombstones returns those of the list that exist, and then runs the caller's reads. The rest of
// the transaction counts as done before a tombstone that does not exist yet.
func (s *Store) tombstones(ctx context.Context, tx Tx, list []tombstone, reads ...Step) (map[tombstone]bool, error) {
	if err := s.lockTombstones(ctx, tx, false); err != nil {
		return nil, err
	}
	query := `SELECT t.kind, r.hash FROM ` + s.records(1, "r", "kind bigint", "hash text") + ` CROSS JOIN forgotten t
		WHERE t.kind = r.kind AND t.hash = ` + s.engine.Dialect().Unhex("r.hash")
	found := map[tombstone]bool{}
	ask := Step{Query: query, Args: []any{jsonText(list)}, Scan: func(row Row) error {
		var t tombstone
		err := row.Scan(&t.Kind, &t.Hash)
		found[t] = true
		return err
	}}
	if err := tx.Pipeline(ctx, append([]Step{ask}, reads...)...); err != nil {
		return nil, fmt.Errorf("look for tombstones: %w", err)
	}
	return found, nil
}

// lockTombstones keeps tombstones from being set while they are relied on, or
// waits for all who do. It must be the first lock of a transaction.
func (s *Store) lockTombstones(ctx context.Context, tx Tx, exclusive bool) error {
	query := s.engine.Dialect().LockTable("forgotten", exclusive)
	if query == "" {
		return nil
	}
	// It may travel with the statement that relies on it: each statement sees what was committed
	// when it began, and it begins once the lock is granted.
	if err := tx.Queue(ctx, query); err != nil {
		return fmt.Errorf("lock the tombstones: %w", err)
	}
	return nil
}

// bury sets a tombstone. When it returns, all transactions that did not see the
// tombstone have committed, so that the pages they added can be found.
func (s *Store) bury(ctx context.Context, t tombstone) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		if err := s.lockTombstones(ctx, tx, true); err != nil {
			return 0, err
		}
		return tx.Exec(ctx, `INSERT INTO forgotten (kind, hash) VALUES ($1, `+s.engine.Dialect().Unhex("$2")+`)
			ON CONFLICT (kind, hash) DO NOTHING`, t.Kind, t.Hash)
	})
	if err != nil {
		return fmt.Errorf("set the tombstone: %w", err)
	}
	return nil
}

// Remember implements store.Takedown.
func (s *Store) Remember(ctx context.Context, target store.Target) error {
	_, t, err := s.targetTombstone(target)
	if err != nil {
		return fmt.Errorf("remember: %w", err)
	}
	n, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `DELETE FROM forgotten WHERE kind = $1 AND hash = `+s.engine.Dialect().Unhex("$2"), t.Kind, t.Hash)
	})
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("remember %s%s: %w", target.URL, target.Host, err)
	}
	return nil
}
