package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// hostsPerTx is how many hosts' steerings are written in one transaction.
const hostsPerTx = 2000

// internalPages is how many of a page's links Internal reads.
const internalPages = 1000

// internalVisits is how many of each page's last visits Internal searches for a
// comparison: if a page was skipped or could not be fetched that often in a row, nothing
// is known about it.
const internalVisits = 32

// Steering implements store.Schedules.
func (s *Store) Steering(ctx context.Context, crawlID int64, hosts bool) (store.SteeringRecord, error) {
	rec, err := read(ctx, s, func(tx Tx) (store.SteeringRecord, error) { return querySteering(ctx, tx, crawlID, hosts) })
	if err != nil {
		return store.SteeringRecord{}, fmt.Errorf("steering of crawl %d: %w", crawlID, err)
	}
	return rec, nil
}

func querySteering(ctx context.Context, tx Tx, crawlID int64, hosts bool) (store.SteeringRecord, error) {
	rec := store.SteeringRecord{Hosts: map[int64]schedule.HostSteering{}}
	var at int64
	var reasons string
	err := tx.QueryRow(ctx, `SELECT policy, threshold, prior_a, prior_b, spacing, steep, stretch, planned, budget, asked, at, turns, reasons
		FROM steering WHERE crawl_id = $1`, []any{crawlID},
		&rec.Policy, &rec.Threshold, &rec.Prior.A, &rec.Prior.B, &rec.Interval, &rec.Steep, &rec.Stretch, &rec.Planned, &rec.Budget, &rec.Asked, &at, &rec.Rounds, &reasons)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return store.SteeringRecord{}, err
	}
	rec.At = fromMicros(at)
	if reasons != "" {
		if err := json.Unmarshal([]byte(reasons), &rec.Reasons); err != nil {
			return store.SteeringRecord{}, fmt.Errorf("decode why the threshold moved: %w", err)
		}
	}
	if !hosts {
		return rec, nil
	}
	return rec, tx.Query(ctx, `SELECT host_id, price, prior_a, prior_b, planned, limited, site FROM host_steering
		WHERE crawl_id = $1`, []any{crawlID}, func(row Row) error {
		var id int64
		var h schedule.HostSteering
		var site string
		if err := row.Scan(&id, &h.Price, &h.Prior.A, &h.Prior.B, &h.Planned, &h.Limit, &site); err != nil {
			return err
		}
		h.Site = schedule.DecodeSite(site)
		rec.Hosts[id] = h
		return nil
	})
}

// SetSteering implements store.Schedules. The hosts are written first, a few at a
// time; cut off, the next round finds them moved a little ahead of their crawl.
func (s *Store) SetSteering(ctx context.Context, crawlID int64, rec store.SteeringRecord) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(rec.Hosts)), hostsPerTx) {
		if err := s.setHosts(ctx, crawlID, ids, rec.Hosts); err != nil {
			return fmt.Errorf("steer the hosts of crawl %d: %w", crawlID, err)
		}
	}
	reasons := ""
	if len(rec.Reasons) > 0 {
		reasons = jsonText(rec.Reasons)
	}
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `INSERT INTO steering (crawl_id, policy, threshold, prior_a, prior_b, spacing, steep, stretch, planned, budget, asked, at, turns, reasons)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
			ON CONFLICT (crawl_id) DO UPDATE SET policy = excluded.policy, threshold = excluded.threshold,
				prior_a = excluded.prior_a, prior_b = excluded.prior_b, spacing = excluded.spacing, steep = excluded.steep, stretch = excluded.stretch,
				planned = excluded.planned, budget = excluded.budget, asked = excluded.asked, at = excluded.at, turns = excluded.turns, reasons = excluded.reasons`,
			crawlID, rec.Policy, rec.Threshold, rec.Prior.A, rec.Prior.B, rec.Interval, rec.Steep, rec.Stretch, rec.Planned, rec.Budget, rec.Asked, micros(rec.At), rec.Rounds, reasons)
	})
	if err != nil {
		return fmt.Errorf("steer crawl %d: %w", crawlID, err)
	}
	return nil
}

type hostSteeringRow struct {
	ID      int64   `json:"id"`
	Price   float64 `json:"price"`
	A       float64 `json:"a"`
	B       float64 `json:"b"`
	Planned float64 `json:"planned"`
	Limited float64 `json:"limited"`
	Site    string  `json:"site"`
}

func (s *Store) setHosts(ctx context.Context, crawlID int64, ids []int64, hosts map[int64]schedule.HostSteering) error {
	list := make([]hostSteeringRow, len(ids))
	for i, id := range ids {
		h := hosts[id]
		list[i] = hostSteeringRow{id, h.Price, h.Prior.A, h.Prior.B, h.Planned, h.Limit, h.Site.Encode()}
	}
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `INSERT INTO host_steering (crawl_id, host_id, price, prior_a, prior_b, planned, limited, site)
			SELECT CAST($2 AS BIGINT), r.id, r.price, r.a, r.b, r.planned, r.limited, r.site
			FROM `+s.records(1, "r", "id bigint", "price float", "a float", "b float", "planned float", "limited float", "site text")+`
			WHERE true
			ON CONFLICT (crawl_id, host_id) DO UPDATE SET price = excluded.price, prior_a = excluded.prior_a,
				prior_b = excluded.prior_b, planned = excluded.planned, limited = excluded.limited, site = excluded.site`, jsonText(list), crawlID)
	})
	return err
}

