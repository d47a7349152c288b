package sqlstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/store"
)

// maxRejectedURL is the most bytes of an example that are kept; a longer one is
// cut, since nobody reads that far.
const maxRejectedURL = 2000

// rejectionRecord is a row of rejections to be added to.
type rejectionRecord struct {
	Reason string `json:"reason"`
	N      int    `json:"n"`
}

// rejectedRecord is a row of rejected to be written.
type rejectedRecord struct {
	Reason string `json:"reason"`
	Place  uint32 `json:"place"`
	Hash   string `json:"hash"`
	URL    string `json:"url"`
	Host   string `json:"host"`
	Detail string `json:"detail"`
}

// insertRejections counts the rejected links of a registration and keeps some as
// examples, but none that was forgotten. Like the deltas, whose slot it uses, it comes last in a
// transaction, which has kept the linking page.
func (s *Store) insertRejections(ctx context.Context, tx Tx, p store.RegisterParams, rejected []store.Rejection, known beforehand) error {
	if len(rejected) == 0 {
		return nil
	}
	var counts []rejectionRecord
	for _, r := range rejected {
		counts = append(counts, rejectionRecord{clean(r.Reason), r.Links})
	}
	slices.SortFunc(counts, func(a, b rejectionRecord) int { return cmp.Compare(a.Reason, b.Reason) })
	query := `INSERT INTO rejections (crawl_id, reason, slot, n)
		SELECT CAST($2 AS BIGINT), r.reason, CAST($3 AS BIGINT), r.n
		FROM ` + s.records(1, "r", "reason text", "n bigint") + `
		WHERE true ORDER BY r.reason
		ON CONFLICT (crawl_id, reason, slot) DO UPDATE SET n = rejections.n + excluded.n`
	if err := tx.Queue(ctx, query, jsonText(counts), p.CrawlID, newDeltas(p.CrawlID, p.From).slot); err != nil {
		return fmt.Errorf("count rejected links: %w", err)
	}
	examples := slices.DeleteFunc(s.rejectedRecords(rejected), func(e rejectedRecord) bool {
		return slices.ContainsFunc(e.tombstones(), func(t tombstone) bool { return known.forgotten[t] })
	})
	return s.insertRejected(ctx, tx, p, examples, known.now)
}

// rejectedRecords are the examples of rejected links, one for each place.
func (s *Store) rejectedRecords(rejected []store.Rejection) []rejectedRecord {
	var examples []rejectedRecord
	for _, r := range rejected {
		byPlace := map[uint32]rejectedRecord{}
		for _, e := range r.Examples {
			record := s.rejectedRecord(r.Reason, e)
			byPlace[record.Place] = record
		}
		examples = slices.AppendSeq(examples, maps.Values(byPlace))
	}
	return examples
}

// tombstones are those of an example's URL and of its host.
func (r rejectedRecord) tombstones() []tombstone {
	return []tombstone{{tombURL, r.Hash}, newTombstone(tombHost, r.Host)}
}

func (s *Store) rejectedRecord(reason string, e store.RejectedURL) rejectedRecord {
	url := clean(e.URL)
	sum := urlHash(url)
	if len(url) > maxRejectedURL {
		url = clean(url[:maxRejectedURL]) + "…"
	}
	r := rejectedRecord{
		Reason: clean(reason), Hash: hex.EncodeToString(sum[:]), URL: url, Detail: clean(e.Detail),
		Place: binary.BigEndian.Uint32(sum[:]) % store.RejectedKept,
	}
	if e.Host != "" {
		r.Host = s.grouping.Unit(clean(e.Host))
	}
	return r
}

// insertRejected keeps examples.
func (s *Store) insertRejected(ctx context.Context, tx Tx, p store.RegisterParams, examples []rejectedRecord, now int64) error {
	if len(examples) == 0 {
		return nil
	}
	query := `INSERT INTO rejected (crawl_id, reason, place, url_hash, url, host, detail, found_from, at)
		SELECT CAST($2 AS BIGINT), r.reason, r.place, ` + s.engine.Dialect().Unhex("r.hash") + `, r.url, r.host, r.detail,
			CAST($3 AS BIGINT), CAST($4 AS BIGINT)
		FROM ` + s.records(1, "r", "reason text", "place bigint", "hash text", "url text", "host text", "detail text") + `
		WHERE true ORDER BY r.reason, r.place
		ON CONFLICT (crawl_id, reason, place) DO UPDATE SET url_hash = excluded.url_hash, url = excluded.url,
			host = excluded.host, detail = excluded.detail, found_from = excluded.found_from, at = excluded.at`
	if err := tx.Queue(ctx, query, jsonText(examples), p.CrawlID, p.From, now); err != nil {
		return fmt.Errorf("keep rejected links: %w", err)
	}
	return nil
}

