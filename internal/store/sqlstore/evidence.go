package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// CrawlsAt implements store.Evidence.
func (s *Store) CrawlsAt(ctx context.Context, host string) ([]store.CrawlAt, error) {
	unit, err := s.unitOf(host)
	if err != nil {
		return nil, err
	}
	query := `SELECT h.id, hc.living + hc.known, ` + prefixed("c", crawlColumns) + `
		FROM hosts h JOIN host_crawls hc ON hc.host_id = h.id JOIN crawls c ON c.id = hc.crawl_id
		WHERE h.host = $1 ORDER BY c.name`
	crawls, err := read(ctx, s, func(tx Tx) ([]store.CrawlAt, error) {
		var id int64
		if err := tx.QueryRow(ctx, `SELECT id FROM hosts WHERE host = $1`, []any{unit}, &id); err != nil {
			return nil, err
		}
		return collect(ctx, tx, query, []any{unit}, func(row Row) (at store.CrawlAt, err error) {
			at.CrawlRecord, err = scanCrawl(after{row, []any{&at.HostID, &at.Pages}})
			return at, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("crawls at %s: %w", host, err)
	}
	return crawls, nil
}

// after is a row whose first columns are scanned separately.
type after struct {
	Row
	first []any
}

func (a after) Scan(dest ...any) error { return a.Row.Scan(append(slices.Clone(a.first), dest...)...) }

// HostRequests implements store.Evidence. It goes through the host's pages by their index,
// and reads the visits of the pages that were visited since.
func (s *Store) HostRequests(ctx context.Context, p store.HostRequestParams) (store.HostRequestsPage, error) {
	page, err := read(ctx, s, func(tx Tx) (store.HostRequestsPage, error) { return s.hostRequests(ctx, tx, p) })
	if err != nil {
		return store.HostRequestsPage{}, fmt.Errorf("requests to host %d: %w", p.HostID, err)
	}
	return page, nil
}

func (s *Store) hostRequests(ctx context.Context, tx Tx, p store.HostRequestParams) (store.HostRequestsPage, error) {
	since := micros(p.Since)
	var page store.HostRequestsPage
	var visited []int64
	seen, last := 0, store.PageCursor{}
	// The host is a part of the place. Postgres estimates from the first columns how many rows
	// a comparison leaves: for a crawl that is alone, none, and then it reads all of it.
	err := tx.Query(ctx, `SELECT crawl_id, page_id, last_at FROM frontier
		WHERE host_id <= $1 AND (host_id, crawl_id, page_id) > ($1, $2, $3) ORDER BY host_id, crawl_id, page_id LIMIT $4`,
		[]any{p.HostID, p.After.CrawlID, p.After.PageID, p.Pages}, func(row Row) error {
			var at int64
			if err := row.Scan(&last.CrawlID, &last.PageID, &at); err != nil {
				return err
			}
			seen++
			if at >= since {
				visited = append(visited, last.PageID)
			}
			return nil
		})
	if err != nil {
		return page, err
	}
	if page.Pages = seen; seen == p.Pages {
		page.Next = &last
	}
	if len(visited) == 0 {
		return page, nil
	}
	query := fmt.Sprintf(`SELECT g.crawl_id, g.url, v.at, v.duration, v.outcome, v.status, CASE WHEN v.outcome = %d THEN v.reasons ELSE '' END
		FROM `+s.records(1, "r", "id bigint")+` CROSS JOIN pages g CROSS JOIN visits v
		WHERE g.id = r.id AND v.page_id = g.id AND v.at >= $2 AND (v.status > 0 OR v.outcome NOT IN (%d, %d)) ORDER BY v.page_id, v.visit`,
		crawl.OutcomeThrottled, crawl.OutcomeExcluded, crawl.OutcomeSkipped)
	page.Requests, err = collect(ctx, tx, query, []any{idList(visited), since}, scanHostRequest)
	return page, err
}

func scanHostRequest(row Row) (store.HostRequest, error) {
	var r store.HostRequest
	var at, duration int64
	var reasons string
	if err := row.Scan(&r.CrawlID, &r.URL, &at, &duration, &r.Outcome, &r.Status, &reasons); err != nil {
		return store.HostRequest{}, err
	}
	r.At, r.Duration = fromMicros(at), span(duration)
	if reasons != "" {
		if err := json.Unmarshal([]byte(reasons), &r.Reasons); err != nil {
			return r, fmt.Errorf("decode the reasons of a visit of %s: %w", r.URL, err)
		}
	}
	return r, nil
}
