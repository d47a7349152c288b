package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// versionColumns are those of versions v, beside the frontier f. Saving a return overwrites
// back_visit; until its visit is recorded, the return before it is read from the visits.
var versionColumns = fmt.Sprintf(`v.id, v.page_id, v.seq, v.visit, v.at, v.digest, v.text_digest, v.link_digest, v.bytes, v.text_bytes,
	v.content_type, v.title, v.canonical, v.language, v.timeless, CASE WHEN v.back_visit <= f.visit THEN v.back_visit ELSE
		COALESCE((SELECT MAX(b.visit) FROM visits b WHERE b.page_id = v.page_id AND b.version_id = v.id AND b.outcome = %d), 0) END, v.reserved`, crawl.OutcomeReturned)

func scanVersion(row Row) (store.VersionRecord, error) { return scanVersionAnd(row) }

// scanVersionAnd scans versionColumns and what follows them.
func scanVersionAnd(row Row, more ...any) (store.VersionRecord, error) {
	var v store.VersionRecord
	var at int64
	var reserved string
	err := row.Scan(append([]any{
		&v.ID, &v.PageID, &v.Seq, &v.Visit, &at, &v.Digest, &v.TextDigest, &v.LinkDigest, &v.Bytes, &v.TextBytes,
		&v.ContentType, &v.Title, &v.Canonical, &v.Language, &v.Timeless, &v.Back, &reserved,
	}, more...)...)
	if err != nil {
		return v, err
	}
	v.At = fromMicros(at)
	v.Reserved, err = decodeReserved(reserved)
	return v, err
}

// decodeReserved reads the column reserved of a version.
func decodeReserved(text string) (reserved []crawl.Reservation, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &reserved); err != nil {
		return nil, fmt.Errorf("decode what is reserved of a version: %w", err)
	}
	return reserved, nil
}

// encodeReserved writes it.
func encodeReserved(reserved []crawl.Reservation) string {
	if len(reserved) == 0 {
		return ""
	}
	return clean(jsonText(reserved))
}

// ListVersions implements store.Reports.
func (s *Store) ListVersions(ctx context.Context, pageID int64, before, limit int) ([]store.VersionRecord, error) {
	query := `SELECT ` + versionColumns + ` FROM versions v JOIN frontier f ON f.page_id = v.page_id AND v.visit <= f.visit
		WHERE v.page_id = $1`
	args, order := []any{pageID, limitOr(limit)}, `v.visit`
	if before > 0 {
		// Numbers rise with the visits, and each order has an index that finds its first rows.
		query, order = query+` AND v.seq < $3`, `v.seq`
		args = append(args, min(before, math.MaxInt32)) // the column's type in PostgreSQL
	}
	versions, err := read(ctx, s, func(tx Tx) ([]store.VersionRecord, error) {
		return collect(ctx, tx, query+` ORDER BY `+order+` DESC LIMIT $2`, args, scanVersion)
	})
	if err != nil {
		return nil, fmt.Errorf("versions of page %d: %w", pageID, err)
	}
	return versions, nil
}

// Version implements store.Reports.
func (s *Store) Version(ctx context.Context, pageID int64, seq int) (store.VersionRecord, error) {
	query := `SELECT ` + versionColumns + `, v.request, v.response, v.remote
		FROM versions v` + s.engine.Dialect().Index("versions_seq") + ` JOIN frontier f ON f.page_id = v.page_id AND v.visit <= f.visit WHERE v.page_id = $1 AND v.seq = $2`
	found, err := read(ctx, s, func(tx Tx) ([]store.VersionRecord, error) {
		return collect(ctx, tx, query, []any{pageID, min(max(seq, 0), math.MaxInt32)}, func(row Row) (store.VersionRecord, error) {
			var h store.Heads
			v, err := scanVersionAnd(row, &h.Request, &h.Response, &h.Remote)
			v.Heads = h
			return v, err
		})
	})
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.VersionRecord{}, fmt.Errorf("version %d of page %d: %w", seq, pageID, err)
	}
	return found[0], nil
}
