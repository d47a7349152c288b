package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawl/internal/store"
)

// BenchmarkGuarded measures the constant work of a crawl, among 1 000 000 known
// pages, or 20 000 with -short, of 500 hosts, a third of them held by a trap:
// Candidates and Admit of 100 pages, RegisterLinks of 100 links half of which are
// new and a tenth rejected, and a look of the guard at 1000 new pages. It reports
// medians. settle is called again and again while it loads, for the work that a
// database otherwise does in the background.
func BenchmarkGuarded(b *testing.B, s store.Store, settle func() error) {
	const hosts = 500
	n, crawlID := benchPages(), benchCrawl(b, s)
	g := &guarded{B: b, s: s, crawl: crawlID, hosts: hosts}
	g.trap = must(s.SetTraps(b.Context(), crawlID, []store.NewTrap{{Site: "example", Host: "h.example", Name: "it", Pattern: []byte("{}"), After: -1}}))(b)[0].ID
	g.register(0, 1, nil)
	pages := must(s.FindPages(b.Context(), g.link(0).URL, ""))(b)
	g.from = pages[0].PageID
	began := time.Now()
	for first := 0; first < n; first += 1000 {
		g.register(first, 1000, nil)
		if first%20_000 == 0 {
			if err := settle(); err != nil {
				b.Fatal(err)
			}
		}
	}
	g.look(0)
	if err := settle(); err != nil {
		b.Fatal(err)
	}
	b.Logf("loaded %d pages in %v", n, time.Since(began).Round(time.Second))
	var registers, choices, admissions, looks []time.Duration
	next := n
	for i := range max(b.N, 20) {
		registers = append(registers, timed(func() {
			g.register(next-50, 100, []store.Rejection{{Reason: "host", Links: 10, Examples: []store.RejectedURL{{URL: fmt.Sprintf("https://e%d.test/", i), Host: "e.test"}}}})
		}))
		next += 50
		var found []store.PageRecord
		choices = append(choices, timed(func() {
			found = must(s.Candidates(b.Context(), store.CandidateParams{CrawlID: crawlID, Limit: 100}))(b)
		}))
		admissions = append(admissions, timed(func() {
			if admitted := must(s.Admit(b.Context(), store.AdmitParams{CrawlID: crawlID, Admit: ids(found)}))(b); len(admitted) == 0 {
				b.Fatal("no page was admitted")
			}
		}))
		looks = append(looks, timed(func() { g.look(1000) }))
	}
	b.ReportMetric(median(registers), "register-ms")
	b.ReportMetric(median(choices), "candidates-ms")
	b.ReportMetric(median(admissions), "admit-ms")
	b.ReportMetric(median(looks), "look-ms")
}

// guarded is a crawl of the benchmark.
type guarded struct {
	*testing.B
	s           store.Store
	crawl, trap int64
	from        int64
	hosts       int
}

func (g *guarded) link(n int) store.NewURL {
	host := fmt.Sprintf("h%d.example", n%g.hosts)
	u := store.NewURL{URL: fmt.Sprintf("https://%s/a/page/of/usual/length/%d", host, n), Host: host, Level: 1 + n%7}
	if n%3 == 1 {
		u.Trap = g.trap
	}
	return u
}

func (g *guarded) register(first, n int, rejected []store.Rejection) {
	urls := make([]store.NewURL, n)
	for i := range urls {
		urls[i] = g.link(first + i)
	}
	if _, err := g.s.RegisterLinks(g.Context(), store.RegisterParams{CrawlID: g.crawl, From: g.from, URLs: urls, Rejected: rejected}); err != nil {
		g.Fatal(err)
	}
}

// look looks at up to n grown pages, 0 at all, as the guard does.
func (g *guarded) look(n int) {
	for more := true; more; more = n == 0 {
		growth := must(g.s.GrownPages(g.Context(), g.crawl, max(n, 5000)))(g)
		if len(growth.Pages) == 0 {
			return
		}
		end := store.EndLookParams{CrawlID: g.crawl, From: growth.From, Through: growth.Through}
		for _, p := range growth.Pages {
			end.Found = append(end.Found, store.PrefixRecord{HostID: p.HostID, Pages: 1})
		}
		if n > 0 {
			must(g.s.Evidence(g.Context(), store.EvidenceParams{CrawlID: g.crawl, Each: 500}))(g)
			must(g.s.Evidence(g.Context(), store.EvidenceParams{CrawlID: g.crawl, Hosts: []int64{growth.Pages[0].HostID}, Each: 1000}))(g)
		}
		must(g.s.EndLook(g.Context(), end))(g)
	}
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func median(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
}
