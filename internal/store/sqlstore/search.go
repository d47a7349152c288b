package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// SearchPages implements store.Search.
func (s *Store) SearchPages(ctx context.Context, q store.PageSearch) (store.PagesFound, error) {
	found, err := read(ctx, s, func(tx Tx) (store.PagesFound, error) { return s.searchPages(ctx, tx, q) })
	if err != nil {
		return store.PagesFound{}, fmt.Errorf("search pages of crawl %d: %w", q.CrawlID, err)
	}
	return found, nil
}

func (s *Store) searchPages(ctx context.Context, tx Tx, q store.PageSearch) (found store.PagesFound, err error) {
	hostID, none, err := s.searchedHost(ctx, tx, q)
	if err != nil || none {
		return found, err
	}
	q.Limit = limitOr(q.Limit)
	var ids []int64
	through := int64(math.MaxInt64)
	if byText := q.Prefix != "" || q.Text != ""; !byText && (hostID == 0 || len(q.States) == 0) {
		ids, err = s.listCrawl(ctx, tx, q.CrawlID, hostID, store.PageFilter{States: q.States, After: q.After, Limit: q.Limit})
	} else {
		ids, through, err = s.lookThrough(ctx, tx, hostID, q)
	}
	if err != nil {
		return found, err
	}
	if len(ids) >= q.Limit {
		ids = ids[:q.Limit]
		through = ids[len(ids)-1]
	}
	if through != math.MaxInt64 {
		found.Through, found.More = through, true
	}
	found.Pages, err = s.loadPages(ctx, tx, ids)
	return found, err
}

// searchedHost is the host to which a search is bound, 0 for none: the one that it names,
// or that of its prefix. none means that there are no pages there.
func (s *Store) searchedHost(ctx context.Context, tx Tx, q store.PageSearch) (id int64, none bool, err error) {
	host := clean(q.Host)
	if host == "" {
		_, rest, _ := strings.Cut(clean(q.Prefix), "://")
		// Before the slash a longer name may follow.
		if name, _, whole := strings.Cut(rest, "/"); whole {
			host = s.grouping.Unit(name)
		}
	}
	if host == "" {
		return 0, false, nil
	}
	if _, err := s.unitOf(host); err != nil {
		return 0, false, err
	}
	err = tx.QueryRow(ctx, `SELECT id FROM hosts WHERE host = $1`, []any{host}, &id)
	if errors.Is(err, store.ErrNotFound) {
		return 0, true, nil
	}
	return id, false, err
}

// lookThrough returns, of the pages up to some id, those that match a search, by id. The id
// is math.MaxInt64 if these are all of the crawl.
func (s *Store) lookThrough(ctx context.Context, tx Tx, hostID int64, q store.PageSearch) ([]int64, int64, error) {
	through, err := s.stepOfStates(ctx, tx, q)
	// A host is read page by page, unless its states are rare.
	byHost := hostID != 0 && through != math.MaxInt64
	if err == nil && byHost {
		through, err = s.stepOfHost(ctx, tx, hostID, q)
	}
	if err != nil {
		return nil, 0, err
	}
	// Each page's URL is looked up by its id, whatever the planner believes of the tables.
	const url = `(SELECT p.url FROM pages p WHERE p.id = f.page_id)`
	where, args := `f.crawl_id = $1 AND f.page_id > $2 AND f.page_id <= $3`, []any{q.CrawlID, q.After, through, q.Limit}
	and := func(condition string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(" AND "+condition, len(args))
	}
	index := s.engine.Dialect().Index("frontier_state")
	if byHost {
		index = s.engine.Dialect().Index("frontier_host")
	}
	if hostID != 0 {
		and(`f.host_id = $%d`, hostID)
	}
	if len(q.States) > 0 || !byHost {
		where += ` AND f.state IN (` + stateList(searchedStates(q)) + `)`
	}
	if q.Prefix != "" {
		and(`SUBSTR(`+url+`, 1, LENGTH(CAST($%[1]d AS TEXT))) = $%[1]d`, clean(q.Prefix))
	}
	if q.Text != "" {
		and(`LOWER(`+url+`) LIKE $%d ESCAPE '!'`, containing(q.Text))
	}
	ids, err := collect(ctx, tx, `SELECT f.page_id FROM frontier f`+index+` WHERE `+where+` ORDER BY f.page_id LIMIT $4`, args, scanID)
	return ids, through, err
}

