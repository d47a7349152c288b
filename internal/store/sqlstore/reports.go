package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// maxOverdue is how many due pages Status reads: a crawl that is behind by more is
// simply behind, and the answer must not take longer the worse it is.
const maxOverdue = 50_000

// Status implements store.Reports. Overdue is exact up to maxOverdue.
func (s *Store) Status(ctx context.Context, crawlID int64) (store.StatusRecord, error) {
	st, err := read(ctx, s, func(tx Tx) (store.StatusRecord, error) { return s.status(ctx, tx, crawlID) })
	if err != nil {
		return store.StatusRecord{}, fmt.Errorf("status of crawl %d: %w", crawlID, err)
	}
	return st, nil
}

func (s *Store) status(ctx context.Context, tx Tx, crawlID int64) (store.StatusRecord, error) {
	st := store.StatusRecord{Pages: map[crawl.PageState]int{}, Outcomes: map[crawl.Outcome]int{}}
	demand, err := queryDemand(ctx, tx, crawlID)
	if err != nil {
		return store.StatusRecord{}, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return store.StatusRecord{}, err
	}
	if err := readCounts(ctx, tx, crawlID, now, &st); err != nil {
		return store.StatusRecord{}, err
	}
	if err := readHosts(ctx, tx, crawlID, now, &st); err != nil {
		return store.StatusRecord{}, err
	}
	if st.Delays, err = readDelays(ctx, tx, crawlID, demand); err != nil {
		return store.StatusRecord{}, err
	}
	if st.Evicted, err = countEvictions(ctx, tx, crawlID, now, store.EvictionsKept); err != nil {
		return store.StatusRecord{}, err
	}
	if st.Bound, err = loadBound(ctx, tx); err != nil {
		return store.StatusRecord{}, err
	}
	if st.Demand, err = loadDemand(ctx, tx, crawlID); err != nil {
		return store.StatusRecord{}, err
	}
	err = readDue(ctx, tx, crawlID, now, &st)
	return st, err
}

// readCounts fills in the figures that are counted by deltas.
func readCounts(ctx context.Context, tx Tx, crawlID, now int64, st *store.StatusRecord) error {
	query := `SELECT kind, code, CAST(SUM(n) AS BIGINT) FROM crawl_counts WHERE crawl_id = $1 GROUP BY kind, code`
	days := map[int64]*store.Day{}
	err := tx.Query(ctx, query, []any{crawlID}, func(row Row) error {
		var kind string
		var code int64
		var n int
		if err := row.Scan(&kind, &code, &n); err != nil {
			return err
		}
		switch {
		case n == 0:
		case dayCounts[kind] != nil:
			readDay(days, now/dayMicros, kind, code, n)
		case kind == countState:
			st.Pages[crawl.PageState(code)] = n
		case kind == countOutcome:
			st.Outcomes[crawl.Outcome(code)] = n
		case kind == countMinute && code > now/minuteMicros-keptMinutes:
			st.LastHour += n
		case kind == countTotal && code == totalVisits:
			st.Visits = n
		case kind == countTotal && code == totalVersions:
			st.Versions = n
		case kind == countTotal && code == totalLinks:
			st.Links = n
		case code >= 0 && code < store.ForesightBins:
			readForesight(kind, n, &st.Foresight[code])
		}
		return nil
	})
	for _, day := range slices.Sorted(maps.Keys(days)) {
		days[day].Due += days[day].Visits
		st.Days = append(st.Days, *days[day])
	}
	return err
}

// dayCounts add the count of a kind to a day. First visits are subtracted from Due.
var dayCounts = map[string]func(d *store.Day, n int){
	countDay:        func(d *store.Day, n int) { d.Visits = n },
	countDayChanged: func(d *store.Day, n int) { d.Changes = n },
	countDayFirst:   func(d *store.Day, n int) { d.Due = -n },
	countDayLate:    func(d *store.Day, n int) { d.Late = time.Duration(n) * time.Millisecond },
}

// readDay takes a count of a day that is still shown today.
func readDay(days map[int64]*store.Day, today int64, kind string, code int64, n int) {
	if code <= today-store.DaysKept {
		return
	}
	if days[code] == nil {
		days[code] = &store.Day{Start: fromMicros(code * dayMicros)}
	}
	dayCounts[kind](days[code], n)
}

// readForesight takes a count of visits whose outcome was foreseen.
func readForesight(kind string, n int, f *store.Foresight) {
	switch kind {
	case countForetold:
		f.Visits = n
	case countChance:
		f.Chance = float64(n) / chanceUnit
	case countFound:
		f.Found = n
	}
}

