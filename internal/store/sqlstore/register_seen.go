package sqlstore

import (
	"context"
	"fmt"
)

// updateSeen counts new backlinks of pages known before, and moves those that
// are nearer to a seed than was known.
func (s *Store) updateSeen(ctx context.Context, tx Tx, urls []foundURL) error {
	var linked, touched []int64
	var closer []levelRecord
	for _, u := range urls {
		if u.isNew || !u.newLink && !u.isCloser {
			continue
		}
		touched = append(touched, u.ID)
		if u.newLink {
			linked = append(linked, u.ID)
		}
		if u.isCloser {
			closer = append(closer, levelRecord{u.ID, u.Level, u.Hops, u.priority()})
		}
	}
	if len(touched) == 0 {
		return nil
	}
	if err := s.lockPages(ctx, tx, touched); err != nil {
		return err
	}
	if len(linked) > 0 {
		query := `UPDATE frontier SET backlinks = backlinks + 1 WHERE page_id IN (` + s.ids(1) + `)`
		if err := tx.Queue(ctx, query, idList(linked)); err != nil {
			return fmt.Errorf("count backlinks: %w", err)
		}
	}
	return s.moveCloser(ctx, tx, closer)
}

type levelRecord struct {
	ID       int64   `json:"id"`
	Level    int     `json:"level"`
	Hops     int     `json:"hops"`
	Priority float64 `json:"priority"`
}

// moveCloser lowers the levels and hops of pages whose frontier rows are locked. The priority of
// those that were ranked is their importance's, unless they are seeds now.
func (s *Store) moveCloser(ctx context.Context, tx Tx, closer []levelRecord) error {
	if len(closer) == 0 {
		return nil
	}
	list := jsonText(closer)
	from := s.records(1, "r", "id bigint", "level bigint", "hops bigint", "priority float")
	// Compared again: another transaction may have moved it even closer before this
	// one had the lock.
	pages := `UPDATE pages SET level = CASE WHEN r.level < pages.level THEN r.level ELSE pages.level END,
			hops = CASE WHEN r.hops < pages.hops THEN r.hops ELSE pages.hops END
		FROM ` + from + ` WHERE pages.id = r.id AND (pages.level > r.level OR pages.hops > r.hops)`
	if err := tx.Queue(ctx, pages, list); err != nil {
		return fmt.Errorf("lower levels: %w", err)
	}
	// A page that another transaction has made a requisite meanwhile stays below all pages.
	frontier := fmt.Sprintf(`UPDATE frontier SET priority = r.priority FROM %s
		WHERE frontier.page_id = r.id AND frontier.priority < r.priority AND +frontier.priority > %d AND (frontier.weight = 0 OR r.priority = 0)`,
		from, requisitePriority)
	if err := tx.Queue(ctx, frontier, list); err != nil {
		return fmt.Errorf("raise priorities: %w", err)
	}
	return nil
}

// lockPages locks the frontier rows of pages, each given once, in the order of
// their ids; errVanished if some are not there any more.
func (s *Store) lockPages(ctx context.Context, tx Tx, ids []int64) error {
	if s.lock() == "" {
		return nil
	}
	query := `SELECT page_id FROM frontier WHERE page_id IN (` + s.ids(1) + `) ORDER BY page_id` + s.lock()
	locked, err := collect(ctx, tx, query, []any{idList(ids)}, scanID)
	if err == nil && len(locked) < len(ids) {
		err = errVanished
	}
	if err != nil {
		return fmt.Errorf("lock pages: %w", err)
	}
	return nil
}
