package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// forgottenPerTx is how many pages one transaction removes.
const forgottenPerTx = 100

// Forget implements store.Takedown. If it fails half-way, it returns the counts so
// far.
func (s *Store) Forget(ctx context.Context, p store.ForgetParams) (store.ForgetResult, error) {
	target, tomb, err := s.targetTombstone(p.Target)
	if err != nil {
		return store.ForgetResult{}, fmt.Errorf("forget: %w", err)
	}
	p.Target = target
	var res store.ForgetResult
	if p.Dry {
		res, err = s.wouldForget(ctx, p)
	} else if err = s.bury(ctx, tomb); err == nil {
		if err = s.forget(ctx, p, &res); err == nil {
			err = s.forgetExamples(ctx, target)
		}
	}
	if err != nil {
		return res, fmt.Errorf("forget %s%s: %w", target.URL, target.Host, err)
	}
	return res, nil
}

// wouldForget lists the target's pages by id.
func (s *Store) wouldForget(ctx context.Context, p store.ForgetParams) (store.ForgetResult, error) {
	return read(ctx, s, func(tx Tx) (store.ForgetResult, error) {
		limit := limitOr(p.Limit)
		var ids []int64
		var err error
		if p.Host != "" {
			ids, err = s.listIDs(ctx, tx, store.PageFilter{Host: p.Host, After: p.After, Limit: limit + 1})
		} else {
			ids, err = s.idsOfURL(ctx, tx, p.URL)
			ids = slices.DeleteFunc(ids, func(id int64) bool { return id <= p.After })
		}
		if err != nil {
			return store.ForgetResult{}, err
		}
		pages, err := s.loadRefs(ctx, tx, ids[:min(limit, len(ids))])
		return store.ForgetResult{Pages: pages, More: len(ids) > limit}, err
	})
}

// forget removes up to p.Limit pages and, after the last, the rest of a host.
func (s *Store) forget(ctx context.Context, p store.ForgetParams, res *store.ForgetResult) error {
	limit := limitOr(p.Limit)
	for {
		some := min(limit-len(res.Pages), forgottenPerTx)
		step, err := s.forgetStep(ctx, p.Target, some)
		if err != nil {
			return err
		}
		res.Pages = append(res.Pages, step.removed...)
		res.Digests = append(res.Digests, step.digests...)
		if step.none {
			break
		}
		if some == 0 {
			res.More = true
			return nil
		}
	}
	if p.Host == "" {
		return nil
	}
	return s.forgetHost(ctx, p.Host)
}

// forgetHost removes the data about a host without pages.
func (s *Store) forgetHost(ctx context.Context, host string) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		var id int64
		err := tx.QueryRow(ctx, `SELECT id FROM hosts WHERE host = $1`+s.lock(), []any{host}, &id)
		if err != nil {
			return 0, ignoreNotFound(err)
		}
		for _, table := range []string{"robots", "robots_history", "terms"} {
			if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE host = $1`, host); err != nil {
				return 0, err
			}
		}
		if err := s.forgetTraps(ctx, tx, host, id); err != nil {
			return 0, err
		}
		// Checked by count too, since a page that arrived meanwhile, remembered, may not be
		// visible.
		_, err = tx.Exec(ctx, `DELETE FROM host_crawls WHERE host_id = $1 AND known = 0 AND unattempted = 0
			AND NOT EXISTS (SELECT 1 FROM frontier f WHERE f.host_id = host_crawls.host_id AND f.crawl_id = host_crawls.crawl_id)`, id)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM host_steering WHERE host_id = $1`, id); err != nil {
			return 0, err
		}
		for _, table := range []string{"foreign_hosts", "requisite_hosts", "robots_hosts"} {
			if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE host_id = $1`, id); err != nil {
				return 0, err
			}
		}
		if _, err := tx.Exec(ctx, `DELETE FROM host_ranks WHERE host_id = $1 AND crawl_id IN (SELECT c.id FROM crawls c)`, id); err != nil {
			return 0, err
		}
		return tx.Exec(ctx, `DELETE FROM mirrors WHERE host_a = $1 OR host_b = $2`, id, id)
	})
	if err != nil {
		return fmt.Errorf("remove what is left of the host: %w", err)
	}
	return nil
}

// forgetStep is one transaction of Forget.
func (s *Store) forgetStep(ctx context.Context, t store.Target, limit int) (removal, error) {
	for {
		r, err := write(ctx, s, func(tx Tx) (removal, error) { return s.removeSome(ctx, tx, t, limit) })
		if !errors.Is(err, errMoved) {
			return r, err
		}
	}
}

// removeSome removes up to limit pages of the target, or a part of their rows.
func (s *Store) removeSome(ctx context.Context, tx Tx, t store.Target, limit int) (removal, error) {
	if err := s.lookUp(ctx, tx); err != nil {
		return removal{}, err
	}
	pages, err := s.someOf(ctx, tx, t, max(limit, 1))
	if err != nil || len(pages) == 0 || limit == 0 {
		return removal{none: len(pages) == 0}, err
	}
	r := newRemoval(s, tx, pages)
	if err := r.take(ctx, pages); err != nil {
		return removal{}, err
	}
	return r, nil
}

// someOf returns pages of the target, all of one crawl.
func (s *Store) someOf(ctx context.Context, tx Tx, t store.Target, limit int) ([]crawl.PageRef, error) {
	ids, err := s.idsOf(ctx, tx, t, limit)
	if err != nil {
		return nil, fmt.Errorf("find pages: %w", err)
	}
	refs, err := s.loadRefs(ctx, tx, ids[:min(limit, len(ids))])
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	return slices.DeleteFunc(refs, func(p crawl.PageRef) bool { return p.CrawlID != refs[0].CrawlID }), nil
}

func (s *Store) idsOf(ctx context.Context, tx Tx, t store.Target, limit int) ([]int64, error) {
	if t.URL != "" {
		return s.idsOfURL(ctx, tx, t.URL)
	}
	var host int64
	err := tx.QueryRow(ctx, `SELECT id FROM hosts WHERE host = $1`, []any{t.Host}, &host)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	query := `SELECT page_id FROM frontier WHERE host_id = $1 ORDER BY crawl_id, page_id LIMIT $2`
	return collect(ctx, tx, query, []any{host, limit}, scanID)
}
