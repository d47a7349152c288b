package storetest

import (
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// BenchFigures measures the cost of a crawl's figures with 1 000 000 pages on 1000 hosts,
// or 20 000 with -short: its numbers, the sample from which its freshness is estimated, and
// the hosts that one pass takes longest.
func BenchFigures(b *testing.B, e sqlstore.Engine, settle func() error) {
	n, load := benchPages(), newBulk(b, e)
	load.pages(n)
	load.exec(`UPDATE frontier SET host_id = page_id % 1000 + 1, state = CASE WHEN page_id % 50 = 0 THEN 3 ELSE 2 END, visit = 1`)
	load.exec(`INSERT INTO hosts (host) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'figure' || i || '.test' FROM n ORDER BY i`)
	load.exec(`INSERT INTO host_crawls (host_id, crawl_id, known, living) SELECT host_id, crawl_id, COUNT(*), COUNT(*) FROM frontier GROUP BY host_id, crawl_id ON CONFLICT (host_id, crawl_id) DO NOTHING`)
	load.exec(`DELETE FROM crawl_counts WHERE kind = 'state'`)
	load.exec(`INSERT INTO crawl_counts (crawl_id, kind, code, slot, n) SELECT crawl_id, 'state', state, 0, COUNT(*) FROM frontier GROUP BY crawl_id, state`)
	if err := settle(); err != nil {
		b.Fatal(err)
	}
	s := load.store
	for name, ask := range map[string]func() (int, error){
		"Status": func() (int, error) {
			st, err := s.Status(b.Context(), load.crawlID)
			return st.Pages[crawl.Active], err
		},
		"Sample": func() (int, error) {
			pages, err := s.ListPages(b.Context(), store.PageFilter{CrawlID: load.crawlID, States: []crawl.PageState{crawl.Active, crawl.Failing}, Sample: 500})
			return len(pages), err
		},
		"SlowestHosts": func() (int, error) {
			hosts, err := s.ListHosts(b.Context(), store.HostFilter{CrawlID: load.crawlID, Slowest: store.WorkPass, Limit: 20})
			return len(hosts), err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found, err := ask(); err != nil || found < 20 {
					b.Fatalf("%d found, %v", found, err)
				}
			}
		})
	}
}
