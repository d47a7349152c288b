package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// duplicatesPerTx is how many duplicates one transaction writes.
const duplicatesPerTx = 500

// errItself: a page has its own content, which makes it no duplicate.
var errItself = errors.New("a page can only be a duplicate of another one")

// holding is true of a record d that holds, f being its page's row and o the other's.
var holding = fmt.Sprintf(`f.version_id = d.version_id AND o.version_id = d.of_version AND o.state IN (%d, %d)`, crawl.Active, crawl.Failing)

// duplicateQuery selects the duplicates that a query of the table chooses, in its
// order. CROSS JOIN keeps SQLite from starting with a larger table.
func duplicateQuery(choice string) string {
	return fmt.Sprintf(`SELECT d.page_id, d.version_id, d.of_page, d.of_version, d.exact, d.resemblance, d.at,
			CASE WHEN %s THEN 1 ELSE 0 END, CASE WHEN d.version_id > f.version_id THEN 1 ELSE 0 END
		FROM (SELECT * FROM duplicates WHERE %s) AS d CROSS JOIN frontier f CROSS JOIN frontier o
		WHERE f.page_id = d.page_id AND o.page_id = d.of_page ORDER BY d.of_page, d.page_id`, holding, choice)
}

func scanDuplicate(row Row) (store.DuplicateRecord, error) {
	var d store.DuplicateRecord
	var exact, at, holds, pending int64
	err := row.Scan(&d.Page.PageID, &d.Version, &d.Of.PageID, &d.OfVersion, &exact, &d.Resemblance, &at, &holds, &pending)
	d.Exact, d.At, d.Holds, d.Pending = exact != 0, fromMicros(at), holds != 0, pending != 0
	return d, err
}

// queryDuplicates returns duplicates with the references of their pages.
func (s *Store) queryDuplicates(ctx context.Context, tx Tx, query string, args ...any) ([]store.DuplicateRecord, error) {
	found, err := collect(ctx, tx, query, args, scanDuplicate)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	ids := make([]int64, 0, 2*len(found))
	for _, d := range found {
		ids = append(ids, d.Page.PageID, d.Of.PageID)
	}
	refs, err := s.loadRefs(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]crawl.PageRef, len(refs))
	for _, ref := range refs {
		byID[ref.PageID] = ref
	}
	for i := range found {
		found[i].Page, found[i].Of = byID[found[i].Page.PageID], byID[found[i].Of.PageID]
	}
	return found, nil
}

// Duplicate implements store.Duplicates.
func (s *Store) Duplicate(ctx context.Context, pageID int64) (store.DuplicateRecord, error) {
	found, err := read(ctx, s, func(tx Tx) ([]store.DuplicateRecord, error) {
		return s.queryDuplicates(ctx, tx, duplicateQuery(`page_id = $1`), pageID)
	})
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.DuplicateRecord{}, fmt.Errorf("whose duplicate page %d is: %w", pageID, err)
	}
	return found[0], nil
}

// ListDuplicates implements store.Duplicates.
func (s *Store) ListDuplicates(ctx context.Context, f store.DuplicateFilter) ([]store.DuplicateRecord, error) {
	query := duplicateQuery(`crawl_id = $1 AND (of_page, page_id) > ($2, $3) ORDER BY of_page, page_id LIMIT $4`)
	args := []any{f.CrawlID, f.AfterOf, f.After, limitOr(f.Limit)}
	if f.Of != 0 {
		query = duplicateQuery(`crawl_id = $1 AND of_page = $2 AND page_id > $3 ORDER BY page_id LIMIT $4`)
		args = []any{f.CrawlID, f.Of, f.After, limitOr(f.Limit)}
	}
	found, err := read(ctx, s, func(tx Tx) ([]store.DuplicateRecord, error) { return s.queryDuplicates(ctx, tx, query, args...) })
	if err != nil {
		return nil, fmt.Errorf("duplicates of crawl %d: %w", f.CrawlID, err)
	}
	return found, nil
}

