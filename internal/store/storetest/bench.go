package storetest

import (
	"fmt"
	"testing"

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
