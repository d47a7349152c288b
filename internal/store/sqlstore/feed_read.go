package sqlstore

import (
	"context"
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// factsRecord is a change as ChangeFacts asks for it.
type factsRecord struct {
	N     int   `json:"n"`
	Crawl int64 `json:"crawl"`
	Page  int64 `json:"page"`
	Visit int   `json:"visit"`
	Seq   int   `json:"seq"`
	Prior int   `json:"prior"`
	Host  int64 `json:"host"`
	Trap  int64 `json:"trap"`
}

// ChangeFacts implements store.FeedReader, with one statement.
func (s *Store) ChangeFacts(ctx context.Context, changes []feed.Change) ([]store.ChangeFacts, error) {
	facts := make([]store.ChangeFacts, len(changes))
	if len(changes) == 0 {
		return facts, nil
	}
	asked := make([]factsRecord, len(changes))
	for i, c := range changes {
		asked[i] = factsRecord{N: i, Crawl: c.CrawlID, Page: c.PageID, Visit: c.Visit, Seq: c.Seq, Prior: c.Data.From, Host: c.Data.HostID, Trap: c.Data.TrapID}
	}
	_, err := read(ctx, s, func(tx Tx) (struct{}, error) {
		return struct{}{}, tx.Query(ctx, s.factsQuery(), []any{jsonText(asked)}, func(row Row) error {
			n, f, err := scanFacts(row)
			if err == nil {
				facts[n] = f
			}
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("facts of %d changes: %w", len(changes), err)
	}
	return facts, nil
}

// factsQuery selects the facts of the changes in placeholder $1.
func (s *Store) factsQuery() string {
	return `SELECT r.n, COALESCE(c.name, ''), COALESCE(p.url, ''), COALESCE(l.title, ''), COALESCE(h.host, ''), COALESCE(k.name, ''), COALESCE(k.host, ''),
			COALESCE(v.status, 0), COALESCE(v.location, ''), COALESCE(v.problem, ''), COALESCE(p.kind, 0), COALESCE(f.state, 0),
			COALESCE(f.last_change, 0), COALESCE(f.last_return, 0), COALESCE(l.seq, 0), COALESCE(l.visit, 0), COALESCE(l.back_visit, 0), ` + factsVersion("w") + `, ` + factsVersion("b") + `
		FROM ` + s.records(1, "r", "n bigint", "crawl bigint", "page bigint", "visit bigint", "seq bigint", "prior bigint", "host bigint", "trap bigint") + `
			LEFT JOIN crawls c ON c.id = r.crawl
			LEFT JOIN pages p ON p.id = r.page
			LEFT JOIN frontier f ON f.page_id = p.id
			LEFT JOIN versions l ON l.id = f.version_id
			LEFT JOIN hosts h ON h.id = COALESCE(p.host_id, r.host)
			LEFT JOIN traps k ON k.id = r.trap
			LEFT JOIN visits v ON v.page_id = p.id AND v.visit = r.visit
			LEFT JOIN versions w ON w.page_id = p.id AND w.seq = r.seq
			LEFT JOIN versions b ON b.page_id = p.id AND b.seq = r.prior`
}

// factsVersion are the columns of a version that may be missing.
func factsVersion(alias string) string {
	return fmt.Sprintf(`COALESCE(%[1]s.id, 0), COALESCE(%[1]s.seq, 0), COALESCE(%[1]s.visit, 0), COALESCE(%[1]s.at, 0),
			COALESCE(%[1]s.digest, ''), COALESCE(%[1]s.text_digest, ''), COALESCE(%[1]s.bytes, 0), COALESCE(%[1]s.text_bytes, 0),
			COALESCE(%[1]s.content_type, ''), COALESCE(%[1]s.title, ''), COALESCE(%[1]s.language, '')`, alias)
}

func scanFacts(row Row) (int, store.ChangeFacts, error) {
	var n int
	var f store.ChangeFacts
	var trapHost string
	var kind, state uint8
	var at [2]int64
	var lastChange, lastReturn int64
	dest := []any{&n, &f.Crawl, &f.URL, &f.Title, &f.Host, &f.Trap, &trapHost, &f.Status, &f.Location, &f.Problem, &kind, &state, &lastChange, &lastReturn, &f.Last.Seq, &f.Last.Visit, &f.Last.Back}
	for i, v := range []*store.VersionRecord{&f.Version, &f.Before} {
		dest = append(dest, &v.ID, &v.Seq, &v.Visit, &at[i], &v.Digest, &v.TextDigest, &v.Bytes, &v.TextBytes, &v.ContentType, &v.Title, &v.Language)
	}
	if err := row.Scan(dest...); err != nil {
		return 0, f, err
	}
	f.TextAt = fromMicros(max(lastChange, lastReturn))
	f.Kind, f.State = crawl.PageKind(kind), crawl.PageState(state)
	f.Version.At, f.Before.At = fromMicros(at[0]), fromMicros(at[1])
	if trapHost != "" {
		f.Host = trapHost
	}
	return n, f, nil
}
