package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// permitGrace is how much longer a permit lives than the request's own time
// limit: for connecting, reporting, and a slow worker.
const permitGrace = 10 * time.Second

// revivedPerTx is how many stopped pages return to Known in one transaction.
const revivedPerTx = 1000

const crawlColumns = `id, spec, state, generation, created_at, stopped_at, rested, imported, deleting`

// OpenCrawl implements store.Crawls.
func (s *Store) OpenCrawl(ctx context.Context, spec crawl.Spec) (store.CrawlRecord, error) {
	text, err := encodeSpec(spec)
	if err != nil {
		return store.CrawlRecord{}, fmt.Errorf("open crawl %s: %w", spec.Name, err)
	}
	rec, err := s.reviving(ctx, spec.Name, func(tx Tx) (store.CrawlRecord, error) { return s.openCrawl(ctx, tx, spec, text) })
	if err != nil {
		return store.CrawlRecord{}, fmt.Errorf("open crawl %s: %w", spec.Name, err)
	}
	return rec, nil
}

func (s *Store) openCrawl(ctx context.Context, tx Tx, spec crawl.Spec, text string) (store.CrawlRecord, error) {
	rec, err := s.lockCrawl(ctx, tx, spec.Name)
	if errors.Is(err, store.ErrNotFound) {
		if err := insertCrawl(ctx, tx, spec, text); err != nil {
			return store.CrawlRecord{}, err
		}
		rec, err = s.lockCrawl(ctx, tx, spec.Name)
	}
	if err == nil && rec.Deleting {
		err = store.ErrDeleting
	}
	if err != nil {
		return store.CrawlRecord{}, err
	}
	if spec.Seeds, err = s.withRedirected(ctx, tx, rec, spec); err != nil {
		return store.CrawlRecord{}, err
	}
	if text, err = encodeSpec(spec); err != nil {
		return store.CrawlRecord{}, err
	}
	stored, err := encodeSpec(rec.Spec)
	if err != nil {
		return store.CrawlRecord{}, err
	}
	if stored == text && rec.State != crawl.CrawlStopped {
		return rec, nil
	}
	was := rec.State
	if rec.State == crawl.CrawlStopped {
		if err := enter(ctx, tx, &rec, crawl.CrawlRunning); err != nil {
			return store.CrawlRecord{}, err
		}
	}
	if err := judgeAnew(ctx, tx, rec, spec); err != nil {
		return store.CrawlRecord{}, err
	}
	rec.Spec = spec
	rec.Generation++
	if err := updateCrawl(ctx, tx, rec, text); err != nil {
		return store.CrawlRecord{}, err
	}
	return rec, noteOpened(ctx, tx, rec, was, stored != text)
}

// SetCrawlState implements store.Crawls.
func (s *Store) SetCrawlState(ctx context.Context, name string, state crawl.CrawlState) (store.CrawlRecord, error) {
	change := func(tx Tx) (store.CrawlRecord, error) { return s.setCrawlState(ctx, tx, name, state) }
	var rec store.CrawlRecord
	var err error
	if state == crawl.CrawlStopped {
		rec, err = write(ctx, s, change)
	} else {
		rec, err = s.reviving(ctx, name, change)
	}
	if err != nil {
		return store.CrawlRecord{}, fmt.Errorf("set crawl %s %s: %w", name, state, err)
	}
	return rec, nil
}

func (s *Store) setCrawlState(ctx context.Context, tx Tx, name string, state crawl.CrawlState) (store.CrawlRecord, error) {
	rec, err := s.lockCrawl(ctx, tx, name)
	if err == nil && rec.Deleting && state != crawl.CrawlStopped {
		err = store.ErrDeleting
	}
	if err != nil || rec.State == state {
		return rec, err
	}
	if err := enter(ctx, tx, &rec, state); err != nil {
		return store.CrawlRecord{}, err
	}
	rec.Generation++
	_, err = tx.Exec(ctx, `UPDATE crawls SET state = $2, generation = $3, stopped_at = $4, rested = $5 WHERE id = $1`,
		rec.ID, int64(state), rec.Generation, micros(rec.StoppedAt), spanMicros(rec.Rested))
	if err != nil {
		return store.CrawlRecord{}, err
	}
	return rec, noteCrawl(ctx, tx, rec, feed.CrawlState)
}

