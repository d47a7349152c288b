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

// addHosts adds the hosts of the URLs that are new. They get separate transactions, so that nobody
// waits for a host's row while this one inserts pages. Foreign ones are left to that transaction,
// which decides whether they are taken.
func (s *Store) addHosts(ctx context.Context, p store.RegisterParams, urls []foundURL) error {
	if err := s.checkOrigin(ctx, p); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, u := range urls {
		if u.foreign == 0 {
			names[u.host] = true
		}
	}
	list := hostNames(slices.Sorted(maps.Keys(names)))
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) { return struct{}{}, s.insertHosts(ctx, tx, list) })
	if err != nil {
		return fmt.Errorf("add hosts: %w", err)
	}
	return nil
}

func (s *Store) insertHosts(ctx context.Context, tx Tx, list []hostName) error {
	return tx.Queue(ctx, `INSERT INTO hosts (host) SELECT r.host FROM `+s.records(1, "r", "host text")+`
		WHERE NOT EXISTS (SELECT 1 FROM hosts h WHERE h.host = r.host)
		ORDER BY r.host ON CONFLICT (host) DO NOTHING`, jsonText(list))
}

// hostIDs reads the ids of the hosts that exist.
func (s *Store) hostIDs(list []hostName, ids map[string]int64) Step {
	query := `SELECT h.host, h.id FROM ` + s.records(1, "r", "host text") + ` CROSS JOIN hosts h WHERE h.host = r.host`
	return Step{Query: query, Args: []any{jsonText(list)}, Scan: func(row Row) error {
		var name string
		var id int64
		err := row.Scan(&name, &id)
		ids[name] = id
		return err
	}}
}
