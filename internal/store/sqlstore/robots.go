package sqlstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"recrawl/internal/store"
)

const robotsRecordColumns = `origin, state, status, text, text_digest, fetched_at, expires_at, failures, crawl_delay, sitemaps, problem, hops, forbids`

// Robots implements store.Gate.
func (s *Store) Robots(ctx context.Context, origin string) (store.RobotsRecord, error) {
	found, err := glance(ctx, s, func(tx Tx) ([]store.RobotsRecord, error) {
		return collect(ctx, tx, `SELECT `+robotsRecordColumns+` FROM robots WHERE origin = $1`, []any{clean(origin)}, scanRobots)
	})
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.RobotsRecord{}, fmt.Errorf("robots.txt of %s: %w", origin, err)
	}
	return found[0], nil
}

func scanRobots(row Row) (store.RobotsRecord, error) { return scanRobotsAnd(row) }

// scanRobotsAnd scans robotsRecordColumns and what follows them.
func scanRobotsAnd(row Row, more ...any) (store.RobotsRecord, error) {
	var r store.RobotsRecord
	var state uint8
	var fetched, expires, delay, forbids int64
	var sitemaps string
	err := row.Scan(append([]any{
		&r.Origin, &state, &r.Status, &r.Text, &r.TextDigest, &fetched, &expires, &r.Failures, &delay, &sitemaps, &r.Problem, &r.Hops, &forbids,
	}, more...)...)
	if err != nil {
		return store.RobotsRecord{}, err
	}
	if sitemaps != "" {
		if err := json.Unmarshal([]byte(sitemaps), &r.Sitemaps); err != nil {
			return store.RobotsRecord{}, fmt.Errorf("decode the sitemaps of %s: %w", r.Origin, err)
		}
	}
	r.State, r.ForbidsAll = store.RobotsState(state), forbids != 0
	r.FetchedAt, r.ExpiresAt, r.CrawlDelay = fromMicros(fetched), fromMicros(expires), span(delay)
	return r, nil
}

// delayKept is how long the Crawl-delay of an origin still counts for its host once its
// robots.txt has expired: permits that were granted before may still begin.
const delayKept = 24 * time.Hour

// SaveRobots implements store.Gate. The host's Crawl-delay becomes the largest
// of its origins'; a robots.txt that could not be read leaves the delay that was
// known. One that has expired long ago does not count: the pages of an origin that sends to
// another, as http to https, are seldom asked for.
func (s *Store) SaveRobots(ctx context.Context, p store.SaveRobotsParams) error {
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) { return struct{}{}, s.saveRobots(ctx, tx, p) })
	if err != nil {
		return fmt.Errorf("save the robots.txt of %s: %w", p.Origin, err)
	}
	return nil
}

