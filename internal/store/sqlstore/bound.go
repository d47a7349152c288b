package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// refillLimit is how long a page that was told to refill its crawl may take to admit
// something. Then another is told.
const refillLimit = 30 * time.Second

// loadBound reads the bound, which has no row until it moves.
func loadBound(ctx context.Context, tx Tx) (admission.Bound, error) {
	var b admission.Bound
	var at int64
	var reason string
	err := tx.QueryRow(ctx, `SELECT pages, moved_at, reason FROM admission_bound WHERE id = 1`, nil, &b.Pages, &at, &reason)
	if errors.Is(err, store.ErrNotFound) {
		return admission.Start(), nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(reason), &b.Reason)
	}
	if err != nil {
		return admission.Bound{}, fmt.Errorf("read the bound on admission: %w", err)
	}
	b.At = fromMicros(at)
	return b, nil
}

// moveBound stores a bound that has moved, unless somebody else has moved it meanwhile.
func moveBound(ctx context.Context, tx Tx, from, to admission.Bound) error {
	if to.At.Equal(from.At) {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO admission_bound (id, pages, moved_at, reason) VALUES (1, $1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET pages = excluded.pages, moved_at = excluded.moved_at, reason = excluded.reason
		WHERE admission_bound.moved_at = $4`, to.Pages, micros(to.At), jsonText(to.Reason), micros(from.At))
	if err != nil {
		return fmt.Errorf("move the bound on admission: %w", err)
	}
	return nil
}

// loadDemand counts the pages that are on their way to their first visit. Pages of
// crawls that do not run are no burden.
func loadDemand(ctx context.Context, tx Tx, crawlID int64) (admission.Demand, error) {
	query := fmt.Sprintf(`SELECT c.id, CAST(SUM(k.n) AS BIGINT) FROM crawls c CROSS JOIN crawl_counts k
		WHERE (c.state = %d OR c.id = $1) AND k.crawl_id = c.id AND k.kind = '%s' AND k.code = %d
		GROUP BY c.id`, crawl.CrawlRunning, countTotal, totalUnattempted)
	d := admission.Demand{Crawls: 1}
	err := tx.Query(ctx, query, []any{crawlID}, func(row Row) error {
		var id int64
		var n int
		if err := row.Scan(&id, &n); err != nil {
			return err
		}
		n = max(n, 0) // programs of the previous release do not count them
		d.Taken += n
		switch {
		case id == crawlID:
			d.Own = n
		case n > 0:
			d.Crawls++
		}
		return nil
	})
	if err != nil {
		return admission.Demand{}, fmt.Errorf("count the pages on their way: %w", err)
	}
	return d, nil
}

// allowance is the number of pages that a crawl may now admit under the bound.
type allowance struct {
	was, is admission.Bound
	room    int // pages, if that is worth it
	seeds   int // seeds, if there is no room
}

// allow decides whether the bound moves and what it allows the crawl.
func (s *Store) allow(ctx context.Context, tx Tx, crawlID int64, e admission.Engine) (allowance, error) {
	var a allowance
	var err error
	if a.was, err = loadBound(ctx, tx); err != nil {
		return allowance{}, err
	}
	demand, err := loadDemand(ctx, tx, crawlID)
	if err != nil {
		return allowance{}, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return allowance{}, err
	}
	a.is = a.was.Next(fromMicros(now), e, demand.Taken)
	if a.room = a.is.Room(demand); a.room > 0 {
		return a, nil
	}
	var waiting int
	// SQLite would take the range of states for the better choice.
	query := `SELECT COUNT(*) FROM (SELECT f.page_id FROM frontier f` + s.engine.Dialect().Index("frontier_new_seeds") + `
		WHERE f.crawl_id = $1 AND f.state BETWEEN 2 AND 7 AND f.attempted = 0 AND f.priority = 0 LIMIT $2) w`
	if err := tx.QueryRow(ctx, query, []any{crawlID, admission.Seeds}, &waiting); err != nil {
		return allowance{}, fmt.Errorf("count the seeds on their way: %w", err)
	}
	a.seeds = admission.Seeds - waiting
	return a, nil
}

// fits reports whether a page fits into the rest of the allowance, and takes its
// place.
func (a *allowance) fits(seed bool) bool {
	switch {
	case a.room > 0:
		a.room--
	case seed && a.seeds > 0:
		a.seeds--
	default:
		return false
	}
	return true
}

// newSeeds lists known seeds of hosts with room in their windows, the latest first, so
// that a few that a person adds do not wait behind a million that were imported.
func (s *Store) newSeeds(ctx context.Context, tx Tx, crawlID, window int64, n int) ([]store.PageRecord, error) {
	query := fmt.Sprintf(`SELECT p.page_id FROM
		(SELECT f.page_id, f.crawl_id, f.host_id FROM frontier f%s
			WHERE f.crawl_id = $1 AND f.state = %d AND f.priority = 0 ORDER BY f.page_id DESC LIMIT %d) p
		CROSS JOIN host_crawls hc
		WHERE hc.host_id = p.host_id AND hc.crawl_id = p.crawl_id AND hc.unattempted < $2
		ORDER BY p.page_id DESC LIMIT $3`, s.engine.Dialect().Index("frontier_seeds"), crawl.Known, admission.Seeds)
	ids, err := collect(ctx, tx, query, []any{crawlID, window, n}, scanID)
	if err != nil {
		return nil, fmt.Errorf("seeds that wait: %w", err)
	}
	return s.loadPages(ctx, tx, ids)
}

// refill holds the data that decides whether a page is told to refill its crawl.
type refill struct {
	crawlID       int64
	limits        limits
	page          int64 // that was last told
	until, lookAt int64
}

// mayRefill asks for a refill of a page's crawl. The answer is true if known pages wait
// for their admission, there is enough room for them to be worth it, and nobody else is
// refilling. The caller that gets it starts a Discover.
//
// It comes after the commit of the visit that made room, and Refilled checks again after
// its own. If a refill ends and a visit makes room at the same moment, one sees the
// other, though neither locks anything.
func (s *Store) mayRefill(ctx context.Context, pageID int64) (bool, error) {
	r, err := glance(ctx, s, func(tx Tx) (refill, error) {
		r, err := loadRefill(ctx, tx, `FROM frontier f JOIN crawls c ON c.id = f.crawl_id`, `f.page_id`, pageID)
		if err != nil {
			return refill{}, err
		}
		return s.worthRefill(ctx, tx, r, pageID)
	})
	if err != nil || r.crawlID == 0 {
		return false, ignoreNotFound(err) // the page may have been forgotten
	}
	return s.claimRefill(ctx, r.crawlID, pageID)
}

// Refilled implements store.Frontier.
func (s *Store) Refilled(ctx context.Context, crawlID int64, e admission.Engine) (bool, error) {
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return 0, err
		}
		return tx.Exec(ctx, `UPDATE refills SET until = 0, look_at = $2 WHERE crawl_id = $1`, crawlID, now+spanMicros(admission.Period(e)))
	})
	if err != nil {
		return false, fmt.Errorf("end the refill of crawl %d: %w", crawlID, err)
	}
	r, err := read(ctx, s, func(tx Tx) (refill, error) {
		r, err := loadRefill(ctx, tx, `FROM crawls c`, `c.id`, crawlID)
		if err != nil {
			return refill{}, err
		}
		return s.worthRefill(ctx, tx, r, 0)
	})
	again, err := false, ignoreNotFound(err)
	if err == nil && r.crawlID != 0 {
		again, err = s.claimRefill(ctx, crawlID, 0)
	}
	if err != nil {
		return false, fmt.Errorf("refill crawl %d again: %w", crawlID, err)
	}
	return again, nil
}

func loadRefill(ctx context.Context, tx Tx, from, key string, id int64) (refill, error) {
	var r refill
	var state, requisites uint8
	query := `SELECT c.id, c.state, c.window_size, c.max_pages, c.site_time, c.site_round, c.requisites, COALESCE(r.page_id, 0), COALESCE(r.until, 0), COALESCE(r.look_at, 0) ` + from + `
		LEFT JOIN refills r ON r.crawl_id = c.id WHERE ` + key + ` = $1`
	err := tx.QueryRow(ctx, query, []any{id}, &r.crawlID, &state, &r.limits.window, &r.limits.maxPages,
		&r.limits.site.time, &r.limits.site.length, &requisites, &r.page, &r.until, &r.lookAt)
	r.limits.state, r.limits.requisites = crawl.CrawlState(state), requisites != 0
	return r, err
}

// worthRefill returns r if the page, 0 for none, may refill the crawl, and
// otherwise no refill. The cheapest checks that most often fail come first.
func (s *Store) worthRefill(ctx context.Context, tx Tx, r refill, page int64) (refill, error) {
	now, err := tx.Now(ctx)
	if err != nil || r.until > now && (page == 0 || r.page != page) {
		return refill{}, err
	}
	low, err := s.queryRooms(ctx, tx, store.CandidateParams{CrawlID: r.crawlID}, r.limits, 1)
	if err != nil || len(low) == 0 || !admission.Low(int(low[0].unattempted), int(r.limits.window)) {
		return refill{}, err
	}
	if free, err := r.limits.free(ctx, tx, r.crawlID); err != nil || free == 0 && (!r.limits.requisites || r.limits.state == crawl.CrawlStopped) {
		return refill{}, err
	} else if free == 0 {
		if waiting, err := s.knownRequisites(ctx, tx, r.crawlID, r.limits.window, 1); err != nil || len(waiting) == 0 {
			return refill{}, err
		}
	}
	bound, err := loadBound(ctx, tx)
	if err != nil {
		return refill{}, err
	}
	demand, err := loadDemand(ctx, tx, r.crawlID)
	if err != nil {
		return refill{}, err
	}
	// Only the admitting worker knows whether the engine is quick enough for more.
	grows := page != 0 && now >= r.lookAt && bound.MayGrow(fromMicros(now), demand.Taken)
	if bound.Room(demand) == 0 && !grows {
		return refill{}, nil
	}
	return r, nil
}

// claimRefill notes that a page, 0 for none, refills the crawl, and reports whether it
// was the first.
func (s *Store) claimRefill(ctx context.Context, crawlID, page int64) (bool, error) {
	n, err := write(ctx, s, func(tx Tx) (int64, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return 0, err
		}
		return tx.Exec(ctx, `INSERT INTO refills (crawl_id, page_id, until, look_at)
			SELECT c.id, CAST($2 AS BIGINT), CAST($3 AS BIGINT), 0 FROM crawls c WHERE c.id = $1
			ON CONFLICT (crawl_id) DO UPDATE SET page_id = excluded.page_id, until = excluded.until
			WHERE refills.until <= $4 OR refills.page_id = excluded.page_id AND refills.page_id <> 0`,
			crawlID, page, now+spanMicros(refillLimit), now)
	})
	return n > 0, err
}

// noteAdmission completes an admission that the bound allowed: the bound moves, the hosts
// have had their turn, those whose round is over begin another, and the refilling page gets
// more time.
func (s *Store) noteAdmission(ctx context.Context, tx Tx, crawlID, now int64, hosts []int64, site siteRound, a allowance) error {
	if len(hosts) > 0 {
		query, args := `UPDATE host_crawls SET admitted_at = $2`, []any{idList(hosts), now, crawlID}
		if site.time > 0 {
			query += `, round_at = CASE WHEN round_at <= $4 THEN $2 ELSE round_at END`
			args = append(args, now-site.length)
		}
		query += ` WHERE (host_id, crawl_id) IN (` + s.hostsOf(1, 3) + `)`
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return fmt.Errorf("note the hosts' turns: %w", err)
		}
		_, err := tx.Exec(ctx, `UPDATE refills SET until = $2 WHERE crawl_id = $1 AND until > $3`, crawlID, now+spanMicros(refillLimit), now)
		if err != nil {
			return fmt.Errorf("go on with the refill: %w", err)
		}
	}
	return moveBound(ctx, tx, a.was, a.is)
}

// miscounted is how many more pages of a crawl are on their way than are counted. Both are
// read in one statement, and so at one moment, however many visits are recorded meanwhile.
var miscounted = fmt.Sprintf(`(SELECT c.id AS crawl_id,
	COALESCE((SELECT SUM(hc.unattempted) FROM host_crawls hc WHERE hc.crawl_id = c.id), 0)
	- COALESCE((SELECT SUM(k.n) FROM crawl_counts k WHERE k.crawl_id = c.id AND k.kind = '%s' AND k.code = %d), 0) AS n
	FROM crawls c WHERE c.id = $1) d`, countTotal, totalUnattempted)

// Recount implements store.Frontier.
func (s *Store) Recount(ctx context.Context, crawlID int64) error {
	wrong, err := read(ctx, s, func(tx Tx) ([]int64, error) {
		return collect(ctx, tx, `SELECT CAST(d.n AS BIGINT) FROM `+miscounted+` WHERE d.n <> 0`, []any{crawlID}, scanID)
	})
	if err == nil && len(wrong) > 0 {
		query := fmt.Sprintf(`INSERT INTO crawl_counts (crawl_id, slot, kind, code, n)
			SELECT d.crawl_id, 0, '%s', %d, d.n FROM %s WHERE d.n <> 0
			ON CONFLICT (crawl_id, kind, code, slot) DO UPDATE SET n = crawl_counts.n + excluded.n`, countTotal, totalUnattempted, miscounted)
		_, err = write(ctx, s, func(tx Tx) (int64, error) { return tx.Exec(ctx, query, crawlID) })
	}
	if err != nil {
		return fmt.Errorf("recount the pages on their way of crawl %d: %w", crawlID, err)
	}
	return nil
}