// hasDuplicates sets there if the page has any duplicates.
func hasDuplicates(pageID int64, there *bool) Step {
	query := `SELECT d.page_id FROM frontier f CROSS JOIN duplicates d
		WHERE f.page_id = $1 AND d.crawl_id = f.crawl_id AND d.of_page = f.page_id LIMIT 1`
	return Step{Query: query, Args: []any{pageID}, Scan: func(row Row) error {
		_, err := scanID(row)
		*there = err == nil
		return err
	}}
}

// replaceDuplicate records which page the page duplicates with its new version:
// none if of is nil.
func (s *Store) replaceDuplicate(ctx context.Context, tx Tx, page frontierRow, version, now int64, of *store.DuplicateOf) error {
	if of == nil {
		return tx.Queue(ctx, `DELETE FROM duplicates WHERE page_id = $1`, page.pageID)
	}
	p := store.UpdateDuplicatesParams{
		CrawlID: page.crawlID,
		Set:     []store.NewDuplicate{{PageVersion: store.PageVersion{PageID: page.pageID, Version: version}, Of: *of}},
	}
	return s.updateDuplicates(ctx, tx, p, now)
}

// UpdateDuplicates implements store.Duplicates. It works in several
// transactions.
func (s *Store) UpdateDuplicates(ctx context.Context, p store.UpdateDuplicatesParams) error {
	update := func(some store.UpdateDuplicatesParams) error {
		some.CrawlID = p.CrawlID
		_, err := write(ctx, s, func(tx Tx) (struct{}, error) {
			now, err := tx.Now(ctx)
			if err != nil {
				return struct{}{}, err
			}
			return struct{}{}, s.updateDuplicates(ctx, tx, some, now)
		})
		if err != nil {
			return fmt.Errorf("update duplicates of crawl %d: %w", p.CrawlID, err)
		}
		return nil
	}
	for some := range slices.Chunk(p.Set, duplicatesPerTx) {
		if err := update(store.UpdateDuplicatesParams{Set: some}); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(p.Unset, duplicatesPerTx) {
		if err := update(store.UpdateDuplicatesParams{Unset: some}); err != nil {
			return err
		}
	}
	return nil
}

// duplicateRow is a row of duplicates to be written.
type duplicateRow struct {
	Page        int64   `json:"page"`
	Version     int64   `json:"version"`
	OfPage      int64   `json:"of_page"`
	OfVersion   int64   `json:"of_version"`
	Exact       int64   `json:"exact"`
	Resemblance float64 `json:"resemblance"`
}

// updateDuplicates is UpdateDuplicates within a transaction.
func (s *Store) updateDuplicates(ctx context.Context, tx Tx, p store.UpdateDuplicatesParams, now int64) error {
	there, err := s.keepPages(ctx, tx, p)
	if err != nil {
		return err
	}
	set := map[int64]duplicateRow{} // by page
	for _, d := range p.Set {
		if d.Of.PageID == d.PageID {
			return fmt.Errorf("page %d: %w", d.PageID, errItself)
		}
		if there[d.PageID] && there[d.Of.PageID] {
			set[d.PageID] = duplicateRow{d.PageID, d.Version, d.Of.PageID, d.Of.Version, count(d.Of.Exact), d.Of.Resemblance}
		}
	}
	var unset []duplicateRow
	for _, d := range p.Unset {
		unset = append(unset, duplicateRow{Page: d.PageID, Version: d.Version})
	}
	if err := s.insertDuplicates(ctx, tx, p.CrawlID, slices.Collect(maps.Values(set)), now); err != nil {
		return err
	}
	return s.deleteDuplicates(ctx, tx, unset)
}

// keepPages keeps the pages from being forgotten before the transaction ends,
// and returns those of the crawl that exist.
func (s *Store) keepPages(ctx context.Context, tx Tx, p store.UpdateDuplicatesParams) (map[int64]bool, error) {
	ids := map[int64]bool{}
	for _, d := range p.Set {
		ids[d.PageID], ids[d.Of.PageID] = true, true
	}
	if len(ids) == 0 {
		return nil, nil
	}
	query := `SELECT id FROM pages WHERE id IN (` + s.ids(1) + `) AND +crawl_id = $2 ORDER BY id` + s.engine.Dialect().ForKeyShare()
	held, err := collect(ctx, tx, query, []any{idList(slices.Sorted(maps.Keys(ids))), p.CrawlID}, scanID)
	if err != nil {
		return nil, fmt.Errorf("hold pages: %w", err)
	}
	there := make(map[int64]bool, len(held))
	for _, id := range held {
		there[id] = true
	}
	return there, nil
}

// insertDuplicates writes rows whose pages are held.
func (s *Store) insertDuplicates(ctx context.Context, tx Tx, crawlID int64, rows []duplicateRow, now int64) error {
	if len(rows) == 0 {
		return nil
	}
	query := `INSERT INTO duplicates (page_id, crawl_id, version_id, of_page, of_version, exact, resemblance, at)
		SELECT r.page, CAST($2 AS BIGINT), r.version, r.of_page, r.of_version, r.exact, r.resemblance, CAST($3 AS BIGINT)
		FROM ` + s.records(1, "r", "page bigint", "version bigint", "of_page bigint", "of_version bigint", "exact bigint", "resemblance float") + `
		WHERE true ORDER BY r.page
		ON CONFLICT (page_id) DO UPDATE SET
			version_id = excluded.version_id, of_page = excluded.of_page, of_version = excluded.of_version,
			exact = excluded.exact, resemblance = excluded.resemblance, at = excluded.at
		WHERE duplicates.version_id <= excluded.version_id`
	if err := tx.Queue(ctx, query, jsonText(rows), crawlID, now); err != nil {
		return fmt.Errorf("insert duplicates: %w", err)
	}
	return nil
}

// deleteDuplicates removes the rows of these pages and versions.
func (s *Store) deleteDuplicates(ctx context.Context, tx Tx, rows []duplicateRow) error {
	if len(rows) == 0 {
		return nil
	}
	from := s.records(1, "r", "page bigint", "version bigint")
	locked := `SELECT d.page_id FROM ` + from + ` CROSS JOIN duplicates d
		WHERE d.page_id = r.page AND d.version_id = r.version ORDER BY d.page_id` + s.lock()
	pages, err := collect(ctx, tx, locked, []any{jsonText(rows)}, scanID)
	if err == nil && len(pages) > 0 {
		err = tx.Queue(ctx, `DELETE FROM duplicates WHERE page_id IN (`+s.ids(1)+`)`, idList(pages))
	}
	if err != nil {
		return fmt.Errorf("remove duplicates: %w", err)
	}
	return nil
}

// stripDuplicates removes the pages' own rows, and those of their duplicates.
func (r *removal) stripDuplicates(ctx context.Context) (bare bool, err error) {
	// In order, as those who write them do.
	query := `SELECT d.page_id FROM ` + r.store.records(1, "r", "id bigint") + ` CROSS JOIN duplicates d
		WHERE d.crawl_id = ` + ofEach(2, "r.id") + ` AND d.of_page = r.id ORDER BY d.page_id LIMIT $3` + r.store.lock()
	pages, err := collect(ctx, r.tx, query, []any{r.list, r.d.crawlID, forgottenRows}, scanID)
	if err == nil && len(pages) > 0 {
		// They sleep as duplicates of a page that is removed: maintenance checks them again.
		err = r.store.lookAgain(ctx, r.tx, pages)
	}
	if err == nil {
		err = r.tx.Queue(ctx, `DELETE FROM duplicates WHERE page_id IN (`+r.store.ids(1)+`)`, idList(append(pages, r.ids...)))
	}
	if err != nil {
		return false, fmt.Errorf("remove duplicates: %w", err)
	}
	return len(pages) < forgottenRows, nil
}

// Mirrors implements store.Duplicates.
func (s *Store) Mirrors(ctx context.Context, crawlID int64, limit int) ([]store.MirrorRecord, error) {
	query := `SELECT a.host, b.host, m.shared, m.of_a, m.of_b
		FROM (SELECT * FROM mirrors WHERE crawl_id = $1 ORDER BY shared DESC, host_a, host_b LIMIT $2) AS m
			CROSS JOIN hosts a CROSS JOIN hosts b
		WHERE a.id = m.host_a AND b.id = m.host_b ORDER BY m.shared DESC, m.host_a, m.host_b`
	mirrors, err := read(ctx, s, func(tx Tx) ([]store.MirrorRecord, error) {
		return collect(ctx, tx, query, []any{crawlID, limitOr(limit)}, func(row Row) (store.MirrorRecord, error) {
			var m store.MirrorRecord
			err := row.Scan(&m.A, &m.B, &m.Shared, &m.OfA, &m.OfB)
			return m, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("mirrors of crawl %d: %w", crawlID, err)
	}
	return mirrors, nil
}

// mirrorRow is a row of mirrors to be written.
type mirrorRow struct {
	A      int64 `json:"a"`
	B      int64 `json:"b"`
	Shared int   `json:"shared"`
	OfA    int   `json:"of_a"`
	OfB    int   `json:"of_b"`
}

// SetMirrors implements store.Duplicates. It leaves out hosts on which the crawl no
// longer has pages.
func (s *Store) SetMirrors(ctx context.Context, crawlID int64, mirrors []change.Mirror) error {
	rows := map[[2]int64]mirrorRow{} // by pair
	hosts := map[int64]bool{}
	for _, m := range mirrors[:min(len(mirrors), store.MaxMirrors)] {
		rows[[2]int64{m.A, m.B}] = mirrorRow(m)
		hosts[m.A], hosts[m.B] = true, true
	}
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) {
		// Locked before mirrors are written, as when hosts are forgotten.
		query := `SELECT host_id FROM host_crawls WHERE (host_id, crawl_id) IN (` + s.hostsOf(1, 2) + `) ORDER BY host_id` + s.lock()
		there, err := collect(ctx, tx, query, []any{idList(slices.Sorted(maps.Keys(hosts))), crawlID}, scanID)
		if err != nil {
			return struct{}{}, fmt.Errorf("hold hosts: %w", err)
		}
		var kept []mirrorRow
		for _, m := range rows {
			if slices.Contains(there, m.A) && slices.Contains(there, m.B) {
				kept = append(kept, m)
			}
		}
		return struct{}{}, s.replaceMirrors(ctx, tx, crawlID, kept)
	})
	if err != nil {
		return fmt.Errorf("set mirrors of crawl %d: %w", crawlID, err)
	}
	return nil
}

func (s *Store) replaceMirrors(ctx context.Context, tx Tx, crawlID int64, rows []mirrorRow) error {
	if err := tx.Queue(ctx, `DELETE FROM mirrors WHERE crawl_id = $1`, crawlID); err != nil || len(rows) == 0 {
		return err
	}
	query := `INSERT INTO mirrors (crawl_id, host_a, host_b, shared, of_a, of_b)
		SELECT CAST($2 AS BIGINT), r.a, r.b, r.shared, r.of_a, r.of_b
		FROM ` + s.records(1, "r", "a bigint", "b bigint", "shared bigint", "of_a bigint", "of_b bigint") + `
		WHERE true ORDER BY r.a, r.b
		ON CONFLICT (crawl_id, host_a, host_b) DO UPDATE SET shared = excluded.shared, of_a = excluded.of_a, of_b = excluded.of_b`
	return tx.Queue(ctx, query, jsonText(rows), crawlID)
}
