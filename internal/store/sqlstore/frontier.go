package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// fewRows is the most matches of a second condition (changed) that are read at
// once and sorted by id. Beyond it they are so dense that a walk in the order of
// ids soon finds a full answer.
const fewRows = 5000

// dueRows is the same for due pages, which maintenance asks for five hundred at a time. With
// fewer among a million, reading all of them each time costs less than a walk through the crawl.
const dueRows = 20_000

const pendingColumns = `l.version_id, l.crawl_id, c.name, l.page_id, p.url, h.host, p.level, p.hops, p.kind, COALESCE(o.nesting, 0), w.language, l.visit,
	COALESCE(y.phrases, -1), y.sample`

const pendingTables = ` FROM pending_links l JOIN pages p ON p.id = l.page_id
	JOIN hosts h ON h.id = p.host_id JOIN crawls c ON c.id = l.crawl_id JOIN versions w ON w.id = l.version_id
	LEFT JOIN sources o ON o.page_id = l.page_id LEFT JOIN wordings y ON y.page_id = l.page_id`

// PendingLinks implements store.Frontier.
func (s *Store) PendingLinks(ctx context.Context, pageID int64, visit int) (*store.PendingLinks, error) {
	query := `SELECT ` + pendingColumns + `, l.links` + pendingTables + `
		WHERE l.version_id IN (SELECT id FROM versions WHERE page_id = $1 AND visit = $2
			UNION ALL SELECT id FROM versions WHERE page_id = $3 AND back_visit = $4 AND back_visit > 0)`
	found, err := read(ctx, s, func(tx Tx) ([]store.PendingLinks, error) {
		return collect(ctx, tx, query, []any{pageID, visit, pageID, visit}, s.scanPending)
	})
	if err != nil {
		return nil, fmt.Errorf("links of page %d, visit %d: %w", pageID, visit, err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// UnfinishedLinks implements store.Frontier.
func (s *Store) UnfinishedLinks(ctx context.Context, crawlID int64, age time.Duration, limit int) ([]store.PendingLinks, error) {
	query := `SELECT ` + pendingColumns + `, '[]'` + pendingTables + `
		WHERE l.crawl_id = $1 AND l.at <= $2 ORDER BY l.at, l.version_id LIMIT $3`
	found, err := read(ctx, s, func(tx Tx) ([]store.PendingLinks, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		return collect(ctx, tx, query, []any{crawlID, now - age.Microseconds(), limitOr(limit)}, s.scanPending)
	})
	if err != nil {
		return nil, fmt.Errorf("unfinished links of crawl %d: %w", crawlID, err)
	}
	return found, nil
}

func (s *Store) scanPending(row Row) (store.PendingLinks, error) {
	l := store.PendingLinks{Page: crawl.PageRef{Store: s.id}}
	var kind uint8
	var links string
	var phrases int
	var sample []byte
	err := row.Scan(&l.Version, &l.Page.CrawlID, &l.Page.Crawl, &l.Page.PageID, &l.Page.URL, &l.Page.Host, &l.Level, &l.Hops, &kind, &l.Nesting, &l.Language, &l.Visit,
		&phrases, &sample, &links)
	if err != nil {
		return store.PendingLinks{}, err
	}
	if l.Said, err = decodeWording(phrases, sample); err != nil {
		return store.PendingLinks{}, fmt.Errorf("page %d: %w", l.Page.PageID, err)
	}
	l.Kind = crawl.PageKind(kind)
	if err := json.Unmarshal([]byte(links), &l.Links); err != nil {
		return store.PendingLinks{}, fmt.Errorf("decode the links of version %d: %w", l.Version, err)
	}
	return l, nil
}

// DuePages implements store.Frontier.
func (s *Store) DuePages(ctx context.Context, p store.DueParams) ([]store.PageRecord, error) {
	pages, err := read(ctx, s, func(tx Tx) ([]store.PageRecord, error) {
		ids, err := s.dueIDs(ctx, tx, p)
		if err != nil {
			return nil, err
		}
		return s.loadPages(ctx, tx, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("due pages of crawl %d: %w", p.CrawlID, err)
	}
	return pages, nil
}

func (s *Store) dueIDs(ctx context.Context, tx Tx, p store.DueParams) ([]int64, error) {
	limit := limitOr(p.Limit)
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	held := now - spanMicros(polite.GrantLimit) // a permit from before then may not begin any more
	if p.Untried {
		return s.untriedIDs(ctx, tx, p, held, limit)
	}
	if p.Longest {
		return s.longestDue(ctx, tx, p, held, limit)
	}
	if p.InLine { // as maintenance asks for nearly all
		return s.walkDue(ctx, tx, p, held, limit)
	}
	few := fmt.Sprintf(`SELECT f.page_id FROM frontier f
		WHERE f.crawl_id = $1 AND f.state BETWEEN %d AND %d AND f.next_at < $2
		ORDER BY f.next_at LIMIT %d`, crawl.Active, crawl.Excluded, dueRows+1)
	ids, err := collect(ctx, tx, few, []any{p.CrawlID, micros(p.Before)}, scanID)
	if err != nil {
		return nil, err
	}
	if len(ids) <= dueRows {
		ids = slices.DeleteFunc(ids, func(id int64) bool { return id <= p.After })
		return s.lowestDue(ctx, tx, ids, held, limit)
	}
	return s.walkDue(ctx, tx, p, held, limit)
}

// walkDue finds due pages in the order of their ids, in steps: between two of them may be the
// rest of a crawl, which takes longer than a statement may.
func (s *Store) walkDue(ctx context.Context, tx Tx, p store.DueParams, held int64, limit int) (due []int64, err error) {
	for through := p.After; len(due) < limit && through < math.MaxInt64; {
		after := through
		through, err = s.stepOfStates(ctx, tx, store.PageSearch{CrawlID: p.CrawlID, States: crawl.LivingStates(), After: after})
		if err != nil {
			return nil, err
		}
		ids, err := mergeStates(crawl.LivingStates(), limit-len(due), func(state crawl.PageState, end int64) ([]int64, error) {
			walk := fmt.Sprintf(`SELECT f.page_id FROM frontier f
				WHERE f.crawl_id = $1 AND f.state = %d AND f.page_id > $2 AND f.page_id <= $3 AND f.next_at < $4`, state)
			args := []any{p.CrawlID, after, min(through, end), micros(p.Before)}
			if !p.InLine {
				walk, args = walk+` AND `+unattended("f.page_id", 5), append(args, held)
			}
			args = append(args, limit-len(due))
			return collect(ctx, tx, walk+fmt.Sprintf(` ORDER BY f.page_id LIMIT $%d`, len(args)), args, scanID)
		})
		if err != nil {
			return nil, err
		}
		due = append(due, ids...)
	}
	return due, nil
}

// longestDue returns the pages that have been due longest, at most limit. It reads fewRows
// of them: if nearly all stand in lines, it may find none.
func (s *Store) longestDue(ctx context.Context, tx Tx, p store.DueParams, held int64, limit int) ([]int64, error) {
	query := fmt.Sprintf(`SELECT d.page_id FROM (SELECT f.page_id, f.next_at FROM frontier f
			WHERE f.crawl_id = $1 AND f.state BETWEEN %d AND %d AND f.next_at < $2
			ORDER BY f.next_at LIMIT %d) d`, crawl.Active, crawl.Excluded, fewRows)
	args := []any{p.CrawlID, micros(p.Before)}
	if !p.InLine {
		query, args = query+` WHERE `+unattended("d.page_id", 3), append(args, held)
	}
	args = append(args, limit)
	return collect(ctx, tx, query+fmt.Sprintf(` ORDER BY d.next_at, d.page_id LIMIT $%d`, len(args)), args, scanID)
}

// untriedIDs reads the index of the pages that were never attempted: at most a
// window of them for each host.
func (s *Store) untriedIDs(ctx context.Context, tx Tx, p store.DueParams, held int64, limit int) ([]int64, error) {
	query := `SELECT f.page_id FROM frontier f` + s.engine.Dialect().Index("frontier_admission") + `
		WHERE f.crawl_id = $1 AND f.state BETWEEN 2 AND 7 AND f.attempted = 0 AND f.page_id > $2 AND f.next_at < $3`
	args := []any{p.CrawlID, p.After, micros(p.Before)}
	if !p.InLine {
		query, args = query+` AND `+unattended("f.page_id", 4), append(args, held)
	}
	args = append(args, limit)
	return collect(ctx, tx, query+fmt.Sprintf(` ORDER BY f.page_id LIMIT $%d`, len(args)), args, scanID)
}

// lowestDue returns the lowest of the ids, at most limit, without those of pages in a line.
func (s *Store) lowestDue(ctx context.Context, tx Tx, ids []int64, held int64, limit int) ([]int64, error) {
	slices.Sort(ids)
	query := s.ids(1) + ` WHERE ` + unattended("r.id", 2) + ` ORDER BY r.id LIMIT $3`
	var lowest []int64
	for some := range slices.Chunk(ids, fewRows) {
		found, err := collect(ctx, tx, query, []any{idList(some), held, limit - len(lowest)}, scanID)
		if err != nil {
			return nil, err
		}
		if lowest = append(lowest, found...); len(lowest) >= limit {
			break
		}
	}
	return lowest, nil
}

// notInLine is the condition that a page stands in no line. A lapsed waiter
// keeps its age there, but is not waiting.
func notInLine(pageID string) string {
	return `NOT EXISTS (SELECT 1 FROM places l WHERE l.page_id = ` + pageID + ` AND l.lapsed_at = 0)`
}

// unattended is notInLine for those who look for pages that nobody sees to, with the time in
// placeholder $n since which a permit counts as a place. Nobody takes an older one back where no
// other page of the host asks, though its page's workflow may be gone.
func unattended(pageID string, n int) string {
	return fmt.Sprintf(`NOT EXISTS (SELECT 1 FROM places l WHERE l.page_id = %s AND l.lapsed_at = 0
		AND (l.state NOT IN (%d, %d) OR l.granted_at > $%d))`, pageID, placeGranted, placeBegun, n)
}

// lastID is above every id.
const lastID = int64(1) << 62

// mergeStates asks for the ids of each state, which an index has in order, and
// returns the lowest of all, at most limit. Ids above through would not be among them.
func mergeStates(states []crawl.PageState, limit int, ask func(state crawl.PageState, through int64) ([]int64, error)) ([]int64, error) {
	var all []int64
	through := lastID
	for _, state := range states {
		ids, err := ask(state, through)
		if err != nil {
			return nil, fmt.Errorf("%s pages: %w", state, err)
		}
		all = append(all, ids...)
		slices.Sort(all)
		all = slices.Compact(all)
		if len(all) >= limit {
			all = all[:limit]
			through = all[limit-1]
		}
	}
	return all, nil
}

// frontierRow is the part of a page's row that moving the page needs.
type frontierRow struct {
	pageID, crawlID, hostID int64
	state                   crawl.PageState
	visit                   int
	attempted               bool
	versionID               int64
	lastChange, lastReturn  int64
	changes                 int
	seed, requisite         bool
	nextAt                  int64
	trapID                  int64 // of a held page
	hintedBy                int64
	generation              int64 // of its crawl
}

// lockPage locks a page until the transaction ends, and then runs the caller's reads.
func (s *Store) lockPage(ctx context.Context, tx Tx, pageID int64, reads ...Step) (frontierRow, error) {
	row := frontierRow{pageID: pageID}
	var state, attempted uint8
	var priority float64
	query := `SELECT crawl_id, host_id, state, visit, attempted, version_id, last_change, last_return, changes, priority, trap_id, hinted_by, next_at,
			(SELECT generation FROM crawls c WHERE c.id = frontier.crawl_id)
		FROM frontier WHERE page_id = $1` + s.lock()
	lock := oneRow(query, []any{pageID}, &row.crawlID, &row.hostID, &state, &row.visit, &attempted,
		&row.versionID, &row.lastChange, &row.lastReturn, &row.changes, &priority, &row.trapID, &row.hintedBy, &row.nextAt, &row.generation)
	if err := tx.Pipeline(ctx, append([]Step{lock}, reads...)...); err != nil {
		return frontierRow{}, err
	}
	if row.crawlID == 0 {
		return frontierRow{}, store.ErrNotFound
	}
	row.state, row.attempted, row.seed = crawl.PageState(state), attempted != 0, priority == 0
	row.requisite = isRequisite(priority)
	return row, nil
}

// takesPlace reports whether the page takes a place in its host's window.
func (r frontierRow) takesPlace() bool { return r.state.Lives() && !r.attempted }

// SetPageState implements store.Frontier. A page that comes to life is due at
// once, and takes no place in the window if it has been admitted before.
func (s *Store) SetPageState(ctx context.Context, pageID int64, state crawl.PageState) error {
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) { return struct{}{}, s.setPageState(ctx, tx, pageID, state) })
	if err != nil {
		return fmt.Errorf("set page %d %s: %w", pageID, state, err)
	}
	return nil
}

func (s *Store) setPageState(ctx context.Context, tx Tx, pageID int64, state crawl.PageState) error {
	before, err := s.lockPage(ctx, tx, pageID)
	if err != nil {
		return err
	}
	return s.enterState(ctx, tx, before, state)
}

// StopWithCrawl implements store.Frontier.
func (s *Store) StopWithCrawl(ctx context.Context, pageID int64) (lives bool, err error) {
	lives, err = write(ctx, s, func(tx Tx) (bool, error) { return s.stopWithCrawl(ctx, tx, pageID) })
	if err != nil {
		return false, fmt.Errorf("stop page %d with its crawl: %w", pageID, err)
	}
	return lives, nil
}

// stopWithCrawl locks the crawl before the page, as admissions do. Until it has ended nobody
// starts the crawl again, and then the page comes back with it; see errStillStopped.
func (s *Store) stopWithCrawl(ctx context.Context, tx Tx, pageID int64) (lives bool, err error) {
	var state uint8
	query := `SELECT state FROM crawls WHERE id = (SELECT crawl_id FROM frontier WHERE page_id = $1)` + s.engine.Dialect().ForKeyShare()
	if err := tx.QueryRow(ctx, query, []any{pageID}, &state); err != nil {
		return false, fmt.Errorf("look at the crawl's state: %w", err)
	}
	page, err := s.lockPage(ctx, tx, pageID)
	if err != nil || !page.state.Lives() {
		return false, err
	}
	if crawl.CrawlState(state) != crawl.CrawlStopped {
		return true, nil
	}
	return false, s.enterState(ctx, tx, page, crawl.Stopped)
}

// enterState puts a locked page into a state.
func (s *Store) enterState(ctx context.Context, tx Tx, before frontierRow, state crawl.PageState) error {
	pageID := before.pageID
	if !state.Lives() {
		// The turns of the others are left to maintenance.
		if _, err := s.leaveLine(ctx, tx, pageID); err != nil {
			return fmt.Errorf("leave the line: %w", err)
		}
	}
	if before.state == state {
		return nil
	}
	after := before
	after.state = state
	if before.state.Lives() && !state.Lives() {
		after.attempted = true
	}
	if err := s.updateState(ctx, tx, before, after); err != nil {
		return err
	}
	if err := noteStop(ctx, tx, before, state); err != nil {
		return err
	}
	d := newDeltas(before.crawlID, pageID)
	d.moves(before.hostID, before.state, after.state, 1)
	if before.state == crawl.Held {
		d.held(before.trapID, -1)
	}
	d.unattempted(before.hostID, count(after.takesPlace())-count(before.takesPlace()))
	return d.apply(ctx, s, tx)
}

func (s *Store) updateState(ctx context.Context, tx Tx, before, after frontierRow) error {
	if err := s.leavesContent(ctx, tx, after.pageID, before.state, after.state); err != nil {
		return err
	}
	if after.state == crawl.Evicted {
		return evict(ctx, tx, before)
	}
	if before.state.Lives() || !after.state.Lives() {
		return tx.Queue(ctx, `UPDATE frontier SET state = $2, attempted = $3 WHERE page_id = $1`,
			after.pageID, int64(after.state), after.attempted)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	return tx.Queue(ctx, `UPDATE frontier SET state = $2, attempted = $3, next_at = $4 WHERE page_id = $1`,
		after.pageID, int64(after.state), after.attempted, now)
}

// count is 1 for true.
func count(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
