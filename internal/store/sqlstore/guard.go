package sqlstore

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// heldPerTx is how many pages one transaction holds or releases.
const heldPerTx = 1000

// trapRow is a row of traps to be written.
type trapRow struct {
	Site    string `json:"site"`
	Host    string `json:"host"`
	Name    string `json:"name"`
	Hash    string `json:"hash"`
	Pattern string `json:"pattern"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail"`
	State   int64  `json:"state"`
	Swept   int64  `json:"swept"`
}

const trapColumns = `t.id, t.site, t.host, t.name, t.pattern, t.reason, t.detail, t.found_at, t.state, t.swept`

func scanTrap(row Row) (store.TrapRecord, error) {
	var t store.TrapRecord
	var pattern string
	var found, state int64
	err := row.Scan(&t.ID, &t.Site, &t.Host, &t.Name, &pattern, &t.Reason, &t.Detail, &found, &state, &t.Swept)
	t.Pattern, t.FoundAt, t.State = json.RawMessage(pattern), fromMicros(found), store.TrapState(state)
	return t, err
}

// SetTraps implements store.Guard.
func (s *Store) SetTraps(ctx context.Context, crawlID int64, traps []store.NewTrap) ([]store.TrapRecord, error) {
	if len(traps) == 0 {
		return nil, nil
	}
	rows := make([]trapRow, 0, len(traps))
	for _, t := range traps {
		sum := urlHash(clean(t.Name))
		row := trapRow{
			Site: clean(t.Site), Host: s.grouping.Unit(clean(t.Host)), Name: clean(t.Name), Hash: hex.EncodeToString(sum[:]),
			Pattern: clean(string(t.Pattern)), Reason: clean(t.Reason), Detail: clean(t.Detail), State: int64(store.TrapSweeping), Swept: t.After,
		}
		if t.After < 0 {
			row.State, row.Swept = int64(store.TrapHolding), 0
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b trapRow) int { return cmp.Compare(a.Hash, b.Hash) })
	rows = slices.CompactFunc(rows, func(a, b trapRow) bool { return a.Hash == b.Hash })
	list, unhex := jsonText(rows), s.engine.Dialect().Unhex("r.hash")
	set, err := write(ctx, s, func(tx Tx) ([]store.TrapRecord, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		insert := `INSERT INTO traps (crawl_id, site, host, name, hash, pattern, reason, detail, found_at, state, swept)
			SELECT CAST($2 AS BIGINT), r.site, r.host, r.name, ` + unhex + `, r.pattern, r.reason, r.detail, CAST($3 AS BIGINT), r.state, r.swept
			FROM ` + s.records(1, "r", "site text", "host text", "name text", "hash text", "pattern text", "reason text", "detail text", "state bigint", "swept bigint") + `
			WHERE true ORDER BY r.hash ON CONFLICT (crawl_id, hash) DO NOTHING RETURNING id`
		made, err := collect(ctx, tx, insert, []any{list, crawlID, now}, scanID)
		if err != nil {
			return nil, err
		}
		query := `SELECT ` + trapColumns + ` FROM ` + s.records(1, "r", "hash text") + ` CROSS JOIN traps t
			WHERE t.crawl_id = ` + ofEach(2, "length(r.hash)") + ` AND t.hash = ` + unhex + ` ORDER BY t.id`
		set, err := collect(ctx, tx, query, []any{list, crawlID}, scanTrap)
		if err != nil {
			return nil, err
		}
		return set, noteTraps(ctx, tx, crawlID, set, made)
	})
	if err != nil {
		return nil, fmt.Errorf("set traps of crawl %d: %w", crawlID, err)
	}
	return set, nil
}

// noteTraps adds the traps that were made to the feed.
func noteTraps(ctx context.Context, tx Tx, crawlID int64, traps []store.TrapRecord, made []int64) error {
	for _, t := range traps {
		if !slices.Contains(made, t.ID) {
			continue
		}
		var host int64
		err := tx.QueryRow(ctx, `SELECT id FROM hosts WHERE host = $1`, []any{t.Host}, &host)
		if ignoreNotFound(err) != nil {
			return fmt.Errorf("find the trap's host: %w", err)
		}
		if err := noteNow(ctx, tx, feed.Change{CrawlID: crawlID, Kind: feed.TrapHeld, Data: feed.Data{HostID: host, TrapID: t.ID}}); err != nil {
			return err
		}
	}
	return nil
}

