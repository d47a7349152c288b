package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

const (
	// deletedPerTx is how many pages one transaction of a deletion removes, and
	// deletedRows how many rows of another kind.
	deletedPerTx = 500
	deletedRows  = 2000
)

// ownTable is a table with rows of a crawl, and its columns that identify these.
type ownTable struct {
	name string
	key  []string
}

// ownTables have everything that belongs to a crawl alone, besides its pages and their
// rows. Each has an index that begins with crawl_id.
var ownTables = []ownTable{
	{"lines", []string{"host_id", "class"}},
	{"host_crawls", []string{"host_id"}},
	{"crawl_counts", []string{"kind", "code", "slot"}},
	{"steering", nil},
	{"host_steering", []string{"host_id"}},
	{"rejections", []string{"reason", "slot"}},
	{"rejected", []string{"reason", "place"}},
	{"traps", []string{"id"}},
	{"variants", []string{"base"}},
	{"prefixes", []string{"host_id", "prefix"}},
	{"guarded", nil},
	{"rankings", nil},
	{"host_ranks", []string{"host_id"}},
	{"mirrors", []string{"host_a", "host_b"}},
	{"duplicates", []string{"page_id"}},
	{"sketch_keys", []string{"key", "page_id"}},
	{"redirected_seeds", []string{"seed_hash"}},
	{"foreign_hosts", []string{"host_id"}},
	{"requisite_hosts", []string{"host_id"}},
	{"robots_hosts", []string{"site", "host_id"}},
	{"seed_keys", []string{"kind", "hash"}},
	{"imports", []string{"source"}},
	{"sinks", []string{"name"}},
	{"undelivered", []string{"sink", "change_id"}},
}

// BeginDelete implements store.Deletion.
func (s *Store) BeginDelete(ctx context.Context, name string) (store.CrawlRecord, error) {
	rec, err := write(ctx, s, func(tx Tx) (store.CrawlRecord, error) {
		rec, err := s.lockCrawl(ctx, tx, name)
		if err != nil || rec.Deleting {
			return rec, err
		}
		rec.State, rec.Deleting = crawl.CrawlStopped, true
		rec.Generation++
		_, err = tx.Exec(ctx, `UPDATE crawls SET state = $2, deleting = 1, generation = $3 WHERE id = $1`, rec.ID, int64(rec.State), rec.Generation)
		return rec, err
	})
	if err != nil {
		return store.CrawlRecord{}, fmt.Errorf("delete crawl %s: %w", name, err)
	}
	return rec, nil
}

// DeleteCrawl implements store.Deletion.
func (s *Store) DeleteCrawl(ctx context.Context, p store.DeleteParams) (store.DeleteResult, error) {
	res, err := s.deleteCrawl(ctx, p)
	if err != nil {
		return res, fmt.Errorf("delete crawl %d: %w", p.CrawlID, err)
	}
	return res, nil
}

func (s *Store) deleteCrawl(ctx context.Context, p store.DeleteParams) (store.DeleteResult, error) {
	var res store.DeleteResult
	for limit := limitOr(p.Limit); limit > res.Pages; {
		r, err := s.deletePages(ctx, p, min(limit-res.Pages, deletedPerTx))
		res.Pages += len(r.removed)
		if err != nil {
			return res, err
		}
		if !r.none {
			continue
		}
		done, err := s.deleteRest(ctx, p)
		res.Done = done
		return res, err
	}
	return res, nil
}

// deletePages is one transaction that removes pages, or a part of their rows.
func (s *Store) deletePages(ctx context.Context, p store.DeleteParams, limit int) (removal, error) {
	for {
		r, err := write(ctx, s, func(tx Tx) (removal, error) { return s.deleteSome(ctx, tx, p, limit) })
		if !errors.Is(err, errMoved) {
			return r, err
		}
	}
}

