package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

const visitColumns = `page_id, visit, at, outcome, status, version_seq, digest, bytes, duration, next_at, state, problem, location, reasons`

// prefixed puts a table's alias before each of its columns.
func prefixed(alias, columns string) string {
	return alias + "." + strings.ReplaceAll(columns, ", ", ", "+alias+".")
}

// Visit implements store.Visits.
func (s *Store) Visit(ctx context.Context, pageID int64, visit int) (store.VisitRecord, error) {
	v, err := glance(ctx, s, func(tx Tx) (store.VisitRecord, error) { return s.visitIn(ctx, tx, pageID, visit) })
	if err != nil {
		return store.VisitRecord{}, fmt.Errorf("visit %d of page %d: %w", visit, pageID, err)
	}
	return v, nil
}

// ListVisits implements store.Reports.
func (s *Store) ListVisits(ctx context.Context, pageID int64, before, limit int) ([]store.VisitRecord, error) {
	query := `SELECT ` + visitColumns + ` FROM visits WHERE page_id = $1 ORDER BY visit DESC LIMIT $2`
	args := []any{pageID, limitOr(limit)}
	if before > 0 {
		query = `SELECT ` + visitColumns + ` FROM visits WHERE page_id = $1 AND visit < $3 ORDER BY visit DESC LIMIT $2`
		args = append(args, min(before, math.MaxInt32)) // the column's type in PostgreSQL
	}
	visits, err := read(ctx, s, func(tx Tx) ([]store.VisitRecord, error) { return collect(ctx, tx, query, args, scanVisit) })
	if err != nil {
		return nil, fmt.Errorf("visits of page %d: %w", pageID, err)
	}
	return visits, nil
}

