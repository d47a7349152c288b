package report

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
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

func (f *fake) Imports(_ context.Context, _ int64, limit int) ([]store.ImportRecord, error) {
	return f.imports[:min(limit, len(f.imports))], f.fail
}

func (f *fake) ListRejected(_ context.Context, q store.RejectedFilter) (found []store.RejectedLink, err error) {
	if q.CrawlID != 1 {
		return nil, f.fail
	}
	for _, l := range []store.RejectedLink{
		{RejectedPlace: store.RejectedPlace{Reason: "host", At: now.Add(-time.Minute)}, RejectedURL: store.RejectedURL{URL: "https://elsewhere.example/"}, From: "https://example.com/"},
		{RejectedPlace: store.RejectedPlace{Reason: "host", At: now.Add(-time.Hour)}, RejectedURL: store.RejectedURL{URL: "https://other.example/?a=1&b=2"}},
		{RejectedPlace: store.RejectedPlace{Reason: "rule print pages", At: now}, RejectedURL: store.RejectedURL{URL: "https://example.com/print/1", Detail: "looks\tprinted"}},
	} {
		if (q.Reason == "" || q.Reason == l.Reason) && len(found) < q.Limit {
			found = append(found, l)
		}
	}
	return found, f.fail
}

// A URL that is no page is explained by the rejected links and by the present rules, even
// if its rejection is not among the examples.
func TestExplainRejected(t *testing.T) {
	t.Parallel()
	judge := func(c store.CrawlRecord, url string) (ScopeCheck, error) {
		switch check := (ScopeCheck{URL: url, Level: 1}); {
		case strings.Contains(url, "print"):
			check.Reason, check.Detail = "rule print pages", "looks printed"
			return check, nil
		case strings.Contains(url, "trapped"):
			check.Accepted, check.Reason, check.Trap = true, "host", "example.com/#"
			return check, nil
		case c.Spec.Name == "docs" && strings.Contains(url, "elsewhere"):
			return ScopeCheck{URL: url, Problem: "the filter program nice is not in RECRAWL_FILTERS"}, nil
		default:
			check.Accepted, check.Reason = true, "host"
			return check, nil
		}
	}
	for _, c := range []struct {
		url, crawl, text string
	}{
		{
			"https://other.example/?a=1&b=2", "news", "https://other.example/?a=1&b=2 is no page of crawl news: rejected 1h ago (host)\n" +
				"by the rules of today it belongs to the crawl, 1 link from a seed (host)\n",
		},
		{
			"https://example.com/print/1", "news", "https://example.com/print/1 is no page of crawl news: rejected now (rule print pages): looks printed\n" +
				"by the rules of today it is out of scope of the crawl, 1 link from a seed (rule print pages): looks printed\n",
		},
		{
			"https://example.com/print/33", "news", "https://example.com/print/33 is no page of crawl news, and no link to it is among the examples of rejected ones\n" +
				"by the rules of today it is out of scope of the crawl, 1 link from a seed (rule print pages): looks printed\n",
		},
		{
			"https://example.com/trapped", "docs", "https://example.com/trapped is no page of crawl docs, and no link to it is among the examples of rejected ones\n" +
				"by the rules of today it belongs to the crawl, 1 link from a seed (host); new pages there are held by trap example.com/#\n",
		},
		{
			"https://elsewhere.example/", "", "https://elsewhere.example/ is no page of crawl docs, and no link to it is among the examples of rejected ones\n" +
				"by the rules of today nothing can be said: the filter program nice is not in RECRAWL_FILTERS\n" +
				"https://elsewhere.example/ is no page of crawl news: rejected 1m ago (host), found on https://example.com/\n" +
				"by the rules of today it belongs to the crawl, 1 link from a seed (host)\n",
		},
		{"https://example.com/never-seen", "", ""},
		{"https://example.com/print/1", "nobody", ""},
	} {
		var out bytes.Buffer
		found, err := Reporter{Store: sample(), Out: &out, Format: Text}.ExplainRejected(t.Context(), c.url, c.crawl, judge)
		if err != nil || found != (c.text != "") || out.String() != c.text {
			t.Errorf("%s: %t, %v, %q; want %q", c.url, found, err, out.String(), c.text)
		}
	}
	var out bytes.Buffer
	for _, url := range []string{"https://example.com/print/1", "https://example.com/print/33"} {
		if _, err := (Reporter{Store: sample(), Out: &out, Format: JSON}).ExplainRejected(t.Context(), url, "news", judge); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "explain-rejected.jsonl", out.Bytes())
	checkLines(t, out.Bytes())
}

// A store that cannot be read is no answer.
func TestExplainRejectedFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	judge := func(store.CrawlRecord, string) (ScopeCheck, error) { return ScopeCheck{}, broken }
	if _, err := (Reporter{Store: sample(), Out: io.Discard, Format: Text}).ExplainRejected(t.Context(), "https://example.com/x", "", judge); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

func TestGoldenRejected(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]RejectedQuery{
		"rejected":        {Crawl: "news"},
		"rejected-reason": {Crawl: "news", Reason: "host", Limit: 1},
		"rejected-none":   {Crawl: "docs"},
	} {
		answers(t, name, Reporter{Store: sample()}, func(r Reporter) error { return r.Rejected(t.Context(), q) })
	}
}