// readHosts fills in the figures from the crawl's hosts.
func readHosts(ctx context.Context, tx Tx, crawlID, now int64, st *store.StatusRecord) error {
	query := `SELECT COUNT(*), COALESCE(SUM(CASE WHEN h.backoff_until > $2 THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN h.blocked = 1 THEN 1 ELSE 0 END), 0)
		FROM host_crawls hc JOIN hosts h ON h.id = hc.host_id WHERE hc.crawl_id = $1`
	if err := tx.QueryRow(ctx, query, []any{crawlID, now}, &st.Hosts, &st.Backoff, &st.Blocked); err != nil {
		return fmt.Errorf("count hosts: %w", err)
	}
	query = `SELECT CAST(COALESCE(SUM(l.waiting), 0) AS BIGINT)
		FROM host_crawls hc JOIN lines l ON l.host_id = hc.host_id AND l.crawl_id = hc.crawl_id WHERE hc.crawl_id = $1`
	if err := tx.QueryRow(ctx, query, []any{crawlID}, &st.Waiting); err != nil {
		return fmt.Errorf("count waiting pages: %w", err)
	}
	return nil
}

// readDue fills in the overdue pages and the next due ones.
func readDue(ctx context.Context, tx Tx, crawlID, now int64, st *store.StatusRecord) error {
	overdue := fmt.Sprintf(`SELECT COUNT(*) FILTER (WHERE d.alone), COALESCE(MIN(d.next_at) FILTER (WHERE d.alone), 0), COUNT(*)
		FROM (SELECT f.next_at, %s AS alone FROM frontier f
			WHERE f.crawl_id = $1 AND f.state BETWEEN %d AND %d AND f.next_at < $2
			ORDER BY f.next_at LIMIT %d) d`, notInLine("f.page_id"), crawl.Active, crawl.Excluded, maxOverdue)
	var oldest int64
	var looked int
	if err := tx.QueryRow(ctx, overdue, []any{crawlID, now}, &st.Overdue, &oldest, &looked); err != nil {
		return fmt.Errorf("count overdue pages: %w", err)
	}
	st.OverdueMore = looked == maxOverdue
	if oldest != 0 {
		st.Lag = span(now - oldest)
	}
	next := fmt.Sprintf(`SELECT f.next_at FROM frontier f
		WHERE f.crawl_id = $1 AND f.state BETWEEN %d AND %d AND f.next_at >= $2
		ORDER BY f.next_at LIMIT 1`, crawl.Active, crawl.Excluded)
	var at int64
	err := tx.QueryRow(ctx, next, []any{crawlID, now}, &at)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("find the next due page: %w", err)
	}
	st.NextDue = fromMicros(at)
	return nil
}