// RecentVisits implements store.Reports.
func (s *Store) RecentVisits(ctx context.Context, pages []int64, each int) ([]store.VisitLook, error) {
	if len(pages) == 0 || each < 1 {
		return nil, nil
	}
	query := `SELECT v.page_id, v.visit, v.at, v.outcome, v.state FROM ` + s.records(1, "r", "id bigint") + `
			CROSS JOIN frontier f JOIN visits v ON v.page_id = f.page_id AND v.visit > f.visit - $2
		WHERE f.page_id = r.id ORDER BY v.page_id, v.visit`
	looks, err := read(ctx, s, func(tx Tx) ([]store.VisitLook, error) {
		return collect(ctx, tx, query, []any{idList(pages), each}, func(row Row) (store.VisitLook, error) {
			var v store.VisitLook
			var outcome, state uint8
			var at int64
			err := row.Scan(&v.PageID, &v.Visit, &at, &outcome, &state)
			v.At, v.Outcome, v.State = fromMicros(at), crawl.Outcome(outcome), crawl.PageState(state)
			return v, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("last visits of %d pages: %w", len(pages), err)
	}
	return looks, nil
}

// visitIn is Visit within a transaction.
func (s *Store) visitIn(ctx context.Context, tx Tx, pageID int64, visit int) (store.VisitRecord, error) {
	query := `SELECT ` + visitColumns + ` FROM visits WHERE page_id = $1 AND visit = $2`
	found, err := collect(ctx, tx, query, []any{pageID, min(max(visit, 0), math.MaxInt32)}, scanVisit)
	if err != nil {
		return store.VisitRecord{}, err
	}
	if len(found) == 0 {
		return store.VisitRecord{}, store.ErrNotFound
	}
	return found[0], nil
}

func scanVisit(row Row) (store.VisitRecord, error) { return scanVisitAnd(row) }

// scanVisitAnd scans visitColumns and what follows them.
func scanVisitAnd(row Row, more ...any) (store.VisitRecord, error) {
	var v store.VisitRecord
	var outcome, state uint8
	var at, duration, nextAt int64
	var reasons string
	err := row.Scan(append([]any{
		&v.PageID, &v.Visit, &at, &outcome, &v.Status, &v.Version, &v.Digest, &v.Bytes, &duration, &nextAt,
		&state, &v.Problem, &v.Location, &reasons,
	}, more...)...)
	if err != nil {
		return store.VisitRecord{}, err
	}
	if reasons != "" {
		if err := json.Unmarshal([]byte(reasons), &v.Reasons); err != nil {
			return store.VisitRecord{}, fmt.Errorf("decode the reasons of visit %d: %w", v.Visit, err)
		}
	}
	v.Outcome, v.State = crawl.Outcome(outcome), crawl.PageState(state)
	v.At, v.NextAt, v.Duration = fromMicros(at), fromMicros(nextAt), span(duration)
	return v, nil
}

// SaveVersion implements store.Visits. The version becomes the page's last when
// its visit is recorded. A zero At is taken from the store's clock.
func (s *Store) SaveVersion(ctx context.Context, p store.SaveVersionParams) (int64, error) {
	id, err := write(ctx, s, func(tx Tx) (int64, error) { return s.saveVersion(ctx, tx, p) })
	if err != nil {
		return 0, fmt.Errorf("save a version of page %d, visit %d: %w", p.Version.PageID, p.Version.Visit, err)
	}
	return id, nil
}

func (s *Store) saveVersion(ctx context.Context, tx Tx, p store.SaveVersionParams) (int64, error) {
	v := p.Version
	v.Seq = 0
	var stored savedKey
	var now int64
	reads := []Step{savedVersion(v.PageID, v.Visit, &stored), lastSeq(v.PageID, &v.Seq), {Clock: &now}}
	if v.Canonical != "" {
		reads = append(reads, s.unlessForgotten(p.Version.Canonical, &v.Canonical))
	}
	page, err := s.lockPage(ctx, tx, v.PageID, reads...)
	if err != nil || stored.saved && (page.visit >= v.Visit || stored.is(p)) {
		return stored.id, err
	}
	d := newDeltas(page.crawlID, page.pageID)
	if stored.saved { // by somebody who saw another content
		if err := s.dropSaved(ctx, tx, page, stored.versionKey, v.Visit, now, d); err != nil {
			return 0, err
		}
	}
	if !stored.saved || stored.back { // else it takes the dropped one's number
		v.Seq++
	}
	id, err := s.addOrReturn(ctx, tx, page, v, p, now, d)
	if err != nil {
		return 0, err
	}
	if err := s.insertSketch(ctx, tx, page, id, p.Content); err != nil {
		return 0, err
	}
	if err := insertWording(ctx, tx, page.pageID, p.Said); err != nil {
		return 0, err
	}
	if err := s.replaceDuplicate(ctx, tx, page, id, now, p.Duplicate); err != nil {
		return 0, err
	}
	if err := insertPending(ctx, tx, page, v.Visit, id, now, p.Links); err != nil {
		return 0, err
	}
	return id, d.apply(ctx, s, tx)
}

// addOrReturn adds a version, or has the page return to one that it has.
func (s *Store) addOrReturn(ctx context.Context, tx Tx, page frontierRow, v store.VersionRecord, p store.SaveVersionParams, now int64, d *deltas) (int64, error) {
	if p.BackTo != 0 {
		return p.BackTo, s.saveReturn(ctx, tx, page, now, p)
	}
	return addVersion(ctx, tx, v, now, d)
}

// addVersion adds a row for a version, and counts it and its content.
func addVersion(ctx context.Context, tx Tx, v store.VersionRecord, now int64, d *deltas) (int64, error) {
	if v.At.IsZero() {
		v.At = fromMicros(now)
	}
	var id int64
	steps, counted := []Step{insertVersion(v, &id)}, true
	if digest := clean(v.Digest); digest != "" {
		steps = append(steps, countContent(digest, now, &counted))
	}
	if err := tx.Pipeline(ctx, steps...); err != nil {
		return 0, err
	}
	if !counted {
		return 0, fmt.Errorf("the archive is deleting %s: %w", v.Digest, store.ErrUnavailable)
	}
	d.total(totalVersions, 1)
	return id, nil
}

// insertPending keeps a version's links until RegisterLinks has done with them.
func insertPending(ctx context.Context, tx Tx, page frontierRow, visit int, version, now int64, links []store.Link) error {
	if len(links) == 0 {
		return nil
	}
	err := tx.Queue(ctx, `INSERT INTO pending_links (version_id, crawl_id, page_id, visit, at, links)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (version_id) DO UPDATE SET visit = excluded.visit, at = excluded.at, links = excluded.links`, version, page.crawlID, page.pageID, visit, now, jsonText(links))
	if err != nil {
		return fmt.Errorf("keep the links: %w", err)
	}
	return nil
}

func insertVersion(v store.VersionRecord, id *int64) Step {
	return oneRow(`INSERT INTO versions (page_id, seq, visit, at, digest, text_digest, link_digest,
			bytes, text_bytes, content_type, title, canonical, language, request, response, remote, timeless, reserved)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) RETURNING id`,
		[]any{
			v.PageID, v.Seq, v.Visit, micros(v.At), clean(v.Digest), clean(v.TextDigest), clean(v.LinkDigest),
			v.Bytes, v.TextBytes, clean(v.ContentType), clean(v.Title), clean(v.Canonical), clean(v.Language),
			clean(v.Heads.Request), clean(v.Heads.Response), clean(v.Heads.Remote), clean(v.Timeless), encodeReserved(v.Reserved),
		}, id)
}

// lastSeq reads the number of the page's last version; it stays as it is without one.
func lastSeq(pageID int64, seq *int) Step {
	return oneRow(`SELECT seq FROM versions WHERE page_id = $1 ORDER BY visit DESC LIMIT 1`, []any{pageID}, seq)
}

func nextSeq(ctx context.Context, tx Tx, pageID int64) (int, error) {
	var seq int
	err := tx.Pipeline(ctx, lastSeq(pageID, &seq))
	return seq + 1, err
}

// versionKey is a version's id and its number within its page; zero for none.
type versionKey struct {
	id  int64
	seq int
	// back: the page has returned to it.
	back bool
	// before is the number of the version that the page had before, 0 for none; beforeBack:
	// the page has returned to that one.
	before     int
	beforeBack bool
	// saved: it was saved with the visit, or returned to by it, and has these bytes.
	saved bool
	bytes string
	// sketches are those of the page, by version; nil if they have not been read.
	sketches map[int64]change.Content
}

// RecordVisit implements store.Visits. A page that was stopped or evicted in
// the meantime, or returned to Known, stays so: a person's word, or the
// collection's, outlives a visit that was under way.
func (s *Store) RecordVisit(ctx context.Context, p store.RecordParams) (store.RecordResult, error) {
	res, err := write(ctx, s, func(tx Tx) (store.RecordResult, error) { return s.recordVisit(ctx, tx, p) })
	if err == nil && res.Room {
		res.Room, err = s.mayRefill(ctx, p.Visit.PageID)
	}
	if err != nil {
		return store.RecordResult{}, fmt.Errorf("record visit %d of page %d: %w", p.Visit.Visit, p.Visit.PageID, err)
	}
	return res, nil
}

// recordVisit is the transaction of RecordVisit. Its Room says that the visit may have
// made room, which is checked after the commit: see mayRefill.
func (s *Store) recordVisit(ctx context.Context, tx Tx, p store.RecordParams) (store.RecordResult, error) {
	var version versionKey
	var now int64
	reads, there := []Step{versionAfter(p.Visit.PageID, &version), {Clock: &now}}, false
	if p.Visit.Outcome.FreesDuplicates() {
		reads = append(reads, hasDuplicates(p.Visit.PageID, &there))
	}
	if p.Visit.Visit > 1 && p.Visit.Outcome.BringsText() {
		version.sketches = map[int64]change.Content{}
		reads = append(reads, sketchesOf(p.Visit.PageID, version.sketches))
	}
	page, err := s.lockPage(ctx, tx, p.Visit.PageID, reads...)
	if err != nil {
		return store.RecordResult{}, err
	}
	res, err := s.recordAfter(ctx, tx, page, version, p, now)
	res.Copied = there
	return res, err
}

// recordAfter is RecordVisit for a page that is locked, and has this version after its next
// visit.
func (s *Store) recordAfter(ctx context.Context, tx Tx, page frontierRow, version versionKey, p store.RecordParams, now int64) (store.RecordResult, error) {
	if p.Visit.Visit != page.visit+1 {
		return s.recordedVisit(ctx, tx, page, p)
	}
	if p.Visit.Location != "" {
		if err := tx.Pipeline(ctx, s.unlessForgotten(p.Visit.Location, &p.Visit.Location)); err != nil {
			return store.RecordResult{}, fmt.Errorf("look whether the redirect's target is forgotten: %w", err)
		}
	}
	d := newDeltas(page.crawlID, page.pageID)
	saved, drops := version, version.saved && !version.foundBy(p.Visit)
	if drops {
		version = version.last(page)
	}
	v := settle(p, page, version, now)
	if err := insertVisit(ctx, tx, v, version.id); err != nil {
		return store.RecordResult{}, err
	}
	if err := updateVisited(ctx, tx, page, v, p, version.id); err != nil {
		return store.RecordResult{}, err
	}
	if err := judgeHint(ctx, tx, page, v.Outcome); err != nil {
		return store.RecordResult{}, err
	}
	if version.id != page.versionID {
		if err := s.removeSketch(ctx, tx, page, page.versionID, version.id, version.sketches); err != nil {
			return store.RecordResult{}, err
		}
	}
	if err := s.leavesContent(ctx, tx, page.pageID, page.state, v.State); err != nil {
		return store.RecordResult{}, err
	}
	if err := noteVisit(ctx, tx, page, v, p, version, now); err != nil {
		return store.RecordResult{}, err
	}
	// Hosts are locked before contents and counts.
	until, err := s.book(ctx, tx, page, v, p, now)
	if err != nil {
		return store.RecordResult{}, err
	}
	if drops {
		if err := s.dropSaved(ctx, tx, page, saved, v.Visit, now, d); err != nil {
			return store.RecordResult{}, err
		}
	}
	if err := s.retain(ctx, tx, d, v.PageID, v.Visit, version, now, p.Retention); err != nil {
		return store.RecordResult{}, err
	}
	d.visit(v.Outcome, now)
	if !page.requisite { // days are of the collection's pages
		d.day(v.Outcome, v.Visit == 1, micros(v.At)-page.nextAt, now)
	}
	d.foretell(p.Foreseen, v.Outcome.Changed())
	d.moves(page.hostID, page.state, v.State, 1)
	d.unattempted(page.hostID, -count(page.takesPlace()))
	if err := d.apply(ctx, s, tx); err != nil {
		return store.RecordResult{}, err
	}
	return store.RecordResult{Visit: v, Room: page.takesPlace() || mayMakeRoom(v.Visit, p), InLineUntil: until, Due: v.At.Add(span(p.Interval.Microseconds()))}, nil
}

// mayMakeRoom reports whether a visit frees a place for another page, as a first visit
// does, or has made pages known that nobody else may be about to admit. So does the next visit of
// a page that was admitted again, as after a stop of its crawl: that page takes a place until then.
func mayMakeRoom(visit int, p store.RecordParams) bool { return visit == 1 || len(p.Touched) > 0 }

// recordedVisit answers for a visit that is not the page's next.
func (s *Store) recordedVisit(ctx context.Context, tx Tx, page frontierRow, p store.RecordParams) (store.RecordResult, error) {
	v, err := s.visitIn(ctx, tx, page.pageID, p.Visit.Visit)
	if errors.Is(err, store.ErrNotFound) {
		return store.RecordResult{}, fmt.Errorf("the page's next visit is %d: %w", page.visit+1, store.ErrConflict)
	}
	if err != nil {
		return store.RecordResult{}, err
	}
	until, err := bookedUntil(ctx, tx, page.pageID, v.Visit+1)
	if err != nil {
		return store.RecordResult{}, err
	}
	return store.RecordResult{Visit: v, Already: true, Room: mayMakeRoom(v.Visit, p), InLineUntil: until}, nil
}

// versionAfter reads the version that the page has after its next visit: the one
// saved with it or returned to, else the last before it.
func versionAfter(pageID int64, v *versionKey) Step {
	query := `SELECT id, seq, digest, back, last FROM (
			SELECT w.id, w.seq, w.digest, 0 AS back, 0 AS last
				FROM frontier f JOIN versions w ON w.page_id = f.page_id AND w.visit = f.visit + 1 WHERE f.page_id = $1
			UNION ALL SELECT w.id, w.seq, w.digest, 1 AS back, 0 AS last
				FROM frontier f JOIN versions w ON w.page_id = f.page_id AND w.back_visit = f.visit + 1 AND w.back_visit > 0 WHERE f.page_id = $2
			UNION ALL SELECT w.id, w.seq, w.digest, CASE WHEN w.back_visit > 0 THEN 1 ELSE 0 END AS back, 1 AS last
				FROM frontier f JOIN versions w ON w.id = f.version_id WHERE f.page_id = $3) v ORDER BY last`
	return Step{Query: query, Args: []any{pageID, pageID, pageID}, Scan: func(row Row) error {
		var id, back, last int64
		var seq int
		var digest string
		if err := row.Scan(&id, &seq, &digest, &back, &last); err != nil {
			return err
		}
		if v.id == 0 {
			v.id, v.seq, v.back, v.saved, v.bytes = id, seq, back != 0, last == 0, digest
		}
		if last == 1 {
			v.before, v.beforeBack = seq, back != 0
		}
		return nil
	}}
}

func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// settle adds the store's decisions to a visit: times, version, and the state if
// the page was moved out of its living states.
func settle(p store.RecordParams, page frontierRow, version versionKey, now int64) store.VisitRecord {
	v := p.Visit
	at := micros(v.At)
	if at == 0 {
		at = now
	}
	v.At = fromMicros(at)
	v.NextAt = fromMicros(max(now, at+p.Interval.Microseconds()))
	v.Duration = span(v.Duration.Microseconds())
	v.Version = version.seq
	if !page.state.Lives() || v.State == 0 {
		v.State = page.state
	}
	v.Digest, v.Problem, v.Location = clean(v.Digest), clean(v.Problem), clean(v.Location)
	return v
}

func insertVisit(ctx context.Context, tx Tx, v store.VisitRecord, versionID int64) error {
	reasons := ""
	if len(v.Reasons) > 0 {
		reasons = jsonText(v.Reasons)
	}
	err := tx.Queue(ctx, `INSERT INTO visits (page_id, visit, at, outcome, status, version_id, version_seq, digest, bytes,
			duration, next_at, state, problem, location, reasons)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		v.PageID, v.Visit, micros(v.At), int64(v.Outcome), v.Status, versionID, v.Version, v.Digest, v.Bytes,
		v.Duration.Microseconds(), micros(v.NextAt), int64(v.State), v.Problem, v.Location, reasons)
	if err != nil {
		return fmt.Errorf("insert the visit: %w", err)
	}
	return nil
}

// updateVisited moves the page on after a visit.
func updateVisited(ctx context.Context, tx Tx, page frontierRow, v store.VisitRecord, p store.RecordParams, versionID int64) error {
	if v.Outcome.Changed() {
		page.changes++
	}
	if v.Outcome.Changed() || v.Outcome == crawl.OutcomeNew {
		page.lastChange = micros(v.At)
	}
	query := `UPDATE frontier SET state = $2, visit = $3, attempted = 1, next_at = $4, last_at = $5, last_change = $6,
		changes = $7, failures = $8, version_id = $9, held_host = $10, last_return = $11, hinted_by = 0, fetched = ''`
	if v.Outcome == crawl.OutcomeReturned {
		page.lastReturn = micros(v.At)
	}
	args := []any{
		page.pageID, int64(v.State), v.Visit, micros(v.NextAt), micros(v.At), page.lastChange,
		page.changes, p.Failures, versionID, spanMicros(p.Held), page.lastReturn,
	}
	if p.Validators {
		args = append(args, clean(p.ETag), clean(p.LastModified))
		query += fmt.Sprintf(`, etag = $%d, last_modified = $%d`, len(args)-1, len(args))
	}
	if p.Respelling != nil {
		args = append(args, clean(p.Respelling.Spelling), p.Respelling.Times)
		query += fmt.Sprintf(`, spelling = $%d, respelled = $%d`, len(args)-1, len(args))
	}
	if p.Belief != nil {
		args = append(args, clean(string(p.Belief)))
		query += fmt.Sprintf(`, belief = $%d`, len(args))
	}
	if p.Suspect != nil {
		args = append(args, p.Suspect.Visit, clean(p.Suspect.Digest))
		query += fmt.Sprintf(`, suspect_visit = $%d, suspect_digest = $%d`, len(args)-1, len(args))
	}
	if err := tx.Queue(ctx, query+` WHERE page_id = $1`, args...); err != nil {
		return fmt.Errorf("move the page on: %w", err)
	}
	return nil
}
