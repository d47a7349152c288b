package sqlstore

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"recrawl/internal/store"
)

// Rows of settings: the store's identity, and its home as JSON.
const (
	settingIdentity = "identity"
	settingHome     = "home"
)

// ID implements store.Identity.
func (s *Store) ID() string { return s.id }

// identify reads the store's identity, after making one if it has none.
func (s *Store) identify(ctx context.Context, readOnly bool) (string, error) {
	id, err := read(ctx, s, func(tx Tx) (string, error) { return readSetting(ctx, tx, settingIdentity) })
	if id != "" || err != nil || readOnly {
		return id, err
	}
	return write(ctx, s, func(tx Tx) (string, error) { return settleSetting(ctx, tx, settingIdentity, newUUID()) })
}

// newUUID makes a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Home implements store.Identity.
func (s *Store) Home(ctx context.Context) (store.Home, error) {
	text, err := read(ctx, s, func(tx Tx) (string, error) { return readSetting(ctx, tx, settingHome) })
	if err != nil {
		return store.Home{}, fmt.Errorf("read the store's home: %w", err)
	}
	return decodeHome(text)
}

// SetHome implements store.Identity.
func (s *Store) SetHome(ctx context.Context, home store.Home, move bool) (store.Home, error) {
	value := clean(jsonText(home))
	text, err := write(ctx, s, func(tx Tx) (string, error) {
		if move {
			return value, writeSetting(ctx, tx, settingHome, value)
		}
		return settleSetting(ctx, tx, settingHome, value)
	})
	if err != nil {
		return store.Home{}, fmt.Errorf("note the store's home: %w", err)
	}
	return decodeHome(text)
}

func decodeHome(text string) (store.Home, error) {
	var home store.Home
	if text == "" {
		return home, nil
	}
	if err := json.Unmarshal([]byte(text), &home); err != nil {
		return store.Home{}, fmt.Errorf("decode the store's home: %w", err)
	}
	return home, nil
}

// readSetting reads a row of settings; "" if there is none.
func readSetting(ctx context.Context, tx Tx, name string) (string, error) {
	var value string
	err := tx.QueryRow(ctx, `SELECT value FROM settings WHERE name = $1`, []any{name}, &value)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return value, err
}

// readNote reads a row of settings that holds JSON; zero if there is none.
func readNote[T any](ctx context.Context, tx Tx, name string) (note T, err error) {
	text, err := readSetting(ctx, tx, name)
	if err != nil || text == "" {
		return note, err
	}
	if err := json.Unmarshal([]byte(text), &note); err != nil {
		return note, fmt.Errorf("decode the setting %s: %w", name, err)
	}
	return note, nil
}

// writeSetting writes a row of settings, over one that is there.
func writeSetting(ctx context.Context, tx Tx, name, value string) error {
	_, err := tx.Exec(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	return err
}

// settleSetting writes a row of settings unless there is one, and returns its
// value: another process may have been first.
func settleSetting(ctx context.Context, tx Tx, name, value string) (string, error) {
	if _, err := tx.Exec(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value); err != nil {
		return "", err
	}
	return readSetting(ctx, tx, name)
}
