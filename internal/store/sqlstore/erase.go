package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/store"
)

// erased are the tables whose rows, or their earlier versions, hold data about
// pages: all tables from which Forget removes rows, or words.
var erased = []string{
	"pages", "frontier", "visits", "versions", "pending_links", "links", "robots", "robots_history", "terms", "places", "contents",
	"sketches", "sketch_keys", "wordings", "duplicates", "mirrors", "host_crawls", "host_steering", "host_ranks",
	"rejected", "traps", "variants", "prefixes", "evictions", "sources", "imports", "sinks", "undelivered",
}

// Erase implements store.Takedown.
func (s *Store) Erase(ctx context.Context, p store.EraseParams) error {
	if err := s.engine.Erase(ctx, p.Rewrite, erased); err != nil {
		return fmt.Errorf("erase what was deleted: %w", err)
	}
	return nil
}
