package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// ListHosts implements store.Reports. Delay is the gap before a next request of
// this crawl; Waiting and InFlight count all crawls.
func (s *Store) ListHosts(ctx context.Context, f store.HostFilter) ([]store.HostRecord, error) {
	hosts, err := read(ctx, s, func(tx Tx) ([]store.HostRecord, error) {
		if f.IDs != nil {
			return s.hostsByID(ctx, tx, f.CrawlID, f.IDs)
		}
		if f.Slowest != 0 {
			return s.slowestHosts(ctx, tx, f)
		}
		hosts, err := s.loadHosts(ctx, tx, f.CrawlID,
			`hosts h CROSS JOIN host_crawls hc WHERE hc.host_id = h.id AND hc.crawl_id = $1 AND h.host > $2 ORDER BY h.host LIMIT $3`, clean(f.After), limitOr(f.Limit))
		if err != nil {
			return nil, err
		}
		return hosts, s.describe(ctx, tx, f.CrawlID, hosts)
	})
	if err != nil {
		return nil, fmt.Errorf("list hosts of crawl %d: %w", f.CrawlID, err)
	}
	return hosts, nil
}

// HostsNamed implements store.Reports.
func (s *Store) HostsNamed(ctx context.Context, host string, limit int) ([]string, error) {
	hosts, err := read(ctx, s, func(tx Tx) ([]string, error) {
		found, err := hostsBetween(ctx, tx, clean(host), clean(host)+"!", limit)
		for _, name := range urlkey.Namesakes(clean(host)) {
			// "!" follows the end of a name, and ";" the colon before its port. Neither is in a host's key.
			for _, ends := range [][2]string{{"", "!"}, {":", ";"}} {
				var more []string
				if err == nil {
					more, err = hostsBetween(ctx, tx, name+ends[0], name+ends[1], limit)
				}
				found = append(found, slices.DeleteFunc(more, func(h string) bool { return slices.Contains(found, h) })...)
			}
		}
		return found[:min(limit, len(found))], err
	})
	if err != nil {
		return nil, fmt.Errorf("find hosts named %s: %w", host, err)
	}
	return hosts, nil
}

// hostsBetween lists hosts of crawls by their keys.
func hostsBetween(ctx context.Context, tx Tx, from, below string, limit int) ([]string, error) {
	return collect(ctx, tx, `SELECT h.host FROM hosts h WHERE h.host >= $1 AND h.host < $2
		AND (EXISTS (SELECT 1 FROM host_crawls hc WHERE hc.host_id = h.id) OR EXISTS (SELECT 1 FROM foreign_hosts fh WHERE fh.host_id = h.id)
			OR EXISTS (SELECT 1 FROM robots_hosts rh WHERE rh.host_id = h.id))
		ORDER BY h.host LIMIT $3`, []any{from, below, limit}, scanText)
}

// slowestHosts lists first the hosts with the most work. It reads all hosts of the crawl,
// as their counts do, but no page. A host's gap depends on more than is compared here: on
// how long its last request took, and on other crawls.
func (s *Store) slowestHosts(ctx context.Context, tx Tx, f store.HostFilter) ([]store.HostRecord, error) {
	work := `hc.known + hc.living`
	if f.Slowest == store.WorkFirst {
		work = `hc.known + hc.unattempted`
	}
	hosts, err := s.loadHosts(ctx, tx, f.CrawlID, fmt.Sprintf(`crawls c CROSS JOIN host_crawls hc JOIN hosts h ON h.id = hc.host_id
		WHERE c.id = $1 AND hc.crawl_id = c.id AND %[1]s > 0
		ORDER BY (%[1]s) * (h.mean_duration + CASE
			WHEN h.crawl_delay <= c.delay THEN c.delay
			WHEN h.crawl_delay <= c.max_crawl_delay THEN h.crawl_delay
			WHEN c.max_crawl_delay > c.delay THEN c.max_crawl_delay
			ELSE c.delay END) DESC, h.id LIMIT $2`, work), limitOr(f.Limit))
	if err != nil {
		return nil, err
	}
	return hosts, s.describe(ctx, tx, f.CrawlID, hosts)
}