// noteOpened adds OpenCrawl's changes of an existing crawl to the feed.
func noteOpened(ctx context.Context, tx Tx, rec store.CrawlRecord, was crawl.CrawlState, spec bool) error {
	if spec {
		if err := noteCrawl(ctx, tx, rec, feed.CrawlSpec); err != nil {
			return err
		}
	}
	if rec.State == was {
		return nil
	}
	return noteCrawl(ctx, tx, rec, feed.CrawlState)
}

func noteCrawl(ctx context.Context, tx Tx, rec store.CrawlRecord, kind feed.Kind) error {
	return noteNow(ctx, tx, feed.Change{CrawlID: rec.ID, Kind: kind, Data: feed.Data{Crawl: rec.State, Generation: rec.Generation}})
}

// enter puts a locked crawl into a state and keeps the time of its stops.
func enter(ctx context.Context, tx Tx, rec *store.CrawlRecord, state crawl.CrawlState) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if err := noneStopped(ctx, tx, *rec); err != nil {
		return err
	}
	switch stopped := rec.StoppedAt; {
	case state == crawl.CrawlStopped:
		rec.StoppedAt = fromMicros(now)
	case !stopped.IsZero():
		rec.Rested += max(0, fromMicros(now).Sub(stopped))
		rec.StoppedAt = time.Time{}
	}
	rec.State = state
	return nil
}

// Crawl implements store.Crawls.
func (s *Store) Crawl(ctx context.Context, name string) (store.CrawlRecord, error) {
	rec, err := read(ctx, s, func(tx Tx) (store.CrawlRecord, error) {
		return queryCrawl(ctx, tx, `SELECT `+crawlColumns+` FROM crawls WHERE name = $1`, clean(name))
	})
	if err != nil {
		return store.CrawlRecord{}, fmt.Errorf("crawl %s: %w", name, err)
	}
	return rec, nil
}

// ListCrawls implements store.Crawls.
func (s *Store) ListCrawls(ctx context.Context) ([]store.CrawlRecord, error) {
	all, err := read(ctx, s, func(tx Tx) ([]store.CrawlRecord, error) {
		return collect(ctx, tx, `SELECT `+crawlColumns+` FROM crawls ORDER BY name`, nil, scanCrawl)
	})
	if err != nil {
		return nil, fmt.Errorf("list crawls: %w", err)
	}
	return all, nil
}

// errStillStopped: a crawl that is to leave its stopped state has stopped pages again.
var errStillStopped = errors.New("more pages were stopped meanwhile")

// noneStopped returns errStillStopped if a locked crawl is stopped and has stopped pages. One
// that stops with its crawl waits for the same lock, and then sees that the crawl runs.
func noneStopped(ctx context.Context, tx Tx, rec store.CrawlRecord) error {
	if rec.State != crawl.CrawlStopped {
		return nil
	}
	var one int
	query := fmt.Sprintf(`SELECT 1 FROM frontier WHERE crawl_id = $1 AND state = %d LIMIT 1`, crawl.Stopped)
	switch err := tx.QueryRow(ctx, query, []any{rec.ID}, &one); {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("look for stopped pages: %w", err)
	}
	return errStillStopped
}

// reviving runs a transaction in which a crawl may leave its stopped state, after its stopped
// pages have been brought back.
func (s *Store) reviving(ctx context.Context, name string, fn func(Tx) (store.CrawlRecord, error)) (store.CrawlRecord, error) {
	for {
		if err := s.revive(ctx, name); err != nil {
			return store.CrawlRecord{}, err
		}
		rec, err := write(ctx, s, fn)
		if !errors.Is(err, errStillStopped) {
			return rec, err
		}
	}
}

