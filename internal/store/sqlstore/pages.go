package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// pageColumns are the columns that scanPage reads, from the tables of pageTables.
const pageColumns = `p.id, p.crawl_id, c.name, c.generation, p.url, h.host, p.host_id, p.level, p.hops, p.kind, f.hinted_by,
			f.state, f.visit, f.changes, f.failures, f.last_at, f.next_at, f.last_change, f.last_return, f.backlinks, f.weight, f.rank, f.linking_hosts, f.inner_links, f.etag, f.last_modified, f.spelling, f.respelled, f.belief, f.suspect_visit, f.suspect_digest,
			COALESCE(w.id, 0), COALESCE(w.seq, 0), COALESCE(w.visit, 0), COALESCE(w.at, 0),
			COALESCE(w.digest, ''), COALESCE(w.text_digest, ''), COALESCE(w.link_digest, ''),
			COALESCE(w.bytes, 0), COALESCE(w.text_bytes, 0),
			COALESCE(w.content_type, ''), COALESCE(w.title, ''), COALESCE(w.canonical, ''), COALESCE(w.language, ''), COALESCE(w.back_visit, 0),
			COALESCE(t.policy, ''), COALESCE(t.threshold, 0.0), COALESCE(t.prior_a, 0.0), COALESCE(t.prior_b, 0.0), COALESCE(t.spacing, 0.0), COALESCE(t.steep, 0.0), COALESCE(t.stretch, 0.0),
			COALESCE(u.price, 0.0), COALESCE(u.prior_a, 0.0), COALESCE(u.prior_b, 0.0), COALESCE(u.planned, 0.0), COALESCE(u.limited, 0.0), COALESCE(u.site, ''),
			(CASE WHEN EXISTS (SELECT 1 FROM traps x WHERE x.crawl_id = p.crawl_id) THEN 1 ELSE 0 END)`

// pageTables are the tables of a whole page besides its own row.
const pageTables = `JOIN frontier f ON f.page_id = p.id
			JOIN hosts h ON h.id = p.host_id JOIN crawls c ON c.id = p.crawl_id
			LEFT JOIN versions w ON w.id = f.version_id
			LEFT JOIN steering t ON t.crawl_id = p.crawl_id
			LEFT JOIN host_steering u ON u.crawl_id = p.crawl_id AND u.host_id = p.host_id`

// pageByID selects one whole page. Each visit asks for it several times.
const pageByID = `SELECT ` + pageColumns + `
		FROM pages p ` + pageTables + `
		WHERE p.id = $1`

// pageQuery selects whole pages by the ids in placeholder $1. CROSS JOIN keeps
// SQLite from starting with a table that is larger than the list of ids.
func (s *Store) pageQuery() string {
	return `SELECT ` + pageColumns + `
		FROM ` + s.records(1, "r", "id bigint") + `
			CROSS JOIN pages p ` + pageTables + `
		WHERE p.id = r.id`
}

func scanPage(row Row) (store.PageRecord, error) {
	var p store.PageRecord
	var w store.VersionRecord
	var t schedule.Steering
	var u schedule.HostSteering
	var state, kind uint8
	var lastAt, nextAt, lastChange, lastReturn, versionAt int64
	var belief, site string
	var trapped int64
	err := row.Scan(&p.PageID, &p.CrawlID, &p.Crawl, &p.Generation, &p.URL, &p.Host, &p.HostID, &p.Level, &p.Hops, &kind, &p.HintedBy,
		&state, &p.Visits, &p.Changes, &p.Failures, &lastAt, &nextAt, &lastChange, &lastReturn, &p.Backlinks,
		&p.Weight, &p.Rank, &p.LinkingHosts, &p.InnerLinks, &p.ETag, &p.LastModified, &p.Respelling.Spelling, &p.Respelling.Times, &belief, &p.Suspect.Visit, &p.Suspect.Digest,
		&w.ID, &w.Seq, &w.Visit, &versionAt, &w.Digest, &w.TextDigest, &w.LinkDigest, &w.Bytes, &w.TextBytes,
		&w.ContentType, &w.Title, &w.Canonical, &w.Language, &w.Back,
		&t.Policy, &t.Threshold, &t.Prior.A, &t.Prior.B, &t.Interval, &t.Steep, &t.Stretch,
		&u.Price, &u.Prior.A, &u.Prior.B, &u.Planned, &u.Limit, &site, &trapped)
	if err != nil {
		return store.PageRecord{}, err
	}
	u.Site, p.CrawlTrapped = schedule.DecodeSite(site), trapped != 0
	p.State, p.Kind, p.Steering, p.HostSteering = crawl.PageState(state), crawl.PageKind(kind), t, u
	p.LastAt, p.NextAt, p.TextAt = fromMicros(lastAt), fromMicros(nextAt), fromMicros(max(lastChange, lastReturn))
	if belief != "" {
		p.Belief = json.RawMessage(belief)
	}
	if w.ID != 0 {
		w.PageID, w.At = p.PageID, fromMicros(versionAt)
		p.Last = w
	}
	return p, nil
}

