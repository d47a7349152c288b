package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/store"
)

// checkOrigin returns ErrNotFound unless the crawl and the linking page exist.
func (s *Store) checkOrigin(ctx context.Context, p store.RegisterParams) error {
	query, args := `SELECT id FROM crawls WHERE id = $1`, []any{p.CrawlID}
	if p.From != 0 {
		query, args = `SELECT id FROM pages WHERE crawl_id = $1 AND id = $2`, []any{p.CrawlID, p.From}
	}
	_, err := glance(ctx, s, func(tx Tx) (int64, error) {
		var id int64
		err := tx.QueryRow(ctx, query, args, &id)
		return id, err
	})
	if errors.Is(err, store.ErrNotFound) && p.From != 0 {
		return fmt.Errorf("page %d: %w", p.From, err)
	}
	return err
}

type hostName struct {
	Host string `json:"host"`
}

// ensureHosts sets the host ids of the URLs, adding hosts that are new, and
// returns the ids in order. New hosts get separate transactions, so that nobody
// waits for a host's row while this one inserts pages. Foreign ones are left to
// that transaction, which decides whether they are taken.
func (s *Store) ensureHosts(ctx context.Context, urls []foundURL) ([]int64, error) {
	names := map[string]bool{}
	for _, u := range urls {
		if u.foreign == 0 {
			names[u.host] = true
		}
	}
	hosts := make(map[string]int64, len(names))
	for some := range slices.Chunk(slices.Sorted(maps.Keys(names)), urlsPerTx) {
		ids, err := s.ensureSomeHosts(ctx, some)
		if err != nil {
			return nil, fmt.Errorf("find hosts: %w", err)
		}
		maps.Copy(hosts, ids)
	}
	for i := range urls {
		urls[i].HostID = hosts[urls[i].host]
	}
	return slices.Sorted(maps.Values(hosts)), nil
}

func (s *Store) ensureSomeHosts(ctx context.Context, names []string) (map[string]int64, error) {
	list := make([]hostName, len(names))
	for i, name := range names {
		list[i].Host = name
	}
	hosts, err := glance(ctx, s, func(tx Tx) (map[string]int64, error) { return s.hostIDs(ctx, tx, list) })
	if err != nil || len(hosts) == len(list) {
		return hosts, err
	}
	return write(ctx, s, func(tx Tx) (map[string]int64, error) { return s.insertHosts(ctx, tx, list) })
}

func (s *Store) insertHosts(ctx context.Context, tx Tx, list []hostName) (map[string]int64, error) {
	query := `INSERT INTO hosts (host) SELECT r.host FROM ` + s.records(1, "r", "host text") + `
		WHERE NOT EXISTS (SELECT 1 FROM hosts h WHERE h.host = r.host)
		ORDER BY r.host ON CONFLICT (host) DO NOTHING`
	if err := tx.Queue(ctx, query, jsonText(list)); err != nil {
		return nil, err
	}
	return s.hostIDs(ctx, tx, list)
}

// hostIDs returns the ids of the hosts that exist.
func (s *Store) hostIDs(ctx context.Context, tx Tx, list []hostName) (map[string]int64, error) {
	query := `SELECT h.host, h.id FROM ` + s.records(1, "r", "host text") + ` CROSS JOIN hosts h WHERE h.host = r.host`
	hosts := make(map[string]int64, len(list))
	err := tx.Query(ctx, query, []any{jsonText(list)}, func(row Row) error {
		var name string
		var id int64
		if err := row.Scan(&name, &id); err != nil {
			return err
		}
		hosts[name] = id
		return nil
	})
	return hosts, err
}
