package sqlstore

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/requisite"
	"recrawl/internal/scope"
	"recrawl/internal/store"
)

// foreignBound is a bound on a crawl's foreign hosts.
type foreignBound struct {
	scope.HostBound
	table string // of the hosts that the crawl has
	site  string // a hash in hexadecimal digits, if the bound is on the hosts to which one site leads
}

func sourceBound(most int) foreignBound {
	return foreignBound{HostBound: scope.HostBound{Most: most, Reason: store.ReasonForeign, Detail: store.ForeignDetail(most)}, table: "foreign_hosts"}
}

func robotsBound(site string, most int) foreignBound {
	// A hash, so that a takedown of the site finds nothing to remove.
	hash := urlHash(site)
	return foreignBound{
		HostBound: scope.HostBound{Most: most, Reason: store.ReasonForeign, Detail: store.RobotsHostDetail(most)},
		table:     "robots_hosts", site: hex.EncodeToString(hash[:]),
	}
}

func requisiteBound(most int) foreignBound {
	return foreignBound{HostBound: requisite.CrawlHosts(most), table: "requisite_hosts"}
}

// isRequisite reports whether the URL is to be registered as a requisite.
func (u foundURL) isRequisite() bool { return crawl.PageKind(u.Kind) == crawl.KindRequisite }

// ClaimRobotsHost implements store.Sources.
func (s *Store) ClaimRobotsHost(ctx context.Context, crawlID int64, site, host string, most int) (bool, error) {
	unit := s.grouping.Unit(clean(host))
	claimed, err := write(ctx, s, func(tx Tx) (map[string]int64, error) {
		return s.claimForeign(ctx, tx, crawlID, robotsBound(site, most), []string{unit})
	})
	if err != nil {
		return false, fmt.Errorf("claim host %s for crawl %d: %w", unit, crawlID, err)
	}
	return claimed[unit] != 0, nil
}

// admitForeign sets the host ids of foreign URLs whose hosts the crawl has, or may
// have, and leaves the others out. Such hosts are few, so they may be added in the
// registering transaction.
func (s *Store) admitForeign(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL) (kept, refused []foundURL, err error) {
	foreign := slices.DeleteFunc(slices.Clone(urls), func(u foundURL) bool { return u.foreign == 0 })
	if len(foreign) == 0 {
		return urls, nil, nil
	}
	slices.SortFunc(foreign, func(a, b foundURL) int { return cmp.Compare(a.foreign, b.foreign) })
	sources, err := s.claimForeign(ctx, tx, p.CrawlID, sourceBound(p.ForeignHosts), hostsOf(foreign, false))
	if err != nil {
		return nil, nil, fmt.Errorf("foreign hosts: %w", err)
	}
	requisites, err := s.claimForeign(ctx, tx, p.CrawlID, requisiteBound(p.RequisiteHosts), hostsOf(foreign, true))
	if err != nil {
		return nil, nil, fmt.Errorf("hosts of requisites: %w", err)
	}
	for _, u := range urls {
		switch {
		case u.foreign == 0:
		case u.isRequisite():
			u.HostID = requisites[u.host]
		default:
			u.HostID = sources[u.host]
		}
		if u.HostID == 0 {
			refused = append(refused, u)
		} else {
			kept = append(kept, u)
		}
	}
	return kept, refused, nil
}

// hostsOf returns the hosts of those URLs that are requisites, or of the others, each once
// and in their order.
func hostsOf(urls []foundURL, requisites bool) []string {
	var names []string
	known := map[string]bool{}
	for _, u := range urls {
		if u.isRequisite() == requisites && !known[u.host] {
			known[u.host] = true
			names = append(names, u.host)
		}
	}
	return names
}

