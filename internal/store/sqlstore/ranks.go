package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

// ranksPerTx is how many pages, or hosts, one transaction ranks: a row of the frontier
// and an entry of an index each, so that the embedded store's writer is held up for
// well under 100 ms.
const ranksPerTx = 1000

// RankedPages implements store.Ranks.
func (s *Store) RankedPages(ctx context.Context, crawlID, after int64, limit int) ([]store.RankedPage, error) {
	pages, err := read(ctx, s, func(tx Tx) ([]store.RankedPage, error) {
		states := slices.DeleteFunc(crawl.PageStates(), func(state crawl.PageState) bool { return state == crawl.Held || state == crawl.Kept })
		ids, err := mergeStates(states, limitOr(limit), func(state crawl.PageState, through int64) ([]int64, error) {
			query := `SELECT f.page_id FROM frontier f WHERE f.crawl_id = $1 AND f.state = $2 AND f.page_id > $3 AND f.page_id <= $5 ORDER BY f.page_id LIMIT $4`
			return collect(ctx, tx, query, []any{crawlID, int64(state), after, limitOr(limit), through}, scanID)
		})
		if err != nil {
			return nil, err
		}
		query := `SELECT f.page_id, f.host_id, f.state, f.evicted_as, f.priority, f.rank, f.weight, f.placed_at, p.kind
			FROM ` + s.records(1, "r", "id bigint") + ` CROSS JOIN frontier f JOIN pages p ON p.id = f.page_id
			WHERE f.page_id = r.id ORDER BY f.page_id`
		return collect(ctx, tx, query, []any{idList(ids)}, scanRankedPage)
	})
	if err != nil {
		return nil, fmt.Errorf("pages of crawl %d to be ranked: %w", crawlID, err)
	}
	return pages, nil
}

func scanRankedPage(row Row) (store.RankedPage, error) {
	var p store.RankedPage
	var state, evictedAs, kind uint8
	var priority float64
	var placed int64
	if err := row.Scan(&p.ID, &p.HostID, &state, &evictedAs, &priority, &p.Rank, &p.Weight, &placed, &kind); err != nil {
		return store.RankedPage{}, err
	}
	p.State, p.Seed, p.Source, p.Placed = crawl.PageState(state), priority == 0, crawl.PageKind(kind) != crawl.KindPage, fromMicros(placed)
	if p.State == crawl.Evicted {
		p.EvictedAs = crawl.PageState(evictedAs)
	}
	return p, nil
}

