package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/store"
)

// Backlinks implements store.Backlinks. On Postgres the index of links by their target is
// in no order, so only a part of them is taken first.
func (s *Store) Backlinks(ctx context.Context, pageID, after int64, limit int) ([]store.PageRecord, error) {
	query := fmt.Sprintf(`SELECT l.src FROM (SELECT src FROM links WHERE dst = $1 AND src > $2 LIMIT %d) l ORDER BY l.src LIMIT $3`,
		store.BacklinksInOrder)
	pages, err := read(ctx, s, func(tx Tx) ([]store.PageRecord, error) {
		ids, err := collect(ctx, tx, query, []any{pageID, after, limitOr(limit)}, scanID)
		if err != nil {
			return nil, err
		}
		return s.loadPages(ctx, tx, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("back-links of page %d: %w", pageID, err)
	}
	return pages, nil
}
