package sqlstore

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// sourcesPerLevel is how many of the sources that an index names come between two
// levels of pages.
const sourcesPerLevel = 10

// sourceRecord is a row of sources to be inserted.
type sourceRecord struct {
	ID      int64 `json:"id"`
	HostID  int64 `json:"host_id"`
	Kind    int64 `json:"kind"`
	Nesting int   `json:"nesting"`
}

// insertSources makes sources of the URLs that were found as such: the new ones,
// and known pages that have no page content. One that was tried as a page is due now; its
// workflow is told by maintenance. A page with content stays a page, whatever list names it as
// a sitemap.
func (s *Store) insertSources(ctx context.Context, tx Tx, crawlID int64, urls []foundURL, now int64) error {
	var rows []sourceRecord
	for _, u := range urls {
		if crawl.PageKind(u.Kind).IsSource() {
			rows = append(rows, sourceRecord{u.ID, u.HostID, u.Kind, u.nesting})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	list := jsonText(rows)
	from := s.records(1, "r", "id bigint", "host_id bigint", "kind bigint", "nesting bigint")
	due := `UPDATE frontier SET next_at = $2 FROM (SELECT r.id FROM ` + from + ` CROSS JOIN pages p WHERE p.id = r.id AND p.kind = 0) AS r
		WHERE frontier.page_id = r.id AND frontier.visit > 0 AND frontier.version_id = 0 AND frontier.next_at > $3`
	if err := tx.Queue(ctx, due, list, now, now); err != nil {
		return fmt.Errorf("make pages due that are sources: %w", err)
	}
	update := `UPDATE pages SET kind = r.kind FROM ` + from + ` WHERE pages.id = r.id AND pages.kind = 0
		AND EXISTS (SELECT 1 FROM frontier f WHERE f.page_id = pages.id AND f.version_id = 0)`
	if err := tx.Queue(ctx, update, list); err != nil {
		return fmt.Errorf("make sources of pages: %w", err)
	}
	insert := `INSERT INTO sources (page_id, crawl_id, host_id, kind, nesting)
		SELECT r.id, CAST($2 AS BIGINT), r.host_id, r.kind, r.nesting FROM ` + from + ` CROSS JOIN pages p
		WHERE p.id = r.id AND p.kind IN (1, 2) ORDER BY r.id
		ON CONFLICT (page_id) DO NOTHING`
	if err := tx.Queue(ctx, insert, list, crawlID); err != nil {
		return fmt.Errorf("insert sources: %w", err)
	}
	return nil
}

// countBrought counts the pages that a list brought.
func (s *Store) countBrought(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL) error {
	brought := 0
	for _, u := range urls {
		brought += int(count(u.isNew && crawl.PageKind(u.Kind) == crawl.KindPage))
	}
	if !p.Listed || brought == 0 {
		return nil
	}
	if err := tx.Queue(ctx, `UPDATE sources SET brought = brought + $2 WHERE page_id = $1`, p.From, brought); err != nil {
		return fmt.Errorf("count what source %d brought: %w", p.From, err)
	}
	return nil
}

// SaveReading implements store.Sources.
func (s *Store) SaveReading(ctx context.Context, pageID int64, r store.Reading) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return 0, err
		}
		return tx.Exec(ctx, `UPDATE sources SET format = $2, entries = $3, dated = $4, dropped = $5, problem = $6, read_at = $7
			WHERE page_id = $1`, pageID, clean(r.Format), r.Entries, r.Dated, countsText(r.Dropped), clean(r.Problem), now)
	})
	if err != nil {
		return fmt.Errorf("save what source %d says: %w", pageID, err)
	}
	return nil
}

// SaveSkipped implements store.Sources.
func (s *Store) SaveSkipped(ctx context.Context, pageID int64, skipped map[string]int) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `UPDATE sources SET skipped = $2 WHERE page_id = $1`, pageID, countsText(skipped))
	})
	if err != nil {
		return fmt.Errorf("save the hints of source %d: %w", pageID, err)
	}
	return nil
}

