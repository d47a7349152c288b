package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func (s *fakeStore) CrawlsAt(_ context.Context, host string) ([]store.CrawlAt, error) {
	if host != "example.com:8080" {
		return nil, store.ErrNotFound
	}
	return []store.CrawlAt{{CrawlRecord: store.CrawlRecord{ID: 1, Spec: newsSpec(), State: crawl.CrawlRunning}, HostID: 1, Pages: 1}}, nil
}

func (s *fakeStore) Terms(context.Context, string) (store.TermsRecord, error) {
	return store.TermsRecord{}, store.ErrNotFound
}

func (s *fakeStore) RobotsHistory(context.Context, string) ([]store.RobotsEpoch, error) {
	return nil, nil
}

func (s *fakeStore) HostRequests(_ context.Context, p store.HostRequestParams) (store.HostRequestsPage, error) {
	s.backend.work()
	return store.HostRequestsPage{Pages: 1, Requests: []store.HostRequest{
		{CrawlID: 1, URL: "http://example.com:8080/", At: p.Since, Outcome: crawl.OutcomeNew, Status: 200, Duration: time.Second},
	}}, nil
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args      string
		code      int
		says, err string
	}{
		{"evidence example.com:8080", ExitOK, "From 2026-02-28 12:00:00 to 2026-03-01 12:00:00", ""},
		{"evidence http://example.com:8080/a --since 2h", ExitOK, "From 2026-03-01 10:00:00", ""},
		{"evidence example.com:8080 --since 2026-02-01 --markdown", ExitOK, "# Requests to example.com:8080\n\nFrom 2026-02-01 00:00:00", ""},
		{"evidence example.com:8080 --output json", ExitOK, `"contact":"ops@example.org"`, ""},
		{"evidence example.com", ExitNotFound, "", "no crawl knows the host example.com"},
		{"evidence example.com:8080 --since yesterday", ExitUsage, "", "write a date"},
		{"evidence example.com:8080 --markdown --output json", ExitUsage, "", "choose one"},
		{"evidence ///", ExitUsage, "", "is not a host"},
	} {
		r := starter(t, &fakeBackend{}, strings.Fields(tt.args)...)
		if r.code != tt.code || !strings.Contains(r.out, tt.says) || !strings.Contains(r.errOut, tt.err) || strings.Count(r.errOut, "\n") > 1 {
			t.Errorf("%s: %d, %q, %q", tt.args, r.code, r.out, r.errOut)
		}
	}
}

// auto is a delay that leaves the rest to the host; one that is given later ends it.
func TestDelayAuto(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"crawl docs https://example.com/ --delay auto --contact a@example.org":  "every 1s to 10s (auto) at most",
		"crawl docs https://example.com/ --delay 1m30s --contact a@example.org": "every 1m30s at most",
	} {
		b := &fakeBackend{}
		r := starter(t, b, strings.Fields(args)...)
		if r.code != ExitOK || len(b.specs) != 1 || !strings.Contains(r.out, want) {
			t.Errorf("%s: %d, %q %q", args, r.code, r.out, r.errOut)
		}
	}
	if r := starter(t, &fakeBackend{}, "crawl", "docs", "https://example.com/", "--delay", "soon"); r.code != ExitUsage || !strings.Contains(r.errOut, "10s") {
		t.Errorf("%d, %q", r.code, r.errOut)
	}
}
