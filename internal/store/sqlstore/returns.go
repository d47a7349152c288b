package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"recrawl/internal/store"
)

// EarlierVersions implements store.Visits.
func (s *Store) EarlierVersions(ctx context.Context, pageID int64, limit int) ([]store.VersionRecord, error) {
	versions, err := glance(ctx, s, func(tx Tx) ([]store.VersionRecord, error) { return earlierVersions(ctx, tx, pageID, limit) })
	if err != nil {
		return nil, fmt.Errorf("earlier versions of page %d: %w", pageID, err)
	}
	return versions, nil
}

// earlierVersions reads the newest versions and those that the page returned to last: for
// a page with thousands of versions, only these.
func earlierVersions(ctx context.Context, tx Tx, pageID int64, limit int) ([]store.VersionRecord, error) {
	const besides = 2 // the last version, and one of a visit that is not recorded yet
	query := `SELECT ` + versionColumns + ` FROM versions v JOIN frontier f ON f.page_id = v.page_id
		WHERE f.page_id = $1 AND v.id <> f.version_id AND v.visit <= f.visit AND v.id IN (
			SELECT id FROM (SELECT id FROM versions WHERE page_id = $2 ORDER BY visit DESC LIMIT $3) AS newest
			UNION ALL SELECT id FROM (SELECT id FROM versions WHERE page_id = $4 AND back_visit > 0 ORDER BY back_visit DESC LIMIT $5) AS back)`
	found, err := collect(ctx, tx, query, []any{pageID, pageID, limit + besides, pageID, limit + besides}, scanVersion)
	if err != nil {
		return nil, err
	}
	since := func(v store.VersionRecord) int { return max(v.Visit, v.Back) }
	slices.SortFunc(found, func(a, b store.VersionRecord) int { return cmp.Compare(since(b), since(a)) })
	return found[:min(limit, len(found))], nil
}

// errGone: the page has returned to a version that is no longer kept. Comparing
// again shows it.
var errGone = errors.New("the version has been removed meanwhile")

// saveReturn is SaveVersion for a visit that found an earlier version again. The page
// changes from its last version to that one when the visit is recorded.
func (s *Store) saveReturn(ctx context.Context, tx Tx, page frontierRow, now int64, p store.SaveVersionParams) error {
	n, err := tx.Exec(ctx, `UPDATE versions SET back_visit = $1, left_at = 0 WHERE id = $2 AND page_id = $3`, p.Version.Visit, p.BackTo, page.pageID)
	if err == nil && n == 0 {
		err = errGone
	}
	if err != nil {
		return fmt.Errorf("return to version %d: %w", p.BackTo, err)
	}
	if err := tx.Queue(ctx, `UPDATE versions SET left_at = $1 WHERE id = $2`, now, page.versionID); err != nil {
		return fmt.Errorf("leave the last version: %w", err)
	}
	return nil
}
