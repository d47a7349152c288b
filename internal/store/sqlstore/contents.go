package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/store"
)

// contentsPerTx is the number of digests in one transaction.
const contentsPerTx = 1000

// countContent counts one more version with a digest. It is not counted while the archive
// deletes the content.
func countContent(digest string, now int64, counted *bool) Step {
	*counted = false
	query := `INSERT INTO contents (digest, refs) VALUES ($1, 1)
		ON CONFLICT (digest) DO UPDATE SET refs = contents.refs + 1, claimed_until = 0 WHERE contents.claimed_until < $2
		RETURNING digest`
	return Step{Query: query, Args: []any{digest, now}, Scan: func(Row) error {
		*counted = true
		return nil
	}}
}

// contentRecord is a digest with the versions that have had it.
type contentRecord struct {
	Digest string `json:"digest"`
	Refs   int64  `json:"refs"`
}

// uncountContents subtracts removed versions from the counts of their digests, and
// returns the digests that no version has any more. Bytes that were never a
// version's, with 0 removed, have no row yet.
func (s *Store) uncountContents(ctx context.Context, tx Tx, removed map[string]int64) ([]string, error) {
	rows := make([]contentRecord, 0, len(removed))
	for _, digest := range slices.Sorted(maps.Keys(removed)) {
		if digest != "" {
			rows = append(rows, contentRecord{digest, removed[digest]})
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	query := `INSERT INTO contents (digest, refs)
		SELECT r.digest, r.refs FROM ` + s.records(1, "r", "digest text", "refs bigint") + ` WHERE true ORDER BY r.digest
		ON CONFLICT (digest) DO UPDATE SET refs = contents.refs - excluded.refs
		RETURNING digest, refs`
	var unreferenced []string
	err := tx.Query(ctx, query, []any{jsonText(rows)}, func(row Row) error {
		var digest string
		var refs int64
		err := row.Scan(&digest, &refs)
		if refs == 0 {
			unreferenced = append(unreferenced, digest)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count contents off: %w", err)
	}
	return unreferenced, nil
}

// suspected is the condition that a page's row names a digest for its second look. The
// second part of it lets the engines use the partial index.
func suspected(digest string) string {
	return `EXISTS (SELECT 1 FROM frontier f WHERE f.suspect_digest = ` + digest + ` AND f.suspect_digest <> '')`
}

// Suspecting implements store.Pages.
func (s *Store) Suspecting(ctx context.Context, page store.PageRecord, digest string, most int) (int, error) {
	query := `SELECT COUNT(*) FROM (SELECT 1 FROM frontier f WHERE f.suspect_digest = $1 AND f.suspect_digest <> ''
		AND f.host_id = $2 AND f.page_id <> $3 LIMIT $4) AS others`
	n, err := glance(ctx, s, func(tx Tx) (n int, err error) {
		err = tx.QueryRow(ctx, query, []any{clean(digest), page.HostID, page.PageID, most}, &n)
		return n, err
	})
	if err != nil {
		return 0, fmt.Errorf("pages as suspect as page %d: %w", page.PageID, err)
	}
	return n, nil
}

// Unreferenced implements store.Contents.
func (s *Store) Unreferenced(ctx context.Context, limit int) ([]string, error) {
	digests, err := write(ctx, s, func(tx Tx) ([]string, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		// The conditions are repeated: a version may take a digest in between.
		query := `UPDATE contents SET claimed_until = $1 WHERE refs = 0 AND claimed_until < $2 AND digest IN
			(SELECT digest FROM contents WHERE refs = 0 AND claimed_until < $3 AND NOT ` + suspected("contents.digest") + ` ORDER BY claimed_until, digest LIMIT $4)
			RETURNING digest`
		args := []any{now + spanMicros(store.ClaimFor), now, now, min(limitOr(limit), contentsPerTx)}
		return collect(ctx, tx, query, args, scanText)
	})
	if err != nil {
		return nil, fmt.Errorf("claim unreferenced contents: %w", err)
	}
	slices.Sort(digests)
	return digests, nil
}

// Claim implements store.Contents.
func (s *Store) Claim(ctx context.Context, digests []string) ([]string, error) {
	var claimed []string
	query := `INSERT INTO contents (digest, refs, claimed_until)
		SELECT r.digest, 0, $2 FROM ` + s.records(1, "r", "digest text") + ` WHERE NOT ` + suspected("r.digest") + ` ORDER BY r.digest
		ON CONFLICT (digest) DO UPDATE SET claimed_until = excluded.claimed_until
			WHERE contents.refs = 0 AND contents.claimed_until < $3
		RETURNING digest`
	for some := range slices.Chunk(digests, contentsPerTx) {
		list := digestList(some)
		got, err := write(ctx, s, func(tx Tx) ([]string, error) {
			now, err := tx.Now(ctx)
			if err != nil {
				return nil, err
			}
			return collect(ctx, tx, query, []any{list, now + spanMicros(store.ClaimFor), now}, scanText)
		})
		if err != nil {
			return claimed, fmt.Errorf("claim contents: %w", err)
		}
		claimed = append(claimed, got...)
	}
	slices.Sort(claimed)
	return claimed, nil
}

// Claimable implements store.Contents.
func (s *Store) Claimable(ctx context.Context, digests []string) ([]string, error) {
	var free []string
	query := `SELECT r.digest FROM ` + s.records(1, "r", "digest text") + ` WHERE NOT ` + suspected("r.digest") + `
		AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.digest = r.digest AND (c.refs > 0 OR c.claimed_until >= $2))`
	for some := range slices.Chunk(digests, contentsPerTx) {
		list := digestList(some)
		got, err := read(ctx, s, func(tx Tx) ([]string, error) {
			now, err := tx.Now(ctx)
			if err != nil {
				return nil, err
			}
			return collect(ctx, tx, query, []any{list, now}, scanText)
		})
		if err != nil {
			return nil, fmt.Errorf("look for contents to claim: %w", err)
		}
		free = append(free, got...)
	}
	slices.Sort(free)
	return free, nil
}

// Waiting implements store.Contents.
func (s *Store) Waiting(ctx context.Context) (int, error) {
	n, err := read(ctx, s, func(tx Tx) (n int, err error) {
		err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM contents WHERE refs = 0 AND claimed_until >= 0`, nil, &n)
		return n, err
	})
	if err != nil {
		return 0, fmt.Errorf("count contents to be deleted: %w", err)
	}
	return n, nil
}

// Deleted implements store.Contents.
func (s *Store) Deleted(ctx context.Context, digests []string) error {
	query := `DELETE FROM contents WHERE refs = 0 AND digest IN (SELECT r.digest FROM ` + s.records(1, "r", "digest text") + `)`
	for some := range slices.Chunk(digests, contentsPerTx) {
		_, err := write(ctx, s, func(tx Tx) (int64, error) { return tx.Exec(ctx, query, digestList(some)) })
		if err != nil {
			return fmt.Errorf("note deleted contents: %w", err)
		}
	}
	return nil
}

// Discard implements store.Contents.
func (s *Store) Discard(ctx context.Context, digests []string) error {
	for some := range slices.Chunk(digests, contentsPerTx) {
		discarded := make(map[string]int64, len(some))
		for _, digest := range some {
			discarded[clean(digest)] = 0
		}
		_, err := write(ctx, s, func(tx Tx) ([]string, error) { return s.uncountContents(ctx, tx, discarded) })
		if err != nil {
			return fmt.Errorf("discard contents: %w", err)
		}
	}
	return nil
}

// ListContents implements store.Contents.
func (s *Store) ListContents(ctx context.Context, after string, limit int) ([]string, error) {
	query := `SELECT digest FROM contents WHERE digest > $1 AND refs > 0 ORDER BY digest LIMIT $2`
	digests, err := read(ctx, s, func(tx Tx) ([]string, error) {
		return collect(ctx, tx, query, []any{clean(after), limitOr(limit)}, scanText)
	})
	if err != nil {
		return nil, fmt.Errorf("list contents: %w", err)
	}
	return digests, nil
}

// pagesWith is the most pages that are named for a digest.
const pagesWith = 3

// PagesWith implements store.Contents.
func (s *Store) PagesWith(ctx context.Context, digests []string) ([]store.ContentPage, error) {
	query := `SELECT p.url FROM (SELECT DISTINCT v.page_id FROM versions v WHERE v.digest = $1 ORDER BY v.page_id LIMIT $2) n
		JOIN pages p ON p.id = n.page_id ORDER BY p.id`
	pages, err := read(ctx, s, func(tx Tx) ([]store.ContentPage, error) {
		var all []store.ContentPage
		for _, digest := range slices.Sorted(slices.Values(digests)) {
			urls, err := collect(ctx, tx, query, []any{clean(digest), pagesWith}, scanText)
			if err != nil {
				return nil, err
			}
			for _, url := range urls {
				all = append(all, store.ContentPage{Digest: digest, URL: url})
			}
		}
		return all, nil
	})
	if err != nil {
		return nil, fmt.Errorf("pages with contents: %w", err)
	}
	return pages, nil
}

// digestList makes the argument for records of digests, each once: a statement
// may not insert a row twice.
func digestList(digests []string) string {
	list := make([]contentRecord, 0, len(digests))
	for _, digest := range slices.Compact(slices.Sorted(slices.Values(digests))) {
		if digest = clean(digest); digest != "" {
			list = append(list, contentRecord{Digest: digest})
		}
	}
	return jsonText(list)
}

// scanText scans a row of one text.
func scanText(row Row) (string, error) {
	var text string
	err := row.Scan(&text)
	return text, err
}