func (s *Store) deleteSome(ctx context.Context, tx Tx, p store.DeleteParams, limit int) (removal, error) {
	var deleting int64
	err := tx.QueryRow(ctx, `SELECT deleting FROM crawls WHERE id = $1`, []any{p.CrawlID}, &deleting)
	if errors.Is(err, store.ErrNotFound) {
		return removal{none: true}, nil // somebody else has deleted it
	}
	if err == nil && deleting == 0 {
		err = errors.New("it is not to be deleted")
	}
	if err != nil {
		return removal{}, err
	}
	if err := s.lookUp(ctx, tx); err != nil {
		return removal{}, err
	}
	ids, err := collect(ctx, tx, `SELECT page_id FROM frontier WHERE crawl_id = $1 LIMIT $2`, []any{p.CrawlID, limit}, scanID)
	if err != nil {
		return removal{}, fmt.Errorf("find pages: %w", err)
	}
	pages, err := s.loadRefs(ctx, tx, ids)
	if err != nil || len(pages) == 0 {
		return removal{none: err == nil}, err
	}
	r := newRemoval(s, tx, pages)
	r.whole = true
	if err := r.take(ctx, pages); err != nil {
		return removal{}, err
	}
	if p.KeepContents {
		if err := s.disown(ctx, tx, r.digests); err != nil {
			return removal{}, err
		}
	}
	return r, nil
}

// disown leaves the bytes of digests that no version has any more to the caller that
// knows of them.
func (s *Store) disown(ctx context.Context, tx Tx, digests []string) error {
	if len(digests) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `DELETE FROM contents WHERE refs = 0 AND digest IN (SELECT r.digest FROM `+s.records(1, "r", "digest text")+`)`, digestList(digests))
	if err != nil {
		return fmt.Errorf("leave contents: %w", err)
	}
	return nil
}

// deleteRest is one transaction that removes rows of a crawl without pages; it reports
// whether nothing is left.
func (s *Store) deleteRest(ctx context.Context, p store.DeleteParams) (done bool, err error) {
	crawlID := p.CrawlID
	for _, t := range ownTables {
		n, err := write(ctx, s, func(tx Tx) (int64, error) { return t.remove(ctx, tx, crawlID) })
		if err != nil {
			return false, fmt.Errorf("remove from %s: %w", t.name, err)
		}
		if n >= deletedRows {
			return false, nil
		}
	}
	if err := s.deleteChanges(ctx, crawlID); err != nil {
		return false, fmt.Errorf("remove from the feed: %w", err)
	}
	return write(ctx, s, func(tx Tx) (bool, error) {
		if _, err := collect(ctx, tx, `SELECT id FROM crawls WHERE id = $1`+s.lock(), []any{crawlID}, scanID); err != nil {
			return false, err
		}
		// Seeds that arrived until now: see keepCrawl.
		left, err := collect(ctx, tx, `SELECT page_id FROM frontier WHERE crawl_id = $1 LIMIT 1`, []any{crawlID}, scanID)
		if err != nil || len(left) > 0 || p.KeepRow {
			return err == nil && len(left) == 0, err
		}
		_, err = tx.Exec(ctx, `DELETE FROM crawls WHERE id = $1`, crawlID)
		return err == nil, err
	})
}

// remove removes some rows of a crawl.
func (t ownTable) remove(ctx context.Context, tx Tx, crawlID int64) (int64, error) {
	if len(t.key) == 0 {
		return tx.Exec(ctx, `DELETE FROM `+t.name+` WHERE crawl_id = $1`, crawlID)
	}
	key := strings.Join(t.key, ", ")
	// Each is looked up by its whole key: see ofEach.
	return tx.Exec(ctx, `DELETE FROM `+t.name+` WHERE (crawl_id, `+key+`) IN
		(SELECT crawl_id + 0, `+key+` FROM `+t.name+` WHERE crawl_id = $1 LIMIT $2)`, crawlID, deletedRows)
}