// revive returns the pages that were stopped with a crawl to Known, so that
// admission brings them back within the window. It runs before the crawl
// leaves its stopped state: if it is cut off, the crawl is still stopped and the
// next call goes on. It does nothing to other crawls.
func (s *Store) revive(ctx context.Context, name string) error {
	for {
		n, err := write(ctx, s, func(tx Tx) (int, error) { return s.reviveSome(ctx, tx, name) })
		if err != nil {
			return fmt.Errorf("bring back stopped pages: %w", err)
		}
		if n < revivedPerTx {
			return nil
		}
	}
}

// reviveSome revives at most revivedPerTx pages and returns how many it did.
func (s *Store) reviveSome(ctx context.Context, tx Tx, name string) (int, error) {
	rec, err := queryCrawl(ctx, tx, `SELECT `+crawlColumns+` FROM crawls WHERE name = $1`, clean(name))
	if errors.Is(err, store.ErrNotFound) || err == nil && (rec.State != crawl.CrawlStopped || rec.Deleting) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	query := fmt.Sprintf(`SELECT page_id, host_id FROM frontier
		WHERE crawl_id = $1 AND state = %d ORDER BY page_id LIMIT %d`, crawl.Stopped, revivedPerTx) + s.lock()
	d := newDeltas(rec.ID, 0)
	n, err := s.makeKnown(ctx, tx, query, rec.ID, d, nil)
	if err != nil || n == 0 {
		return 0, err
	}
	return n, d.apply(ctx, s, tx)
}

// reviveStopped makes the pages of URLs that are stopped Known.
func (s *Store) reviveStopped(ctx context.Context, tx Tx, urls []foundURL, d *deltas) (int, error) {
	ids := make([]int64, len(urls))
	for i, u := range urls {
		ids[i] = u.ID
	}
	query := fmt.Sprintf(`SELECT page_id, host_id FROM frontier
		WHERE page_id IN (%s) AND state = %d ORDER BY page_id`, s.ids(1), crawl.Stopped) + s.lock()
	var known []pageChange
	n, err := s.makeKnown(ctx, tx, query, idList(ids), d, &known)
	if err != nil {
		return 0, err
	}
	return n, s.notePages(ctx, tx, d.crawlID, feed.PageResumed, known)
}

// makeKnown makes stopped pages Known: those whose ids and hosts the query answers. It adds
// their changes to known unless that is nil: the pages of a stopped crawl come back with it.
func (s *Store) makeKnown(ctx context.Context, tx Tx, query string, arg any, d *deltas, known *[]pageChange) (int, error) {
	var ids []int64
	err := tx.Query(ctx, query, []any{arg}, func(row Row) error {
		var id, host int64
		if err := row.Scan(&id, &host); err != nil {
			return err
		}
		ids = append(ids, id)
		d.moves(host, crawl.Stopped, crawl.Known, 1)
		if known != nil {
			data := feed.Data{Was: crawl.Stopped, State: crawl.Known}
			*known = append(*known, pageChange{id, data.Encode(feed.PageResumed, 0)})
		}
		return nil
	})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	update := fmt.Sprintf(`UPDATE frontier SET state = %d, next_at = 0 WHERE page_id IN (%s)`, crawl.Known, s.ids(1))
	_, err = tx.Exec(ctx, update, idList(ids))
	return len(ids), err
}

func insertCrawl(ctx context.Context, tx Tx, spec crawl.Spec, text string) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO crawls (name, spec, state, generation, created_at,
			delay, factor, max_crawl_delay, permit_life, agent, window_size, max_pages, site_time, site_round, auto_delay, requisites)
		VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (name) DO NOTHING`,
		append([]any{spec.Name, text, int64(crawl.CrawlRunning), now}, specNumbers(spec)...)...)
	return err
}

func updateCrawl(ctx context.Context, tx Tx, rec store.CrawlRecord, text string) error {
	var stored string
	if err := tx.QueryRow(ctx, `SELECT spec FROM crawls WHERE id = $1`, []any{rec.ID}, &stored); err != nil {
		return err
	}
	text, err := crawl.KeepUnknown(text, stored)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE crawls SET spec = $2, state = $3, generation = $4,
			delay = $5, factor = $6, max_crawl_delay = $7, permit_life = $8, agent = $9, window_size = $10, max_pages = $11,
			site_time = $12, site_round = $13, auto_delay = $14, requisites = $15, stopped_at = $16, rested = $17
		WHERE id = $1`,
		append(append([]any{rec.ID, text, int64(rec.State), rec.Generation}, specNumbers(rec.Spec)...), micros(rec.StoppedAt), spanMicros(rec.Rested))...)
	return err
}

