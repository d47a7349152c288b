//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest/pgtest"
)

// opened is an engine that is closed at the test's end.
func opened(t *testing.T, dsn string) *engine {
	t.Helper()
	e, err := openEngine(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// statement is a question to the database.
type statement struct {
	query string
	args  []any
}

// watched is a store on an engine, with the last of its statements that has a text in it.
func watched(e *engine, text string) (*sqlstore.Store, *statement) {
	last := &statement{}
	return sqlstore.New(sqlstore.Observe(e, sqlstore.Observer{Asked: func(_ sqlstore.Transaction, query string, args []any) {
		if strings.Contains(query, text) {
			*last = statement{query, args}
		}
	}}), sqlstore.Options{}), last
}

// TestEvidenceGoesByTheHost: a host's pages are found by the index on hosts from each place
// in them, on a host with half of a crawl's pages as on the last one. Postgres once
// estimated the rest of the host as almost nothing, and read the crawl for each part.
func TestEvidenceGoesByTheHost(t *testing.T) {
	t.Parallel()
	e := opened(t, pgtest.DSN(t))
	const pages = 20_000
	_, err := e.pool.Exec(t.Context(), fmt.Sprintf(`INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from)
			SELECT 1, decode(lpad(i::text, 32, '0'), 'hex'), i::text, 1, 1, 1, 0 FROM generate_series(1, %[1]d) i;
		INSERT INTO frontier (page_id, crawl_id, host_id, state)
			SELECT p.id, 1, CASE WHEN p.id <= %[1]d / 2 THEN 1 ELSE 1 + p.id %% 100 END, 2 FROM pages p;
		ANALYZE`, pages))
	if err != nil {
		t.Fatal(err)
	}
	s, last := watched(e, "FROM frontier")
	for _, host := range []int64{1, 50, 100} {
		for _, after := range []store.PageCursor{{}, {CrawlID: 1, PageID: 50}, {CrawlID: 1, PageID: pages * 9 / 10}, {CrawlID: 2}} {
			if _, err := s.HostRequests(t.Context(), store.HostRequestParams{HostID: host, After: after, Pages: 400}); err != nil {
				t.Fatal(err)
			}
			if text := planWith(t, e, nil, *last); !strings.Contains(text, "Index Scan using frontier_host ") || strings.Contains(text, "Sort") {
				t.Errorf("host %d after %+v:\n%s", host, after, text)
			}
		}
	}
}

// TestQuickLookGoesByTheHost: the guard's look after a first visit reads no pages of other hosts.
// Where the crawl's newest pages were of others, it read them all.
func TestQuickLookGoesByTheHost(t *testing.T) {
	t.Parallel()
	e := opened(t, pgtest.DSN(t))
	// Hosts of the first half of a crawl, and the second half of one host that is only known.
	_, err := e.pool.Exec(t.Context(), `INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from)
			SELECT 1, decode(lpad(i::text, 32, '0'), 'hex'), i::text, 1, 1, 1, 0 FROM generate_series(1, 10000) i;
		INSERT INTO frontier (page_id, crawl_id, host_id, state)
			SELECT p.id, 1, CASE WHEN p.id <= 5000 THEN 1 + p.id % 5 ELSE 1000 END, CASE WHEN p.id <= 5000 THEN 2 ELSE 1 END FROM pages p;
		ANALYZE`)
	if err != nil {
		t.Fatal(err)
	}
	s, last := watched(e, "FROM frontier")
	for _, host := range []int64{1, 3, 5, 1000} {
		if _, err := s.Evidence(t.Context(), store.EvidenceParams{CrawlID: 1, Hosts: []int64{host}, Admitted: true, Each: 50}); err != nil {
			t.Fatal(err)
		}
		plan := planWith(t, e, nil, *last)
		if !strings.Contains(plan, "Index Scan Backward using frontier_admitted ") || strings.Contains(plan, "Sort Key: frontier.host_id") {
			t.Errorf("host %d:\n%s", host, plan)
		}
	}
}

// recorded returns a store on an engine, and the statements that it asks from then on.
func recorded(e *engine) (*sqlstore.Store, *[]statement) {
	asked := &[]statement{}
	return sqlstore.New(sqlstore.Observe(e, sqlstore.Observer{Asked: func(_ sqlstore.Transaction, query string, args []any) {
		*asked = append(*asked, statement{query, args})
	}}), sqlstore.Options{}), asked
}

// dueAreReadAlone checks that a batch of due pages does not read the others of a large crawl.
func dueAreReadAlone(t *testing.T, e *engine) {
	t.Helper()
	_, err := e.pool.Exec(t.Context(), `UPDATE frontier SET next_at = CASE WHEN page_id <= 6000 THEN 1 ELSE 9e18 END; ANALYZE frontier`)
	if err != nil {
		t.Fatal(err)
	}
	s, asked := recorded(e)
	if due, err := s.DuePages(t.Context(), store.DueParams{CrawlID: 1, Before: time.Now(), After: 5900, Limit: 500}); err != nil || len(due) != 100 {
		t.Fatalf("%d due pages, %v", len(due), err)
	}
	for _, a := range *asked {
		plan := planWith(t, e, nil, statement{"(ANALYZE, TIMING OFF) " + a.query, a.args})
		for _, filtered := range regexp.MustCompile(`Rows Removed by Filter: (\d+)`).FindAllStringSubmatch(plan, -1) {
			if n, _ := strconv.Atoi(filtered[1]); n > 10_000 {
				t.Errorf("due pages:\n%s", plan)
			}
		}
	}
}

// duplicatesAreReadInSteps checks that no statement of a walk through records of duplicates, or through
// contents that were not looked at, reads more than a step of them.
func duplicatesAreReadInSteps(t *testing.T, e *engine) {
	t.Helper()
	s, asked := recorded(e)
	for range 2 { // without statistics, and with them
		*asked = nil
		for _, list := range []func(context.Context, int64, int64, int) ([]int64, error){s.Unsettled, s.Unlooked} {
			if _, err := list(t.Context(), 1, 0, 200); err != nil {
				t.Fatal(err)
			}
		}
		if len(*asked) < 10 {
			t.Errorf("%d statements", len(*asked))
		}
		for _, a := range *asked {
			plan := planWith(t, e, nil, statement{"(ANALYZE, TIMING OFF) " + a.query, a.args})
			for _, read := range regexp.MustCompile(`on (?:duplicates|sketches)\S* .*actual rows=(\d+)`).FindAllStringSubmatch(plan, -1) {
				if n, _ := strconv.Atoi(read[1]); n > store.SearchStep {
					t.Errorf("%s\n%s", a.query, plan)
				}
			}
		}
		if _, err := e.pool.Exec(t.Context(), `ANALYZE`); err != nil {
			t.Fatal(err)
		}
	}
}

// mentionsAreReadInSteps checks that no statement of a look for mentions reads more than a step of a page's
// visits, or of its versions.
func mentionsAreReadInSteps(t *testing.T, e *engine) {
	t.Helper()
	const step = 5000
	s, asked := recorded(e)
	for range 2 { // without statistics, and with them
		*asked = nil
		if _, _, err := s.ForgetMentions(t.Context(), store.Target{URL: "https://nobody.test/names"}, 0, 200, nil); err != nil {
			t.Fatal(err)
		}
		if len(*asked) < 10 {
			t.Errorf("%d statements", len(*asked))
		}
		for _, a := range *asked {
			plan := planWith(t, e, nil, statement{"(ANALYZE, TIMING OFF) " + a.query, a.args})
			for _, read := range regexp.MustCompile(`(?:on (?:visits|versions)\S* .*actual rows=|Rows Removed by Filter: )(\d+)`).FindAllStringSubmatch(plan, -1) {
				if n, _ := strconv.Atoi(read[1]); n > step+100 { // some rows are dead
					t.Errorf("%s\n%s", a.query, plan)
				}
			}
		}
		if _, err := e.pool.Exec(t.Context(), `ANALYZE`); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSearchByAnOldPlan: Postgres keeps the plan of a prepared statement that it made when
// the tables were nearly empty, until it analyses them. A search then still looks up each
// page by its id. It once read all pages for each page: minutes for ten thousand.
func TestSearchByAnOldPlan(t *testing.T) {
	t.Parallel()
	e := opened(t, pgtest.DSN(t)+"&pool_max_conns=1")
	_, err := e.pool.Exec(t.Context(), `INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from)
			SELECT 1, decode(lpad(i::text, 32, '0'), 'hex'), i::text, 1, 1, 1, 0 FROM generate_series(1, 3) i;
		INSERT INTO frontier (page_id, crawl_id, host_id, state) SELECT p.id, 1, 1, 1 FROM pages p`)
	if err != nil {
		t.Fatal(err)
	}
	s, last := watched(e, "LIKE")
	for range 10 { // after five, Postgres keeps a plan
		if _, err := s.SearchPages(t.Context(), store.PageSearch{CrawlID: 1, Text: "2"}); err != nil {
			t.Fatal(err)
		}
	}
	var name string
	if err := e.pool.QueryRow(t.Context(), "SELECT name FROM pg_prepared_statements WHERE statement = $1 AND generic_plans > 0", last.query).Scan(&name); err != nil {
		t.Fatalf("the plan of %s: %v", last.query, err)
	}
	rows, err := e.pool.Query(t.Context(), fmt.Sprintf("EXPLAIN EXECUTE %s (1, 0, 10, 10, '%%2%%')", name))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "$1") || !strings.Contains(text, "Index Cond: (id = f.page_id)") {
		t.Errorf("a search's plan:\n%s", text)
	}
}

// TestRecentVersionsAreNotCompared: each visit of a page looks for versions that were replaced
// too long ago. It does not look at what replaced those that are not that old themselves: a page
// that keeps all versions of a year would compare each with all later ones.
func TestRecentVersionsAreNotCompared(t *testing.T) {
	t.Parallel()
	e := opened(t, pgtest.DSN(t))
	s, last := watched(e, "DELETE FROM versions")
	r := &race{T: t, s: s}
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	r.crawl = rec.ID
	page := r.page(oneURL).PageID
	for visit := 1; visit <= 20; visit++ {
		if _, err := s.SaveVersion(t.Context(), store.SaveVersionParams{Version: store.VersionRecord{PageID: page, Visit: visit, Digest: fmt.Sprint(visit)}}); err != nil {
			t.Fatal(err)
		}
		_, err := s.RecordVisit(t.Context(), store.RecordParams{
			Visit:     store.VisitRecord{PageID: page, Visit: visit, Outcome: crawl.OutcomeChanged, State: crawl.Active},
			Retention: store.Retention{Age: 24 * time.Hour},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := e.pool.Query(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "+last.query, last.args...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	looks := slices.DeleteFunc(slices.Clone(plan), func(line string) bool { return !strings.Contains(line, "versions n") })
	if len(looks) == 0 || slices.ContainsFunc(looks, func(line string) bool { return !strings.Contains(line, "never executed") }) {
		t.Errorf("the versions of a page are compared with later ones:\n%s", strings.Join(plan, "\n"))
	}
}

// TestRemovalsLookLinksUp: a page's links are looked up by its id also where most links lead to a
// few pages of navigation. Postgres then believes that each page has thousands, so that the first
// of some pages is soon found by reading the table. It read it all for pages that had few, twice in
// each transaction; or, with other statistics, all links to a page of navigation for the next 500.
func TestRemovalsLookLinksUp(t *testing.T) {
	t.Parallel()
	e := opened(t, pgtest.DSN(t))
	spec := crawl.DefaultSpec()
	spec.Name = "skewed"
	rec, err := sqlstore.New(e, sqlstore.Options{}).OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.pool.Exec(t.Context(), fmt.Sprintf(`INSERT INTO hosts (host) VALUES ('a.test');
		INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from)
			SELECT %d, decode(lpad(i::text, 32, '0'), 'hex'), 'https://a.test/' || i, (SELECT id FROM hosts), 1, 1, 0 FROM generate_series(1, 1000) i;
		INSERT INTO frontier (page_id, crawl_id, host_id, state) SELECT p.id, p.crawl_id, p.host_id, 1 FROM pages p;
		INSERT INTO links SELECT p.id, q.id FROM pages p JOIN pages q ON q.id <= 28 OR q.id = p.id - 1 ORDER BY md5(p.id || ' ' || q.id);
		ANALYZE`, rec.ID))
	if err != nil {
		t.Fatal(err)
	}
	removals := map[string]func(*sqlstore.Store) error{
		"forget": func(s *sqlstore.Store) error {
			_, err := s.Forget(t.Context(), store.ForgetParams{Target: store.Target{Host: "a.test"}, Limit: 1})
			return err
		},
		"delete": func(s *sqlstore.Store) error {
			if _, err := s.BeginDelete(t.Context(), spec.Name); err != nil {
				return err
			}
			_, err := s.DeleteCrawl(t.Context(), store.DeleteParams{CrawlID: rec.ID, Limit: 10})
			return err
		},
	}
	for _, name := range []string{"forget", "delete"} {
		for _, distinct := range []int{30, 500} { // as large tables are estimated
			if _, err := e.pool.Exec(t.Context(), fmt.Sprintf("ALTER TABLE links ALTER COLUMN dst SET (n_distinct = %d); ANALYZE links", distinct)); err != nil {
				t.Fatal(err)
			}
			var looks []statement
			// In a table that is larger than memory, places that are far apart cost as much.
			set := map[string]bool{"SELECT set_config('effective_cache_size', '8kB', true)": true}
			s := sqlstore.New(sqlstore.Observe(e, sqlstore.Observer{Asked: func(_ sqlstore.Transaction, query string, args []any) {
				if strings.Contains(query, "FROM links l") {
					looks = append(looks, statement{query, args})
				} else if strings.Contains(query, "set_config") {
					set[query] = true
				}
			}}), sqlstore.Options{})
			if err := removals[name](s); err != nil || len(looks) < 2 {
				t.Fatalf("%s: %v, links read %d times", name, err, len(looks))
			}
			for _, look := range looks {
				plan := planWith(t, e, set, look)
				if !strings.Contains(plan, "Index Cond: (dst = r.id)") && !strings.Contains(plan, "Index Cond: (src = r.id)") {
					t.Errorf("%s of up to %v links:\n%s", name, look.args[1], plan)
				}
				if name == "delete" && strings.Contains(look.query, "l.dst = r.id") {
					t.Errorf("links to pages of a crawl that is deleted are looked for: %s", look.query)
				}
				// A bitmap has all links to a page, of which each transaction removes a few.
				if strings.Contains(plan, "Bitmap") {
					t.Errorf("%s of up to %v links reads all of them:\n%s", name, look.args[1], plan)
				}
			}
		}
	}
}

// TestNewCrawlInALargeStore: rows that are listed are looked up one by one, also in a crawl that has
// come since the tables were analysed. Postgres takes such a crawl for empty. It read the whole crawl for each
// list, and compared each row with each of the list: with 100 000 pages an admission took longer
// than a statement may.
func TestNewCrawlInALargeStore(t *testing.T) {
	t.Parallel()
	e := opened(t, pgtest.DSN(t))
	_, err := e.pool.Exec(t.Context(), `INSERT INTO hosts (host) SELECT i || '.test' FROM generate_series(1, 2000) i;
		INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from)
			SELECT 999, decode(lpad(i::text, 32, '0'), 'hex'), i::text, 1 + i % 2000, 1, 1, 0 FROM generate_series(1, 20000) i;
		INSERT INTO frontier (page_id, crawl_id, host_id, state) SELECT p.id, 999, p.host_id, 1 + p.id % 2 FROM pages p;
		INSERT INTO host_crawls (host_id, crawl_id, known) SELECT h.id, 999, 1 FROM hosts h;
		INSERT INTO sketch_keys (crawl_id, key, page_id) SELECT 999, p.id % 5000, p.id FROM pages p;
		INSERT INTO seed_keys (crawl_id, kind, hash) SELECT 999, 1, p.url_hash FROM pages p;
		INSERT INTO prefixes (crawl_id, host_id, prefix, pages) SELECT 999, p.host_id, p.url, 1 FROM pages p;
		INSERT INTO duplicates (crawl_id, page_id, version_id, of_page, of_version, exact, resemblance, at)
			SELECT 999, p.id, 1, 1 + (p.id + 1) % 5000, 1, 1, 1, 1 FROM pages p;
		ANALYZE`)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]statement{}
	s := sqlstore.New(sqlstore.Observe(e, sqlstore.Observer{Asked: func(_ sqlstore.Transaction, query string, args []any) {
		if strings.Contains(query, "json_to_recordset") || strings.Contains(query, "DELETE FROM") {
			asked[query] = statement{query, args}
		}
	}}), sqlstore.Options{})
	useLists(t, s)
	ofCrawl := regexp.MustCompile(`Index Cond: .*crawl_id = '\d+'`)
	for _, a := range asked {
		reads := 0
		if strings.Contains(a.query, "LIMIT") && strings.Contains(a.query, "DELETE") {
			reads = 1 // the part of the crawl that is deleted
		}
		if plan := planWith(t, e, nil, a); len(ofCrawl.FindAllString(plan, -1)) > reads {
			t.Errorf("%s\n%s", oneLine(a.query), plan)
		}
	}
	if len(asked) < 20 {
		t.Errorf("only %d statements with lists", len(asked))
	}
}

// useLists does what reads lists of rows of a crawl.
func useLists(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	pages := admitted(t, s, 3) // registers, finds candidates and admits them
	first := pages[0]
	errs := []error{}
	try := func(_ any, err error) { errs = append(errs, err) }
	for visit := 1; visit <= 3; visit++ {
		v := store.VersionRecord{PageID: first.PageID, Visit: visit, Digest: fmt.Sprint(visit)}
		try(s.SaveVersion(t.Context(), store.SaveVersionParams{Version: v, Content: change.Content{Exact: uint64(visit)}}))
		try(s.RecordVisit(t.Context(), store.RecordParams{
			Visit:     store.VisitRecord{PageID: first.PageID, Visit: visit, Outcome: crawl.OutcomeChanged, State: crawl.Active},
			Retention: store.Retention{Versions: 1},
		}))
	}
	try(s.KnownURLs(t.Context(), first.CrawlID, []string{first.URL}))
	try(s.Outdated(t.Context(), first.CrawlID, []store.URLDate{{URL: first.URL, Modified: time.Now()}}))
	try(s.Candidates(t.Context(), store.CandidateParams{CrawlID: first.CrawlID, Hosts: []int64{first.HostID}, Limit: 1}))
	of := store.DuplicateOf{PageVersion: store.PageVersion{PageID: pages[1].PageID}}
	try(nil, s.UpdateDuplicates(t.Context(), store.UpdateDuplicatesParams{CrawlID: first.CrawlID, Set: []store.NewDuplicate{{Of: of}}}))
	try(nil, s.SetMirrors(t.Context(), first.CrawlID, []change.Mirror{{A: first.HostID, B: first.HostID + 1}}))
	try(s.SeedKeys(t.Context(), first.CrawlID, []crawl.SeedKey{{Kind: crawl.SeedURL, Text: first.URL}}))
	try(s.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: first.URL}}))
	rec, err := s.BeginDelete(t.Context(), first.Crawl)
	try(rec, err)
	for range 2 { // its pages, and what else there is
		try(s.DeleteCrawl(t.Context(), store.DeleteParams{CrawlID: first.CrawlID, Limit: 10}))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// planWith is the plan of a statement after others in its transaction.
func planWith(t *testing.T, e *engine, before map[string]bool, s statement) string {
	t.Helper()
	var plan []string
	err := e.Read(t.Context(), func(tx sqlstore.Tx) error {
		plan = nil
		for query := range before {
			if _, err := tx.Exec(t.Context(), query); err != nil {
				return err
			}
		}
		return tx.Query(t.Context(), "EXPLAIN "+s.query, s.args, func(row sqlstore.Row) error {
			var line string
			err := row.Scan(&line)
			plan = append(plan, line)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}

// TestEntriesWithURLsBeginAtTheirPlace: a batch of a walk with URLs reads no page below its
// place. It once read all of them: a walk took the square of a crawl's size.
func TestEntriesWithURLsBeginAtTheirPlace(t *testing.T) {
	t.Parallel()
	e := opened(t, pgtest.DSN(t))
	_, err := e.pool.Exec(t.Context(), `INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from)
			SELECT 1, decode(lpad(i::text, 32, '0'), 'hex'), i::text, 1, 1, 1, 0 FROM generate_series(1, 10000) i;
		INSERT INTO frontier (page_id, crawl_id, host_id, state, visit) SELECT p.id, 1, 1, 2, 1 FROM pages p;
		ANALYZE`)
	if err != nil {
		t.Fatal(err)
	}
	s, last := watched(e, fmt.Sprintf("f.state = %d", crawl.Active))
	if _, err := s.Entries(t.Context(), store.EntryParams{CrawlID: 1, After: 2_000, Limit: 5000, URLs: true}); err != nil {
		t.Fatal(err)
	}
	plan := planWith(t, e, nil, *last)
	if !strings.Contains(plan, "Index Cond: (id >") && !strings.Contains(plan, "Index Cond: (id = f.page_id)") {
		t.Fatalf("entries with URLs:\n%s", plan)
	}
}