// loadPages returns the pages in the order of the ids; unknown ids are left
// out.
func (s *Store) loadPages(ctx context.Context, tx Tx, ids []int64) ([]store.PageRecord, error) {
	if len(ids) == 0 {
		return []store.PageRecord{}, nil
	}
	query, arg := pageByID, any(ids[0])
	if len(ids) > 1 {
		query, arg = s.pageQuery(), idList(ids)
	}
	found, err := collect(ctx, tx, query, []any{arg}, scanPage)
	if err != nil {
		return nil, fmt.Errorf("load pages: %w", err)
	}
	byID := make(map[int64]store.PageRecord, len(found))
	for _, p := range found {
		p.Store = s.id
		byID[p.PageID] = p
	}
	pages := make([]store.PageRecord, 0, len(found))
	for _, id := range ids {
		if p, ok := byID[id]; ok {
			pages = append(pages, p)
		}
	}
	return pages, nil
}

// Page implements store.Visits.
func (s *Store) Page(ctx context.Context, pageID int64) (store.PageRecord, error) {
	pages, err := glance(ctx, s, func(tx Tx) ([]store.PageRecord, error) { return s.loadPages(ctx, tx, []int64{pageID}) })
	if err == nil && len(pages) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.PageRecord{}, fmt.Errorf("page %d: %w", pageID, err)
	}
	return pages[0], nil
}

// FindPages implements store.Visits.
func (s *Store) FindPages(ctx context.Context, url, crawlName string) ([]store.PageRecord, error) {
	pages, err := glance(ctx, s, func(tx Tx) ([]store.PageRecord, error) { return s.findPages(ctx, tx, clean(url), clean(crawlName)) })
	if err != nil {
		return nil, fmt.Errorf("find pages of a URL: %w", err)
	}
	return pages, nil
}

func (s *Store) findPages(ctx context.Context, tx Tx, url, crawlName string) ([]store.PageRecord, error) {
	query := `SELECT p.id FROM crawls c CROSS JOIN pages p WHERE p.crawl_id = c.id AND p.url_hash = $1`
	hash := urlHash(url)
	args := []any{hash[:]}
	if crawlName != "" {
		query += ` AND c.name = $2`
		args = append(args, crawlName)
	}
	ids, err := collect(ctx, tx, query+` ORDER BY p.id`, args, scanID)
	if err != nil {
		return nil, err
	}
	pages, err := s.loadPages(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		if p.URL != url {
			return nil, collisionError(p.URL, url)
		}
	}
	return pages, nil
}

// hashRecord is a URL's urlHash in hex.
type hashRecord struct {
	Hash string `json:"hash"`
}

// KnownURLs implements store.Visits.
func (s *Store) KnownURLs(ctx context.Context, crawlID int64, urls []string) (map[string]bool, error) {
	known := make(map[string]bool, len(urls))
	query := `SELECT p.url FROM ` + s.records(1, "r", "hash text") + ` CROSS JOIN pages p
		WHERE p.crawl_id = ` + ofEach(2, "length(r.hash)") + ` AND p.url_hash = ` + s.engine.Dialect().Unhex("r.hash")
	for some := range slices.Chunk(urls, urlsPerTx) {
		rows := make([]hashRecord, len(some))
		for i, url := range some {
			sum := urlHash(clean(url))
			rows[i].Hash = hex.EncodeToString(sum[:])
		}
		_, err := glance(ctx, s, func(tx Tx) (struct{}, error) {
			return struct{}{}, tx.Query(ctx, query, []any{jsonText(rows), crawlID}, func(row Row) error {
				var url string
				err := row.Scan(&url)
				known[url] = true
				return err
			})
		})
		if err != nil {
			return nil, fmt.Errorf("find %d URLs of crawl %d: %w", len(some), crawlID, err)
		}
	}
	return known, nil
}

// idsOfURL returns the ids of a URL's pages in all crawls.
func (s *Store) idsOfURL(ctx context.Context, tx Tx, url string) ([]int64, error) {
	pages, err := s.findPages(ctx, tx, url, "")
	ids := make([]int64, len(pages))
	for i, p := range pages {
		ids[i] = p.PageID
	}
	return ids, err
}

// loadRefs returns references of pages in the order of the ids; unknown ids are left out.
// Where only these are wanted, a whole page costs four times as much.
func (s *Store) loadRefs(ctx context.Context, tx Tx, ids []int64) ([]crawl.PageRef, error) {
	query := `SELECT p.id, p.crawl_id, c.name, p.url, h.host
		FROM ` + s.records(1, "r", "id bigint") + `
			CROSS JOIN pages p JOIN hosts h ON h.id = p.host_id JOIN crawls c ON c.id = p.crawl_id
		WHERE p.id = r.id`
	byID := make(map[int64]crawl.PageRef, len(ids))
	err := tx.Query(ctx, query, []any{idList(ids)}, func(row Row) error {
		ref := crawl.PageRef{Store: s.id}
		err := row.Scan(&ref.PageID, &ref.CrawlID, &ref.Crawl, &ref.URL, &ref.Host)
		byID[ref.PageID] = ref
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load references of pages: %w", err)
	}
	refs := make([]crawl.PageRef, 0, len(byID))
	for _, id := range ids {
		if ref, ok := byID[id]; ok {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// urlHash is a page's key within its crawl: half a SHA-256. Two URLs of one crawl
// with the same key are not to be expected in the life of the universe, but are
// checked for all the same.
func urlHash(url string) [16]byte {
	sum := sha256.Sum256([]byte(url))
	return [16]byte(sum[:16])
}

func collisionError(a, b string) error {
	return fmt.Errorf("two URLs have the same hash: %.200q and %.200q", a, b)
}
