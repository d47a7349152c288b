package sqlstore

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"recrawl/internal/store"
)

// variantHash is the hash, in hex, of a URL without its session id; "" if there is no such URL.
func variantHash(url string) string {
	if url == "" {
		return ""
	}
	sum := urlHash(clean(url))
	return hex.EncodeToString(sum[:])
}

// settleTraps finds out which new pages their traps hold and clears the trap of all
// others: those of traps that are released, and the first variant of each URL.
func (s *Store) settleTraps(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL) error {
	var traps []int64
	variants := false
	for i := range urls {
		if !urls[i].isNew {
			urls[i].trap = 0
		}
		if urls[i].trap != 0 {
			traps = append(traps, urls[i].trap)
			variants = variants || urls[i].variant != ""
		}
	}
	if len(traps) == 0 {
		return nil
	}
	holding, err := s.trapsThatHold(ctx, tx, p.CrawlID, traps)
	if err != nil {
		return err
	}
	for i := range urls {
		if !slices.Contains(holding, urls[i].trap) {
			urls[i].trap = 0
		}
	}
	if !variants {
		return nil
	}
	return s.settleVariants(ctx, tx, p, urls)
}

// trapsThatHold returns the traps that hold, and keeps them from being released
// before the transaction ends.
func (s *Store) trapsThatHold(ctx context.Context, tx Tx, crawlID int64, ids []int64) ([]int64, error) {
	query := `SELECT t.id FROM traps t WHERE t.id IN (` + s.ids(1) + `) AND t.crawl_id = $2 AND t.state IN (1, 2) ORDER BY t.id` + s.lock()
	holding, err := collect(ctx, tx, query, []any{idList(ids), crawlID}, scanID)
	if err != nil {
		return nil, fmt.Errorf("find traps: %w", err)
	}
	return holding, nil
}

// variantRecord is a row of variants to be written.
type variantRecord struct {
	ID   int64  `json:"id"`
	Base string `json:"base"`
}

// settleVariants clears the trap of the first variant of each URL that is not
// itself a page, or is one that only redirects to the variant.
func (s *Store) settleVariants(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL) error {
	var redirects int64
	if p.Redirects {
		redirects = p.From
	}
	var rows []variantRecord
	for _, u := range urls {
		if u.trap != 0 && u.variant != "" {
			rows = append(rows, variantRecord{u.ID, u.variant})
		}
	}
	slices.SortFunc(rows, func(a, b variantRecord) int { return slices.Compare([]byte(a.Base), []byte(b.Base)) })
	unhex := s.engine.Dialect().Unhex("r.base")
	query := `INSERT INTO variants (crawl_id, base, page_id)
		SELECT CAST($2 AS BIGINT), ` + unhex + `, r.id FROM ` + s.records(1, "r", "id bigint", "base text") + `
		WHERE NOT EXISTS (SELECT 1 FROM pages p WHERE p.crawl_id = ` + ofEach(2, "r.id") + ` AND p.url_hash = ` + unhex + ` AND p.id <> CAST($3 AS BIGINT))
		ORDER BY r.base, r.id
		ON CONFLICT (crawl_id, base) DO NOTHING
		RETURNING page_id`
	first, err := collect(ctx, tx, query, []any{jsonText(rows), p.CrawlID, redirects}, scanID)
	if err != nil {
		return fmt.Errorf("find variants: %w", err)
	}
	for i := range urls {
		if urls[i].variant != "" && slices.Contains(first, urls[i].ID) {
			urls[i].trap = 0
		}
	}
	return nil
}

// freeTargets makes held variants of the page that redirects to them Known: its content is there.
func (s *Store) freeTargets(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL, d *deltas) error {
	for i, u := range urls {
		if u.isNew || u.variant == "" {
			continue
		}
		query := `SELECT p.id FROM ` + s.records(1, "r", "base text") + ` CROSS JOIN pages p WHERE p.id = CAST($2 AS BIGINT) AND p.url_hash = ` + s.engine.Dialect().Unhex("r.base")
		own, err := collect(ctx, tx, query, []any{jsonText([]variantRecord{{u.ID, u.variant}}), p.From}, scanID)
		if err != nil {
			return err
		}
		if len(own) == 0 {
			continue
		}
		if err := s.freeSeeds(ctx, tx, urls[i:i+1], d); err != nil {
			return err
		}
	}
	return nil
}
