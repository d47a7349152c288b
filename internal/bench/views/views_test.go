package views

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/store/postgres"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/store/storetest/pgtest"
	"recrawl/internal/web"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// limit is how long a view may take, see docs/web.md.
const limit = 100 * time.Millisecond

// collectionSize is the number of pages of the benchmark: 1 000 000, or 20 000 with -short.
func collectionSize() int {
	if testing.Short() {
		return 20_000
	}
	return 1_000_000
}

// engine is one of the databases.
type engine struct {
	name, driver, dsn string
	open              func(context.Context) (store.Store, error)
	unhex             string // a format
	settle            string
}

// BenchmarkViews asks every view that /openapi.json describes, as HTML and as JSON, in a
// crawl of a million pages on a thousand hosts, half of them on one. It reports the slowest
// answer and fails none: the log names those that are too slow.
func BenchmarkViews(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store.db")
	b.Run("sqlite", func(b *testing.B) {
		measure(b, engine{
			name: "sqlite", driver: "sqlite", dsn: path, unhex: "unhex(%s)", settle: "SELECT 1",
			open: func(ctx context.Context) (store.Store, error) {
				return sqlite.Open(ctx, path, sqlite.Options{Owner: true})
			},
		})
	})
	b.Run("postgres", func(b *testing.B) {
		dsn := pgtest.DSN(b)
		measure(b, engine{
			name: "postgres", driver: "pgx", dsn: dsn, unhex: "decode(%s, 'hex')", settle: "VACUUM (ANALYZE)",
			open: func(ctx context.Context) (store.Store, error) {
				return postgres.Open(ctx, dsn, postgres.Options{})
			},
		})
	})
}

func measure(b *testing.B, e engine) {
	began := time.Now()
	files, err := archive.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s := e.load(b, collectionSize(), texts(b, files))
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	b.Logf("%s: loaded %d pages in %v", e.name, collectionSize(), time.Since(began).Round(time.Second))
	server := httptest.NewServer(web.New(web.Options{
		Report: report.Reporter{Store: s, Visits: s, Deliveries: s, Search: s, Relations: s, Requests: s, Out: io.Discard, Format: report.JSON},
		Feed:   s, Files: files, Log: slog.New(slog.DiscardHandler),
	}).Handler())
	defer server.Close()
	for _, address := range addresses(b, server.URL) {
		b.Run(address, func(b *testing.B) {
			var slowest time.Duration
			for b.Loop() {
				asked := time.Now()
				get(b, server.URL+address)
				slowest = max(slowest, time.Since(asked))
			}
			b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-ms")
			if mean := b.Elapsed() / time.Duration(b.N); mean > limit {
				b.Logf("%s: %s takes %v", e.name, address, mean.Round(time.Millisecond))
			}
		})
	}
}

// more returns queries with parameters: for rows that are found at once, are rare, are
// missing, or come late in a list.
func more() []string {
	last := fmt.Sprint(collectionSize() * 9 / 10)
	return []string{
		"/crawls/benchmark/pages?state=active", "/crawls/benchmark/pages?state=gone", "/crawls/benchmark/pages?state=stopped", "/crawls/benchmark/pages?after=" + last,
		"/crawls/benchmark/pages?host=h0.test", "/crawls/benchmark/pages?host=h0.test&state=gone", "/crawls/benchmark/pages?host=h0.test&state=stopped",
		"/crawls/benchmark/pages?host=h0.test&text=absent", "/crawls/benchmark/pages?host=h7.test&text=9", "/crawls/benchmark/pages?text=page", "/crawls/benchmark/pages?text=absent",
		"/crawls/benchmark/pages?text=absent&after=" + last, "/crawls/benchmark/pages?prefix=https://h0.test/a/page/of/usual/length/99", "/crawls/benchmark/pages?prefix=https://h7.test/absent",
		"/crawls/benchmark/pages?text=absent&state=gone", "/crawls/benchmark/pages?limit=500",
		"/crawls/benchmark/hosts?text=h99", "/crawls/benchmark/hosts?text=absent", "/crawls/benchmark/hosts?trouble=1", "/crawls/benchmark/hosts?after=h5",
		"/crawls/benchmark/changes?kinds=page.gone", "/crawls/benchmark/changes?kinds=sink.paused", "/crawls/benchmark/changes?host=h7.test", "/crawls/benchmark/changes.atom",
		"/crawls/benchmark/rejected?reason=host", "/crawls/benchmark/sources?host=h7.test", "/crawls/benchmark/traps?host=h0.test", "/crawls/benchmark/duplicates?host=h7.test",
		"/crawls/benchmark/pages/1/diff?from=1&to=2",
		"/crawls/benchmark/url?url=https://absent.test/", "/crawls/benchmark/url.json?url=https://seed.test/0",
	}
}

