package storetest

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// BenchRanks measures the cost of a crawl of 1 000 000 known URLs on 1000 hosts with
// 10 000 000 links, or of a fiftieth of it with -short: registering a page's 100 links
// of which half are new, admission, and a whole ranking, the first and one more.
// settle is called when all is loaded, for the work that a database otherwise does in
// the background.
func BenchRanks(b *testing.B, e sqlstore.Engine, settle func() error) {
	const hosts, links = 1000, 10
	n, load := benchPages(), newBulk(b, e)
	s := load.store
	began := time.Now()
	load.frontier(n, hosts)
	load.links(n, links)
	if err := settle(); err != nil {
		b.Fatal(err)
	}
	b.Logf("loaded %d pages and %d links in %v", n, n*links, time.Since(began).Round(time.Second))
	link := func(i int) store.NewURL {
		host := fmt.Sprintf("h%d.example", i%50)
		return store.NewURL{URL: fmt.Sprintf("https://%s/a/page/of/usual/length/%d", host, i), Host: host, Level: 3}
	}
	first := 0
	b.Run("Register", func(b *testing.B) {
		var took []time.Duration
		for i := range b.N {
			urls := make([]store.NewURL, 100)
			for k := range urls {
				urls[k] = link(first + k)
			}
			first += 50
			began := time.Now()
			if _, err := s.RegisterLinks(b.Context(), store.RegisterParams{CrawlID: load.crawlID, From: int64(1 + i*7919%n), URLs: urls}); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		reportMedian(b, took)
	})
	b.Run("Admission", func(b *testing.B) {
		var took []time.Duration
		for range b.N {
			began := time.Now()
			some, err := s.Candidates(b.Context(), store.CandidateParams{CrawlID: load.crawlID, Limit: 100})
			if err != nil || len(some) == 0 {
				b.Fatalf("%d candidates, %v", len(some), err)
			}
			admitted, err := s.Admit(b.Context(), store.AdmitParams{CrawlID: load.crawlID, Admit: ids(some), Key: fmt.Sprint(began.UnixNano())})
			if err != nil || len(admitted) == 0 {
				b.Fatalf("%d admitted, %v", len(admitted), err)
			}
			took = append(took, time.Since(began))
			for _, p := range admitted {
				// Its first visit frees its place.
				params := store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}, Interval: time.Hour}
				if _, err := s.RecordVisit(b.Context(), params); err != nil {
					b.Fatal(err)
				}
			}
		}
		reportMedian(b, took)
	})
	b.Run("Ranking", func(b *testing.B) {
		for range b.N {
			phases, phase, at := "", "", time.Now()
			var most uint64
			turn := func(next string) {
				if phase != next {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapAlloc)
					phases += fmt.Sprintf("%s %v, ", phase, time.Since(at).Round(time.Millisecond))
					phase, at = next, time.Now()
				}
			}
			rec, err := maintain.Rank(b.Context(), s, load.crawlID, maintain.RankOptions{Progress: func(p maintain.RankProgress) { turn(p.Phase) }})
			if err != nil {
				b.Fatal(err)
			}
			turn("")
			b.ReportMetric(float64(most)/(1<<20), "heap-MiB")
			b.Logf("%d pages, %d links, %d rounds: %v (%s)", rec.Pages, rec.Links, rec.Rounds, rec.Took.Round(time.Millisecond), phases)
		}
	})
}

func reportMedian(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
}

// frontier inserts n known pages, at levels 1 to 5. They are spread over the hosts in
// runs of 50, as a page's links mostly lead to a few hosts.
func (l bulk) frontier(n, hosts int) {
	const batch = 50_000
	l.exec(`INSERT INTO hosts (host) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ` + fmt.Sprint(hosts) + `)
		SELECT 'host' || i || '.test' FROM n ORDER BY i`)
	for from := 0; from < n; from += batch {
		numbers := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, from+1, min(from+batch, n))
		l.exec(`INSERT INTO pages (crawl_id, url_hash, url, host_id, level, found_at, found_from) `+numbers+`
			SELECT CAST($1 AS BIGINT), `+l.engine.Dialect().Unhex(`CAST(1000000000 + i AS TEXT)`)+`,
				'https://benchmark.test/' || i, 1 + (i / 50) % $2, 1 + i % 5, 0, 0 FROM n ORDER BY i`, l.crawlID, hosts)
		l.exec(`INSERT INTO frontier (page_id, crawl_id, host_id, state, priority, backlinks) `+numbers+`
			SELECT i, CAST($1 AS BIGINT), 1 + (i / 50) % $2, 1, -1 - i % 5, 0 FROM n ORDER BY i`, l.crawlID, hosts)
	}
	l.exec(`INSERT INTO host_crawls (host_id, crawl_id, known) SELECT host_id, crawl_id, COUNT(*) FROM frontier WHERE crawl_id = $1 GROUP BY host_id, crawl_id`, l.crawlID)
	l.exec(`INSERT INTO crawl_counts (crawl_id, kind, code, slot, n) VALUES ($1, 'state', 1, 0, $2)`, l.crawlID, n)
}

// links inserts the given number of links of each of n pages, most of them to low ids.
func (l bulk) links(n, links int) {
	const batch = 20_000
	for from := 0; from < n; from += batch {
		l.exec(fmt.Sprintf(`INSERT INTO links (src, dst)
			WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d), k(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM k WHERE j < %d)
			SELECT i, 1 + (CAST(i AS BIGINT) * 7919 * j + j * j * 104729) %% (CASE WHEN j < 5 THEN %d ELSE %d END) FROM n CROSS JOIN k WHERE true ORDER BY i, j
			ON CONFLICT (src, dst) DO NOTHING`, from+1, min(from+batch, n), links, max(n/100, 1), n))
	}
	l.exec(`INSERT INTO crawl_counts (crawl_id, kind, code, slot, n) SELECT $1, 'total', 3, 0, COUNT(*) FROM links`, l.crawlID)
}
