package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// Kinds of rows in crawl_counts. The texts are stored.
const (
	countMinute  = "minute"  // code: minutes since 1970; visits recorded in that minute
	countOutcome = "outcome" // code: crawl.Outcome; visits
	countState   = "state"   // code: crawl.PageState; pages
	countTotal   = "total"   // code: one of the totals
	countTrap    = "trap"    // code: id of a trap; pages that it holds

	// Of the visits of a day; code: days since 1970, UTC. Those of the release before are
	// not counted.
	countDay        = "day"         // visits
	countDayChanged = "day_changed" // visits that found a change
	countDayFirst   = "day_first"   // first visits of pages, which were due at no time
	countDayLate    = "day_late"    // sum of the times after which the others came, in milliseconds

	// Of visits whose outcome was foreseen; code: class of the chance, from 0.
	countForetold = "foretold" // visits
	countChance   = "chance"   // sum of the chances, in millionths
	countFound    = "found"    // visits that found a change
)

// Codes of countTotal. The numbers are stored.
const (
	totalVisits   = 1
	totalVersions = 2
	totalLinks    = 3
	// totalUnattempted is the sum of host_crawls.unattempted. Programs of the previous
	// release do not count it: see Recount.
	totalUnattempted = 4
)

// countSlots is how many rows share one count. Each visit of a crawl holds its
// count rows until its commit is durable; with several rows, visits do not queue
// for one.
const countSlots = 8

// keptMinutes is how many minute counts are kept: those of the last hour.
const keptMinutes = 60

const (
	minuteMicros = 60_000_000
	dayMicros    = 24 * 60 * minuteMicros
)

// deltas collects a transaction's changes to the counts of one crawl.
type deltas struct {
	crawlID int64
	slot    int64
	hosts   map[int64]hostDelta
	counts  map[countKey]int64
}

type countKey struct {
	kind string
	code int64
}

type hostDelta struct {
	known, unattempted, living int64

	found bool // pages of it: it needs a row even if none is known
}

// newDeltas returns no deltas. Writers with different spread values rarely wait
// for each other.
func newDeltas(crawlID, spread int64) *deltas {
	return &deltas{
		crawlID: crawlID, slot: spread % countSlots,
		hosts: map[int64]hostDelta{}, counts: map[countKey]int64{},
	}
}

func (d *deltas) total(code, n int64) { d.counts[countKey{countTotal, code}] += n }

// visit counts a visit recorded at now.
func (d *deltas) visit(outcome crawl.Outcome, now int64) {
	d.total(totalVisits, 1)
	d.counts[countKey{countOutcome, int64(outcome)}]++
	d.counts[countKey{countMinute, now / minuteMicros}]++
}

// day counts a visit recorded at now among those of its day; late is how many
// microseconds after its page's due time it came.
func (d *deltas) day(outcome crawl.Outcome, first bool, late, now int64) {
	day := now / dayMicros
	d.counts[countKey{countDay, day}]++
	d.counts[countKey{countDayChanged, day}] += count(outcome.Changed())
	d.counts[countKey{countDayFirst, day}] += count(first)
	if !first {
		d.counts[countKey{countDayLate, day}] += max(0, late) / 1000
	}
}

// foretell counts a visit to which a chance of a change was given; 0 is none. It stays
// counted when the visit is removed.
func (d *deltas) foretell(chance float64, changed bool) {
	if !(chance > 0) {
		return
	}
	class := int64(min(chance*store.ForesightBins, store.ForesightBins-1))
	d.counts[countKey{countForetold, class}]++
	d.counts[countKey{countChance, class}] += int64(math.Round(min(chance, 1) * chanceUnit))
	d.counts[countKey{countFound, class}] += count(changed)
}

// chanceUnit is the sum of countChance that stands for a chance of 1.
const chanceUnit = 1e6

// unvisit uncounts a visit that is removed. It was made all the same, so it stays
// in the counts of the last hour.
func (d *deltas) unvisit(outcome crawl.Outcome) {
	d.total(totalVisits, -1)
	d.counts[countKey{countOutcome, int64(outcome)}]--
}

// moves counts n pages of a host that move from one state to another; state 0
// means no state, before a page is known and after it is forgotten.
func (d *deltas) moves(host int64, from, to crawl.PageState, n int64) {
	if from == to {
		return
	}
	h := d.hosts[host]
	if from != 0 {
		d.counts[countKey{countState, int64(from)}] -= n
	}
	h.found = h.found || from == 0
	h.living += n * (count(to.Lives()) - count(from.Lives()))
	if from == crawl.Known {
		h.known -= n
	}
	if to != 0 {
		d.counts[countKey{countState, int64(to)}] += n
	}
	if to == crawl.Known {
		h.known += n
	}
	d.hosts[host] = h
}

// held counts n more pages that a trap holds; 0 is none.
func (d *deltas) held(trap, n int64) {
	if trap != 0 {
		d.counts[countKey{countTrap, trap}] += n
	}
}