func (s *Store) hostsByID(ctx context.Context, tx Tx, crawlID int64, ids []int64) ([]store.HostRecord, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	hosts, err := s.loadHosts(ctx, tx, crawlID,
		s.records(2, "r", "id bigint")+` CROSS JOIN hosts h CROSS JOIN host_crawls hc WHERE h.id = r.id AND hc.host_id = h.id AND hc.crawl_id = `+ofEach(1, "r.id"), idList(ids))
	if err != nil {
		return nil, err
	}
	return hosts, s.describe(ctx, tx, crawlID, hosts)
}

// describe adds data from other tables to hosts.
func (s *Store) describe(ctx context.Context, tx Tx, crawlID int64, hosts []store.HostRecord) error {
	return errors.Join(s.addRobots(ctx, tx, hosts), s.addRanks(ctx, tx, crawlID, hosts))
}

// loadHosts reads the hosts h of a crawl, whose id is $1, with their numbers hc.
func (s *Store) loadHosts(ctx context.Context, tx Tx, crawlID int64, from string, args ...any) ([]store.HostRecord, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	demand, err := queryDemand(ctx, tx, crawlID)
	if err != nil {
		return nil, err
	}
	query := `SELECT ` + hostColumns + `, (SELECT rested_at FROM rest WHERE id = 1),
			(SELECT CAST(COALESCE(SUM(l.waiting), 0) AS BIGINT) FROM lines l WHERE l.host_id = h.id),
			hc.known, hc.unattempted, hc.living - hc.unattempted
		FROM ` + from
	return collect(ctx, tx, query, append([]any{crawlID}, args...), func(row Row) (store.HostRecord, error) {
		g := gateHost{now: now}
		var waiting int
		var known, unattempted, visited int64
		if err := row.Scan(append(g.row.fields(), &g.rested, &waiting, &known, &unattempted, &visited)...); err != nil {
			return store.HostRecord{}, err
		}
		g.bound()
		h, err := g.record(demand, waiting)
		h.Unvisited, h.Visited, h.Known = known+unattempted, visited, known
		return h, err
	})
}

// record is the host as people see it. A request whose permit has expired is
// not in flight, though nobody has closed its account yet.
func (g *gateHost) record(demand polite.Demand, waiting int) (store.HostRecord, error) {
	free := g.free(demand)
	h := store.HostRecord{
		ID: g.row.id, Host: g.row.host,
		Delay: free.Rest.Length, GapReason: free.Rest.Reason, NextFree: free.At.Truncate(time.Microsecond),
		BackoffUntil: fromMicros(g.row.backoffUntil), BackoffLevel: int(g.row.backoffLevel), Failures: int(g.row.failures),
		Mean: span(g.row.mean), CrawlDelay: span(g.row.crawlDelay), Capped: demand.Caps(span(g.row.crawlDelay)),
		Waiting: waiting, InFlight: g.row.flightPermit != 0 && g.now < g.row.expiresAt, Blocked: g.row.blocked != 0,
	}
	if g.row.backoffReason == "" {
		return h, nil
	}
	if err := json.Unmarshal([]byte(g.row.backoffReason), &h.BackoffReason); err != nil {
		return h, fmt.Errorf("decode why %s is in back-off: %w", h.Host, err)
	}
	return h, nil
}

// addRobots adds the robots records of the hosts' origins, without their texts.
func (s *Store) addRobots(ctx context.Context, tx Tx, hosts []store.HostRecord) error {
	byHost := make(map[string]*store.HostRecord, len(hosts))
	list := make([]hostName, len(hosts))
	for i := range hosts {
		byHost[hosts[i].Host] = &hosts[i]
		list[i].Host = hosts[i].Host
	}
	query := `SELECT o.origin, o.state, o.status, '', o.text_digest, o.fetched_at, o.expires_at, o.failures, o.crawl_delay, o.sitemaps, o.problem, o.hops, o.forbids
		FROM ` + s.records(1, "r", "host text") + ` CROSS JOIN robots o WHERE o.host = r.host ORDER BY o.origin`
	records, err := collect(ctx, tx, query, []any{jsonText(list)}, scanRobots)
	if err != nil {
		return fmt.Errorf("read robots: %w", err)
	}
	for _, rec := range records {
		host, err := s.originHost(rec.Origin)
		if err != nil {
			return err
		}
		byHost[host].Robots = append(byHost[host].Robots, rec)
	}
	return nil
}
