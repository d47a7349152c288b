package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// TroubledHosts implements store.Reports. It starts from the few hosts of the store
// that are in trouble, not from those of the crawl.
func (s *Store) TroubledHosts(ctx context.Context, crawlID int64, limit int) ([]store.HostRecord, int, error) {
	total := 0
	hosts, err := read(ctx, s, func(tx Tx) ([]store.HostRecord, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		query := fmt.Sprintf(`SELECT DISTINCT x.id FROM (
				SELECT h.id FROM hosts h WHERE h.blocked = 1
				UNION ALL SELECT h.id FROM hosts h WHERE h.backoff_until > 0 AND h.backoff_until > $2
				UNION ALL SELECT h.id FROM robots o CROSS JOIN hosts h WHERE o.state = %d AND h.host = o.host
				UNION ALL SELECT h.id FROM robots o CROSS JOIN hosts h WHERE o.forbids = 1 AND h.host = o.host) x
			WHERE EXISTS (SELECT 1 FROM host_crawls hc WHERE hc.crawl_id = $1 AND hc.host_id = x.id) LIMIT %d`,
			store.RobotsUnreachable, store.MaxTroubled)
		ids, err := collect(ctx, tx, query, []any{crawlID, now}, scanID)
		if err != nil {
			return nil, err
		}
		slices.Sort(ids) // those known longest
		total = len(ids)
		return s.hostsByID(ctx, tx, crawlID, ids[:min(limitOr(limit), len(ids))])
	})
	if err != nil {
		return nil, 0, fmt.Errorf("hosts of crawl %d in trouble: %w", crawlID, err)
	}
	return hosts, total, nil
}

// Standings implements store.Reports.
func (s *Store) Standings(ctx context.Context, pages []int64) (map[int64]store.Standing, error) {
	all := make(map[int64]store.Standing, len(pages))
	if len(pages) == 0 {
		return all, nil
	}
	query := fmt.Sprintf(`SELECT r.id, COALESCE(l.state, 0), COALESCE(l.promised_at, 0), COALESCE(k.name, ''), COALESCE(v.problem, ''),
			COALESCE(e.at, 0), COALESCE(b.url, ''), COALESCE(e.reason, '')
		FROM `+s.records(1, "r", "id bigint")+` CROSS JOIN frontier f
			LEFT JOIN places l ON l.page_id = f.page_id AND l.lapsed_at = 0
			LEFT JOIN visits v ON v.page_id = f.page_id AND v.visit = f.visit AND f.state = %d
			LEFT JOIN traps k ON k.id = f.trap_id AND f.state = %d
			LEFT JOIN evictions e ON e.page_id = f.page_id AND e.at = (SELECT MAX(m.at) FROM evictions m WHERE m.page_id = f.page_id)
			LEFT JOIN pages b ON b.id = e.by_page
		WHERE f.page_id = r.id`, crawl.Excluded, crawl.Held)
	_, err := read(ctx, s, func(tx Tx) (struct{}, error) {
		return struct{}{}, tx.Query(ctx, query, []any{idList(pages)}, func(row Row) error {
			id, standing, err := scanStanding(row)
			all[id] = standing
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("where pages stand: %w", err)
	}
	return all, nil
}

func scanStanding(row Row) (int64, store.Standing, error) {
	var id, state, promised, evicted int64
	var reason string
	var st store.Standing
	if err := row.Scan(&id, &state, &promised, &st.Trap, &st.Excluded, &evicted, &st.Evicted.By, &reason); err != nil {
		return 0, st, err
	}
	switch state {
	case placeWaiting:
		st.Promised = fromMicros(promised)
	case placeGranted, placeBegun:
		st.Underway = true
	}
	st.Evicted.At = fromMicros(evicted)
	if reason == "" {
		return id, st, nil
	}
	if err := json.Unmarshal([]byte(reason), &st.Evicted.Reason); err != nil {
		return id, st, fmt.Errorf("decode why page %d was evicted: %w", id, err)
	}
	return id, st, nil
}