// addresses returns the addresses of all views, with the benchmark's names.
func addresses(b *testing.B, server string) []string {
	var description struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(get(b, server+"/openapi.json"), &description); err != nil {
		b.Fatal(err)
	}
	names := strings.NewReplacer("{crawl}", "benchmark", "{host}", "h0.test", "{sink}", "team", "{page}", "1", "{seq}", "2")
	all := more()
	for _, path := range slices.Sorted(maps.Keys(description.Paths)) {
		_, is := description.Paths[path]["get"]
		if !is || strings.HasSuffix(path, "/url.json") || strings.HasSuffix(path, "/search.json") {
			continue // a query has its own above; bench/search measures the index
		}
		at := names.Replace(path)
		page := strings.TrimSuffix(at, ".json")
		if page == "/crawls" {
			page = "/"
		}
		all = append(all, at, page)
	}
	return all
}

func get(b *testing.B, address string) []byte {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		b.Fatalf("%s: %d, %v\n%s", address, response.StatusCode, err, body)
	}
	return body
}

// texts puts two versions of a long page, of some 60 kB, into an archive, and returns their
// digests.
func texts(b *testing.B, files archive.Store) [2]string {
	var digests [2]string
	for version := range digests {
		var body strings.Builder
		body.WriteString("<!doctype html><title>A long page</title><main><h1>A long page</h1>\n")
		for i := range 600 {
			if i%50 == 0 {
				fmt.Fprintf(&body, "<p>This line is of version %d and says %d.\n", version, i*(version+1))
			}
			fmt.Fprintf(&body, "<p>Line %d of the page, with a <a href=/%d>link</a>, is as long as lines mostly are on the web.\n", i, i)
		}
		digests[version] = archivetest.Put(b, files, []byte(body.String()))
	}
	return digests
}