type siteRecord struct {
	Site string `json:"site"`
}

// Traps implements store.Guard.
func (s *Store) Traps(ctx context.Context, f store.TrapFilter) ([]store.TrapRecord, error) {
	traps, err := glance(ctx, s, func(tx Tx) ([]store.TrapRecord, error) { return s.traps(ctx, tx, f) })
	if err != nil {
		return nil, fmt.Errorf("traps of crawl %d: %w", f.CrawlID, err)
	}
	return traps, nil
}

func (s *Store) traps(ctx context.Context, tx Tx, f store.TrapFilter) ([]store.TrapRecord, error) {
	args := []any{f.CrawlID, f.After, limitOr(f.Limit)}
	query := `SELECT ` + trapColumns + ` FROM traps t WHERE t.crawl_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3`
	switch {
	case f.Open:
		query = `SELECT ` + trapColumns + ` FROM traps t WHERE t.crawl_id = $1 AND t.id > $2 AND t.state IN (1, 3) ORDER BY t.id LIMIT $3`
	case len(f.Sites) > 0:
		query = `SELECT ` + trapColumns + ` FROM ` + s.records(4, "r", "site text") + ` CROSS JOIN traps t
			WHERE t.crawl_id = ` + ofEach(1, "length(r.site)") + ` AND t.site = r.site AND t.id > $2 ORDER BY t.id LIMIT $3`
		sites := make([]siteRecord, 0, len(f.Sites))
		for _, site := range slices.Compact(slices.Sorted(slices.Values(f.Sites))) {
			sites = append(sites, siteRecord{clean(site)})
		}
		args = append(args, jsonText(sites))
	}
	traps, err := collect(ctx, tx, query, args, scanTrap)
	if err != nil || len(traps) == 0 {
		return traps, err
	}
	return traps, s.countHeld(ctx, tx, f.CrawlID, traps)
}

// countHeld sets how many pages each trap holds.
func (s *Store) countHeld(ctx context.Context, tx Tx, crawlID int64, traps []store.TrapRecord) error {
	ids := make([]int64, len(traps))
	at := make(map[int64]int, len(traps))
	for i, t := range traps {
		ids[i], at[t.ID] = t.ID, i
	}
	query := `SELECT n.code, CAST(SUM(n.n) AS BIGINT) FROM ` + s.records(1, "r", "id bigint") + ` CROSS JOIN crawl_counts n
		WHERE n.crawl_id = $2 AND n.kind = 'trap' AND n.code = r.id GROUP BY n.code`
	return tx.Query(ctx, query, []any{idList(ids), crawlID}, func(row Row) error {
		var id int64
		var n int
		err := row.Scan(&id, &n)
		traps[at[id]].Held = n
		return err
	})
}

// holdRecord is a page to be held.
type holdRecord struct {
	ID   int64 `json:"id"`
	Trap int64 `json:"trap"`
}

// HoldPages implements store.Guard. It works in several transactions.
func (s *Store) HoldPages(ctx context.Context, crawlID int64, holds []store.Hold) (int, error) {
	held := 0
	for some := range slices.Chunk(holds, heldPerTx) {
		n, err := write(ctx, s, func(tx Tx) (int, error) { return s.holdSome(ctx, tx, crawlID, some) })
		if err != nil {
			return held, fmt.Errorf("hold pages of crawl %d: %w", crawlID, err)
		}
		held += n
	}
	return held, nil
}

func (s *Store) holdSome(ctx context.Context, tx Tx, crawlID int64, holds []store.Hold) (int, error) {
	trapOf := make(map[int64]int64, len(holds))
	var ids, traps []int64
	for _, h := range holds {
		trapOf[h.PageID] = h.TrapID
		ids, traps = append(ids, h.PageID), append(traps, h.TrapID)
	}
	// Traps are locked before pages, wherever both are.
	holding, err := s.trapsThatHold(ctx, tx, crawlID, traps)
	if err != nil {
		return 0, err
	}
	known, err := s.lockKnown(ctx, tx, crawlID, ids)
	if err != nil {
		return 0, err
	}
	d := newDeltas(crawlID, 0)
	var rows []holdRecord
	for id, host := range known.hostOf {
		if trap := trapOf[id]; slices.Contains(holding, trap) {
			rows = append(rows, holdRecord{id, trap})
			d.moves(host, crawl.Known, crawl.Held, 1)
			d.held(trap, 1)
		}
	}
	if len(rows) == 0 {
		return 0, nil
	}
	return len(rows), s.holdRows(ctx, tx, rows, d)
}

