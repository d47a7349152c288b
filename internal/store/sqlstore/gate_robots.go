package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// robotsMost is longer than any robots.txt is kept: one that is kept for longer was fetched
// before the clock went back.
const robotsMost = 25 * time.Hour

// robotsRow is the gate's view of an origin's robots.txt. The zero row is that of
// an origin never asked.
type robotsRow struct {
	state     store.RobotsState
	expiresAt int64
	next      string
	nextHost  string
	// record is the whole record without the text and the sitemaps, only from robotsOf.
	record store.RobotsRecord
	// duty is the page that is fetching the origin's robots.txt, 0 for none, and
	// dutyUntil when it should be done.
	duty, dutyUntil int64
}

const robotsColumns = `COALESCE(r.state, 0), COALESCE(r.expires_at, 0), COALESCE(r.next, ''), COALESCE(r.next_host, '')`

func (r *robotsRow) fields() []any {
	return []any{&r.state, &r.expiresAt, &r.next, &r.nextHost}
}

// robotsOf reads the origin's row, without the duty.
func robotsOf(origin string, r *robotsRow) Step {
	*r = robotsRow{record: store.RobotsRecord{Origin: origin}}
	// All of robotsRecordColumns except the text and the sitemaps, which may be as large: this
	// is read at each ask.
	query := `SELECT origin, state, status, '', text_digest, fetched_at, expires_at, failures, crawl_delay, '', problem, hops, forbids,
			next, next_host
		FROM robots WHERE origin = $1`
	return Step{Query: query, Args: []any{clean(origin)}, Scan: func(row Row) (err error) {
		r.record, err = scanRobotsAnd(row, &r.next, &r.nextHost)
		r.state, r.expiresAt = r.record.State, micros(r.record.ExpiresAt)
		return err
	}}
}

// loadDuty reads which page other than this one is fetching the origin's robots.txt.
func (r *robotsRow) loadDuty(ctx context.Context, tx Tx, origin string, page int64) error {
	query := `SELECT p.page_id, p.promised_at FROM places p WHERE p.origin = $1 AND p.kind = 1 AND p.page_id <> $2
		ORDER BY p.page_id LIMIT 1`
	err := tx.QueryRow(ctx, query, []any{origin, page}, &r.duty, &r.dutyUntil)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("read who sees to the robots of %s: %w", origin, err)
	}
	return nil
}

// robotsNeed is the step that an origin's robots.txt requires of a page before its
// request.
type robotsNeed struct {
	// Ready: nothing, the record decides.
	ready bool
	// Unreachable: to wait for that long.
	unreachable time.Duration
	// Otherwise url must be fetched from host, a host key, "" for the page's own.
	url, host string
}

// need decides what must be done about an origin's robots.txt at now.
func (r *robotsRow) need(origin string, now int64) robotsNeed {
	if r.expiresAt <= now || span(r.expiresAt-now) > robotsMost {
		return robotsNeed{url: origin + "/robots.txt"}
	}
	switch r.state {
	case store.RobotsParsed, store.RobotsAllowAll:
		return robotsNeed{ready: true}
	case store.RobotsUnreachable:
		return robotsNeed{unreachable: span(r.expiresAt - now)}
	case store.RobotsRedirected:
		return robotsNeed{url: r.next, host: r.nextHost}
	}
	return robotsNeed{url: origin + "/robots.txt"}
}

// unreachableWait spreads the pages that wait for a robots.txt.
func unreachableWait(wait time.Duration, page int64) time.Duration {
	return wait + polite.Jitter(polite.RobotsSpread(wait), uint64(page))
}

// originOf is the origin (scheme://host[:port]) of a canonical URL.
func originOf(canonical string) (string, error) {
	u, err := url.Parse(canonical)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("the stored URL %q has no origin", canonical)
	}
	return u.Scheme + "://" + u.Host, nil
}
