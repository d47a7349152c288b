package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// settingGrouping is the row of settings that holds a urlkey.Grouping.
const settingGrouping = "grouping"

// Open returns the store on a migrated engine, which it owns from then on. A
// store that is opened for writing for the first time takes its grouping of
// hosts from the options; later the options must leave it or say the same, else
// the error is store.ErrFixed and the engine is still the caller's.
func Open(ctx context.Context, e Engine, o Options) (*Store, error) {
	s := New(e, o)
	var err error
	if s.grouping, err = s.settle(ctx, o); err != nil {
		return nil, err
	}
	if o.Grouping != "" && o.Grouping != s.grouping {
		return nil, fmt.Errorf("this store groups hosts by %s, not by %s: %w", s.grouping, o.Grouping, store.ErrFixed)
	}
	if s.id, err = s.identify(ctx, o.ReadOnly); err != nil {
		return nil, fmt.Errorf("read the store's identity: %w", err)
	}
	return s, nil
}

// settle reads the grouping, after choosing it if nobody has.
func (s *Store) settle(ctx context.Context, o Options) (urlkey.Grouping, error) {
	found, err := read(ctx, s, readGrouping)
	if !errors.Is(err, store.ErrNotFound) {
		return found, err
	}
	if o.ReadOnly {
		return urlkey.ByHost, nil // a store that nobody has written to yet
	}
	return write(ctx, s, func(tx Tx) (urlkey.Grouping, error) {
		var used int64
		if err := tx.QueryRow(ctx, `SELECT CASE WHEN EXISTS (SELECT 1 FROM hosts) THEN 1 ELSE 0 END`, nil, &used); err != nil {
			return "", err
		}
		chosen := urlkey.ByHost
		if o.Grouping != "" && used == 0 { // a store of an older version has hosts by host
			chosen = o.Grouping
		}
		_, err := tx.Exec(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, settingGrouping, string(chosen))
		if err != nil {
			return "", err
		}
		return readGrouping(tx) // another process may have been first
	})
}

func readGrouping(tx Tx) (urlkey.Grouping, error) {
	var text string
	if err := tx.QueryRow(context.Background(), `SELECT value FROM settings WHERE name = $1`, []any{settingGrouping}, &text); err != nil {
		return "", err
	}
	return urlkey.ParseGrouping(text)
}

// unitOf checks the name of a host that a person gave: an action on a host affects
// its whole unit, so the person must name that.
func (s *Store) unitOf(host string) (string, error) {
	unit := s.grouping.Unit(clean(host))
	if unit != clean(host) {
		return "", fmt.Errorf("%s is %w, by %s: name %s, which stands for all of them", host, store.ErrGrouped, s.grouping, unit)
	}
	return unit, nil
}