// claimForeign returns the ids of those of the hosts that have a place within the bound, or
// get one.
func (s *Store) claimForeign(ctx context.Context, tx Tx, crawlID int64, bound foreignBound, names []string) (map[string]int64, error) {
	known, next, err := s.nextForeign(ctx, tx, crawlID, bound, names)
	if err != nil || len(next) == 0 {
		return known, err
	}
	// Others may claim at the same time.
	var id int64
	if err := tx.QueryRow(ctx, `SELECT id FROM crawls WHERE id = $1`+s.lock(), []any{crawlID}, &id); err != nil {
		return nil, fmt.Errorf("crawl %d: %w", crawlID, err)
	}
	if known, next, err = s.nextForeign(ctx, tx, crawlID, bound, names); err != nil || len(next) == 0 {
		return known, err
	}
	added := hostNames(next)
	if err := s.insertHosts(ctx, tx, added); err != nil {
		return nil, err
	}
	columns, site, args := "crawl_id, host_id", "", []any{jsonText(added), crawlID}
	if bound.site != "" {
		columns, site, args = "crawl_id, site, host_id", s.engine.Dialect().Unhex("$3")+", ", append(args, bound.site)
	}
	query := `INSERT INTO ` + bound.table + ` (` + columns + `)
		SELECT CAST($2 AS BIGINT), ` + site + `h.id FROM ` + s.records(1, "r", "host text") + ` CROSS JOIN hosts h
		WHERE h.host = r.host ORDER BY h.id ON CONFLICT (` + columns + `) DO NOTHING`
	if _, err := tx.Exec(ctx, query, args...); err != nil {
		return nil, err
	}
	return s.foreignHosts(ctx, tx, crawlID, bound, names)
}

// nextForeign returns the ids of those of the hosts that have a place within the bound, and
// the hosts that should get one.
func (s *Store) nextForeign(ctx context.Context, tx Tx, crawlID int64, bound foreignBound, names []string) (known map[string]int64, next []string, err error) {
	if known, err = s.foreignHosts(ctx, tx, crawlID, bound, names); err != nil || len(known) == len(names) {
		return known, nil, err
	}
	var taken int
	ofSite, args := s.ofSite(bound, []any{crawlID})
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM `+bound.table+` WHERE crawl_id = $1`+ofSite, args, &taken); err != nil {
		return nil, nil, err
	}
	return known, bound.Take(names, func(host string) bool { return known[host] != 0 }, taken), nil
}

// foreignHosts returns the ids of those of the hosts that have a place within the bound.
func (s *Store) foreignHosts(ctx context.Context, tx Tx, crawlID int64, bound foreignBound, names []string) (map[string]int64, error) {
	hosts := make(map[string]int64, len(names))
	if len(names) == 0 {
		return hosts, nil
	}
	ofSite, args := s.ofSite(bound, []any{jsonText(hostNames(names)), crawlID})
	query := `SELECT h.host, h.id FROM ` + s.records(1, "r", "host text") + ` CROSS JOIN hosts h
		WHERE h.host = r.host AND EXISTS (SELECT 1 FROM ` + bound.table + ` WHERE crawl_id = $2 AND host_id = h.id` + ofSite + `)`
	err := tx.Query(ctx, query, args, func(row Row) error {
		var name string
		var id int64
		err := row.Scan(&name, &id)
		hosts[name] = id
		return err
	})
	return hosts, err
}

// ofSite is the condition that a row of the bound's table is of its site, if it has one, with
// the arguments that a query with it has.
func (s *Store) ofSite(bound foreignBound, args []any) (string, []any) {
	if bound.site == "" {
		return "", args
	}
	args = append(args, bound.site)
	return fmt.Sprintf(` AND site = %s`, s.engine.Dialect().Unhex(fmt.Sprintf("$%d", len(args)))), args
}

func hostNames(names []string) []hostName {
	list := make([]hostName, len(names))
	for i, name := range names {
		list[i].Host = name
	}
	return list
}

// maxForeignExamples is the most refused URLs of one registration that are kept as
// examples.
const maxForeignExamples = 4

// refusedForeign reports refused URLs, together with those that were rejected before.
func refusedForeign(p store.RegisterParams, refused []foundURL) []store.Rejection {
	all := slices.Clone(p.Rejected)
	for _, of := range []struct {
		bound      foreignBound
		requisites bool
	}{{sourceBound(p.ForeignHosts), false}, {requisiteBound(p.RequisiteHosts), true}} {
		r := store.Rejection{Reason: of.bound.Reason}
		for _, u := range refused {
			if u.isRequisite() != of.requisites {
				continue
			}
			if r.Links++; r.Links <= maxForeignExamples {
				r.Examples = append(r.Examples, store.RejectedURL{URL: u.URL, Host: u.host, Detail: of.bound.Detail})
			}
		}
		if r.Links > 0 {
			all = append(all, r)
		}
	}
	return all
}
