package sqlstore

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// A visit can be made again after SaveVersion has stored its version: the workflow was lost
// before it recorded the visit, or could not look after the bytes. Nothing says then that the
// page still has that content.

// savedKey is a version that was saved with a visit, or returned to by it.
type savedKey struct {
	versionKey
	digest, text, links string
}

// savedVersion reads the version that was saved with a visit, or returned to by it; it stays
// zero without one.
func savedVersion(pageID int64, visit int, v *savedKey) Step {
	return Step{
		Query: `SELECT id, seq, digest, text_digest, link_digest, 0 AS back FROM versions WHERE page_id = $1 AND visit = $2
		UNION ALL SELECT id, seq, digest, text_digest, link_digest, 1 AS back FROM versions WHERE page_id = $3 AND back_visit = $4 AND back_visit > 0 LIMIT 1`,
		Args: []any{pageID, visit, pageID, visit}, Scan: func(row Row) error {
			var back int64
			err := row.Scan(&v.id, &v.seq, &v.digest, &v.text, &v.links, &back)
			v.saved, v.back = true, back != 0
			return err
		},
	}
}

// is reports whether saving a version stores what is stored already.
func (k savedKey) is(p store.SaveVersionParams) bool {
	if p.BackTo != 0 {
		return k.back && k.id == p.BackTo
	}
	v := p.Version
	return k.digest == clean(v.Digest) && k.text == clean(v.TextDigest) && k.links == clean(v.LinkDigest)
}

// foundBy reports whether a visit found the content that was saved with its number, or
// returned to. Only a difference brings a new version or a return. Where its text is the same,
// the bytes tell, or, if the text came back with other bytes, the reason for the return.
func (k versionKey) foundBy(v store.VisitRecord) bool {
	switch v.Outcome {
	case crawl.OutcomeNew, crawl.OutcomeChanged, crawl.OutcomeReturned:
		return true
	case crawl.OutcomeCosmetic, crawl.OutcomeUnchanged:
	default:
		return false
	}
	switch {
	case v.Status == http.StatusNotModified:
		return false
	case k.back:
		return slices.ContainsFunc(v.Reasons, func(r crawl.Reason) bool { return r.Code == change.CodeReturned })
	}
	return k.bytes == "" || k.bytes == clean(v.Digest) // "": they may not be kept
}

// last is the page's version before a visit whose saved version is dropped.
func (k versionKey) last(page frontierRow) versionKey {
	return versionKey{id: page.versionID, seq: k.before, back: k.beforeBack, before: k.before}
}

// dropSaved removes what SaveVersion has stored for a visit that is not recorded. What the
// version that the page had before had is as it was, except for the wording and the record of
// the page that it duplicates: SaveVersion has overwritten them, and they stay unknown until
// somebody looks again.
func (s *Store) dropSaved(ctx context.Context, tx Tx, page frontierRow, saved versionKey, visit int, now int64, d *deltas) error {
	if err := s.removeSketch(ctx, tx, page, saved.id, page.versionID, saved.sketches); err != nil {
		return err
	}
	drops := []struct {
		query string
		args  []any
	}{
		{`DELETE FROM pending_links WHERE version_id = $1 AND visit = $2`, []any{saved.id, visit}},
		{`DELETE FROM wordings WHERE page_id = $1`, []any{page.pageID}},
		{`DELETE FROM duplicates WHERE page_id = $1 AND version_id = $2`, []any{page.pageID, saved.id}},
		{`UPDATE sketches SET looked = 0 WHERE version_id = $1`, []any{page.versionID}},
	}
	for _, drop := range drops {
		if err := tx.Queue(ctx, drop.query, drop.args...); err != nil {
			return fmt.Errorf("drop what was saved with visit %d: %w", visit, err)
		}
	}
	if saved.back {
		return takeReturnBack(ctx, tx, page, saved.id, now)
	}
	digests, err := collect(ctx, tx, `DELETE FROM versions WHERE id = $1 RETURNING digest`, []any{saved.id}, scanText)
	if err != nil {
		return fmt.Errorf("drop the version saved with visit %d: %w", visit, err)
	}
	gone := map[string]int64{}
	for _, digest := range digests {
		gone[digest]++
		d.total(totalVersions, -1)
	}
	_, err = s.uncountContents(ctx, tx, gone)
	return err
}

// takeReturnBack undoes saveReturn. When the version had been left before is not known any
// more: it counts as left now, which keeps it for longer.
func takeReturnBack(ctx context.Context, tx Tx, page frontierRow, version, now int64) error {
	query := fmt.Sprintf(`UPDATE versions SET left_at = $1, back_visit = COALESCE((SELECT MAX(b.visit) FROM visits b
			WHERE b.page_id = versions.page_id AND b.version_id = versions.id AND b.outcome = %d), 0) WHERE id = $2`, crawl.OutcomeReturned)
	err := tx.Queue(ctx, query, now, version)
	if err == nil {
		err = tx.Queue(ctx, `UPDATE versions SET left_at = 0 WHERE id = $1`, page.versionID)
	}
	if err != nil {
		return fmt.Errorf("take the return to version %d back: %w", version, err)
	}
	return nil
}
