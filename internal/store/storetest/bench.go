package storetest

import (
	"fmt"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// BenchmarkRegister measures RegisterLinks as Discover calls it: the links of
// one page, 100 of which half are new, over 50 hosts. It reports URLs a second.
func BenchmarkRegister(b *testing.B, s store.Store) {
	const links, hosts = 100, 50
	crawlID := benchCrawl(b, s)
	link := func(n int) store.NewURL {
		host := fmt.Sprintf("h%d.example", n%hosts)
		return store.NewURL{URL: fmt.Sprintf("https://%s/a/page/of/usual/length/%d", host, n), Host: host, Level: 1}
	}
	register := func(from int64, first, n int) {
		urls := make([]store.NewURL, n)
		for i := range urls {
			urls[i] = link(first + i)
		}
		if _, err := s.RegisterLinks(b.Context(), store.RegisterParams{CrawlID: crawlID, From: from, URLs: urls}); err != nil {
			b.Fatal(err)
		}
	}
	register(0, 0, links)
	pages, err := s.FindPages(b.Context(), link(0).URL, "")
	if err != nil || len(pages) == 0 {
		b.Fatal("the first page is missing: ", err)
	}
	first := 0
	for b.Loop() {
		register(pages[0].PageID, first, links)
		first += links / 2
	}
	b.ReportMetric(float64(b.N*links)/b.Elapsed().Seconds(), "URLs/s")
}

// BenchmarkRecord records visits of a page that found a change, and by turns visits that found
// none in its text: only the first are an event of the feed. It reports how much longer the
// first take, in microseconds a visit: no less than the cost of the feed.
func BenchmarkRecord(b *testing.B, s store.Store) {
	crawlID := benchCrawl(b, s)
	url := store.NewURL{URL: "https://h.example/a/page/of/usual/length", Host: "h.example", Level: 1}
	if _, err := s.RegisterLinks(b.Context(), store.RegisterParams{CrawlID: crawlID, URLs: []store.NewURL{url}}); err != nil {
		b.Fatal(err)
	}
	pages, err := s.FindPages(b.Context(), url.URL, "")
	if err != nil || len(pages) == 0 {
		b.Fatal("the page is missing: ", err)
	}
	page := pages[0].PageID
	if _, err := s.Admit(b.Context(), store.AdmitParams{CrawlID: crawlID, Admit: []int64{page}}); err != nil {
		b.Fatal(err)
	}
	visit := 0
	var spent [2]time.Duration
	record := func(o crawl.Outcome) time.Duration {
		visit++
		begun := time.Now()
		_, err := s.RecordVisit(b.Context(), store.RecordParams{Visit: store.VisitRecord{
			PageID: page, Visit: visit, Outcome: o, State: crawl.Active, Status: 200,
		}})
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	record(crawl.OutcomeNew)
	for b.Loop() {
		spent[0] += record(crawl.OutcomeChanged)
		spent[1] += record(crawl.OutcomeCosmetic)
	}
	perVisit := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) }
	b.ReportMetric(perVisit(spent[0]), "µs/change")
	b.ReportMetric(perVisit(spent[0]-spent[1]), "µs/event")
}