// PageLinks implements store.Ranks. It reads the primary key of links in order: to
// skip those of other crawls, ask after (the next page, 0).
func (s *Store) PageLinks(ctx context.Context, after store.PageLink, limit int) ([]store.PageLink, error) {
	query := `SELECT l.src, l.dst FROM links l WHERE (l.src, l.dst) > ($1, $2) ORDER BY l.src, l.dst LIMIT $3`
	links, err := read(ctx, s, func(tx Tx) ([]store.PageLink, error) {
		return collect(ctx, tx, query, []any{after.From, after.To, limitOr(limit)}, func(row Row) (l store.PageLink, err error) {
			err = row.Scan(&l.From, &l.To)
			return l, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("links between pages: %w", err)
	}
	return links, nil
}

// rankRecord is a page's rank as it is written.
type rankRecord struct {
	ID       int64   `json:"id"`
	Rank     float64 `json:"rank"`
	Weight   float64 `json:"weight"`
	Priority float64 `json:"priority"`
	Hosts    int32   `json:"hosts"`
	Inner    int32   `json:"inner_links"`
}

// SaveRanks implements store.Ranks.
func (s *Store) SaveRanks(ctx context.Context, crawlID int64, ranks []store.PageRank) error {
	ranks = slices.Clone(ranks)
	slices.SortFunc(ranks, func(a, b store.PageRank) int { return cmp.Compare(a.ID, b.ID) })
	for some := range slices.Chunk(ranks, ranksPerTx) {
		ids, rows := make([]int64, len(some)), make([]rankRecord, len(some))
		for i, r := range some {
			ids[i] = r.ID
			// Not at level 0: a seed keeps its priority.
			rows[i] = rankRecord{r.ID, r.Rank, r.Weight, rank.Priority(1, r.Weight), r.Hosts, r.Inner}
		}
		_, err := write(ctx, s, func(tx Tx) (int64, error) { return s.saveRanks(ctx, tx, crawlID, ids, rows) })
		if err != nil {
			return fmt.Errorf("save ranks of crawl %d: %w", crawlID, err)
		}
	}
	return nil
}

func (s *Store) saveRanks(ctx context.Context, tx Tx, crawlID int64, ids []int64, rows []rankRecord) (int64, error) {
	if s.lock() != "" {
		query := `SELECT page_id FROM frontier WHERE page_id IN (` + s.ids(1) + `) ORDER BY page_id` + s.lock()
		if _, err := collect(ctx, tx, query, []any{idList(ids)}, scanID); err != nil {
			return 0, fmt.Errorf("lock pages: %w", err)
		}
	}
	// What became a requisite while the ranking ran has no rank, and stays below all pages. The +
	// keeps SQLite from reading all pages of the crawl.
	query := fmt.Sprintf(`UPDATE frontier SET rank = r.rank, weight = r.weight, linking_hosts = r.hosts, inner_links = r.inner_links,
			priority = CASE WHEN frontier.priority = 0 THEN 0 ELSE r.priority END
		FROM %s
		WHERE frontier.page_id = r.id AND +frontier.crawl_id = $2 AND frontier.state <> %[3]d AND +frontier.priority > %[4]d
			AND (ABS(frontier.rank - r.rank) > %[2]v * r.rank OR ABS(frontier.weight - r.weight) > %[2]v * r.weight
				OR frontier.linking_hosts <> r.hosts OR frontier.inner_links <> r.inner_links)`,
		s.records(1, "r", "id bigint", "rank float", "weight float", "priority float", "hosts bigint", "inner_links bigint"), store.RankSlack, crawl.Held, requisitePriority)
	return tx.Exec(ctx, query, jsonText(rows), crawlID)
}

// hostRankRecord is a host's rank as it is written.
type hostRankRecord struct {
	ID    int64   `json:"id"`
	Rank  float64 `json:"rank"`
	Pages int     `json:"pages"`
	Inner int     `json:"inner_links"`
	Links int     `json:"links"`
	From  int     `json:"linking_pages"`
	Hosts int     `json:"linking_hosts"`
}

// SaveRanking implements store.Ranks. The hosts' ranks come first; if it is cut off,
// the next ranking writes them again.
func (s *Store) SaveRanking(ctx context.Context, crawlID int64, r store.RankingRecord, hosts []store.HostRank) error {
	if err := s.saveRanking(ctx, crawlID, r, hosts); err != nil {
		return fmt.Errorf("save a ranking of crawl %d: %w", crawlID, err)
	}
	return nil
}

func (s *Store) saveRanking(ctx context.Context, crawlID int64, r store.RankingRecord, hosts []store.HostRank) error {
	at, err := read(ctx, s, func(tx Tx) (int64, error) { return tx.Now(ctx) })
	if err != nil {
		return err
	}
	rows := make([]hostRankRecord, len(hosts))
	for i, h := range hosts {
		rows[i] = hostRankRecord{h.Host, h.Rank, h.Pages, h.Inner, h.Links, h.LinkingPages, h.LinkingHosts}
	}
	slices.SortFunc(rows, func(a, b hostRankRecord) int { return cmp.Compare(a.ID, b.ID) })
	for some := range slices.Chunk(rows, ranksPerTx) {
		if _, err := write(ctx, s, func(tx Tx) (int64, error) { return s.saveHostRanks(ctx, tx, crawlID, at, some) }); err != nil {
			return fmt.Errorf("save ranks of hosts: %w", err)
		}
	}
	old := fmt.Sprintf(`DELETE FROM host_ranks WHERE (crawl_id, host_id) IN
		(SELECT h.crawl_id, h.host_id FROM host_ranks h WHERE h.crawl_id = $1 AND h.ranked_at < $2 LIMIT %d)`, ranksPerTx)
	for n := int64(ranksPerTx); n == ranksPerTx; {
		n, err = write(ctx, s, func(tx Tx) (int64, error) { return tx.Exec(ctx, old, crawlID, at) })
		if err != nil {
			return fmt.Errorf("remove old ranks of hosts: %w", err)
		}
	}
	_, err = write(ctx, s, func(tx Tx) (int64, error) { return recordRanking(ctx, tx, crawlID, at, r) })
	return err
}

func (s *Store) saveHostRanks(ctx context.Context, tx Tx, crawlID, at int64, rows []hostRankRecord) (int64, error) {
	query := `INSERT INTO host_ranks (crawl_id, host_id, ranked_at, rank, pages, inner_links, links, linking_pages, linking_hosts)
		SELECT CAST($2 AS BIGINT), r.id, CAST($3 AS BIGINT), r.rank, r.pages, r.inner_links, r.links, r.linking_pages, r.linking_hosts
		FROM ` + s.records(1, "r", "id bigint", "rank float", "pages bigint", "inner_links bigint", "links bigint", "linking_pages bigint", "linking_hosts bigint") + `
		WHERE true ORDER BY r.id
		ON CONFLICT (crawl_id, host_id) DO UPDATE SET ranked_at = excluded.ranked_at, rank = excluded.rank, pages = excluded.pages,
			inner_links = excluded.inner_links, links = excluded.links, linking_pages = excluded.linking_pages, linking_hosts = excluded.linking_hosts`
	return tx.Exec(ctx, query, jsonText(rows), crawlID, at)
}

// recordRanking makes a ranking the crawl's last.
func recordRanking(ctx context.Context, tx Tx, crawlID, at int64, r store.RankingRecord) (int64, error) {
	var id int64
	if err := tx.QueryRow(ctx, `SELECT id FROM crawls WHERE id = $1`, []any{crawlID}, &id); err != nil {
		return 0, err
	}
	return tx.Exec(ctx, `INSERT INTO rankings (crawl_id, at, pages, links, hosts, rounds, residual, damping, personalised, took, reason, top, known_links)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (crawl_id) DO UPDATE SET at = excluded.at, pages = excluded.pages, links = excluded.links, hosts = excluded.hosts,
			rounds = excluded.rounds, residual = excluded.residual, damping = excluded.damping, personalised = excluded.personalised,
			took = excluded.took, reason = excluded.reason, top = excluded.top, known_links = excluded.known_links`,
		crawlID, at, r.Pages, r.Links, r.Hosts, r.Rounds, r.Residual, r.Damping, r.Personalised, r.Took.Microseconds(),
		jsonText(r.Reason), jsonText(r.Top[:min(len(r.Top), store.RankedTop)]), r.Known)
}

// Ranking implements store.Ranks.
func (s *Store) Ranking(ctx context.Context, crawlID int64) (last store.RankingRecord, links int, err error) {
	_, err = read(ctx, s, func(tx Tx) (struct{}, error) {
		last, links, err = ranking(ctx, tx, crawlID)
		return struct{}{}, err
	})
	if err != nil {
		return store.RankingRecord{}, 0, fmt.Errorf("ranking of crawl %d: %w", crawlID, err)
	}
	return last, links, nil
}

func ranking(ctx context.Context, tx Tx, crawlID int64) (r store.RankingRecord, links int, err error) {
	count := fmt.Sprintf(`SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM crawl_counts WHERE crawl_id = $1 AND kind = 'total' AND code = %d`, totalLinks)
	if err := tx.QueryRow(ctx, count, []any{crawlID}, &links); err != nil {
		return store.RankingRecord{}, 0, fmt.Errorf("count links: %w", err)
	}
	var at, personalised, took int64
	var reason, top string
	err = tx.QueryRow(ctx, `SELECT at, pages, links, hosts, rounds, residual, damping, personalised, took, reason, top, known_links FROM rankings WHERE crawl_id = $1`,
		[]any{crawlID}, &at, &r.Pages, &r.Links, &r.Hosts, &r.Rounds, &r.Residual, &r.Damping, &personalised, &took, &reason, &top, &r.Known)
	if errors.Is(err, store.ErrNotFound) {
		return store.RankingRecord{}, links, nil
	}
	if err != nil {
		return store.RankingRecord{}, 0, err
	}
	r.At, r.Personalised, r.Took = fromMicros(at), personalised != 0, span(took)
	if err := errors.Join(json.Unmarshal([]byte(reason), &r.Reason), json.Unmarshal([]byte(top), &r.Top)); err != nil {
		return store.RankingRecord{}, 0, fmt.Errorf("decode a ranking: %w", err)
	}
	return r, links, nil
}

// addRanks adds the last ranking's figures of the hosts.
func (s *Store) addRanks(ctx context.Context, tx Tx, crawlID int64, hosts []store.HostRecord) error {
	byID := make(map[int64]*store.HostRecord, len(hosts))
	ids := make([]int64, len(hosts))
	for i := range hosts {
		byID[hosts[i].ID], ids[i] = &hosts[i], hosts[i].ID
	}
	query := `SELECT k.host_id, k.rank, k.pages, k.inner_links, k.links, k.linking_pages, k.linking_hosts
		FROM ` + s.records(2, "r", "id bigint") + ` CROSS JOIN host_ranks k WHERE k.crawl_id = ` + ofEach(1, "r.id") + ` AND k.host_id = r.id`
	ranks, err := collect(ctx, tx, query, []any{crawlID, idList(ids)}, func(row Row) (h store.HostRank, err error) {
		err = row.Scan(&h.Host, &h.Rank, &h.Pages, &h.Inner, &h.Links, &h.LinkingPages, &h.LinkingHosts)
		return h, err
	})
	if err != nil {
		return fmt.Errorf("read ranks of hosts: %w", err)
	}
	for _, r := range ranks {
		byID[r.Host].Ranked = &r
	}
	return nil
}