// holdRows makes locked pages Held.
func (s *Store) holdRows(ctx context.Context, tx Tx, rows []holdRecord, d *deltas) error {
	// An earlier ranking of them shows only what their site claims.
	update := fmt.Sprintf(`UPDATE frontier SET state = %d, trap_id = r.trap, rank = 0, weight = 0, linking_hosts = 0, inner_links = 0,
			priority = CASE WHEN frontier.weight = 0 THEN frontier.priority ELSE (SELECT -p.level FROM pages p WHERE p.id = frontier.page_id) END
		FROM `, crawl.Held) +
		s.records(1, "r", "id bigint", "trap bigint") + ` WHERE frontier.page_id = r.id`
	if _, err := tx.Exec(ctx, update, jsonText(rows)); err != nil {
		return err
	}
	return d.apply(ctx, s, tx)
}

// TakeBack implements store.Guard. It works in a transaction for each page.
func (s *Store) TakeBack(ctx context.Context, crawlID int64, holds []store.Hold) (int, store.GateEffects, error) {
	taken := 0
	var effects store.GateEffects
	for _, h := range holds {
		back, err := write(ctx, s, func(tx Tx) (takenBack, error) { return s.takeBack(ctx, tx, crawlID, h) })
		if err != nil {
			return taken, effects, fmt.Errorf("take page %d back: %w", h.PageID, err)
		}
		taken += back.pages
		effects.Turns = append(effects.Turns, back.Turns...)
	}
	return taken, effects, nil
}

type takenBack struct {
	pages int
	store.GateEffects
}

func (s *Store) takeBack(ctx context.Context, tx Tx, crawlID int64, h store.Hold) (takenBack, error) {
	var back takenBack
	holding, err := s.trapsThatHold(ctx, tx, crawlID, []int64{h.TrapID})
	if err != nil || len(holding) == 0 {
		return back, err
	}
	page, err := s.lockPage(ctx, tx, h.PageID)
	if err != nil || page.crawlID != crawlID || page.state != crawl.Active || page.attempted {
		return back, ignoreNotFound(err)
	}
	at, err := loadPlace(ctx, tx, h.PageID)
	if err := ignoreNotFound(err); err != nil || at.state == placeGranted || at.state == placeBegun {
		return back, err
	}
	// Its visit is made, and only has to be recorded.
	var saved savedKey
	saving := savedVersion(h.PageID, page.visit+1, &saved)
	if err := tx.Pipeline(ctx, saving); err != nil || saved.id != 0 {
		return back, err
	}
	if _, err := s.leaves(ctx, tx, h.PageID, &back.GateEffects); err != nil {
		return back, fmt.Errorf("leave the line: %w", err)
	}
	d := newDeltas(crawlID, h.PageID)
	d.moves(page.hostID, crawl.Active, crawl.Held, 1)
	d.unattempted(page.hostID, -1)
	d.held(h.TrapID, 1)
	back.pages = 1
	return back, s.holdRows(ctx, tx, []holdRecord{{h.PageID, h.TrapID}}, d)
}

// SweptTrap implements store.Guard.
func (s *Store) SweptTrap(ctx context.Context, trapID, through int64, done bool) error {
	state := store.TrapSweeping
	if done {
		state = store.TrapHolding
	}
	_, err := write(ctx, s, func(tx Tx) (int64, error) {
		return tx.Exec(ctx, `UPDATE traps SET swept = $2, state = $3 WHERE id = $1 AND state = 1`, trapID, through, int64(state))
	})
	if err != nil {
		return fmt.Errorf("note the sweep of trap %d: %w", trapID, err)
	}
	return nil
}

// ReleaseTrap implements store.Guard. It works in several transactions.
func (s *Store) ReleaseTrap(ctx context.Context, trapID int64, limit int) (released int, more bool, err error) {
	for more = true; more && released < limit; {
		some := min(limit-released, heldPerTx)
		n, err := write(ctx, s, func(tx Tx) (int, error) { return s.releasePages(ctx, tx, trapID, some) })
		if err != nil {
			return released, true, fmt.Errorf("release trap %d: %w", trapID, err)
		}
		released += n
		more = n == some
	}
	return released, more, nil
}