// load makes the collection, past the store, and opens it. Page 1 has two versions with
// bodies, many visits and many links to it.
func (e engine) load(b *testing.B, n int, bodies [2]string) store.Store {
	s, err := e.open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "benchmark", []string{"https://seed.test/0"}
	spec.Sinks = map[string]crawl.SinkSpec{"team": {Kind: "webhook"}}
	record, err := s.OpenCrawl(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	ends, err := s.FeedEnds(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.OpenSink(b.Context(), record.ID, "team", ends.Oldest); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	e.insert(b, record.ID, n, bodies)
	if s, err = e.open(b.Context()); err != nil {
		b.Fatal(err)
	}
	return s
}

// belief returns the belief about a page after a dozen visits, encoded as in the store.
func belief(at time.Time) string {
	seen := schedule.Belief{
		Pairs: 12, History: 0b100101, Soonest: 0.5, Since: at.Add(-30 * time.Hour).UnixMilli(), LastGap: 0.7,
		Changes: 3.2, Days: 11.5, Looks: 8, Apart: 0.9, Compared: at.UnixMilli(),
	}
	return string(seen.Encode())
}

// insert loads n pages that were visited once, the first half on one host, a thousandth of
// them gone and a quarter not visited; a version, a visit, a belief and a change of each; and
// some rows for the other lists. Page i has the id i.
func (e engine) insert(b *testing.B, crawlID int64, n int, bodies [2]string) {
	db, err := sql.Open(e.driver, e.dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	exec := func(query string) {
		if _, err := db.ExecContext(b.Context(), query); err != nil {
			b.Fatalf("%v in %s", err, query)
		}
	}
	const hosts = 1000
	numbers := func(from, to int) string {
		return fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, from, to)
	}
	hostOf := fmt.Sprintf(`CASE WHEN i <= %d THEN 0 ELSE i %% %d END`, n/2, hosts)
	const state = `CASE WHEN i % 1000 = 7 THEN 4 WHEN i % 4 = 1 THEN 1 ELSE 2 END`
	exec(`INSERT INTO hosts (host) ` + numbers(0, hosts-1) + `SELECT 'h' || i || '.test' FROM n`)
	exec(fmt.Sprintf(`INSERT INTO host_crawls (host_id, crawl_id, known, living, unattempted, last_served)
		SELECT h.id, %d, %d, %d, 0, 0 FROM hosts h`, crawlID, n/4/hosts, n/hosts))
	hostID := `(SELECT id FROM hosts h WHERE h.host = 'h' || (` + hostOf + `) || '.test')`
	// One page in a hundred is overdue.
	looked := time.Now().Add(-time.Duration(n/100) * time.Second)
	at := looked.UnixMicro()
	const batch = 50_000
	for from := 1; from <= n; from += batch {
		with := numbers(from, min(from+batch-1, n))
		exec(`INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from) ` + with + fmt.Sprintf(`
			SELECT %d, %s, 'https://h' || (%s) || '.test/a/page/of/usual/length/' || i, %s, 1, %d, 0 FROM n ORDER BY n.i`,
			crawlID, fmt.Sprintf(e.unhex, `CAST(1000000000 + i AS TEXT)`), hostOf, hostID, at))
		exec(`INSERT INTO versions (page_id, seq, visit, at, digest, text_digest, link_digest, bytes, text_bytes, content_type, title, canonical) ` + with + fmt.Sprintf(`
			SELECT i, 1, 1, %d, '', '', '', 10000, 5000, 'text/html', 'The title of page ' || i, '' FROM n ORDER BY n.i`, at))
		exec(`INSERT INTO frontier (page_id, crawl_id, host_id, state, visit, attempted, version_id, last_at, last_change, next_at, weight, rank, belief) ` + with + fmt.Sprintf(`
			SELECT i, %d, %s, %s, CASE WHEN %s = 1 THEN 0 ELSE 1 END, 1, CASE WHEN %s = 1 THEN 0 ELSE i END, %d, %d - i, %d + CAST(i AS BIGINT) * 1000000,
				1.0 + i %% 7, 1.0 + i %% 11, CASE WHEN %s = 1 THEN '' ELSE '%s' END FROM n ORDER BY n.i`,
			crawlID, hostID, state, state, state, at, at, at, state, belief(looked)))
		exec(`INSERT INTO visits (page_id, visit, at, outcome, status, version_id, version_seq, digest, bytes, duration, next_at, state, problem, location, reasons) ` + with + fmt.Sprintf(`
			SELECT i, 1, %d, 1, 200, i, 1, '', 10000, 20000, %d + CAST(i AS BIGINT) * 1000000, 2, '', '', '[{"code":"first-version","num":{"bytes":10000,"text_bytes":5000}}]'
			FROM n WHERE %s <> 1 ORDER BY n.i`, at, at, state))
		exec(`INSERT INTO changes (crawl_id, page_id, at, visit, seq, kind, data) ` + with + fmt.Sprintf(`
			SELECT %d, i, %d + CAST(i AS BIGINT), 1, 1, CASE WHEN i %% 1000 = 7 THEN 3 ELSE 1 END, '' FROM n ORDER BY n.i`, crawlID, at))
	}
	const many = 2000 // visits of page 1
	exec(`INSERT INTO visits (page_id, visit, at, outcome, status, version_id, version_seq, digest, bytes, duration, next_at, state, problem, location, reasons) ` + numbers(2, many) + fmt.Sprintf(`
		SELECT 1, i, %d + i * 1000, CASE WHEN i = 2 THEN 2 ELSE 3 END, CASE WHEN i = 2 THEN 200 ELSE 304 END, %d, 2, '', 0, 20000, %d + (i + 1) * 1000, 2, '', '', '[]' FROM n`, at-many*1000, n+1, at-many*1000))
	exec(fmt.Sprintf(`UPDATE versions SET digest = '%s' WHERE id = 1`, bodies[0]))
	exec(fmt.Sprintf(`INSERT INTO versions (page_id, seq, visit, at, digest, text_digest, link_digest, bytes, text_bytes, content_type, title, canonical)
		VALUES (1, 2, 2, %d, '%s', '', '', 60000, 50000, 'text/html', 'A long page', '')`, at-many*1000+2000, bodies[1]))
	exec(fmt.Sprintf(`UPDATE frontier SET state = 2, visit = %d, version_id = %d, changes = 1 WHERE page_id = 1`, many, n+1))
	exec(`INSERT INTO links (src, dst) ` + numbers(2, n/10) + `SELECT i, 1 FROM n`)
	exec(fmt.Sprintf(`UPDATE frontier SET backlinks = %d WHERE page_id = 1`, n/10-1))
	exec(fmt.Sprintf(`INSERT INTO crawl_counts (crawl_id, kind, code, slot, n) SELECT f.crawl_id, 'state', f.state, 1, COUNT(*) FROM frontier f WHERE f.crawl_id = %d GROUP BY f.crawl_id, f.state`, crawlID))
	exec(fmt.Sprintf(`INSERT INTO crawl_counts (crawl_id, kind, code, slot, n) SELECT %d, 'total', i, 1, %d FROM (SELECT 1 AS i UNION ALL SELECT 2) t`, crawlID, n))
	some := n / 10
	exec(`INSERT INTO duplicates (page_id, crawl_id, version_id, of_page, of_version, exact, resemblance, at) ` + numbers(2, some) + fmt.Sprintf(`
		SELECT i, %d, i, i / 2, i / 2, 1, 1.0, %d FROM n`, crawlID, at))
	exec(`INSERT INTO sources (page_id, crawl_id, host_id, kind, nesting) ` + numbers(1, hosts) + fmt.Sprintf(`
		SELECT i, %d, (SELECT f.host_id FROM frontier f WHERE f.page_id = i), 1, 0 FROM n`, crawlID))
	exec(`INSERT INTO rejections (crawl_id, reason, slot, n) ` + numbers(1, 40) + fmt.Sprintf(`SELECT %d, 'reason ' || i, 1, 1000 FROM n`, crawlID))
	exec(`INSERT INTO rejected (crawl_id, reason, place, url_hash, url, host, detail, found_from, at) ` + numbers(0, 40*32-1) + fmt.Sprintf(`
		SELECT %d, 'reason ' || (1 + i / 32), i %% 32, %s, 'https://elsewhere.test/' || i, 'elsewhere.test', '', 1 + i, %d FROM n`,
		crawlID, fmt.Sprintf(e.unhex, `CAST(1000000000 + i AS TEXT)`), at))
	exec(`INSERT INTO traps (crawl_id, site, host, name, hash, pattern, reason, detail, found_at, state, swept) ` + numbers(1, 1000) + fmt.Sprintf(`
		SELECT %d, 'h0.test', 'h0.test', 'h0.test/' || i || '/#', %s, '{}', 'calendar', '', %d, 2, 0 FROM n`,
		crawlID, fmt.Sprintf(e.unhex, `CAST(1000000000 + i AS TEXT)`), at))
	exec(`INSERT INTO prefixes (crawl_id, host_id, prefix, pages) ` + fmt.Sprintf(`SELECT %d, h.id, '/', h.id FROM hosts h`, crawlID))
	exec(e.settle)
}