// Rejections implements store.Rejections.
func (s *Store) Rejections(ctx context.Context, crawlID int64) ([]store.RejectionCount, error) {
	query := `SELECT reason, CAST(SUM(n) AS BIGINT) FROM rejections WHERE crawl_id = $1 GROUP BY reason ORDER BY 2 DESC, 1`
	counts, err := read(ctx, s, func(tx Tx) ([]store.RejectionCount, error) {
		return collect(ctx, tx, query, []any{crawlID}, func(row Row) (c store.RejectionCount, err error) {
			err = row.Scan(&c.Reason, &c.Links)
			return c, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("rejected links of crawl %d: %w", crawlID, err)
	}
	return counts, nil
}

// ListRejected implements store.Rejections.
func (s *Store) ListRejected(ctx context.Context, f store.RejectedFilter) ([]store.RejectedLink, error) {
	where, args := `j.crawl_id = $1`, []any{f.CrawlID, limitOr(f.Limit)}
	if f.Reason != "" {
		where += ` AND j.reason = $3`
		args = append(args, clean(f.Reason))
	}
	if after := f.After; after.Reason != "" {
		n := len(args)
		where += fmt.Sprintf(` AND (j.reason > $%d OR j.reason = $%d AND (j.at < $%d OR j.at = $%d AND j.place > $%d))`, n+1, n+1, n+2, n+2, n+3)
		args = append(args, clean(after.Reason), micros(after.At), min(max(after.Slot, 0), store.RejectedKept))
	}
	query := `SELECT j.reason, j.url, j.host, j.detail, COALESCE(p.url, ''), j.at, j.place
		FROM rejected j LEFT JOIN pages p ON p.id = j.found_from
		WHERE ` + where + ` ORDER BY j.reason, j.at DESC, j.place LIMIT $2`
	links, err := read(ctx, s, func(tx Tx) ([]store.RejectedLink, error) {
		return collect(ctx, tx, query, args, func(row Row) (l store.RejectedLink, err error) {
			var at int64
			err = row.Scan(&l.Reason, &l.URL, &l.Host, &l.Detail, &l.From, &at, &l.Slot)
			l.At = fromMicros(at)
			return l, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list rejected links of crawl %d: %w", f.CrawlID, err)
	}
	return links, nil
}

// forgetExamples removes a target from the examples of rejected links, refused seeds and traps,
// and from the answers of receivers.
func (s *Store) forgetExamples(ctx context.Context, t store.Target) error {
	query, arg := `DELETE FROM rejected WHERE host = $1`, any(t.Host)
	if t.URL != "" {
		sum := urlHash(t.URL)
		query, arg = `DELETE FROM rejected WHERE url_hash = $1`, sum[:]
	}
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		n, err := tx.Exec(ctx, query, arg)
		if err != nil {
			return 0, fmt.Errorf("remove rejected links: %w", err)
		}
		if err := s.forgetRefused(ctx, tx, t); err != nil {
			return 0, fmt.Errorf("remove examples of refused seeds: %w", err)
		}
		if err := s.forgetTrapExamples(ctx, tx, t); err != nil {
			return 0, fmt.Errorf("remove examples of traps: %w", err)
		}
		if err := s.forgetAnswers(ctx, tx, t); err != nil {
			return 0, fmt.Errorf("remove receivers' answers: %w", err)
		}
		return n, nil
	})
	return err
}

// stripRejected removes the examples that were found on the pages: a page's links
// say something about it.
func (r *removal) stripRejected(ctx context.Context) error {
	err := r.tx.Queue(ctx, `DELETE FROM rejected WHERE found_from IN (`+r.store.ids(1)+`)`, r.list)
	if err != nil {
		return fmt.Errorf("remove rejected links: %w", err)
	}
	return nil
}
