package sqlstore

import (
	"context"
	"fmt"
	"strconv"

	"recrawl/internal/store"
)

// robotsSaid is the effect of a robots.txt, in short: two files with the same effect
// have the same value.
type robotsSaid struct {
	state  store.RobotsState
	digest string
}

// since_of of a row: releases that do not know the column leave it as it was.
func (r robotsSaid) String() string { return strconv.Itoa(int(r.state)) + ":" + r.digest }

// settled reports whether it decides anything. A redirect that is being followed does not:
// the earlier file stays in force until the end of the redirect is known.
func (r robotsSaid) settled() bool {
	return r.state == store.RobotsParsed || r.state == store.RobotsAllowAll || r.state == store.RobotsUnreachable
}

// keepRobots puts an origin's robots.txt into the history if the answer that is about to
// replace it says something else, and returns since when the new state has held.
func (s *Store) keepRobots(ctx context.Context, tx Tx, origin string, next robotsSaid, now int64) (int64, error) {
	was, since, err := robotsBefore(ctx, tx, origin)
	switch {
	case err != nil || was == next:
		return max(since, 0), err
	case !was.settled():
		return resumeRobots(ctx, tx, origin, next, now)
	}
	err = tx.Queue(ctx, `INSERT INTO robots_history (origin, until, since, host, state, status, text, text_digest, crawl_delay, problem)
		SELECT r.origin, $2, $3, r.host, r.state, r.status, r.text, r.text_digest,
			CASE WHEN r.state = 1 THEN r.crawl_delay ELSE 0 END, r.problem FROM robots r WHERE r.origin = $1
		ON CONFLICT (origin, until) DO NOTHING`, origin, now, since)
	if err != nil {
		return 0, fmt.Errorf("keep what it said before: %w", err)
	}
	return now, boundRobots(ctx, tx, origin)
}

// robotsBefore is the state of the row, and since when. The zero row is that of an origin
// that was never asked.
func robotsBefore(ctx context.Context, tx Tx, origin string) (was robotsSaid, since int64, err error) {
	var of string
	var fetched int64
	query := `SELECT state, text_digest, since, since_of, fetched_at FROM robots WHERE origin = $1`
	err = tx.QueryRow(ctx, query, []any{origin}, &was.state, &was.digest, &since, &of, &fetched)
	if of != was.String() {
		since = fetched // a release that does not keep times wrote it
	}
	return was, since, ignoreNotFound(err)
}

// resumeRobots returns since when a robots.txt has said what was found at the end of a
// redirect: if it said the same before the redirect was followed, from then on.
func resumeRobots(ctx context.Context, tx Tx, origin string, next robotsSaid, now int64) (int64, error) {
	var last robotsSaid
	var since, until int64
	query := `SELECT state, text_digest, since, until FROM robots_history WHERE origin = $1 ORDER BY until DESC LIMIT 1`
	err := tx.QueryRow(ctx, query, []any{origin}, &last.state, &last.digest, &since, &until)
	if err = ignoreNotFound(err); err != nil || until == 0 || last != next {
		return now, err
	}
	err = tx.Queue(ctx, `DELETE FROM robots_history WHERE origin = $1 AND until = $2`, origin, until)
	return since, err
}

// boundRobots deletes the oldest entries of an origin's history that exceed its bounds.
func boundRobots(ctx context.Context, tx Tx, origin string) error {
	kept, size, cut := 0, int64(0), int64(0)
	query := `SELECT until, LENGTH(text) FROM robots_history WHERE origin = $1 ORDER BY until DESC`
	err := tx.Query(ctx, query, []any{origin}, func(row Row) error {
		var until, length int64
		if err := row.Scan(&until, &length); err != nil {
			return err
		}
		kept, size = kept+1, size+length
		if over := kept > store.MaxRobotsKept || kept > 1 && size > store.MaxRobotsTextKept; over && cut == 0 {
			cut = until
		}
		return nil
	})
	if err != nil || cut == 0 {
		return err
	}
	return tx.Queue(ctx, `DELETE FROM robots_history WHERE origin = $1 AND until <= $2`, origin, cut)
}

// RobotsHistory implements store.Evidence.
func (s *Store) RobotsHistory(ctx context.Context, host string) ([]store.RobotsEpoch, error) {
	unit, err := s.unitOf(host)
	if err != nil {
		return nil, err
	}
	query := `SELECT origin, since, until, state, status, text, text_digest, crawl_delay, problem FROM robots_history WHERE host = $1
		UNION ALL
		SELECT origin, CASE WHEN since_of = CAST(state AS TEXT) || ':' || text_digest THEN since ELSE fetched_at END, 0, state, status, text, text_digest,
			CASE WHEN state = 1 THEN crawl_delay ELSE 0 END, problem
		FROM robots WHERE host = $2
		ORDER BY 1, 2`
	epochs, err := read(ctx, s, func(tx Tx) ([]store.RobotsEpoch, error) {
		return collect(ctx, tx, query, []any{unit, unit}, func(row Row) (store.RobotsEpoch, error) {
			var e store.RobotsEpoch
			var since, until, delay int64
			err := row.Scan(&e.Origin, &since, &until, &e.State, &e.Status, &e.Text, &e.TextDigest, &delay, &e.Problem)
			e.Since, e.Until, e.CrawlDelay = fromMicros(since), fromMicros(until), span(delay)
			return e, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("what the robots.txt of %s said: %w", host, err)
	}
	return epochs, nil
}
