package polite

import (
	"math"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

func TestWords(t *testing.T) {
	t.Parallel()
	capped := gapOf(Demand{}, Demand{MaxCrawlDelay: time.Hour}, 24*time.Hour, 0).Reason
	slow := gapOf(Demand{}, Demand{Factor: 2}, 0, 3*time.Second).Reason
	held := HostBackoff(Strain{}, Answer{Throttled: true, HasRetryAfter: true, RetryAfter: 48 * time.Hour}, 0).Reason
	endless := HostBackoff(Strain{}, Answer{Throttled: true, HasRetryAfter: true, RetryAfter: math.MaxInt64}, 0).Reason
	stored := crawl.Reason{Code: HostCapped, Num: map[string]float64{"asked": time.Duration(math.MaxInt64).Seconds(), "hold": math.NaN()}}
	for _, tc := range []struct {
		reason crawl.Reason
		want   string
	}{
		{gapOf(Demand{Delay: 10 * time.Second}, Demand{}, 0, 0).Reason, "10s between two requests"},
		{gapOf(Demand{}, Demand{MaxCrawlDelay: time.Hour}, 5*time.Second, 0).Reason, "5s between two requests: the site's Crawl-delay"},
		{capped, "1h between two requests: max_crawl_delay cuts the site's Crawl-delay of 1d"},
		{
			AutoDelay(500*time.Millisecond, 0.02, 10*time.Second).Reason,
			"4.5s between two requests: set automatically, for the host answers in 500ms and refuses 2 % of requests",
		},
		{slow, "6s between two requests: 2 × the last one's 3s"},
		{endless, "the site asked for 365d of quiet; it is tried again after 1d"},
		{stored, "the site asked for 106751d23h47m16.854775807s of quiet; it is tried again after 0s"}, // by an earlier release
		{held, "the site asked for 2d of quiet; it is tried again after 1d"},
		{HostBackoff(Strain{}, Answer{Throttled: true, HasRetryAfter: true, RetryAfter: 90 * time.Second}, 0).Reason, "the site asked for 1m30s of quiet"},
		{crawl.Reason{Code: HostThrottled, Num: map[string]float64{"level": 2, "hold": 120}}, "the site throttles us: it is left alone for 2m (back-off level 2)"},
		{HostBackoff(Strain{Failures: 2}, Answer{Failed: true}, 0).Reason, "3 connections in a row failed: the host is left alone for 1m3.4s"},
		{Discover(100, 200).Reason, "33 % of the host's requests are kept for pages that have never been visited (100 of 300)"},
		{crawl.Reason{Code: "other", Text: "a text of its own"}, "a text of its own"},
		{crawl.Reason{Code: "other"}, "other"},
	} {
		if got := Words(tc.reason); got != tc.want {
			t.Errorf("Words(%v) = %q, want %q", tc.reason, got, tc.want)
		}
	}
}

func TestWaitWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason   string
		position int
		want     string
	}{
		{"line", 1, "one other page of the host comes first"},
		{"line", 12, "12 other pages of the host come first"},
		{"delay", 0, "the host rests between two requests"},
		{"backoff", 3, "the host asked for quiet, or its connections fail"},
		{"robots", 0, "robots.txt cannot be had, so everything is disallowed"},
		{"blocked", 0, "the operator blocked the host"},
		{"robots_blocked", 0, "the operator blocked the host to which robots.txt redirects"},
		{"address", 0, "other requests to the host's address come first (politeness.per_address)"},
		{"unheard of", 0, "unheard of"},
	} {
		if got := WaitWords(tc.reason, tc.position); got != tc.want {
			t.Errorf("WaitWords(%q, %d) = %q, want %q", tc.reason, tc.position, got, tc.want)
		}
	}
}

func TestRounded(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		1234 * time.Millisecond: "1.23s", 123456 * time.Millisecond: "2m3s", 90 * time.Second: "1m30s", 0: "0s",
		1500 * time.Microsecond: "1.5ms", 5*24*time.Hour + 12*time.Minute: "5d",
	} {
		if got := Rounded(d); got != want {
			t.Errorf("Rounded(%v) = %q, want %q", d, got, want)
		}
	}
}