// countsText is counts by reason as stored, "" for none.
func countsText(counts map[string]int) string {
	if len(counts) == 0 {
		return ""
	}
	return clean(jsonText(counts))
}

// countsOf is the inverse of countsText.
func countsOf(text string) (counts map[string]int, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &counts)
	}
	return counts, err
}

// BecomePage implements store.Sources.
func (s *Store) BecomePage(ctx context.Context, pageID int64) error {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		if err := tx.Queue(ctx, `DELETE FROM sources WHERE page_id = $1`, pageID); err != nil {
			return 0, err
		}
		if err := tx.Queue(ctx, `UPDATE pages SET kind = 0 WHERE id = $1`, pageID); err != nil {
			return 0, err
		}
		return tx.Exec(ctx, `UPDATE frontier SET priority = (SELECT -p.level FROM pages p WHERE p.id = $2) WHERE page_id = $1`, pageID, pageID)
	})
	if err != nil {
		return fmt.Errorf("make source %d a page: %w", pageID, err)
	}
	return nil
}

// dateRecord is a URL with its date, in microseconds.
type dateRecord struct {
	Hash     string `json:"hash"`
	Modified int64  `json:"modified"`
}

// Outdated implements store.Sources, a chunk of URLs at a time.
func (s *Store) Outdated(ctx context.Context, crawlID int64, dates []store.URLDate) ([]store.OutdatedPage, error) {
	query := fmt.Sprintf(`SELECT p.id, p.url, f.visit, f.last_at, f.next_at, r.modified, f.hinted_by
		FROM %s CROSS JOIN pages p JOIN frontier f ON f.page_id = p.id
		WHERE p.crawl_id = %s AND p.url_hash = %s AND f.state = %d AND f.visit > 0 AND f.last_at < r.modified
			AND (f.next_at > $3 OR f.hinted_by <> 0)
		ORDER BY p.id`, s.records(1, "r", "hash text", "modified bigint"), ofEach(2, "r.modified"), s.engine.Dialect().Unhex("r.hash"), crawl.Active)
	all := []store.OutdatedPage{}
	for some := range slices.Chunk(dates, urlsPerTx) {
		rows := make([]dateRecord, len(some))
		for i, d := range some {
			sum := urlHash(clean(d.URL))
			rows[i] = dateRecord{hex.EncodeToString(sum[:]), micros(d.Modified)}
		}
		found, err := read(ctx, s, func(tx Tx) ([]store.OutdatedPage, error) {
			now, err := tx.Now(ctx)
			if err != nil {
				return nil, err
			}
			return collect(ctx, tx, query, []any{jsonText(rows), crawlID, now}, scanOutdated)
		})
		if err != nil {
			return nil, fmt.Errorf("outdated pages of crawl %d: %w", crawlID, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func scanOutdated(row Row) (store.OutdatedPage, error) {
	var p store.OutdatedPage
	var last, next, modified int64
	err := row.Scan(&p.PageID, &p.URL, &p.Visit, &last, &next, &modified, &p.HintedBy)
	p.LastAt, p.NextAt, p.Modified = fromMicros(last), fromMicros(next), fromMicros(modified)
	return p, err
}

// countHints counts the visits that sources have moved.
func countHints(ctx context.Context, tx Tx, hinted map[int64]int64) error {
	for _, id := range slices.Sorted(maps.Keys(hinted)) {
		if id == 0 {
			continue
		}
		if err := tx.Queue(ctx, `UPDATE sources SET hinted = hinted + $2 WHERE page_id = $1`, id, hinted[id]); err != nil {
			return fmt.Errorf("count hints: %w", err)
		}
	}
	return nil
}

// judgeHint counts whether a visit that a source moved found a change. A return speaks
// neither for the source nor against it.
func judgeHint(ctx context.Context, tx Tx, page frontierRow, outcome crawl.Outcome) error {
	if page.hintedBy == 0 || !outcome.Observes() || outcome == crawl.OutcomeReturned {
		return nil
	}
	hit := count(outcome.Changed())
	err := tx.Queue(ctx, fmt.Sprintf(`UPDATE sources SET
			hits = CASE WHEN hits + misses < %d THEN hits + $2 ELSE (hits + $2) / 2 END,
			misses = CASE WHEN hits + misses < %d THEN misses + $3 ELSE (misses + $3) / 2 END
		WHERE page_id = $1`, store.HintMemory, store.HintMemory), page.hintedBy, hit, 1-hit)
	if err != nil {
		return fmt.Errorf("judge a hint: %w", err)
	}
	return nil
}

// ListSources implements store.Sources.
func (s *Store) ListSources(ctx context.Context, f store.SourceFilter) ([]store.SourceRecord, error) {
	where, args := `o.crawl_id = $1 AND o.page_id > $2`, []any{f.CrawlID, f.After, limitOr(f.Limit)}
	and := func(condition string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(" AND "+condition, len(args))
	}
	if f.PageID != 0 {
		and(`o.page_id = $%d`, f.PageID)
	}
	if f.Host != "" {
		and(`o.host_id = (SELECT id FROM hosts WHERE host = $%d)`, s.grouping.Unit(clean(f.Host)))
	}
	if f.Kind.IsSource() {
		and(`o.kind = $%d`, int64(f.Kind))
	}
	if f.Finder != 0 {
		and(`p.found_from = $%d`, f.Finder)
	}
	order := `o.page_id`
	if f.Newest {
		args[1], order = int64(0), order+` DESC`
	}
	query := `SELECT o.page_id, o.crawl_id, c.name, p.url, h.host, o.kind, f.state, o.nesting, o.format, o.entries, o.dated, o.dropped,
			o.problem, o.read_at, p.found_at, f.visit, f.last_at, o.brought, o.hinted, o.hits, o.misses, o.skipped
		FROM sources o JOIN frontier f ON f.page_id = o.page_id JOIN pages p ON p.id = o.page_id
			JOIN hosts h ON h.id = o.host_id JOIN crawls c ON c.id = o.crawl_id
		WHERE ` + where + ` ORDER BY ` + order + ` LIMIT $3`
	found, err := read(ctx, s, func(tx Tx) ([]store.SourceRecord, error) { return collect(ctx, tx, query, args, s.scanSource) })
	if err != nil {
		return nil, fmt.Errorf("sources of crawl %d: %w", f.CrawlID, err)
	}
	return found, nil
}

func (s *Store) scanSource(row Row) (store.SourceRecord, error) {
	r := store.SourceRecord{PageRef: crawl.PageRef{Store: s.id}}
	var kind, state uint8
	var readAt, foundAt, lastAt int64
	var dropped, skipped string
	err := row.Scan(&r.PageID, &r.CrawlID, &r.Crawl, &r.URL, &r.Host, &kind, &state, &r.Nesting, &r.Format, &r.Entries, &r.Dated,
		&dropped, &r.Problem, &readAt, &foundAt, &r.Visits, &lastAt, &r.Brought, &r.Hinted, &r.Hits, &r.Misses, &skipped)
	if err != nil {
		return store.SourceRecord{}, err
	}
	r.Kind, r.State = crawl.PageKind(kind), crawl.PageState(state)
	r.ReadAt, r.FoundAt, r.LastAt = fromMicros(readAt), fromMicros(foundAt), fromMicros(lastAt)
	if r.Dropped, err = countsOf(dropped); err == nil {
		r.Skipped, err = countsOf(skipped)
	}
	if err != nil {
		return store.SourceRecord{}, fmt.Errorf("decode the counts of source %d: %w", r.PageID, err)
	}
	return r, nil
}
