package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// ListExchanges implements store.Exchanges.
func (s *Store) ListExchanges(ctx context.Context, p store.ExchangeParams) ([]store.ExchangeRecord, error) {
	if len(p.Pages) == 0 {
		return nil, nil
	}
	// Two conditions on the place in the list, the first for the index.
	query := `SELECT ` + prefixed("v", visitColumns) + `,
			COALESCE(w.id, 0), COALESCE(w.seq, 0), COALESCE(w.visit, 0), COALESCE(w.at, 0), COALESCE(w.digest, ''), COALESCE(w.bytes, 0),
			COALESCE(w.content_type, ''), COALESCE(w.title, ''), COALESCE(w.canonical, ''), COALESCE(w.language, ''), COALESCE(w.back_visit, 0), COALESCE(w.reserved, ''),
			CASE WHEN w.visit = v.visit THEN w.request ELSE '' END, CASE WHEN w.visit = v.visit THEN w.response ELSE '' END,
			CASE WHEN w.visit = v.visit THEN w.remote ELSE '' END
		FROM ` + s.records(1, "r", "id bigint") + ` CROSS JOIN visits v LEFT JOIN versions w ON w.id = v.version_id
		WHERE v.page_id = r.id AND r.id >= $2 AND (r.id > $3 OR v.visit > $4) AND v.at <= $5`
	if p.Found {
		query += fmt.Sprintf(` AND (w.visit = v.visit OR w.back_visit = v.visit OR w.id > 0 AND v.outcome = %d)`, crawl.OutcomeReturned)
	}
	args := []any{idList(p.Pages), p.After, p.After, p.AfterVisit, micros(p.Until), limitOr(p.Limit)}
	found, err := read(ctx, s, func(tx Tx) ([]store.ExchangeRecord, error) {
		return collect(ctx, tx, query+` ORDER BY v.page_id, v.visit LIMIT $6`, args, scanExchange)
	})
	if err != nil {
		return nil, fmt.Errorf("list exchanges: %w", err)
	}
	return found, nil
}

func scanExchange(row Row) (store.ExchangeRecord, error) {
	var w store.VersionRecord
	var at int64
	var reserved string
	v, err := scanVisitAnd(row, &w.ID, &w.Seq, &w.Visit, &at, &w.Digest, &w.Bytes, &w.ContentType, &w.Title, &w.Canonical, &w.Language, &w.Back, &reserved,
		&w.Heads.Request, &w.Heads.Response, &w.Heads.Remote)
	if w.ID != 0 {
		w.PageID = v.PageID
	}
	w.At = fromMicros(at)
	if err == nil {
		w.Reserved, err = decodeReserved(reserved)
	}
	return store.ExchangeRecord{VisitRecord: v, Version: w}, err
}