// specNumbers are the columns of crawls that repeat the spec: delay, factor,
// max_crawl_delay, permit_life, agent, window_size, max_pages, site_time, site_round, auto_delay, requisites.
func specNumbers(spec crawl.Spec) []any {
	return []any{
		spec.Politeness.Delay.Std().Microseconds(), spec.Politeness.Factor, spec.Politeness.MaxCrawlDelay.Std().Microseconds(),
		(spec.Fetch.TimeLimit.Std() + permitGrace).Microseconds(), spec.Identity.Agent,
		spec.Limits.Window, min(spec.Limits.MaxPages, math.MaxInt32), // the column's type in PostgreSQL
		spec.Limits.SiteTime.Std().Microseconds(), spec.Revisit.DefaultInterval.Std().Microseconds(),
		count(spec.Politeness.AutoDelay), count(spec.Documents.Requisites),
	}
}

// lockCrawl reads a crawl and keeps its row locked until the transaction ends.
func (s *Store) lockCrawl(ctx context.Context, tx Tx, name string) (store.CrawlRecord, error) {
	return queryCrawl(ctx, tx, `SELECT `+crawlColumns+` FROM crawls WHERE name = $1`+s.lock(), clean(name))
}

func queryCrawl(ctx context.Context, tx Tx, query string, arg any) (store.CrawlRecord, error) {
	all, err := collect(ctx, tx, query, []any{arg}, scanCrawl)
	if err != nil {
		return store.CrawlRecord{}, err
	}
	if len(all) == 0 {
		return store.CrawlRecord{}, store.ErrNotFound
	}
	return all[0], nil
}

func scanCrawl(row Row) (store.CrawlRecord, error) {
	var rec store.CrawlRecord
	var text string
	var state uint8
	var created, stopped, rested, imported, deleting int64
	if err := row.Scan(&rec.ID, &text, &state, &rec.Generation, &created, &stopped, &rested, &imported, &deleting); err != nil {
		return store.CrawlRecord{}, err
	}
	// Over the defaults, so that a spec stored before a field existed has the
	// field's default.
	rec.Spec = crawl.DefaultSpec()
	rec.Spec.Content.NearDuplicate = 0 // crawls of that time listed copies only
	if err := json.Unmarshal([]byte(text), &rec.Spec); err != nil {
		return store.CrawlRecord{}, fmt.Errorf("decode the spec of crawl %d: %w", rec.ID, err)
	}
	rec.State = crawl.CrawlState(state)
	rec.CreatedAt, rec.StoppedAt, rec.Rested = fromMicros(created), fromMicros(stopped), span(rested)
	rec.Imported, rec.Deleting = imported != 0, deleting != 0
	return rec, nil
}

// encodeSpec returns the spec as JSON in one form: two specs with the same meaning
// have the same text.
func encodeSpec(spec crawl.Spec) (string, error) {
	if spec.Seeds == nil {
		spec.Seeds = []string{}
	}
	if spec.Scope.Rules == nil {
		spec.Scope.Rules = []crawl.ScopeRule{}
	}
	if spec.Fetch.AllowNetworks == nil {
		spec.Fetch.AllowNetworks = []string{}
	}
	if spec.Fetch.ContentTypes == nil {
		spec.Fetch.ContentTypes = []string{}
	}
	if spec.Revisit.Rules == nil {
		spec.Revisit.Rules = []crawl.RevisitRule{}
	}
	if spec.Content.IgnoreSelectors == nil {
		spec.Content.IgnoreSelectors = []string{}
	}
	if spec.Content.IgnorePatterns == nil {
		spec.Content.IgnorePatterns = []string{}
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode the spec: %w", err)
	}
	return string(text), nil
}
