package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"recrawl/internal/store"
)

// ClaimForeignHost implements store.Sources.
func (s *Store) ClaimForeignHost(ctx context.Context, crawlID int64, host string, most int) (bool, error) {
	unit := s.grouping.Unit(clean(host))
	claimed, err := write(ctx, s, func(tx Tx) (map[string]int64, error) {
		return s.claimForeign(ctx, tx, crawlID, []string{unit}, most)
	})
	if err != nil {
		return false, fmt.Errorf("claim host %s for crawl %d: %w", unit, crawlID, err)
	}
	return claimed[unit] != 0, nil
}

// admitForeign sets the host ids of foreign URLs whose hosts the crawl has, or may
// have, and leaves the others out. Such hosts are few, so that they may be added in
// the transaction that registers.
func (s *Store) admitForeign(ctx context.Context, tx Tx, p store.RegisterParams, urls []foundURL) (kept, refused []foundURL, err error) {
	foreign := slices.DeleteFunc(slices.Clone(urls), func(u foundURL) bool { return u.foreign == 0 })
	if len(foreign) == 0 {
		return urls, nil, nil
	}
	slices.SortFunc(foreign, func(a, b foundURL) int { return cmp.Compare(a.foreign, b.foreign) })
	var names []string
	known := map[string]bool{}
	for _, u := range foreign {
		if !known[u.host] {
			known[u.host] = true
			names = append(names, u.host)
		}
	}
	hosts, err := s.claimForeign(ctx, tx, p.CrawlID, names, p.ForeignHosts)
	if err != nil {
		return nil, nil, fmt.Errorf("foreign hosts: %w", err)
	}
	for _, u := range urls {
		if u.foreign != 0 {
			u.HostID = hosts[u.host]
		}
		if u.HostID == 0 {
			refused = append(refused, u)
		} else {
			kept = append(kept, u)
		}
	}
	return kept, refused, nil
}

// claimForeign returns the ids of those of the hosts that are among the crawl's
// foreign ones, or become so: the first, as long as there are fewer than most.
func (s *Store) claimForeign(ctx context.Context, tx Tx, crawlID int64, names []string, most int) (map[string]int64, error) {
	known, err := s.foreignHosts(ctx, tx, crawlID)
	if err != nil || !slices.ContainsFunc(names, func(name string) bool { return known[name] == 0 }) {
		return known, err
	}
	// Others may claim at the same time.
	var id int64
	if err := tx.QueryRow(ctx, `SELECT id FROM crawls WHERE id = $1`+s.lock(), []any{crawlID}, &id); err != nil {
		return nil, fmt.Errorf("crawl %d: %w", crawlID, err)
	}
	if known, err = s.foreignHosts(ctx, tx, crawlID); err != nil {
		return nil, err
	}
	var added []hostName
	for _, name := range names {
		if known[name] == 0 && len(known)+len(added) < most {
			added = append(added, hostName{name})
		}
	}
	if len(added) == 0 {
		return known, nil
	}
	if _, err := s.insertHosts(ctx, tx, added); err != nil {
		return nil, err
	}
	query := `INSERT INTO foreign_hosts (crawl_id, host_id)
		SELECT CAST($2 AS BIGINT), h.id FROM ` + s.records(1, "r", "host text") + ` CROSS JOIN hosts h
		WHERE h.host = r.host ORDER BY h.id ON CONFLICT (crawl_id, host_id) DO NOTHING`
	if _, err := tx.Exec(ctx, query, jsonText(added), crawlID); err != nil {
		return nil, err
	}
	return s.foreignHosts(ctx, tx, crawlID)
}

// foreignHosts are the crawl's foreign hosts with their ids.
func (s *Store) foreignHosts(ctx context.Context, tx Tx, crawlID int64) (map[string]int64, error) {
	hosts := map[string]int64{}
	query := `SELECT h.host, h.id FROM foreign_hosts f JOIN hosts h ON h.id = f.host_id WHERE f.crawl_id = $1`
	err := tx.Query(ctx, query, []any{crawlID}, func(row Row) error {
		var name string
		var id int64
		err := row.Scan(&name, &id)
		hosts[name] = id
		return err
	})
	return hosts, err
}

// maxForeignExamples is how many of the URLs that one registration refuses are kept
// as examples.
const maxForeignExamples = 4

// refusedForeign is what is told of refused URLs, with what was rejected before.
func refusedForeign(rejected []store.Rejection, refused []foundURL, most int) []store.Rejection {
	if len(refused) == 0 {
		return rejected
	}
	r := store.Rejection{Reason: store.ReasonForeign, Links: len(refused)}
	for _, u := range refused[:min(len(refused), maxForeignExamples)] {
		r.Examples = append(r.Examples, store.RejectedURL{URL: u.URL, Host: u.host, Detail: store.ForeignDetail(most)})
	}
	return append(slices.Clone(rejected), r)
}
