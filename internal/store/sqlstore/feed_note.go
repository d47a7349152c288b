package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// note adds a change to the feed, in the transaction that makes it.
func note(ctx context.Context, tx Tx, c feed.Change) error {
	err := tx.Queue(ctx, `INSERT INTO changes (crawl_id, page_id, at, visit, seq, kind, data) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		c.CrawlID, c.PageID, micros(c.At), c.Visit, c.Seq, int64(c.Kind), c.Data.Encode(c.Kind, c.Seq))
	if err != nil {
		return fmt.Errorf("note in the feed that %s: %w", c.Kind, err)
	}
	return nil
}

// noteNow is note with the store's time.
func noteNow(ctx context.Context, tx Tx, c feed.Change) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	c.At = fromMicros(now)
	return note(ctx, tx, c)
}

// noteVisit adds the changes of a visit to the feed, if there are any.
func noteVisit(ctx context.Context, tx Tx, page frontierRow, v store.VisitRecord, p store.RecordParams, version versionKey, now int64) error {
	seen := feed.Seen{
		Outcome: v.Outcome, State: v.State, Version: version.seq, Location: v.Location,
		Respelled: p.Respelling != nil && p.Respelling.Times > 0,
	}
	before := feed.Before{State: page.state, Version: version.before}
	if feed.NeedsPast(before.State, seen) {
		var err error
		if before.Settled, before.Location, err = pastOf(ctx, tx, page.pageID, v.Visit); err != nil {
			return err
		}
	}
	kind, data := feed.OfVisit(before, seen)
	if kind == 0 {
		return nil
	}
	return note(ctx, tx, feed.Change{
		CrawlID: page.crawlID, Kind: kind, At: fromMicros(now), PageID: page.pageID, Visit: v.Visit, Seq: version.seq, Data: data,
	})
}

// pastOf returns the state that a page's last visit with a known state left, unless
// it was failing, and where that led to. It is zero if no such visit is kept.
func pastOf(ctx context.Context, tx Tx, page int64, visit int) (state crawl.PageState, location string, err error) {
	query := fmt.Sprintf(`SELECT state, location FROM visits WHERE page_id = $1 AND visit < $2 AND state <> %d AND outcome NOT IN (%d, %d, %d)
		ORDER BY visit DESC LIMIT 1`, crawl.Failing, crawl.OutcomeThrottled, crawl.OutcomeSkipped, crawl.OutcomeSuspect)
	var code uint8
	err = tx.QueryRow(ctx, query, []any{page, visit}, &code, &location)
	if ignoreNotFound(err) != nil {
		return 0, "", fmt.Errorf("look at visits before: %w", err)
	}
	return crawl.PageState(code), location, nil
}

// standingKind is the change of a page whose state is set outside a visit, 0 for none.
func standingKind(was, is crawl.PageState) feed.Kind {
	switch {
	case was == is:
		return 0
	case is == crawl.Stopped:
		return feed.PageStopped
	case is == crawl.Evicted:
		return feed.PageEvicted
	case is.Lives() && (was == crawl.Stopped || was == crawl.Evicted):
		return feed.PageResumed
	}
	return 0
}

// noteStanding adds a page's change of state without a visit to the feed, if the feed has
// a kind for it.
func noteStanding(ctx context.Context, tx Tx, page frontierRow, is crawl.PageState) error {
	return notePage(ctx, tx, page, standingKind(page.state, is), is)
}

func notePage(ctx context.Context, tx Tx, page frontierRow, kind feed.Kind, is crawl.PageState) error {
	if kind == 0 {
		return nil
	}
	var seq int
	if page.versionID != 0 {
		if err := tx.QueryRow(ctx, `SELECT seq FROM versions WHERE id = $1`, []any{page.versionID}, &seq); ignoreNotFound(err) != nil {
			return fmt.Errorf("look at the page's version: %w", err)
		}
	}
	data := feed.Usual(kind, seq)
	data.Was, data.State = page.state, is
	return noteNow(ctx, tx, feed.Change{CrawlID: page.crawlID, Kind: kind, PageID: page.pageID, Visit: page.visit, Seq: seq, Data: data})
}

// noteStop is noteStanding for a page that is set Stopped. For pages that stop because
// their crawl was stopped, the crawl's change is enough: one row, not one for each page.
func noteStop(ctx context.Context, tx Tx, page frontierRow, is crawl.PageState) error {
	if is == crawl.Stopped && page.state != is {
		var state uint8
		err := tx.QueryRow(ctx, `SELECT state FROM crawls WHERE id = $1`, []any{page.crawlID}, &state)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("look at the crawl's state: %w", err)
		}
		if crawl.CrawlState(state) == crawl.CrawlStopped {
			return nil
		}
	}
	return noteStanding(ctx, tx, page, is)
}

// pageChange is a row of changes to be written with others of one kind.
type pageChange struct {
	Page int64  `json:"page"`
	Data string `json:"data"`
}

// notePages adds a change of one kind for each of many pages.
func (s *Store) notePages(ctx context.Context, tx Tx, crawlID int64, kind feed.Kind, rows []pageChange) error {
	if len(rows) == 0 {
		return nil
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	query := `INSERT INTO changes (crawl_id, page_id, at, visit, seq, kind, data)
		SELECT CAST($2 AS BIGINT), r.page, CAST($3 AS BIGINT), 0, 0, CAST($4 AS BIGINT), r.data
		FROM ` + s.records(1, "r", "page bigint", "data text") + ` ORDER BY r.page`
	if err := tx.Queue(ctx, query, jsonText(rows), crawlID, now, int64(kind)); err != nil {
		return fmt.Errorf("note in the feed that %s: %w", kind, err)
	}
	return nil
}
