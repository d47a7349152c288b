package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"recrawl/internal/admission"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// limits bound a crawl's admissions.
type limits struct {
	state    crawl.CrawlState
	window   int64
	maxPages int64 // 0 is unlimited
	site     siteRound

	generation int64 // of the spec
	requisites bool  // are kept
}

// siteRound is the part of each round, in microseconds, during which new pages of a host
// come in; time 0 means all of it.
type siteRound struct{ time, length int64 }

const limitColumns = `state, window_size, max_pages`

func queryLimits(ctx context.Context, tx Tx, crawlID int64, lock string) (limits, error) {
	var l limits
	var state, requisites uint8
	err := tx.QueryRow(ctx, `SELECT `+limitColumns+`, site_time, site_round, generation, requisites FROM crawls WHERE id = $1`+lock, []any{crawlID},
		&state, &l.window, &l.maxPages, &l.site.time, &l.site.length, &l.generation, &requisites)
	if err != nil {
		return limits{}, fmt.Errorf("crawl %d: %w", crawlID, err)
	}
	l.state, l.requisites = crawl.CrawlState(state), requisites != 0
	return l, nil
}

// free returns how many more pages the crawl may have living.
func (l limits) free(ctx context.Context, tx Tx, crawlID int64) (int64, error) {
	switch {
	case l.state == crawl.CrawlStopped:
		return 0, nil
	case l.maxPages == 0:
		return math.MaxInt64, nil
	}
	living, err := l.living(ctx, tx, crawlID)
	return max(0, l.maxPages-living), err
}

// living returns how many pages of the crawl keep a workflow. Requisites on their way to a
// visit do not count.
func (l limits) living(ctx context.Context, tx Tx, crawlID int64) (int64, error) {
	living, err := countLiving(ctx, tx, crawlID)
	if err != nil || !l.requisites {
		return living, err
	}
	requisites, err := livingRequisites(ctx, tx, crawlID)
	return living - requisites, err
}

// hostRoom is the room in a host's window.
type hostRoom struct {
	hostID, unattempted, known int64
}

// Candidates implements store.Frontier. Of a crawl with more hosts than Limit
// it considers those with the fewest pages on their way, which have waited longest.
// There are none while the crawl has max_pages.
func (s *Store) Candidates(ctx context.Context, p store.CandidateParams) ([]store.PageRecord, error) {
	pages, err := read(ctx, s, func(tx Tx) ([]store.PageRecord, error) { return s.candidates(ctx, tx, p) })
	if err != nil {
		return nil, fmt.Errorf("candidates of crawl %d: %w", p.CrawlID, err)
	}
	return pages, nil
}

func (s *Store) candidates(ctx context.Context, tx Tx, p store.CandidateParams) ([]store.PageRecord, error) {
	l, err := queryLimits(ctx, tx, p.CrawlID, "")
	if err != nil {
		return nil, err
	}
	free, err := l.free(ctx, tx, p.CrawlID)
	if err != nil {
		return nil, err
	}
	limit := int(min(free, int64(limitOr(p.Limit))))
	if limit == 0 && l.requisites && l.state != crawl.CrawlStopped {
		return s.candidatesBesides(ctx, tx, p, l)
	}
	if limit == 0 {
		return []store.PageRecord{}, nil
	}
	if p.Engine != nil {
		allowed, err := s.allow(ctx, tx, p.CrawlID, *p.Engine)
		if err != nil {
			return nil, err
		}
		if allowed.room == 0 && allowed.seeds > 0 && len(p.Hosts) == 0 {
			return s.newSeeds(ctx, tx, p.CrawlID, l.window, min(limit, allowed.seeds))
		}
		limit = min(limit, allowed.room)
	}
	if limit == 0 {
		return []store.PageRecord{}, nil
	}
	rooms, err := s.queryRooms(ctx, tx, p, l, limit)
	if err != nil {
		return nil, err
	}
	best, err := bestOf(ctx, tx, p, rooms, l.window, limit)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(best, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.pageID, b.pageID))
	})
	ids := make([]int64, 0, limit)
	for _, c := range best[:min(limit, len(best))] {
		ids = append(ids, c.pageID)
	}
	return s.loadPages(ctx, tx, ids)
}