func (s *Store) releasePages(ctx context.Context, tx Tx, trapID int64, limit int) (int, error) {
	var crawlID int64
	// Transactions that register or hold pages of the trap lock it too, so none that
	// would stay held comes after this.
	if err := tx.QueryRow(ctx, `SELECT crawl_id FROM traps WHERE id = $1`+s.lock(), []any{trapID}, &crawlID); err != nil {
		return 0, err
	}
	d := newDeltas(crawlID, 0)
	var ids []int64
	query := `SELECT page_id, host_id FROM frontier WHERE trap_id = $1 AND state = 10 ORDER BY page_id LIMIT $2` + s.lock()
	err := tx.Query(ctx, query, []any{trapID, limit}, func(row Row) error {
		var id, host int64
		err := row.Scan(&id, &host)
		ids = append(ids, id)
		d.moves(host, crawl.Held, crawl.Known, 1)
		return err
	})
	if err != nil {
		return 0, err
	}
	state := store.TrapReleasing
	if len(ids) < limit {
		state = store.TrapReleased
	}
	if _, err := tx.Exec(ctx, `UPDATE traps SET state = $2 WHERE id = $1`, trapID, int64(state)); err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := s.free(ctx, tx, ids); err != nil {
		return 0, err
	}
	d.held(trapID, -int64(len(ids)))
	return len(ids), d.apply(ctx, s, tx)
}

// free makes held pages, whose rows are locked, Known.
func (s *Store) free(ctx context.Context, tx Tx, ids []int64) error {
	_, err := tx.Exec(ctx, fmt.Sprintf(`UPDATE frontier SET state = %d, trap_id = 0 WHERE page_id IN (%s)`, crawl.Known, s.ids(1)), idList(ids))
	return err
}

// freeSeeds makes held pages of the list Known: the person who names them as seeds
// wants them.
func (s *Store) freeSeeds(ctx context.Context, tx Tx, urls []foundURL, d *deltas) error {
	ids := make([]int64, 0, len(urls))
	for _, u := range urls {
		ids = append(ids, u.ID)
	}
	var held []int64
	query := `SELECT page_id, host_id, trap_id FROM frontier WHERE page_id IN (` + s.ids(1) + `) AND +state = 10 ORDER BY page_id` + s.lock()
	err := tx.Query(ctx, query, []any{idList(ids)}, func(row Row) error {
		var id, host, trap int64
		err := row.Scan(&id, &host, &trap)
		held = append(held, id)
		d.moves(host, crawl.Held, crawl.Known, 1)
		d.held(trap, -1)
		return err
	})
	if err != nil || len(held) == 0 {
		return err
	}
	return s.free(ctx, tx, held)
}

// forgetTraps removes the traps of a host without any pages left.
func (s *Store) forgetTraps(ctx context.Context, tx Tx, host string, hostID int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM traps WHERE host = $1
		AND NOT EXISTS (SELECT 1 FROM frontier f WHERE f.trap_id = traps.id AND f.state = 10)`, host)
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM prefixes WHERE host_id = $1`, hostID)
	}
	if err != nil {
		return fmt.Errorf("remove traps: %w", err)
	}
	return nil
}

// forgetTrapExamples removes a URL that a trap's detail gives as an example, cut or whole. With
// its host, the traps themselves go.
func (s *Store) forgetTrapExamples(ctx context.Context, tx Tx, t store.Target) error {
	u, err := urlkey.Canonical(t.URL)
	if t.URL == "" || err != nil {
		return nil
	}
	var ids []int64
	err = tx.Query(ctx, `SELECT id, detail FROM traps WHERE host = $1`, []any{s.grouping.Unit(clean(u.HostKey()))}, func(row Row) error {
		var id int64
		var detail string
		if err := row.Scan(&id, &detail); err != nil {
			return err
		}
		if example, is := strings.CutPrefix(detail, "such as "); is && strings.HasPrefix(u.Target(), strings.TrimSuffix(example, "…")) {
			ids = append(ids, id)
		}
		return nil
	})
	for _, id := range ids {
		if err == nil {
			err = tx.Queue(ctx, `UPDATE traps SET detail = '' WHERE id = $1`, id)
		}
	}
	return err
}
