package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// standing are the states of pages that stand for their content; see stands.
var standing = stateList([]crawl.PageState{crawl.Active, crawl.Failing, crawl.Duplicate})

// Content implements store.Duplicates.
func (s *Store) Content(ctx context.Context, version int64) (change.Content, error) {
	content, err := glance(ctx, s, func(tx Tx) (change.Content, error) { return contentOf(ctx, tx, version) })
	if err != nil {
		return change.Content{}, fmt.Errorf("content of version %d: %w", version, err)
	}
	return content, nil
}

// contentOf is Content within a transaction.
func contentOf(ctx context.Context, tx Tx, version int64) (c change.Content, err error) {
	err = tx.Query(ctx, `SELECT exact, sketch, more FROM sketches WHERE version_id = $1`, []any{version}, func(row Row) error {
		var stored storedContent
		err := row.Scan(&stored.exact, &stored.head, &stored.rest)
		if err == nil {
			c, err = stored.decode()
		}
		return err
	})
	return c, err
}

// storedContent is a content as sketches has it, in exact, sketch and more.
type storedContent struct {
	exact      int64
	head, rest []byte
}

func (c storedContent) decode() (change.Content, error) {
	sketch, err := change.DecodeSketch(c.head, c.rest)
	return change.Content{Exact: uint64(c.exact), Sketch: sketch}, err
}

// loadContents returns the contents of those of the pages that stand for theirs,
// in no order. CROSS JOIN keeps SQLite from starting with a larger table.
func (s *Store) loadContents(ctx context.Context, tx Tx, ids []int64) ([]store.ContentRecord, error) {
	query := `SELECT k.page_id, f.host_id, k.version_id, f.state, f.next_at, p.url, v.canonical, k.exact, k.sketch, k.more,
			COALESCE(d.of_page, 0), COALESCE(d.of_version, 0), COALESCE(d.exact, 0), COALESCE(d.resemblance, 0.0)
		FROM ` + s.records(1, "r", "id bigint") + ` CROSS JOIN frontier f CROSS JOIN sketches k CROSS JOIN pages p CROSS JOIN versions v
			LEFT JOIN duplicates d ON d.page_id = k.page_id AND d.version_id = k.version_id
		WHERE f.page_id = r.id AND k.version_id = f.version_id AND f.state IN (` + standing + `) AND p.id = f.page_id AND v.id = f.version_id`
	return collect(ctx, tx, query, []any{idList(ids)}, scanContent)
}

func scanContent(row Row) (store.ContentRecord, error) {
	var c store.ContentRecord
	var state uint8
	var nextAt, copies int64
	var stored storedContent
	err := row.Scan(&c.PageID, &c.HostID, &c.Version, &state, &nextAt, &c.URL, &c.Canonical, &stored.exact, &stored.head, &stored.rest,
		&c.Of.PageID, &c.Of.Version, &copies, &c.Of.Resemblance)
	if err != nil {
		return store.ContentRecord{}, err
	}
	if c.Content, err = stored.decode(); err != nil {
		return store.ContentRecord{}, fmt.Errorf("page %d: %w", c.PageID, err)
	}
	c.State, c.NextAt, c.Of.Exact = crawl.PageState(state), fromMicros(nextAt), copies != 0
	return c, nil
}

// Contents implements store.Duplicates.
func (s *Store) Contents(ctx context.Context, crawlID, after int64, limit int) ([]store.ContentRecord, error) {
	contents, err := read(ctx, s, func(tx Tx) ([]store.ContentRecord, error) {
		return s.contents(ctx, tx, crawlID, after, limitOr(limit))
	})
	if err != nil {
		return nil, fmt.Errorf("contents of crawl %d: %w", crawlID, err)
	}
	return contents, nil
}

// contents reads the ids first: joined with the other tables at once, PostgreSQL
// takes all of them for each answer.
func (s *Store) contents(ctx context.Context, tx Tx, crawlID, after int64, limit int) ([]store.ContentRecord, error) {
	for {
		query := `SELECT page_id FROM sketches WHERE crawl_id = $1 AND page_id > $2 ORDER BY page_id LIMIT $3`
		ids, err := collect(ctx, tx, query, []any{crawlID, after, limit}, scanID)
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		contents, err := s.loadContents(ctx, tx, slices.Compact(ids))
		if err != nil || len(contents) > 0 {
			slices.SortFunc(contents, func(a, b store.ContentRecord) int { return cmp.Compare(a.PageID, b.PageID) })
			return contents, err
		}
		after = ids[len(ids)-1] // none of these stands for its content
	}
}

