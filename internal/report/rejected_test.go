package report

import (
	"bytes"
	"context"
	"testing"
	"time"

	"recrawl/internal/store"
)

func (f *fake) Rejections(_ context.Context, crawlID int64) ([]store.RejectionCount, error) {
	if crawlID != 1 {
		return nil, f.fail
	}
	return []store.RejectionCount{{Reason: "host", Links: 210}, {Reason: "rule print pages", Links: 12}}, f.fail
}

func (f *fake) ListRejected(_ context.Context, q store.RejectedFilter) (found []store.RejectedLink, err error) {
	if q.CrawlID != 1 {
		return nil, f.fail
	}
	for _, l := range []store.RejectedLink{
		{Reason: "host", RejectedURL: store.RejectedURL{URL: "https://elsewhere.example/"}, From: "https://example.com/", At: now.Add(-time.Minute)},
		{Reason: "host", RejectedURL: store.RejectedURL{URL: "https://other.example/?a=1&b=2"}, At: now.Add(-time.Hour)},
		{Reason: "rule print pages", RejectedURL: store.RejectedURL{URL: "https://example.com/print/1", Detail: "looks\tprinted"}, At: now},
	} {
		if (q.Reason == "" || q.Reason == l.Reason) && len(found) < q.Limit {
			found = append(found, l)
		}
	}
	return found, f.fail
}

// A URL that is no page is explained by the rejected links.
func TestExplainRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, crawl string
		found      bool
		text       string
	}{
		{"https://elsewhere.example/", "", true, "https://elsewhere.example/ is no page of crawl news: rejected 1m ago (host), found on https://example.com/\n"},
		{"https://example.com/print/1", "news", true, "https://example.com/print/1 is no page of crawl news: rejected now (rule print pages): looks printed\n"},
		{"https://elsewhere.example/", "docs", false, ""},
		{"https://example.com/never-seen", "", false, ""},
	} {
		var out bytes.Buffer
		found, err := Reporter{Store: sample(), Out: &out, Format: Text}.ExplainRejected(t.Context(), c.url, c.crawl)
		if err != nil || found != c.found || out.String() != c.text {
			t.Errorf("%s: %t, %v, %q; want %q", c.url, found, err, out.String(), c.text)
		}
	}
}

func TestGoldenRejected(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]RejectedQuery{
		"rejected":        {Crawl: "news"},
		"rejected-reason": {Crawl: "news", Reason: "host", Limit: 1},
		"rejected-none":   {Crawl: "docs"},
	} {
		for format, ext := range map[Format]string{Text: ".txt", JSON: ".jsonl"} {
			var out bytes.Buffer
			if err := (Reporter{Store: sample(), Out: &out, Format: format}).Rejected(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			golden(t, name+ext, out.Bytes())
			if format == JSON {
				checkLines(t, out.Bytes())
			}
		}
	}
}