// bestOf returns the best known pages of each host: as many as the host has room
// for or, under a bound, as its share allows.
func bestOf(ctx context.Context, tx Tx, p store.CandidateParams, rooms []hostRoom, window int64, limit int) ([]candidate, error) {
	shares := make([]int, len(rooms))
	hosts := make([]admission.Host, len(rooms))
	for i, room := range rooms {
		shares[i] = int(min(window-room.unattempted, int64(limit)))
		hosts[i] = admission.Host{Taken: int(room.unattempted), Open: int(min(window-room.unattempted, room.known))}
	}
	if p.Engine != nil {
		shares = admission.Share(hosts, limit)
	}
	var best []candidate
	for i, room := range rooms {
		if shares[i] == 0 {
			continue
		}
		some, err := bestKnown(ctx, tx, p.CrawlID, room.hostID, int64(shares[i]))
		if err != nil {
			return nil, fmt.Errorf("known pages of host %d: %w", room.hostID, err)
		}
		best = append(best, some...)
	}
	return best, nil
}

// queryRooms returns at most limit hosts that have known pages and room in the
// window, those with the most room first, and among equals those whose last turn
// was longest ago. Hosts whose time in their round is over are skipped.
func (s *Store) queryRooms(ctx context.Context, tx Tx, p store.CandidateParams, l limits, limit int) ([]hostRoom, error) {
	args := []any{p.CrawlID, l.window, limit}
	from, of := `host_crawls hc`+s.engine.Dialect().Index("host_crawls_turn")+` WHERE `, "$1"
	if len(p.Hosts) > 0 {
		from, of = s.records(4, "r", "id bigint")+` CROSS JOIN host_crawls hc WHERE hc.host_id = r.id AND `, ofEach(1, "r.id")
		args = append(args, idList(slices.Compact(slices.Sorted(slices.Values(p.Hosts)))))
	}
	open := ""
	if l.site.time > 0 {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		open = fmt.Sprintf(` AND (hc.round_at > $%d OR hc.round_at <= $%d)`, len(args)+1, len(args)+2)
		args = append(args, now-l.site.time, now-l.site.length)
	}
	query := `SELECT hc.host_id, hc.unattempted, hc.known FROM ` + from + `hc.crawl_id = ` + of + ` AND hc.known > 0 AND hc.unattempted < $2` + open + `
		ORDER BY hc.unattempted, hc.admitted_at, hc.host_id LIMIT $3`
	rooms, err := collect(ctx, tx, query, args, func(row Row) (hostRoom, error) {
		var room hostRoom
		err := row.Scan(&room.hostID, &room.unattempted, &room.known)
		return room, err
	})
	if err != nil {
		return nil, fmt.Errorf("hosts with room: %w", err)
	}
	return rooms, nil
}

type candidate struct {
	pageID   int64
	priority float64
}

// bestKnown returns the n best known pages of a host.
func bestKnown(ctx context.Context, tx Tx, crawlID, hostID, n int64) ([]candidate, error) {
	query := fmt.Sprintf(`SELECT f.page_id, f.priority FROM frontier f
		WHERE f.state = %d AND f.crawl_id = $1 AND f.host_id = $2
		ORDER BY f.priority DESC, f.page_id LIMIT $3`, crawl.Known)
	return collect(ctx, tx, query, []any{crawlID, hostID, n}, func(row Row) (candidate, error) {
		var c candidate
		err := row.Scan(&c.pageID, &c.priority)
		return c, err
	})
}

// Admit implements store.Frontier. Pages that are not Known, or not of the
// crawl, are left alone; so are all pages of a stopped crawl. Excluded pages
// count for max_pages, after the admitted ones, but not for the window.
func (s *Store) Admit(ctx context.Context, p store.AdmitParams) ([]store.PageRecord, error) {
	pages, err := write(ctx, s, func(tx Tx) ([]store.PageRecord, error) { return s.admit(ctx, tx, p) })
	if err != nil {
		return nil, fmt.Errorf("admit pages of crawl %d: %w", p.CrawlID, err)
	}
	return pages, nil
}