// ListPages implements store.Reports.
func (s *Store) ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error) {
	pages, err := read(ctx, s, func(tx Tx) ([]store.PageRecord, error) {
		if f.Sample > 0 {
			return s.samplePages(ctx, tx, f)
		}
		ids, err := s.listIDs(ctx, tx, f)
		if err != nil {
			return nil, err
		}
		return s.loadPages(ctx, tx, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	return pages, nil
}

// listIDs returns the ids of the pages that pass the filter, in order. It asks
// crawl by crawl and state by state, since that is how indexes have the ids in
// order, and merges.
func (s *Store) listIDs(ctx context.Context, tx Tx, f store.PageFilter) ([]int64, error) {
	crawls := []int64{f.CrawlID}
	if f.CrawlID == 0 {
		var err error
		if crawls, err = collect(ctx, tx, `SELECT id FROM crawls`, nil, scanID); err != nil {
			return nil, err
		}
	}
	hostID := int64(0)
	if f.Host != "" {
		if _, err := s.unitOf(f.Host); err != nil {
			return nil, err
		}
		err := tx.QueryRow(ctx, `SELECT id FROM hosts WHERE host = $1`, []any{clean(f.Host)}, &hostID)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	var all []int64
	for _, id := range crawls {
		ids, err := s.listCrawl(ctx, tx, id, hostID, f)
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	slices.Sort(all)
	return all[:min(limitOr(f.Limit), len(all))], nil
}

// listCrawl is listIDs for one crawl.
func (s *Store) listCrawl(ctx context.Context, tx Tx, crawlID, hostID int64, f store.PageFilter) ([]int64, error) {
	if !f.ChangedSince.IsZero() {
		ids, complete, err := changedSince(ctx, tx, crawlID, hostID, f)
		if err != nil || complete {
			return ids, err
		}
	}
	states := f.States
	if len(states) == 0 {
		states = crawl.PageStates()
	}
	if hostID != 0 {
		return listHost(ctx, tx, crawlID, hostID, states, f)
	}
	if !f.ChangedSince.IsZero() && len(states) > 1 {
		return s.walkChanged(ctx, tx, crawlID, states, f)
	}
	return mergeStates(states, limitOr(f.Limit), func(state crawl.PageState, through int64) ([]int64, error) {
		query := `SELECT f.page_id FROM frontier f
			WHERE f.crawl_id = $1 AND f.state = $2 AND f.page_id > $3 AND (f.last_change >= $4 OR f.last_return >= $6) AND f.page_id <= $7
			ORDER BY f.page_id LIMIT $5`
		return collect(ctx, tx, query, []any{crawlID, int64(state), f.After, micros(f.ChangedSince), limitOr(f.Limit), micros(f.ChangedSince), through}, scanID)
	})
}

// walkChanged lists the changed pages of several states along the ids. Asked state by state, as
// an index has them, one with few matches would be read to its end for each part of the list.
func (s *Store) walkChanged(ctx context.Context, tx Tx, crawlID int64, states []crawl.PageState, f store.PageFilter) ([]int64, error) {
	// Pages of other crawls lie before, between and behind those of this one.
	low, high := lastID, int64(0)
	for _, state := range states {
		var first, last int64
		err := tx.QueryRow(ctx, `SELECT COALESCE((SELECT MIN(page_id) FROM frontier WHERE crawl_id = $1 AND state = $2 AND page_id > $3), 0),
			COALESCE((SELECT MAX(page_id) FROM frontier WHERE crawl_id = $4 AND state = $5), 0)`,
			[]any{crawlID, int64(state), f.After, crawlID, int64(state)}, &first, &last)
		if err != nil {
			return nil, fmt.Errorf("where the %s pages lie: %w", state, err)
		}
		if first > 0 {
			low, high = min(low, first), max(high, last)
		}
	}
	query := `SELECT f.page_id FROM frontier f` + s.engine.Dialect().Index("") + `
		WHERE f.page_id >= $1 AND f.page_id <= $2 AND f.crawl_id = $3 AND f.state IN (` + stateList(states) + `) AND (f.last_change >= $4 OR f.last_return >= $5)
		ORDER BY f.page_id LIMIT $6`
	return collect(ctx, tx, query, []any{low, high, crawlID, micros(f.ChangedSince), micros(f.ChangedSince), limitOr(f.Limit)}, scanID)
}

// listHost lists pages of one host.
func listHost(ctx context.Context, tx Tx, crawlID, hostID int64, states []crawl.PageState, f store.PageFilter) ([]int64, error) {
	query := `SELECT f.page_id FROM frontier f
		WHERE f.host_id = $1 AND f.crawl_id = $2 AND f.page_id > $3 AND (f.last_change >= $4 OR f.last_return >= $6) AND f.state IN (` + stateList(states) + `)
		ORDER BY f.page_id LIMIT $5`
	return collect(ctx, tx, query, []any{hostID, crawlID, f.After, micros(f.ChangedSince), limitOr(f.Limit), micros(f.ChangedSince)}, scanID)
}

// stateList is states as a list of SQL numbers.
func stateList(states []crawl.PageState) string {
	list := ""
	for i, state := range states {
		if i > 0 {
			list += ", "
		}
		list += fmt.Sprintf("%d", uint8(state))
	}
	return list
}

// changedSince lists the pages of a crawl that changed since a time, or returned to an
// earlier text, if they are few; complete is false when they are not.
func changedSince(ctx context.Context, tx Tx, crawlID, hostID int64, f store.PageFilter) (ids []int64, complete bool, err error) {
	const since = `SELECT page_id, host_id, state FROM (SELECT f.page_id, f.host_id, f.state FROM frontier f
		WHERE f.crawl_id = $%[2]d AND f.%[1]s > 0 AND f.%[1]s >= $%[3]d
		ORDER BY f.%[1]s LIMIT %[4]d) AS %[1]s`
	query := fmt.Sprintf(since, "last_change", 1, 2, fewRows+1) + ` UNION ALL ` + fmt.Sprintf(since, "last_return", 3, 4, fewRows+1)
	seen := 0
	err = tx.Query(ctx, query, []any{crawlID, micros(f.ChangedSince), crawlID, micros(f.ChangedSince)}, func(row Row) error {
		var id, host int64
		var state uint8
		if err := row.Scan(&id, &host, &state); err != nil {
			return err
		}
		seen++
		if id > f.After && (hostID == 0 || host == hostID) && (len(f.States) == 0 || slices.Contains(f.States, crawl.PageState(state))) {
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil || seen > fewRows {
		return nil, false, err
	}
	slices.Sort(ids)
	ids = slices.Compact(ids) // changed and returned
	return ids[:min(limitOr(f.Limit), len(ids))], true, nil
}
