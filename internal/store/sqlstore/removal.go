package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// forgottenRows is how many links of pages, how many of their visits and of their
// versions one transaction removes. A page with more loses them in transactions
// before the one that removes it.
const forgottenRows = 500

// removal is one transaction that removes pages of one crawl.
type removal struct {
	none    bool            // there are no pages
	removed []crawl.PageRef // none yet while there are too many rows of theirs
	digests []string        // that no version has any more

	store *Store
	tx    Tx
	ids   []int64
	list  string // ids, for Store.ids
	d     *deltas
	// contents counts the removed versions by digest.
	contents map[string]int64
	// whole: the whole crawl is removed, and no page enters a line any more.
	whole bool
}

// newRemoval is the removal of pages of one crawl, at least one.
func newRemoval(s *Store, tx Tx, pages []crawl.PageRef) removal {
	r := removal{store: s, tx: tx, d: newDeltas(pages[0].CrawlID, pages[0].PageID), contents: map[string]int64{}}
	for _, p := range pages {
		r.ids = append(r.ids, p.PageID)
	}
	r.list = idList(r.ids)
	return r
}

// lookUp makes the statements of a removal find rows by their ids. Most links lead to a few
// pages of navigation, and Postgres takes any page to have as many: it then reads the whole
// table for pages whose links are few, or gone already.
func (s *Store) lookUp(ctx context.Context, tx Tx) error {
	query := s.engine.Dialect().LookUp()
	if query == "" {
		return nil
	}
	return tx.Queue(ctx, query)
}

// take removes the pages, or a part of their rows, and updates the counts.
func (r *removal) take(ctx context.Context, pages []crawl.PageRef) error {
	bare, err := r.strip(ctx)
	if err != nil {
		return err
	}
	if bare {
		if err := r.remove(ctx); err != nil {
			return err
		}
		if err := r.noteForgotten(ctx, pages); err != nil {
			return err
		}
		r.removed = pages
	}
	if r.digests, err = r.store.uncountContents(ctx, r.tx, r.contents); err != nil {
		return err
	}
	return r.d.apply(ctx, r.store, r.tx)
}

// strip removes rows of the pages until there are none left, or until enough were
// removed for one transaction; it reports whether none is left. It locks the pages
// so that nobody adds to them any more.
func (r *removal) strip(ctx context.Context) (bare bool, err error) {
	if bare, err := r.stripLinks(ctx); err != nil || !bare {
		return false, err
	}
	if bare, err := r.stripDuplicates(ctx); err != nil || !bare {
		return false, err
	}
	if err := r.stripSketches(ctx); err != nil {
		return false, err
	}
	if err := r.stripRejected(ctx); err != nil {
		return false, err
	}
	if _, err := r.tx.Exec(ctx, `DELETE FROM undelivered WHERE page_id IN (`+r.store.ids(1)+`)`, r.list); err != nil {
		return false, fmt.Errorf("remove what was not delivered: %w", err)
	}
	if _, err := r.tx.Exec(ctx, `DELETE FROM variants WHERE page_id IN (`+r.store.ids(1)+`)`, r.list); err != nil {
		return false, fmt.Errorf("remove variants: %w", err)
	}
	if bare, err := r.stripVisits(ctx); err != nil || !bare {
		return false, err
	}
	return r.stripVersions(ctx)
}

// link is a row of links.
type link struct {
	Src int64 `json:"src"`
	Dst int64 `json:"dst"`
}

// stripLinks removes links from and to the pages.
func (r *removal) stripLinks(ctx context.Context) (bare bool, err error) {
	links, err := r.links(ctx, forgottenRows)
	if err != nil {
		return false, err
	}
	if err := r.lock(ctx, links); err != nil {
		return false, err
	}
	if err := r.removeLinks(ctx, links); err != nil || len(links) == forgottenRows {
		return false, err
	}
	// Registering links from a page locks its row (see keepOrigin).
	query := `SELECT id FROM pages WHERE id IN (` + r.store.ids(1) + `) ORDER BY id` + r.store.lock()
	if _, err := collect(ctx, r.tx, query, []any{r.list}, scanID); err != nil {
		return false, fmt.Errorf("lock pages: %w", err)
	}
	links, err = r.links(ctx, 1) // added before the lock
	return len(links) == 0, err
}

