package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// ScopeLook implements store.ScopeLooks.
func (s *Store) ScopeLook(ctx context.Context, crawlID int64) (store.ScopeLook, error) {
	look, err := read(ctx, s, func(tx Tx) (store.ScopeLook, error) {
		var l store.ScopeLook
		var done int64
		err := tx.QueryRow(ctx, `SELECT scope, after_page, done FROM scope_looks WHERE crawl_id = $1`, []any{crawlID}, &l.Scope, &l.After, &done)
		if errors.Is(err, store.ErrNotFound) {
			return store.ScopeLook{}, nil
		}
		l.Done = done != 0
		return l, err
	})
	if err != nil {
		return store.ScopeLook{}, fmt.Errorf("the look at the pages of crawl %d: %w", crawlID, err)
	}
	return look, nil
}

// SetScopeLook implements store.ScopeLooks.
func (s *Store) SetScopeLook(ctx context.Context, crawlID int64, l store.ScopeLook) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `INSERT INTO scope_looks (crawl_id, scope, after_page, done) VALUES ($1, $2, $3, $4)
			ON CONFLICT (crawl_id) DO UPDATE SET scope = excluded.scope, after_page = excluded.after_page, done = excluded.done`,
			crawlID, l.Scope, l.After, count(l.Done))
	})
	if err != nil {
		return fmt.Errorf("note the look at the pages of crawl %d: %w", crawlID, err)
	}
	return nil
}

// judgeAnew forgets how far the pages of a locked crawl have been checked if another spec judges
// them otherwise. The scope's name does not tell: a spec may be back before a check has seen the
// other, by which pages have been excluded meanwhile.
func judgeAnew(ctx context.Context, tx Tx, rec store.CrawlRecord, spec crawl.Spec) error {
	if jsonText(rec.Spec.Judging()) == jsonText(spec.Judging()) {
		return nil
	}
	if _, err := tx.Exec(ctx, `DELETE FROM scope_looks WHERE crawl_id = $1`, rec.ID); err != nil {
		return fmt.Errorf("have the pages judged anew: %w", err)
	}
	return nil
}

// WakePages implements store.ScopeLooks.
func (s *Store) WakePages(ctx context.Context, pages []int64) ([]store.PageRecord, error) {
	if len(pages) == 0 {
		return nil, nil
	}
	woken, err := write(ctx, s, func(tx Tx) ([]store.PageRecord, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		sleeping := fmt.Sprintf(`SELECT f.page_id FROM frontier f WHERE f.page_id IN (%s)
			AND f.state BETWEEN %d AND %d AND (f.visit > 0 OR f.next_at > $2) AND %s ORDER BY f.page_id`, s.ids(1), crawl.Active, crawl.Excluded, notInLine("f.page_id"))
		ids, err := collect(ctx, tx, sleeping+s.lock(), []any{idList(pages), now}, scanID)
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		if _, err := tx.Exec(ctx, `UPDATE frontier SET next_at = $2 WHERE page_id IN (`+s.ids(1)+`) AND next_at > $2`, idList(ids), now); err != nil {
			return nil, err
		}
		return s.loadPages(ctx, tx, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("wake pages: %w", err)
	}
	return woken, nil
}