func searchedStates(q store.PageSearch) []crawl.PageState {
	if len(q.States) == 0 {
		return crawl.PageStates()
	}
	return q.States
}

// stepOfStates is the id at which a step ends that reads store.SearchStep pages of each
// state, math.MaxInt64 if none has more.
func (s *Store) stepOfStates(ctx context.Context, tx Tx, q store.PageSearch) (int64, error) {
	through := int64(math.MaxInt64)
	for _, state := range searchedStates(q) {
		id, err := s.stepThrough(ctx, tx, "frontier_state", `f.crawl_id = $1 AND f.state = $2 AND f.page_id > $3`, q.CrawlID, int64(state), q.After)
		if err != nil {
			return 0, err
		}
		through = min(through, id)
	}
	return through, nil
}

// stepOfHost is the same for the pages of one host.
func (s *Store) stepOfHost(ctx context.Context, tx Tx, hostID int64, q store.PageSearch) (int64, error) {
	return s.stepThrough(ctx, tx, "frontier_host", `f.host_id = $1 AND f.crawl_id = $2 AND f.page_id > $3`, hostID, q.CrawlID, q.After)
}

func (s *Store) stepThrough(ctx context.Context, tx Tx, index, where string, args ...any) (int64, error) {
	query := fmt.Sprintf(`SELECT f.page_id FROM frontier f%s WHERE %s ORDER BY f.page_id LIMIT 1 OFFSET %d`,
		s.engine.Dialect().Index(index), where, store.SearchStep-1)
	var id int64
	err := tx.QueryRow(ctx, query, args, &id)
	if errors.Is(err, store.ErrNotFound) {
		return math.MaxInt64, nil
	}
	return id, err
}

// containing is the pattern of LIKE for URLs and hosts that contain a text, in small letters. A text
// that is longer than all of them is cut to one that still is: SQLite bounds the length of patterns.
func containing(text string) string {
	text = strings.ToLower(clean(text))
	text = clean(text[:min(len(text), urlkey.MaxLength+1)])
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(text) + "%"
}

// SearchHosts implements store.Search.
func (s *Store) SearchHosts(ctx context.Context, q store.HostSearch) (store.HostsFound, error) {
	found, err := read(ctx, s, func(tx Tx) (store.HostsFound, error) { return s.searchHosts(ctx, tx, q) })
	if err != nil {
		return store.HostsFound{}, fmt.Errorf("search hosts of crawl %d: %w", q.CrawlID, err)
	}
	return found, nil
}

func (s *Store) searchHosts(ctx context.Context, tx Tx, q store.HostSearch) (found store.HostsFound, err error) {
	q.Limit = limitOr(q.Limit)
	if q.Text != "" {
		step := fmt.Sprintf(`SELECT host FROM hosts WHERE host > $1 ORDER BY host LIMIT 1 OFFSET %d`, store.SearchStep-1)
		err = tx.QueryRow(ctx, step, []any{clean(q.After)}, &found.Through)
		if ignoreNotFound(err) != nil {
			return found, err
		}
		found.More = err == nil
	}
	where, args := `hc.host_id = h.id AND hc.crawl_id = $1 AND h.host > $2`, []any{clean(q.After), q.Limit}
	and := func(condition string, value any) {
		args = append(args, value)
		where += fmt.Sprintf(" AND "+condition, len(args)+1)
	}
	if found.More {
		and(`h.host <= $%d`, found.Through)
	}
	if q.Host != "" {
		and(`h.host = $%d`, s.grouping.Unit(clean(q.Host)))
	}
	if q.Text != "" {
		and(`h.host LIKE $%d ESCAPE '!'`, containing(q.Text))
	}
	found.Hosts, err = s.loadHosts(ctx, tx, q.CrawlID, `hosts h CROSS JOIN host_crawls hc WHERE `+where+` ORDER BY h.host LIMIT $3`, args...)
	if err != nil {
		return found, err
	}
	if n := len(found.Hosts); n == q.Limit {
		found.Through, found.More = found.Hosts[n-1].Host, true
	}
	return found, s.describe(ctx, tx, q.CrawlID, found.Hosts)
}