// Entries implements store.Schedules.
func (s *Store) Entries(ctx context.Context, p store.EntryParams) ([]store.EntryRecord, error) {
	url, pages, join := `''`, ``, ``
	if p.URLs {
		// Where Postgres merges the tables, it must know the place in both.
		url, pages, join = `p.url`, ` CROSS JOIN pages p`, `p.id = f.page_id AND p.id > $2 AND `
	}
	// A walk along the ids, in the order of the table: an index would only add a
	// look-up for each page, since most pages of a crawl live.
	query := fmt.Sprintf(`SELECT f.page_id, f.host_id, %s, f.state, f.visit, f.last_at, f.next_at, f.belief, f.weight, f.hinted_by
		FROM frontier f%s
		WHERE %sf.crawl_id = $1 AND f.page_id > $2 AND f.state = %%d AND f.visit > 0 AND f.page_id <= $4
		ORDER BY f.page_id LIMIT $3`, url, pages, join)
	limit := limitOr(p.Limit)
	entries, err := read(ctx, s, func(tx Tx) ([]store.EntryRecord, error) {
		var all []store.EntryRecord
		through := lastID // ids above it would not be in the answer
		for _, state := range crawl.LivingStates() {
			some, err := collect(ctx, tx, fmt.Sprintf(query, state), []any{p.CrawlID, p.After, limit, through}, scanEntry)
			if err != nil {
				return nil, fmt.Errorf("%s pages: %w", state, err)
			}
			all = append(all, some...)
			slices.SortFunc(all, func(a, b store.EntryRecord) int { return cmp.Compare(a.PageID, b.PageID) })
			if len(all) >= limit {
				all = all[:limit]
				through = all[limit-1].PageID
			}
		}
		return all, nil
	})
	if err != nil {
		return nil, fmt.Errorf("entries of crawl %d: %w", p.CrawlID, err)
	}
	return entries, nil
}

func scanEntry(row Row) (store.EntryRecord, error) {
	var e store.EntryRecord
	var state uint8
	var lastAt, nextAt, hintedBy int64
	var belief string
	err := row.Scan(&e.PageID, &e.HostID, &e.URL, &state, &e.Visits, &lastAt, &nextAt, &belief, &e.Weight, &hintedBy)
	e.Hinted = hintedBy != 0
	e.State, e.LastAt, e.NextAt, e.Belief = crawl.PageState(state), fromMicros(lastAt), fromMicros(nextAt), []byte(belief)
	return e, err
}