// links returns up to n of the links to and from the pages. Of a whole crawl all links go with the
// pages that they are on. On Postgres, to find those to a page of navigation, some at a time, takes
// the longer the more of them are dead.
func (r *removal) links(ctx context.Context, n int) ([]link, error) {
	var all []link
	ends := []string{"dst", "src"}
	if r.whole {
		ends = ends[1:]
	}
	for _, end := range ends {
		query := `SELECT l.src, l.dst FROM ` + r.store.records(1, "r", "id bigint") + ` ` +
			r.store.engine.Dialect().OfEach("links", "l", "l."+end+" = r.id", "$2") + ` LIMIT $2`
		found, err := collect(ctx, r.tx, query, []any{r.list, n - len(all)}, func(row Row) (l link, err error) {
			err = row.Scan(&l.Src, &l.Dst)
			return l, err
		})
		if err != nil {
			return nil, fmt.Errorf("read links: %w", err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// lock locks the frontier rows of the pages and, if their counts change, of the links' targets.
func (r *removal) lock(ctx context.Context, links []link) error {
	ids := slices.Clone(r.ids)
	if !r.whole {
		for _, l := range links {
			ids = append(ids, l.Dst)
		}
	}
	query := `SELECT page_id FROM frontier WHERE page_id IN (` + r.store.ids(1) + `) ORDER BY page_id` + r.store.lock()
	locked, err := collect(ctx, r.tx, query, []any{idList(ids)}, scanID)
	if err != nil {
		return fmt.Errorf("lock pages: %w", err)
	}
	for _, id := range r.ids {
		if _, ok := slices.BinarySearch(locked, id); !ok {
			return errMoved // somebody else forgets it
		}
	}
	return nil
}

// removeLinks removes links and updates their counts.
func (r *removal) removeLinks(ctx context.Context, links []link) error {
	if len(links) == 0 {
		return nil
	}
	query := `DELETE FROM links WHERE (src, dst) IN
		(SELECT r.src, r.dst FROM ` + r.store.records(1, "r", "src bigint", "dst bigint") + `) RETURNING dst`
	gone, err := collect(ctx, r.tx, query, []any{jsonText(links)}, scanID)
	if err != nil {
		return fmt.Errorf("remove links: %w", err)
	}
	if len(gone) == 0 {
		return nil // somebody else removed them
	}
	r.d.total(totalLinks, -int64(len(gone)))
	if r.whole {
		return nil // nobody reads the counts of its pages any more
	}
	backlinks := map[int64]int64{}
	for _, dst := range gone {
		backlinks[dst]++
	}
	type record struct {
		ID int64 `json:"id"`
		N  int64 `json:"n"`
	}
	var rows []record
	for _, id := range slices.Sorted(maps.Keys(backlinks)) {
		rows = append(rows, record{id, backlinks[id]})
	}
	update := `UPDATE frontier SET backlinks = backlinks - r.n
		FROM ` + r.store.records(1, "r", "id bigint", "n bigint") + ` WHERE frontier.page_id = r.id`
	if _, err := r.tx.Exec(ctx, update, jsonText(rows)); err != nil {
		return fmt.Errorf("count backlinks: %w", err)
	}
	return nil
}

// stripVisits removes visits of the pages. Their numbers stay counted, so that a
// half-forgotten page goes on with its own numbers.
func (r *removal) stripVisits(ctx context.Context) (bare bool, err error) {
	query := `DELETE FROM visits WHERE (page_id, visit) IN
		(SELECT v.page_id, v.visit FROM ` + r.store.records(1, "r", "id bigint") + ` CROSS JOIN visits v
			WHERE v.page_id = r.id LIMIT $2) RETURNING outcome, digest`
	n := 0
	err = r.tx.Query(ctx, query, []any{r.list, forgottenRows}, func(row Row) error {
		var outcome int64
		var digest string
		if err := row.Scan(&outcome, &digest); err != nil {
			return err
		}
		n++
		r.d.unvisit(crawl.Outcome(outcome))
		r.contents[digest] += 0 // bytes that made no version are in the archive too
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("remove visits: %w", err)
	}
	return n < forgottenRows, nil
}

// stripVersions removes versions of the pages, with their pending links.
func (r *removal) stripVersions(ctx context.Context) (bare bool, err error) {
	query := `DELETE FROM versions WHERE id IN
		(SELECT v.id FROM ` + r.store.records(1, "r", "id bigint") + ` CROSS JOIN versions v
			WHERE v.page_id = r.id LIMIT $2) RETURNING digest`
	gone, err := collect(ctx, r.tx, query, []any{r.list, forgottenRows}, scanText)
	if err != nil {
		return false, fmt.Errorf("remove versions: %w", err)
	}
	for _, digest := range gone {
		r.contents[digest]++
	}
	r.d.total(totalVersions, -int64(len(gone)))
	return len(gone) < forgottenRows, nil
}

// remove removes the pages, bare of all other rows, from their lines and then
// themselves.
func (r *removal) remove(ctx context.Context) error {
	if err := r.leaveLines(ctx); err != nil {
		return err
	}
	grown, err := r.grown(ctx)
	if err != nil {
		return err
	}
	query := `DELETE FROM frontier WHERE page_id IN (` + r.store.ids(1) + `) RETURNING host_id, state, attempted, trap_id, fetched`
	err = r.tx.Query(ctx, query, []any{r.list}, func(row Row) error {
		var f frontierRow
		var state, attempted uint8
		var fetched string
		if err := row.Scan(&f.hostID, &state, &attempted, &f.trapID, &fetched); err != nil {
			return err
		}
		r.contents[fetched] += 0 // no visit names these bytes yet
		f.state, f.attempted = crawl.PageState(state), attempted != 0
		r.d.moves(f.hostID, f.state, 0, 1)
		if f.state == crawl.Held {
			r.d.held(f.trapID, -1)
		}
		r.d.unattempted(f.hostID, -count(f.takesPlace()))
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove from the frontier: %w", err)
	}
	if _, err := r.tx.Exec(ctx, `DELETE FROM pages WHERE id IN (`+r.store.ids(1)+`)`, r.list); err != nil {
		return fmt.Errorf("remove pages: %w", err)
	}
	if err := r.store.uncountPrefixes(ctx, r.tx, r.d.crawlID, grown); err != nil {
		return fmt.Errorf("count prefixes: %w", err)
	}
	return nil
}

// grown are the pages as the guard counts them.
func (r *removal) grown(ctx context.Context) ([]store.GrownPage, error) {
	if r.whole {
		return nil, nil // the crawl's counts go too
	}
	pages, err := r.store.loadGrown(ctx, r.tx, r.ids)
	if err != nil {
		return nil, fmt.Errorf("read pages: %w", err)
	}
	return pages, nil
}

// noteForgotten adds to the feed that the pages are gone for good. A consumer that has
// them knows them by the hash of their URL; nobody learns the URL from it.
func (r *removal) noteForgotten(ctx context.Context, pages []crawl.PageRef) error {
	if r.whole {
		return nil // the crawl's changes go too
	}
	var rows []pageChange
	for _, p := range pages {
		sum := sha256.Sum256([]byte(p.URL))
		data := feed.Data{URLHash: hex.EncodeToString(sum[:])}
		rows = append(rows, pageChange{p.PageID, data.Encode(feed.PageForgotten, 0)})
	}
	return r.store.notePages(ctx, r.tx, r.d.crawlID, feed.PageForgotten, rows)
}

// leaveLines takes the pages out of their lines. It also locks their hosts if they
// stand in none: a transaction that puts a page into a line looks for it under that
// lock (see question.reread). It turns nobody; maintenance does.
func (r *removal) leaveLines(ctx context.Context) error {
	query, args := `SELECT f.host_id FROM frontier f WHERE f.page_id IN (`+r.store.ids(1)+`)
		UNION SELECT p.host_id FROM places p WHERE p.page_id IN (`+r.store.ids(2)+`)`, []any{r.list, r.list}
	if r.whole {
		query, args = `SELECT DISTINCT p.host_id FROM places p WHERE p.page_id IN (`+r.store.ids(1)+`)`, []any{r.list}
	}
	hosts, err := collect(ctx, r.tx, query, args, scanID)
	if err != nil {
		return fmt.Errorf("find hosts: %w", err)
	}
	if r.whole && len(hosts) == 0 {
		return nil
	}
	gates, err := r.store.openGate(ctx, r.tx, nil, hosts, nil)
	if err != nil {
		return err
	}
	places, err := r.removePlaces(ctx)
	if err != nil {
		return fmt.Errorf("remove places: %w", err)
	}
	for _, p := range places {
		if !slices.ContainsFunc(gates, func(g *gateHost) bool { return g.row.id == p.host }) {
			return errMoved
		}
		r.tx.Wake(p.page) // its Acquire or Begin may be waiting
	}
	for _, g := range gates {
		if err := g.vacate(ctx, places); err != nil {
			return err
		}
	}
	return nil
}

// removePlaces removes the places of the pages, whose hosts are locked.
func (r *removal) removePlaces(ctx context.Context) ([]place, error) {
	ids := `p.page_id IN (` + r.store.ids(1) + `)`
	places, err := collect(ctx, r.tx, `SELECT `+placeColumns+` FROM places p WHERE `+ids, []any{r.list}, scanPlace)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	_, err = r.tx.Exec(ctx, `DELETE FROM places AS p WHERE `+ids, r.list)
	return places, err
}

// vacate updates the counts of lines, of the host or of others, after places were
// removed, and grants what that makes possible.
func (g *gateHost) vacate(ctx context.Context, removed []place) error {
	for _, p := range removed {
		if err := g.recount(ctx, p, place{}); err != nil {
			return err
		}
	}
	if err := g.advance(ctx); err != nil {
		return err
	}
	return g.save(ctx)
}
