package web

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

var evidenceNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// askedHost is a store with one host, shop.example:8080, of the crawl news.
type askedHost struct {
	report.Store
	pages int64
}

func (s askedHost) Now(context.Context) (time.Time, error) { return evidenceNow, nil }

func (s askedHost) ListHosts(context.Context, store.HostFilter) ([]store.HostRecord, error) {
	return []store.HostRecord{{ID: 7, Host: "shop.example:8080", Delay: 10 * time.Second}}, nil
}

func (s askedHost) CrawlsAt(_ context.Context, host string) ([]store.CrawlAt, error) {
	if host != "shop.example:8080" {
		return nil, store.ErrNotFound
	}
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	return []store.CrawlAt{{CrawlRecord: store.CrawlRecord{ID: 1, Spec: spec, State: crawl.CrawlRunning}, HostID: 7, Pages: s.pages}}, nil
}

func (s askedHost) Terms(context.Context, string) (store.TermsRecord, error) {
	return store.TermsRecord{}, store.ErrNotFound
}

func (s askedHost) RobotsHistory(context.Context, string) ([]store.RobotsEpoch, error) {
	return []store.RobotsEpoch{{
		Origin: "http://shop.example:8080", State: store.RobotsParsed, Status: 200, Since: evidenceNow.Add(-48 * time.Hour),
		Text: "User-agent: *\nDisallow: /x\n</pre><script>alert(1)</script>\u202e",
	}}, nil
}

func (s askedHost) HostRequests(context.Context, store.HostRequestParams) (store.HostRequestsPage, error) {
	at := evidenceNow.Add(-3 * time.Hour)
	return store.HostRequestsPage{Requests: []store.HostRequest{
		{CrawlID: 1, URL: "http://shop.example:8080/a", At: at, Duration: time.Second, Outcome: crawl.OutcomeNew, Status: 200},
		{
			CrawlID: 1, URL: "http://shop.example:8080/x?<b>", At: at.Add(time.Hour), Duration: time.Second, Outcome: crawl.OutcomeThrottled, Status: 429,
			Reasons: []crawl.Reason{{Code: schedule.CodeRetryAfter, Num: map[string]float64{"s": 90}}},
		},
	}}, nil
}

// slowHost is an askedHost whose requests take hours to read.
type slowHost struct{ askedHost }

func (slowHost) HostRequests(ctx context.Context, _ store.HostRequestParams) (store.HostRequestsPage, error) {
	<-ctx.Done()
	return store.HostRequestsPage{}, fmt.Errorf("requests of a host: %w", ctx.Err())
}

// lookAtEvidence requests an address as a browser on this machine does.
func lookAtEvidence(t *testing.T, pages int64, address string) (int, string) {
	t.Helper()
	s := askedHost{pages: pages}
	handler := New(Options{Report: report.Reporter{Store: s, Requests: s}, Log: slog.New(slog.DiscardHandler)}).Handler()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+address, nil))
	return w.Code, w.Body.String()
}

func TestEvidenceView(t *testing.T) {
	t.Parallel()
	const here = "/crawls/news/hosts/shop.example:8080/evidence"
	code, page := lookAtEvidence(t, 3, here)
	for _, want := range []string{
		"2 requests. Between the end of one and the start of the next: at least 59m59s", "<th scope=\"row\" class=\"tight\">2026-03-01 09:00:00</th>",
		"<td>429</td><td>1m30s</td><td>none since</td>", "it allows 1 and forbids 1", "&lt;script&gt;alert(1)", "# Requests to shop.example:8080",
		`href="/crawls/news/hosts/shop.example:8080/evidence?since=7d"`, `aria-current="true">last 1d`, "that of the workers",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%d: the page lacks %q", code, want)
		}
	}
	for _, not := range []string{"<script>alert", "\u202e", "style=", "Count the requests now", "ZgotmplZ", "&count=all"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

// The requests of a large host are counted only when somebody asks for it.
func TestEvidenceViewOfLargeHost(t *testing.T) {
	t.Parallel()
	const here = "/crawls/news/hosts/shop.example:8080/evidence"
	code, page := lookAtEvidence(t, 1_000_000, here+"?since=7d")
	if code != http.StatusOK || !strings.Contains(page, "Count the requests now") || !strings.Contains(page, "since=7d&amp;count=all") {
		t.Errorf("%d: %s", code, page)
	}
	if code, page := lookAtEvidence(t, 1_000_000, here+"?since=7d&count=all"); code != http.StatusOK || !strings.Contains(page, "2 requests.") {
		t.Errorf("%d, counted: %s", code, page)
	}
}

// Where counting takes too long for the page, it names the command that counts.
func TestEvidenceViewTakesLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := slowHost{askedHost{pages: 1_000_000}}
		handler := New(Options{Report: report.Reporter{Store: s, Requests: s}, Log: slog.New(slog.DiscardHandler)}).Handler()
		begun := time.Now()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/crawls/news/hosts/shop.example:8080/evidence?since=7d&count=all", nil))
		if took := time.Since(begun); took != countLimit {
			t.Errorf("answered after %s", took)
		}
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "starter evidence shop.example:8080 --since 7d") {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	})
}

func TestEvidenceViewForPrograms(t *testing.T) {
	t.Parallel()
	code, body := lookAtEvidence(t, 3, "/crawls/news/hosts/shop.example:8080/evidence.json")
	var got struct {
		Host     string
		Requests struct{ Total int }
		Robots   []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || code != http.StatusOK || got.Host != "shop.example:8080" || got.Requests.Total != 2 || len(got.Robots) != 1 {
		t.Errorf("%d, %v: %s", code, err, body)
	}
	for address, want := range map[string]int{
		"/crawls/news/hosts/SHOP.example:8080/evidence.json":                 http.StatusOK,
		"/crawls/news/hosts/other.example/evidence.json":                     http.StatusNotFound,
		"/crawls/other/hosts/shop.example:8080/evidence.json":                http.StatusNotFound,
		"/crawls/news/hosts/shop.example:8080/evidence.json?since=yesterday": http.StatusBadRequest,
		"/crawls/news/hosts/shop.example:8080/evidence.json?since=90d":       http.StatusBadRequest,
		"/crawls/news/hosts/shop.example:8080/evidence?since=0":              http.StatusBadRequest,
	} {
		if code, body := lookAtEvidence(t, 3, address); code != want {
			t.Errorf("%s: %d, want %d: %s", address, code, want, body)
		}
	}
}