// HostLoads implements store.Schedules.
func (s *Store) HostLoads(ctx context.Context, crawlID int64, hosts []int64) ([]store.HostLoad, error) {
	if len(hosts) == 0 {
		return []store.HostLoad{}, nil
	}
	query := `SELECT ` + hostColumns + `, (SELECT rested_at FROM rest WHERE id = 1),
			(SELECT COALESCE(SUM(o.planned), 0.0) FROM host_steering o WHERE o.host_id = h.id AND o.crawl_id <> $2
				AND EXISTS (SELECT 1 FROM crawls k WHERE k.id = o.crawl_id AND k.state = 1)),
			(SELECT CAST(COALESCE(SUM(hc.unattempted + CASE WHEN hc.known < c.room THEN hc.known ELSE c.room END), 0) AS BIGINT)
				FROM ` + s.records(3, "c", "id bigint", "room bigint") + ` JOIN host_crawls hc ON hc.crawl_id = c.id AND hc.host_id = h.id),
			(SELECT CAST(COALESCE(SUM(hc.living - hc.unattempted), 0) AS BIGINT)
				FROM ` + s.records(3, "c", "id bigint", "room bigint") + ` JOIN host_crawls hc ON hc.crawl_id = c.id AND hc.host_id = h.id)
		FROM ` + s.records(1, "r", "id bigint") + ` CROSS JOIN hosts h WHERE h.id = r.id ORDER BY h.id`
	loads, err := read(ctx, s, func(tx Tx) ([]store.HostLoad, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		demand, err := queryDemand(ctx, tx, crawlID)
		if err != nil {
			return nil, err
		}
		rooms, err := queryCrawlRooms(ctx, tx)
		if err != nil {
			return nil, err
		}
		return collect(ctx, tx, query, []any{idList(hosts), crawlID, jsonText(rooms)}, func(row Row) (store.HostLoad, error) {
			g := gateHost{now: now}
			var l store.HostLoad
			if err := row.Scan(append(g.row.fields(), &g.rested, &l.Others, &l.Undiscovered, &l.Visited)...); err != nil {
				return store.HostLoad{}, err
			}
			g.bound()
			// The gap after an answer of mean length: after a single slow one, the host would seem to
			// take a fraction of its visits until the next look.
			is := g.state()
			l.ID, l.Gap, l.Mean = g.row.id, is.Gap(is.Last, demand, is.Mean).Length, is.Mean
			return l, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("loads of hosts: %w", err)
	}
	return loads, nil
}

// crawlRoom is how many more pages a crawl may admit.
type crawlRoom struct {
	ID   int64 `json:"id"`
	Room int64 `json:"room"`
}

// queryCrawlRooms lists the running crawls with their room.
func queryCrawlRooms(ctx context.Context, tx Tx) ([]crawlRoom, error) {
	rooms := []crawlRoom{}
	most := map[int64]limits{}
	err := tx.Query(ctx, fmt.Sprintf(`SELECT id, `+limitColumns+` FROM crawls WHERE state = %d ORDER BY id`, crawl.CrawlRunning), nil, func(row Row) error {
		var id int64
		var l limits
		if err := row.Scan(&id, &l.state, &l.window, &l.maxPages); err != nil {
			return err
		}
		rooms, most[id] = append(rooms, crawlRoom{ID: id}), l
		return nil
	})
	for i := range rooms {
		if err == nil {
			rooms[i].Room, err = most[rooms[i].ID].free(ctx, tx, rooms[i].ID)
		}
	}
	return rooms, err
}

// Reschedule implements store.Schedules.
func (s *Store) Reschedule(ctx context.Context, moves []store.Move) ([]store.PageRecord, error) {
	if len(moves) == 0 {
		return []store.PageRecord{}, nil
	}
	slices.SortFunc(moves, func(a, b store.Move) int { return cmp.Compare(a.PageID, b.PageID) })
	pages, err := write(ctx, s, func(tx Tx) ([]store.PageRecord, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		var moved []int64
		hinted := map[int64]int64{}
		for _, m := range moves {
			// One that is due, or stands in its host's line, does not sleep. A hint may have come
			// since the move was decided, and only another hint makes the page later.
			n, err := tx.Exec(ctx, fmt.Sprintf(`UPDATE frontier SET next_at = $3, hinted_by = CASE WHEN $5 > 0 THEN $5 ELSE hinted_by END
				WHERE page_id = $1 AND visit = $2 AND state = %d AND next_at > $4
					AND (hinted_by = 0 OR $5 > 0 OR next_at > $3) AND %s`, crawl.Active, notInLine("frontier.page_id")),
				m.PageID, m.Visit, max(micros(m.NextAt), now), now, m.HintedBy)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				moved = append(moved, m.PageID)
				hinted[m.HintedBy]++
			}
		}
		if err := countHints(ctx, tx, hinted); err != nil {
			return nil, err
		}
		return s.loadPages(ctx, tx, moved)
	})
	if err != nil {
		return nil, fmt.Errorf("reschedule pages: %w", err)
	}
	return pages, nil
}

// Internal implements store.Schedules. A first copy is a visit but no comparison, like a
// visit that failed or was skipped; and the time of a first copy, which is also in
// last_change, is no change.
func (s *Store) Internal(ctx context.Context, pageID int64, since time.Time) (schedule.Internal, error) {
	query := fmt.Sprintf(`SELECT COUNT(*), COALESCE(SUM(n.changed), 0) FROM (
			SELECT i.changed, CASE WHEN i.changed = 1 OR i.looked > $2 AND EXISTS (SELECT 1 FROM visits v
					WHERE v.page_id = i.page_id AND v.visit > i.visit - %d AND v.at > $3 AND v.outcome IN (%s)) THEN 1 ELSE 0 END AS compared
			FROM (SELECT f.page_id, f.visit, f.last_at AS looked, CASE WHEN f.changes > 0 AND f.last_change > $4 THEN 1 ELSE 0 END AS changed
				FROM frontier page
					JOIN links l ON l.src = page.page_id AND l.dst <> page.page_id
					JOIN frontier f ON f.page_id = l.dst AND f.host_id = page.host_id
				WHERE page.page_id = $1 LIMIT %d) i) n
		WHERE n.compared = 1`, internalVisits, comparisons(), internalPages)
	at := micros(since)
	found, err := glance(ctx, s, func(tx Tx) (schedule.Internal, error) {
		var i schedule.Internal
		return i, tx.QueryRow(ctx, query, []any{pageID, at, at, at}, &i.Compared, &i.Changed)
	})
	if err != nil {
		return schedule.Internal{}, fmt.Errorf("internal pages of page %d: %w", pageID, err)
	}
	return found, nil
}

// comparisons is a list of the outcomes that compare two copies of a page, as SQL numbers.
func comparisons() string {
	var list []string
	for _, o := range crawl.Outcomes() {
		if o.Observes() && o != crawl.OutcomeNew {
			list = append(list, strconv.Itoa(int(o)))
		}
	}
	return strings.Join(list, ", ")
}