// Lookalikes implements store.Duplicates.
func (s *Store) Lookalikes(ctx context.Context, p store.LookalikeParams) ([]store.ContentRecord, error) {
	contents, err := glance(ctx, s, func(tx Tx) ([]store.ContentRecord, error) { return s.lookalikes(ctx, tx, p) })
	if err != nil {
		return nil, fmt.Errorf("look for the content of page %d: %w", p.Page, err)
	}
	return contents, nil
}

func (s *Store) lookalikes(ctx context.Context, tx Tx, p store.LookalikeParams) ([]store.ContentRecord, error) {
	found, err := sharers(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	likely := change.Likely(found, limitOr(p.Limit))
	if p.Least > 0 {
		if likely, err = s.resembling(ctx, tx, p, likely); err != nil {
			return nil, err
		}
	}
	if len(likely) == 0 {
		return nil, nil
	}
	contents, err := s.loadContents(ctx, tx, likely)
	if err != nil {
		return nil, err
	}
	place := make(map[int64]int, len(likely))
	for i, page := range likely {
		place[page] = i
	}
	slices.SortFunc(contents, func(a, b store.ContentRecord) int { return cmp.Compare(place[a.PageID], place[b.PageID]) })
	return contents, nil
}

// resembling returns those of the pages whose content is the given one or resembles it by
// p.Least, in their order. Most pages that share a key do so by chance: of these it reads the
// sketch and nothing else.
func (s *Store) resembling(ctx context.Context, tx Tx, p store.LookalikeParams, pages []int64) ([]int64, error) {
	if len(pages) == 0 {
		return nil, nil
	}
	query := `SELECT f.page_id, k.exact, k.sketch, k.more FROM ` + s.records(1, "r", "id bigint") + ` CROSS JOIN frontier f CROSS JOIN sketches k
		WHERE f.page_id = r.id AND k.version_id = f.version_id`
	resembles := map[int64]bool{}
	err := tx.Query(ctx, query, []any{idList(pages)}, func(row Row) error {
		var page int64
		var stored storedContent
		if err := row.Scan(&page, &stored.exact, &stored.head, &stored.rest); err != nil {
			return err
		}
		content, err := stored.decode()
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
		match := p.Compare(change.Candidate{Page: page, Content: content})
		resembles[page] = match.Exact || match.Resemblance >= p.Least
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("compare sketches: %w", err)
	}
	return slices.DeleteFunc(pages, func(page int64) bool { return !resembles[page] }), nil
}

// sharers returns, for each key of the content, the oldest pages that share it.
// It asks for all keys at once: nine round trips would take longer than reading
// them.
func sharers(ctx context.Context, tx Tx, p store.LookalikeParams) ([][]int64, error) {
	keys := p.Keys()
	if len(keys) == 0 {
		return nil, nil
	}
	args := []any{p.CrawlID, p.Page}
	parts := make([]string, len(keys))
	for i, key := range keys {
		args = append(args, int64(key))
		parts[i] = fmt.Sprintf(`SELECT n, page_id FROM (SELECT %d AS n, page_id FROM sketch_keys
			WHERE crawl_id = $1 AND page_id <> $2 AND key = $%d ORDER BY page_id LIMIT %d) AS k%d`, i, len(args), store.LookalikeDepth, i)
	}
	found := make([][]int64, len(keys))
	err := tx.Query(ctx, strings.Join(parts, " UNION ALL "), args, func(row Row) error {
		var n int
		var page int64
		err := row.Scan(&n, &page)
		if err == nil {
			found[n] = append(found[n], page)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return found, nil
}

// KeySharers implements store.Duplicates.
func (s *Store) KeySharers(ctx context.Context, crawlID int64, contents []store.ContentRecord) ([]int64, error) {
	var keys []keyRecord
	for _, c := range contents {
		for _, key := range c.Keys() {
			keys = append(keys, keyRecord{int64(key), c.PageID})
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	// Two rows of a key suffice: one of them may be the page's own.
	query := `SELECT DISTINCT r.page FROM ` + s.records(1, "r", "key bigint", "page bigint") + `
		WHERE (SELECT k.page_id FROM sketch_keys k WHERE k.crawl_id = $2 AND k.key = r.key AND k.page_id <> r.page LIMIT 1) IS NOT NULL
		ORDER BY r.page`
	pages, err := read(ctx, s, func(tx Tx) ([]int64, error) { return collect(ctx, tx, query, []any{jsonText(keys), crawlID}, scanID) })
	if err != nil {
		return nil, fmt.Errorf("pages of crawl %d that share keys: %w", crawlID, err)
	}
	return pages, nil
}

// keyRecord is a row of sketch_keys of one crawl.
type keyRecord struct {
	Key  int64 `json:"key"`
	Page int64 `json:"page"`
}

// insertSketch stores a version's sketch, with those of its keys that the version
// before it lacks.
func (s *Store) insertSketch(ctx context.Context, tx Tx, page frontierRow, version int64, content change.Content) error {
	keys := content.Keys()
	if len(keys) == 0 && len(content.Sketch) == 0 {
		return nil
	}
	head, rest := content.Sketch.Encode()
	err := tx.Queue(ctx, `INSERT INTO sketches (version_id, crawl_id, page_id, exact, sketch, more) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (version_id) DO NOTHING`,
		version, page.crawlID, page.pageID, int64(content.Exact), head, rest)
	if err != nil {
		return fmt.Errorf("insert the sketch: %w", err)
	}
	query := `INSERT INTO sketch_keys (crawl_id, key, page_id)
		SELECT CAST($2 AS BIGINT), r.key, r.page FROM ` + s.records(1, "r", "key bigint", "page bigint") + `
		WHERE true ORDER BY r.key ON CONFLICT (crawl_id, key, page_id) DO NOTHING`
	if err := tx.Queue(ctx, query, keyList(page.pageID, keys), page.crawlID); err != nil {
		return fmt.Errorf("insert keys: %w", err)
	}
	return nil
}

func keyList(page int64, keys []uint64) string {
	list := make([]keyRecord, len(keys))
	for i, key := range keys {
		list[i] = keyRecord{int64(key), page}
	}
	return jsonText(list)
}

// sketchesOf reads the sketches that a page has, by version: of its last one, and of one whose
// visit is not recorded yet.
func sketchesOf(pageID int64, found map[int64]change.Content) Step {
	query := `SELECT k.version_id, k.exact, k.sketch, k.more FROM frontier f CROSS JOIN sketches k
		WHERE f.page_id = $1 AND k.crawl_id = f.crawl_id AND k.page_id = f.page_id`
	return Step{Query: query, Args: []any{pageID}, Scan: func(row Row) error {
		var version int64
		var stored storedContent
		err := row.Scan(&version, &stored.exact, &stored.head, &stored.rest)
		if err == nil {
			found[version], err = stored.decode()
		}
		return err
	}}
}

// removeSketch removes the sketch of a version that the page no longer has, with those of
// its keys that the version that it has lacks. Either may be 0 for none. The sketches are those
// of the page; it reads them if they are nil.
func (s *Store) removeSketch(ctx context.Context, tx Tx, page frontierRow, gone, has int64, sketches map[int64]change.Content) error {
	if gone == 0 {
		return nil
	}
	if sketches == nil {
		sketches = map[int64]change.Content{}
		if err := tx.Pipeline(ctx, sketchesOf(page.pageID, sketches)); err != nil {
			return fmt.Errorf("read the page's sketches: %w", err)
		}
	}
	kept := sketches[has].Keys()
	lost := slices.DeleteFunc(sketches[gone].Keys(), func(key uint64) bool { return slices.Contains(kept, key) })
	if err := s.removeKeys(ctx, tx, page.crawlID, keyList(page.pageID, lost)); err != nil {
		return err
	}
	if err := tx.Queue(ctx, `DELETE FROM sketches WHERE version_id = $1`, gone); err != nil {
		return fmt.Errorf("remove a version's sketch: %w", err)
	}
	return nil
}

// removeKeys removes keys of pages, a list of keyRecords.
func (s *Store) removeKeys(ctx context.Context, tx Tx, crawlID int64, list string) error {
	query := `DELETE FROM sketch_keys WHERE (crawl_id, key, page_id) IN
		(SELECT ` + ofEach(2, "r.page") + `, r.key, r.page FROM ` + s.records(1, "r", "key bigint", "page bigint") + `)`
	if err := tx.Queue(ctx, query, list, crawlID); err != nil {
		return fmt.Errorf("remove keys: %w", err)
	}
	return nil
}

// stripSketches removes the pages' sketches.
func (r *removal) stripSketches(ctx context.Context) error {
	query := `DELETE FROM sketches WHERE version_id IN
		(SELECT k.version_id FROM ` + r.store.records(1, "r", "id bigint") + ` CROSS JOIN sketches k
			WHERE k.crawl_id = ` + ofEach(2, "r.id") + ` AND k.page_id = r.id) RETURNING page_id, exact, sketch, more`
	var keys []keyRecord
	err := r.tx.Query(ctx, query, []any{r.list, r.d.crawlID}, func(row Row) error {
		var page int64
		var stored storedContent
		if err := row.Scan(&page, &stored.exact, &stored.head, &stored.rest); err != nil {
			return err
		}
		content, err := stored.decode()
		for _, key := range content.Keys() {
			keys = append(keys, keyRecord{int64(key), page})
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove sketches: %w", err)
	}
	if len(keys) == 0 {
		return nil
	}
	return r.store.removeKeys(ctx, r.tx, r.d.crawlID, jsonText(keys))
}
