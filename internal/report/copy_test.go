package report

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
)

func TestCopyFreshnessWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		f    CopyFreshness
		want string
	}{
		{CopyFreshness{State: crawl.Active, Seen: ago(3 * time.Hour), Fresh: 0.97}, "seen 3h ago, 97 % likely unchanged"},
		{CopyFreshness{State: crawl.Duplicate, Seen: ago(time.Minute), Fresh: 0.999}, "seen 1m ago, over 99 % likely unchanged"},
		{CopyFreshness{State: crawl.Failing, Seen: ago(48 * time.Hour), Fresh: 0.5, visited: ago(time.Hour)}, "seen 2d ago, 50 % likely unchanged; its last visit, 1h ago, failed"},
		{CopyFreshness{State: crawl.Gone, visited: ago(time.Hour)}, "the page is gone, as a visit found 1h ago: this is its last copy"},
		{CopyFreshness{State: crawl.Redirect, visited: ago(time.Hour)}, "the page leads elsewhere, as a visit found 1h ago: this is its last copy"},
		{CopyFreshness{State: crawl.Evicted}, "the page is evicted and is not visited any more: this is its last copy"},
		{CopyFreshness{State: crawl.Known}, "the page waits to be visited again: this is its last copy"},
		{CopyFreshness{State: crawl.Excluded}, "the page is excluded from the crawl, and tried only now and then: this is its last copy"},
		{CopyFreshness{State: crawl.Known, None: true}, "there is none: no visit has found a body"},
		{CopyFreshness{State: crawl.Gone, None: true, visited: ago(time.Hour)}, "there is none: no visit has found a body"},
		{CopyFreshness{State: crawl.Active}, "nothing is known of how fresh the copy is"},
	} {
		c.f.now = now
		if got := c.f.Words(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}