// unattempted counts n more admitted pages of a host that have not been
// attempted.
func (d *deltas) unattempted(host, n int64) {
	h := d.hosts[host]
	h.unattempted += n
	d.hosts[host] = h
	d.total(totalUnattempted, n)
}

// apply writes the deltas: host_crawls by host, then crawl_counts. It must come
// last in a transaction.
func (d *deltas) apply(ctx context.Context, s *Store, tx Tx) error {
	if err := d.applyHosts(ctx, s, tx); err != nil {
		return fmt.Errorf("count pages of hosts: %w", err)
	}
	if err := d.applyCounts(ctx, s, tx); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	return nil
}

type hostRecord struct {
	HostID      int64 `json:"host_id"`
	Known       int64 `json:"known"`
	Unattempted int64 `json:"unattempted"`
	Living      int64 `json:"living"`
}

func (d *deltas) applyHosts(ctx context.Context, s *Store, tx Tx) error {
	var rows []hostRecord
	for _, id := range slices.Sorted(maps.Keys(d.hosts)) {
		if h := d.hosts[id]; h != (hostDelta{}) {
			rows = append(rows, hostRecord{id, h.known, h.unattempted, h.living})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	query := `INSERT INTO host_crawls (host_id, crawl_id, known, unattempted, living)
		SELECT r.host_id, CAST($2 AS BIGINT), r.known, r.unattempted, r.living
		FROM ` + s.records(1, "r", "host_id bigint", "known bigint", "unattempted bigint", "living bigint") + `
		WHERE true ORDER BY r.host_id
		ON CONFLICT (host_id, crawl_id) DO UPDATE SET
			known = host_crawls.known + excluded.known,
			unattempted = host_crawls.unattempted + excluded.unattempted,
			living = host_crawls.living + excluded.living`
	return tx.Queue(ctx, query, jsonText(rows), d.crawlID)
}

type countRecord struct {
	Kind string `json:"kind"`
	Code int64  `json:"code"`
	N    int64  `json:"n"`
}

func (d *deltas) applyCounts(ctx context.Context, s *Store, tx Tx) error {
	var rows []countRecord
	minute := int64(0)
	for key, n := range d.counts {
		if n != 0 {
			rows = append(rows, countRecord{key.kind, key.code, n})
		}
		if key.kind == countMinute {
			minute = key.code
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortFunc(rows, func(a, b countRecord) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Code, b.Code))
	})
	query := `INSERT INTO crawl_counts (crawl_id, slot, kind, code, n)
		SELECT CAST($2 AS BIGINT), CAST($3 AS BIGINT), r.kind, r.code, r.n
		FROM ` + s.records(1, "r", "kind text", "code bigint", "n bigint") + `
		WHERE true ORDER BY r.kind, r.code
		ON CONFLICT (crawl_id, kind, code, slot) DO UPDATE SET n = crawl_counts.n + excluded.n`
	if err := tx.Queue(ctx, query, jsonText(rows), d.crawlID, d.slot); err != nil || !s.minutes.begins(countSlot{d.crawlID, d.slot}, minute) {
		return err
	}
	return d.forgetMinutes(ctx, tx, minute)
}

// countSlot is the share of a crawl's counts that some of its visits write.
type countSlot struct{ crawlID, slot int64 }

// mostMinutes bounds the number of slots whose last minute is remembered.
const mostMinutes = 1024

// minutes remembers for each slot in which minute this process last counted a visit. If the
// memory is lost, or the visit's transaction undone, old counts are removed sooner or later than
// otherwise, which nobody sees.
type minutes struct {
	mu   sync.Mutex
	last map[countSlot]int64
}

// begins reports whether the minute is later than the last one of the slot; 0 is no minute.
func (m *minutes) begins(slot countSlot, minute int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if minute <= m.last[slot] {
		return false
	}
	if m.last == nil || len(m.last) >= mostMinutes {
		m.last = map[countSlot]int64{}
	}
	m.last[slot] = minute
	return true
}

// forgetMinutes removes the minute counts that are older than the hour before
// the minute, and the counts of days that are not shown any more. A process's first visit of
// each minute calls it, so few rows ever exist.
func (d *deltas) forgetMinutes(ctx context.Context, tx Tx, minute int64) error {
	return tx.Queue(ctx, `DELETE FROM crawl_counts WHERE crawl_id = $1 AND slot = $2 AND (kind = 'minute' AND code < $3
			OR kind IN ('day', 'day_changed', 'day_first', 'day_late') AND code <= $4)`,
		d.crawlID, d.slot, minute-keptMinutes, minute*minuteMicros/dayMicros-store.DaysKept)
}

// countLiving returns how many pages of the crawl keep a workflow.
func countLiving(ctx context.Context, tx Tx, crawlID int64) (int64, error) {
	query := fmt.Sprintf(`SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM crawl_counts
		WHERE crawl_id = $1 AND kind = 'state' AND code BETWEEN %d AND %d`, crawl.Active, crawl.Excluded)
	var n int64
	if err := tx.QueryRow(ctx, query, []any{crawlID}, &n); err != nil {
		return 0, fmt.Errorf("count living pages: %w", err)
	}
	return n, nil
}
