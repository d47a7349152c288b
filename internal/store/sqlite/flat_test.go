package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// meter is an engine that counts the statements of all transactions, and the rows that
// they return.
type meter struct {
	sqlstore.Engine
	statements, rows atomic.Int64
}

func newMeter(e sqlstore.Engine) *meter {
	m := &meter{}
	m.Engine = sqlstore.Observe(e, sqlstore.Observer{
		Asked:    func(sqlstore.Transaction, string, []any) { m.statements.Add(1) },
		Returned: func(sqlstore.Transaction) { m.rows.Add(1) },
	})
	return m
}

// crowdHosts is how many hosts a crowd is on.
const crowdHosts = 20

// crowd fills a store with a crawl of visited pages that live, without the work of visiting
// them: overdue of them are due, those with lower ids for longer, and the others sleep.
func crowd(t *testing.T, m *meter, pages, overdue int) (*sqlstore.Store, store.CrawlRecord) {
	t.Helper()
	s := sqlstore.New(m, sqlstore.Options{})
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "crowd", []string{"http://h0.example/"}
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	type page struct {
		ID   int    `json:"id"`
		Hash string `json:"hash"`
		URL  string `json:"url"`
		Host int    `json:"host"`
		Next int64  `json:"next"`
	}
	now := time.Now()
	list := make([]page, pages)
	for i := range list {
		p := page{ID: i + 1, URL: fmt.Sprintf("http://h%d.example/%d", i%crowdHosts, i), Host: i%crowdHosts + 1, Next: now.Add(time.Hour + time.Duration(i)*time.Second).UnixMicro()}
		if i < overdue {
			p.Next = now.Add(-2*time.Hour + time.Duration(i)*time.Millisecond).UnixMicro()
		}
		sum := sha256.Sum256([]byte(p.URL))
		p.Hash = fmt.Sprintf("%x", sum[:16])
		list[i] = p
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	each := `FROM (SELECT value ->> 'id' AS id, value ->> 'hash' AS hash, value ->> 'url' AS url, value ->> 'host' AS host, value ->> 'next' AS next FROM json_each($1)) r`
	err = m.Write(t.Context(), func(tx sqlstore.Tx) error {
		for _, fill := range []string{
			`INSERT INTO pages (id, crawl_id, url_hash, url, host_id, level, found_at, found_from)
				SELECT r.id, $2, unhex(r.hash), r.url, r.host, 1, 1, 0 ` + each,
			`INSERT INTO frontier (page_id, crawl_id, host_id, state, visit, attempted, next_at, last_at, weight, belief)
				SELECT r.id, $2, r.host, 2, 3, 1, r.next, 1, 1.0, '' ` + each,
			`INSERT INTO hosts (id, host) SELECT DISTINCT r.host, 'h' || (r.host - 1) || '.example' ` + each + ` WHERE $2 > 0`,
			`INSERT INTO host_crawls (host_id, crawl_id, living) SELECT r.host, $2, COUNT(*) ` + each + ` GROUP BY r.host`,
			`INSERT INTO crawl_counts (crawl_id, kind, code, slot, n) SELECT $2, 'state', 2, 0, COUNT(*) ` + each,
		} {
			if _, err := tx.Exec(t.Context(), fill, string(text), rec.ID); err != nil {
				return fmt.Errorf("%w in %s", err, fill)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, rec
}

// flatOperations are people's queries, the queries of every maintenance pass, and the
// parts of a visit.
func flatOperations(ctx context.Context, s *sqlstore.Store, c store.CrawlRecord, pages int) []operation {
	now := time.Now()
	sleeper := crawl.PageRef{CrawlID: c.ID, Crawl: "crowd", PageID: int64(pages), URL: fmt.Sprintf("http://h%d.example/%d", (pages-1)%crowdHosts, pages-1), Host: fmt.Sprintf("h%d.example", (pages-1)%crowdHosts)}
	return []operation{
		{"status", func() error { _, err := s.Status(ctx, c.ID); return err }},
		{"care", func() error { _, err := s.Care(ctx, c.ID); return err }},
		{"hosts in trouble", func() error { _, _, err := s.TroubledHosts(ctx, c.ID, 5); return err }},
		{"hosts", func() error { _, err := s.ListHosts(ctx, store.HostFilter{CrawlID: c.ID, Limit: 20}); return err }},
		{"pages", func() error { _, err := s.ListPages(ctx, store.PageFilter{CrawlID: c.ID, Limit: 20}); return err }},
		{"sample of pages", func() error {
			_, err := s.ListPages(ctx, store.PageFilter{CrawlID: c.ID, States: []crawl.PageState{crawl.Active, crawl.Failing}, Sample: 500})
			return err
		}},
		{"slowest hosts", func() error {
			_, err := s.ListHosts(ctx, store.HostFilter{CrawlID: c.ID, Slowest: store.WorkPass, Limit: 20})
			return err
		}},
		{"pages of a host", func() error {
			_, err := s.ListPages(ctx, store.PageFilter{CrawlID: c.ID, Host: "h1.example", Limit: 20})
			return err
		}},
		{"overdue", func() error {
			_, err := s.DuePages(ctx, store.DueParams{CrawlID: c.ID, Before: now.Add(-time.Hour), Limit: 500})
			return err
		}},
		{"overdue longest", func() error {
			_, err := s.DuePages(ctx, store.DueParams{CrawlID: c.ID, Before: now.Add(-time.Hour), Limit: 100, Longest: true})
			return err
		}},
		{"untried", func() error {
			_, err := s.DuePages(ctx, store.DueParams{CrawlID: c.ID, Before: now, Limit: 500, Untried: true})
			return err
		}},
		{"nudge", func() error { _, err := s.Nudge(ctx); return err }},
		{"unfinished links", func() error { _, err := s.UnfinishedLinks(ctx, c.ID, time.Minute, 50); return err }},
		{"candidates", func() error {
			_, err := s.Candidates(ctx, store.CandidateParams{CrawlID: c.ID, Limit: 1})
			return err
		}},
		{"acquire", func() error {
			_, err := s.Acquire(ctx, store.AcquireParams{Page: sleeper, Visit: 4, Class: crawl.ClassRevisit})
			return err
		}},
		{"record", func() error {
			_, err := s.RecordVisit(ctx, store.RecordParams{
				Visit:    store.VisitRecord{PageID: sleeper.PageID, Visit: 4, Outcome: crawl.OutcomeUnchanged, State: crawl.Active},
				Interval: time.Hour,
			})
			return err
		}},
	}
}

type operation struct {
	name string
	do   func() error
}

// TestFlat: no query of people or of every pass, and no part of a visit, takes more
// statements or returns more rows with twenty thousand pages than with a thousand. That no
// query reads more rows than it returns is checked by TestCollection, which asks for the
// plans.
func TestFlat(t *testing.T) {
	t.Parallel()
	type cost struct{ statements, rows int64 }
	measure := func(pages int) map[string]cost {
		m := newMeter(openOwner(t, filepath.Join(t.TempDir(), "store.db")))
		defer m.Close()
		const overdue = 600 // more than a batch
		s, rec := crowd(t, m, pages, overdue)
		costs := map[string]cost{}
		for _, op := range flatOperations(t.Context(), s, rec, pages) {
			before := cost{m.statements.Load(), m.rows.Load()}
			if err := op.do(); err != nil {
				t.Fatalf("%s: %v", op.name, err)
			}
			costs[op.name] = cost{m.statements.Load() - before.statements, m.rows.Load() - before.rows}
		}
		return costs
	}
	few, many := measure(1000), measure(20_000)
	for name, c := range few {
		if many[name] != c {
			t.Errorf("%s: %d statements and %d rows with a thousand pages, %d and %d with twenty thousand",
				name, c.statements, c.rows, many[name].statements, many[name].rows)
		}
	}
}

// TestWalksReadLittleMore: a walk along the ids of several states asks each state for no ids
// above those that it has enough of. It once read a full batch of every state, and threw most away.
func TestWalksReadLittleMore(t *testing.T) {
	t.Parallel()
	m := newMeter(openOwner(t, filepath.Join(t.TempDir(), "store.db")))
	defer m.Close()
	const pages, limit = 3000, 100
	s, rec := crowd(t, m, pages, 0)
	err := m.Write(t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE frontier SET state = $1 + page_id % 6`, int64(crawl.Active))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, walk := range map[string]func(after int64) ([]int64, error){
		"entries": func(after int64) ([]int64, error) {
			found, err := s.Entries(t.Context(), store.EntryParams{CrawlID: rec.ID, After: after, Limit: limit})
			return idsOf(found, func(e store.EntryRecord) int64 { return e.PageID }), err
		},
		"ranked": func(after int64) ([]int64, error) {
			found, err := s.RankedPages(t.Context(), rec.ID, after, limit)
			return idsOf(found, func(p store.RankedPage) int64 { return p.ID }), err
		},
	} {
		for _, after := range []int64{0, 1234} {
			before := m.rows.Load()
			got, err := walk(after)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]int64, limit)
			for i := range want {
				want[i] = after + int64(i) + 1
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s after %d: %v", name, after, got)
			}
			// With the pages themselves; a batch of each state is 600.
			if n := m.rows.Load() - before; n > 5*limit {
				t.Errorf("%s after %d: %d rows read for %d", name, after, n, limit)
			}
		}
	}
}

func idsOf[T any](list []T, id func(T) int64) []int64 {
	var ids []int64
	for _, each := range list {
		ids = append(ids, id(each))
	}
	return ids
}

// TestChangedPagesInOneWalk: a list of many changed pages is read along the ids. State by state,
// one with few matches was read to its end for each part of the list.
func TestChangedPagesInOneWalk(t *testing.T) {
	t.Parallel()
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	m := newMeter(e)
	defer m.Close()
	const pages, other, limit = 14_000, 500, 3000
	_, rec := crowd(t, m, pages, 0)
	r := &recorder{queries: map[string][]any{}}
	s := sqlstore.New(sqlstore.Observe(e, sqlstore.Observer{Asked: r.asked}), sqlstore.Options{})
	since := time.Now().Add(-time.Hour)
	err := m.Write(t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE frontier SET last_change = $1 * (page_id % 2), state = CASE WHEN page_id % 101 = 0 THEN $2 ELSE state END,
			crawl_id = CASE WHEN page_id <= $3 OR page_id > $4 THEN 0 ELSE crawl_id END`, since.UnixMicro(), int64(crawl.Failing), other, pages-other)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []int64
	for {
		p := store.PageFilter{CrawlID: rec.ID, ChangedSince: since, Limit: limit}
		if len(got) > 0 {
			p.After = got[len(got)-1]
		}
		some, err := s.ListPages(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(some) == 0 {
			break
		}
		got = append(got, idsOf(some, func(p store.PageRecord) int64 { return p.PageID })...)
	}
	for id := int64(other + 1); id <= pages-other; id += 2 {
		want = append(want, id)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d pages, want %d", len(got), len(want))
	}
	for query, args := range r.queries {
		if steps := strings.Join(plan(t, e, query, args), "\n"); strings.Contains(query, "f.last_change >=") && !strings.Contains(query, "ORDER BY f.last_change") && !strings.Contains(steps, "PRIMARY KEY (rowid>? AND rowid<?)") {
			t.Errorf("%s\nin\n%s", steps, query)
		}
	}
}