func (s *Store) admit(ctx context.Context, tx Tx, p store.AdmitParams) ([]store.PageRecord, error) {
	// The crawl's lock makes admissions of one crawl take turns: max_pages and
	// the windows hold however many ask at once.
	l, err := queryLimits(ctx, tx, p.CrawlID, s.lock())
	if err != nil {
		return nil, err
	}
	// Under that lock, so that two attempts of one call cannot both admit.
	if earlier, err := s.admittedBy(ctx, tx, p.CrawlID, p.Key); err != nil || len(earlier) > 0 {
		return s.loadOrFail(ctx, tx, earlier, err)
	}
	if l.state == crawl.CrawlStopped {
		p.Admit, p.Exclude = nil, nil
	}
	if p.Generation != 0 && p.Generation != l.generation {
		p.Exclude = nil // the new spec may take them, and nobody would look at them for long
	}
	known, err := s.lockKnown(ctx, tx, p.CrawlID, slices.Concat(p.Admit, p.Exclude))
	if err != nil {
		return nil, err
	}
	free, err := l.free(ctx, tx, p.CrawlID)
	if err != nil {
		return nil, err
	}
	taken, err := s.lockWindows(ctx, tx, p.CrawlID, known.hostOf)
	if err != nil {
		return nil, err
	}
	allowed := allowance{room: math.MaxInt}
	if p.Engine != nil {
		if allowed, err = s.allow(ctx, tx, p.CrawlID, *p.Engine); err != nil {
			return nil, err
		}
	}
	plan := planAdmission(p, known, taken, l.window, free, allowed)
	if err := s.carryOut(ctx, tx, p, plan, known.hostOf, l.site, allowed); err != nil {
		return nil, err
	}
	return s.loadPages(ctx, tx, plan.admit)
}

// placements are the state changes of an admission.
type placements struct {
	admit, exclude []int64
}

// planAdmission chooses, in the caller's order, the pages that fit into their
// hosts' windows, into free and into the allowance. known are the pages that may be
// chosen; taken is how many places of a host's window are taken.
func planAdmission(p store.AdmitParams, known knownPages, taken map[int64]int64, window, free int64, allowed allowance) placements {
	taken, chosen := maps.Clone(taken), map[int64]bool{}
	var plan placements
	for _, id := range p.Admit {
		host, ok := known.hostOf[id]
		needed := 1 - count(known.requisites[id]) // places of the collection
		if !ok || chosen[id] || free < needed || taken[host] >= window || !allowed.fits(known.seeds[id]) {
			continue
		}
		chosen[id] = true
		taken[host]++
		free -= needed
		plan.admit = append(plan.admit, id)
	}
	for _, id := range p.Exclude {
		if _, ok := known.hostOf[id]; !ok || chosen[id] || free == 0 {
			continue
		}
		chosen[id] = true
		free--
		plan.exclude = append(plan.exclude, id)
	}
	return plan
}

func (s *Store) carryOut(ctx context.Context, tx Tx, p store.AdmitParams, plan placements, hostOf map[int64]int64, site siteRound, allowed allowance) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	d := newDeltas(p.CrawlID, 0)
	hosts := map[int64]bool{}
	for _, id := range plan.admit {
		hosts[hostOf[id]] = true
		d.moves(hostOf[id], crawl.Known, crawl.Active, 1)
		d.unattempted(hostOf[id], 1)
	}
	for _, id := range plan.exclude {
		d.moves(hostOf[id], crawl.Known, crawl.Excluded, 1)
	}
	admitted := placement{state: crawl.Active, nextAt: now, admission: admissionKey(p.Key), at: now}
	if err := s.place(ctx, tx, plan.admit, admitted); err != nil {
		return err
	}
	excluded := placement{state: crawl.Excluded, attempted: true, nextAt: now + p.ExcludedFor.Microseconds(), at: now}
	if err := s.place(ctx, tx, plan.exclude, excluded); err != nil {
		return err
	}
	if err := d.apply(ctx, s, tx); err != nil {
		return err
	}
	return s.noteAdmission(ctx, tx, p.CrawlID, now, slices.Sorted(maps.Keys(hosts)), site, allowed)
}

