package sqlstore

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/polite"
	"recrawl/internal/store"
)

// ListHosts implements store.Reports. Delay is the gap before a next request of
// this crawl; Waiting and InFlight are of all crawls.
func (s *Store) ListHosts(ctx context.Context, crawlID int64, after string, limit int) ([]store.HostRecord, error) {
	hosts, err := read(ctx, s, func(tx Tx) ([]store.HostRecord, error) {
		hosts, err := s.listHosts(ctx, tx, crawlID, after, limitOr(limit))
		if err != nil {
			return nil, err
		}
		return hosts, s.addRobots(ctx, tx, hosts)
	})
	if err != nil {
		return nil, fmt.Errorf("list hosts of crawl %d: %w", crawlID, err)
	}
	return hosts, nil
}

func (s *Store) listHosts(ctx context.Context, tx Tx, crawlID int64, after string, limit int) ([]store.HostRecord, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	demand, err := queryDemand(ctx, tx, crawlID)
	if err != nil {
		return nil, err
	}
	query := `SELECT ` + hostColumns + `, (SELECT rested_at FROM rest WHERE id = 1),
			(SELECT CAST(COALESCE(SUM(l.waiting), 0) AS BIGINT) FROM lines l WHERE l.host_id = h.id)
		FROM hosts h
		WHERE h.host > $2 AND EXISTS (SELECT 1 FROM host_crawls hc WHERE hc.host_id = h.id AND hc.crawl_id = $1)
		ORDER BY h.host LIMIT $3`
	return collect(ctx, tx, query, []any{crawlID, clean(after), limit}, func(row Row) (store.HostRecord, error) {
		g := gateHost{now: now}
		waiting := 0
		if err := row.Scan(append(g.row.fields(), &g.rested, &waiting)...); err != nil {
			return store.HostRecord{}, err
		}
		return g.record(demand, waiting), nil
	})
}

// record is the host as people see it. A request whose permit has expired is
// not in flight, though nobody has closed its account yet.
func (g *gateHost) record(demand polite.Demand, waiting int) store.HostRecord {
	free := g.free(demand)
	return store.HostRecord{
		ID: g.row.id, Host: g.row.host,
		Delay: free.Rest.Length, NextFree: free.At.Truncate(time.Microsecond),
		BackoffUntil: fromMicros(g.row.backoffUntil), BackoffLevel: int(g.row.backoffLevel),
		Mean: span(g.row.mean), CrawlDelay: span(g.row.crawlDelay), Capped: demand.Caps(span(g.row.crawlDelay)),
		Waiting: waiting, InFlight: g.row.flightPermit != 0 && g.now < g.row.expiresAt, Blocked: g.row.blocked != 0,
	}
}

// addRobots adds the robots records of the hosts' origins, without their texts.
func (s *Store) addRobots(ctx context.Context, tx Tx, hosts []store.HostRecord) error {
	byHost := make(map[string]*store.HostRecord, len(hosts))
	list := make([]hostName, len(hosts))
	for i := range hosts {
		byHost[hosts[i].Host] = &hosts[i]
		list[i].Host = hosts[i].Host
	}
	query := `SELECT o.origin, o.state, o.status, '', o.text_digest, o.fetched_at, o.expires_at, o.failures, o.crawl_delay, o.sitemaps, o.problem, o.hops
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
