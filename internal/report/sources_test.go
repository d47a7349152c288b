package report

import (
	"context"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func (f *fake) ListSources(_ context.Context, q store.SourceFilter) (found []store.SourceRecord, err error) {
	if q.CrawlID != 1 {
		return nil, f.fail
	}
	ref := func(id int64, url string) crawl.PageRef {
		return crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: id, URL: url, Host: "example.com"}
	}
	for _, s := range []store.SourceRecord{
		{
			PageRef: ref(11, "https://example.com/sitemap.xml"), Kind: crawl.KindSitemap, State: crawl.Active,
			Reading: store.Reading{Format: "sitemap", Entries: 1200, Dated: 1100, Dropped: map[string]int{"repeated": 2, "malformed URL": 1}},
			ReadAt:  now.Add(-time.Hour), Visits: 9, LastAt: now.Add(-time.Hour), Hinted: 50, Hits: 40, Misses: 8,
			Skipped: map[string]int{"due soon anyway": 3},
		},
		{
			PageRef: ref(12, "https://example.com/feed?a=1&b=2"), Kind: crawl.KindFeed, State: crawl.Active,
			Reading: store.Reading{Format: "RSS", Entries: 20, Problem: "it ends in the\tmiddle"},
			ReadAt:  now.Add(-time.Minute), Visits: 2, LastAt: now.Add(-time.Minute), Hinted: 6, Misses: 5,
		},
		{PageRef: ref(13, "https://example.com/later.xml"), Kind: crawl.KindSitemap, State: crawl.Known, Nesting: 1},
	} {
		if s.PageID > q.After && len(found) < q.Limit && (q.PageID == 0 || q.PageID == s.PageID) && (q.Host == "" || q.Host == s.Host) {
			found = append(found, s)
		}
	}
	return found, f.fail
}

func TestGoldenSources(t *testing.T) {
	t.Parallel()
	hinted, source := sample().pages[0], sample().pages[0]
	hinted.HintedBy = 12
	source.PageID, source.Kind = 11, crawl.KindSitemap
	for name, ask := range map[string]func(Reporter) error{
		"sources": func(r Reporter) error { return r.Sources(t.Context(), SourcesQuery{Crawl: "news"}) },
		"sources-limit": func(r Reporter) error {
			return r.Sources(t.Context(), SourcesQuery{Crawl: "news", Host: "example.com", Limit: 1})
		},
		"sources-none":   func(r Reporter) error { return r.Sources(t.Context(), SourcesQuery{Crawl: "docs"}) },
		"explain-hinted": func(r Reporter) error { return r.Explain(t.Context(), hinted, Live{Doing: "sleeping"}) },
		"explain-source": func(r Reporter) error { return r.Explain(t.Context(), source, Live{Doing: "sleeping"}) },
	} {
		answers(t, name, Reporter{Store: sample()}, ask)
	}
}