// placement is an admission's effect on a page.
type placement struct {
	state     crawl.PageState
	attempted bool
	nextAt    int64
	admission int64
	at        int64 // when
}

// place moves pages whose rows are locked into a living state.
func (s *Store) place(ctx context.Context, tx Tx, ids []int64, as placement) error {
	if len(ids) == 0 {
		return nil
	}
	query := `UPDATE frontier SET state = $2, attempted = $3, next_at = $4, admission = $5, placed_at = $6 WHERE page_id IN (` + s.ids(1) + `)`
	if err := tx.Queue(ctx, query, idList(ids), int64(as.state), as.attempted, as.nextAt, as.admission, as.at); err != nil {
		return fmt.Errorf("make pages %s: %w", as.state, err)
	}
	return nil
}

// admissionKey is an admission's key as stored, 0 for none. If two keys had the
// same hash, pages would be started again by id, which changes nothing.
func admissionKey(key string) int64 {
	if key == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // a hash never fails
	return int64(h.Sum64())
}

// admittedBy lists the pages that a call with this key has admitted and that
// have not been attempted yet.
func (s *Store) admittedBy(ctx context.Context, tx Tx, crawlID int64, key string) ([]int64, error) {
	if key == "" {
		return nil, nil
	}
	// SQLite would prefer the range of states, and read all living pages while it holds
	// the writer's lock.
	query := `SELECT f.page_id FROM frontier f` + s.engine.Dialect().Index("frontier_admission") + ` WHERE f.crawl_id = $1 AND f.admission = $2
		AND f.state BETWEEN 2 AND 7 AND f.attempted = 0 ORDER BY f.page_id`
	return collect(ctx, tx, query, []any{crawlID, admissionKey(key)}, scanID)
}

// loadOrFail loads the pages that a query has listed.
func (s *Store) loadOrFail(ctx context.Context, tx Tx, ids []int64, err error) ([]store.PageRecord, error) {
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.loadPages(ctx, tx, ids)
}

// knownPages has the hosts of known pages, and marks seeds and requisites among them.
type knownPages struct {
	hostOf            map[int64]int64
	seeds, requisites map[int64]bool
}

// lockKnown locks pages and returns those that are Known in the crawl.
func (s *Store) lockKnown(ctx context.Context, tx Tx, crawlID int64, ids []int64) (knownPages, error) {
	query := fmt.Sprintf(`SELECT page_id, host_id, priority FROM frontier
		WHERE page_id IN (%s) AND +crawl_id = $2 AND +state = %d ORDER BY page_id`, s.ids(1), crawl.Known) + s.lock()
	known := knownPages{make(map[int64]int64, len(ids)), map[int64]bool{}, map[int64]bool{}}
	err := tx.Query(ctx, query, []any{idList(ids), crawlID}, func(row Row) error {
		var id, host int64
		var priority float64
		if err := row.Scan(&id, &host, &priority); err != nil {
			return err
		}
		known.hostOf[id], known.seeds[id] = host, priority == 0
		known.requisites[id] = isRequisite(priority)
		return nil
	})
	if err != nil {
		return knownPages{}, fmt.Errorf("lock known pages: %w", err)
	}
	return known, nil
}

// lockWindows locks the window counts of the pages' hosts and returns them.
func (s *Store) lockWindows(ctx context.Context, tx Tx, crawlID int64, hostOf map[int64]int64) (map[int64]int64, error) {
	hosts := slices.Compact(slices.Sorted(maps.Values(hostOf)))
	query := `SELECT host_id, unattempted FROM host_crawls
		WHERE (host_id, crawl_id) IN (` + s.hostsOf(1, 2) + `) ORDER BY host_id` + s.lock()
	taken := make(map[int64]int64, len(hosts))
	err := tx.Query(ctx, query, []any{idList(hosts), crawlID}, func(row Row) error {
		var host, n int64
		if err := row.Scan(&host, &n); err != nil {
			return err
		}
		taken[host] = n
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("lock windows: %w", err)
	}
	return taken, nil
}