func (s *Store) saveRobots(ctx context.Context, tx Tx, p store.SaveRobotsParams) error {
	host, hostID, err := s.lockOrigin(ctx, tx, p.Origin)
	if err != nil || hostID == 0 {
		return err
	}
	if err := s.upsertRobots(ctx, tx, p, host); err != nil {
		return err
	}
	if p.State != store.RobotsParsed && p.State != store.RobotsAllowAll {
		return nil
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	// A file that nobody has asked for since may say anything by now, and none of its origin's
	// pages is asked for before it is.
	return tx.Queue(ctx, `UPDATE hosts SET crawl_delay = (SELECT MAX(r.crawl_delay) FROM robots r
			WHERE r.host = $2 AND (r.origin = $3 OR r.expires_at > $4)) WHERE id = $1`,
		hostID, host, clean(p.Origin), now-spanMicros(delayKept))
}

// RaiseCrawlDelay implements store.Gate.
func (s *Store) RaiseCrawlDelay(ctx context.Context, origin, textDigest string, delay time.Duration) error {
	_, err := write(ctx, s, func(tx Tx) (struct{}, error) {
		return struct{}{}, s.raiseCrawlDelay(ctx, tx, origin, textDigest, spanMicros(delay))
	})
	if err != nil {
		return fmt.Errorf("raise the Crawl-delay of %s: %w", origin, err)
	}
	return nil
}

func (s *Store) raiseCrawlDelay(ctx context.Context, tx Tx, origin, textDigest string, delay int64) error {
	_, hostID, err := s.lockOrigin(ctx, tx, origin)
	if err != nil || hostID == 0 {
		return err
	}
	// The host's row is locked, so the text does not change in between.
	err = tx.Queue(ctx, `UPDATE hosts SET crawl_delay = $2 WHERE id = $1 AND crawl_delay < $2
			AND EXISTS (SELECT 1 FROM robots r WHERE r.origin = $3 AND r.state = 1 AND r.text_digest = $4)`,
		hostID, delay, clean(origin), textDigest)
	if err != nil {
		return err
	}
	return tx.Queue(ctx, `UPDATE robots SET crawl_delay = $2 WHERE origin = $1 AND state = 1 AND text_digest = $3 AND crawl_delay < $2`,
		clean(origin), delay, textDigest)
}

func (s *Store) upsertRobots(ctx context.Context, tx Tx, p store.SaveRobotsParams, host string) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	nextHost := ""
	if p.NextHost != "" {
		nextHost = s.grouping.Unit(clean(p.NextHost))
	}
	sitemaps, digest := "", ""
	if len(p.Sitemaps) > 0 {
		sitemaps = jsonText(p.Sitemaps)
	}
	text := clean(p.Text)
	if text != "" {
		sum := sha256.Sum256([]byte(text))
		digest = hex.EncodeToString(sum[:])
	}
	said := robotsSaid{p.State, digest}
	since, err := s.keepRobots(ctx, tx, clean(p.Origin), said, now)
	if err != nil {
		return err
	}
	return tx.Queue(ctx, `INSERT INTO robots (origin, host, state, status, text, text_digest, fetched_at, expires_at,
			failures, crawl_delay, sitemaps, problem, next, next_host, hops, forbids, since, since_of)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (origin) DO UPDATE SET state = excluded.state, status = excluded.status, text = excluded.text,
			text_digest = excluded.text_digest, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at,
			failures = excluded.failures, sitemaps = excluded.sitemaps, problem = excluded.problem,
			next = excluded.next, next_host = excluded.next_host, hops = excluded.hops, forbids = excluded.forbids,
			since = excluded.since, since_of = excluded.since_of,
			crawl_delay = CASE WHEN excluded.state IN (1, 2) THEN excluded.crawl_delay ELSE robots.crawl_delay END`,
		clean(p.Origin), host, int64(p.State), p.Status, text, digest, now, now+p.Expires.Microseconds(),
		p.Failures, p.CrawlDelay.Microseconds(), sitemaps, clean(p.Problem), clean(p.Next), nextHost, p.Hops, count(p.ForbidsAll), since, said.String())
}

// lockOrigin locks the host of an origin before anything is saved about it. The id is 0 if the
// host was forgotten: then nothing is saved. Forget locks the host's row too, so that nothing
// is saved after it has removed what there was.
func (s *Store) lockOrigin(ctx context.Context, tx Tx, origin string) (host string, id int64, err error) {
	if host, err = s.originHost(origin); err != nil {
		return "", 0, err
	}
	tomb := newTombstone(tombHost, host)
	if found, err := s.tombstones(ctx, tx, []tombstone{tomb}); err != nil || found[tomb] {
		return "", 0, err
	}
	id, err = s.lockHost(ctx, tx, host)
	return host, id, err
}

// lockHost adds the host if it is new and locks its row, which every gate
// transaction locks first too.
func (s *Store) lockHost(ctx context.Context, tx Tx, host string) (int64, error) {
	if err := tx.Queue(ctx, `INSERT INTO hosts (host) VALUES ($1) ON CONFLICT (host) DO NOTHING`, host); err != nil {
		return 0, err
	}
	var id int64
	err := tx.QueryRow(ctx, `SELECT id FROM hosts WHERE host = $1`+s.lock(), []any{host}, &id)
	return id, err
}

// originHost returns the unit of an origin's host: of the part after scheme://.
func (s *Store) originHost(origin string) (string, error) {
	_, host, ok := strings.Cut(clean(origin), "://")
	if !ok || host == "" {
		return "", fmt.Errorf("%q is not an origin", origin)
	}
	return s.grouping.Unit(host), nil
}
