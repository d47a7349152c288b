package schedule

import (
	"math"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason crawl.Reason
		want   string
	}{
		{crawl.Reason{Code: "changes", Num: map[string]float64{"n": 0, "of": 20}}, "unchanged in the last 20 visits"},
		{crawl.Reason{Code: "min", Num: map[string]float64{"s": 3600}}, "not before min_interval 1h"},
		{crawl.Reason{Code: "robots", Text: "robots.txt line 3: Disallow: /private"}, "robots.txt line 3: Disallow: /private"},
		{crawl.Reason{Code: "resemblance", Num: map[string]float64{"r": 0.5, "at": 0.98}}, "resemblance (at=0.98 r=0.5)"},
		{crawl.Reason{Code: "noindex-tag"}, "noindex by X-Robots-Tag: no body kept"},
		{crawl.Reason{Code: "later"}, "later"},
		{because(CodeDaily, 22200, 900, 0).reason(), "changes daily at about 06:10 UTC"},
		{because(CodeWeekdays, 22200, 5400, 1).reason(), "changes from Mondays to Fridays at about 06:10 UTC (± 1h 30m): visited to learn when exactly"},
		{because(CodeHourly, 2400, 300, 0).reason(), "changes hourly at about 40 minutes past"},
		{crawl.Reason{Code: "duplicate-of", Text: "http://a.test/"}, "the same content as http://a.test/"},
		{
			crawl.Reason{Code: "near-duplicate-of", Text: "http://a.test/", Num: map[string]float64{"resemblance": 0.93}},
			"nearly the same content as http://a.test/ (resemblance 0.93)",
		},
	} {
		if got := Word(c.reason); got != c.want {
			t.Errorf("%+v: %q, want %q", c.reason, got, c.want)
		}
	}
}

// Every code that is stored with numbers is worded, and not shown as it is.
func TestEveryCodeHasWords(t *testing.T) {
	t.Parallel()
	for code := range numbers {
		if words := Word(because(code, 2, 3, 4).reason()); words == code && code != CodeFailed || strings.Contains(words, "=") {
			t.Errorf("%s is worded %q", code, words)
		}
	}
}

func TestTimeBetweenChanges(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64]string{
		24: "1h", 1: "1d", 0.3: "3d 8h", 0.05: "20d", 1. / 400: "400d", 1. / 730: "2 years", 1e-5: "100 years and more", 0: "100 years and more",
	} {
		if got := Every(rate); got != want {
			t.Errorf("at a rate of %v: every %s, want %s", rate, got, want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	got := Summary(3*day+4*time.Hour+59*time.Minute, []crawl.Reason{
		because(CodeChanges, 10, 20).reason(), because(CodeRounds, 2, 86400).reason(),
	})
	want := "revisit in 3d 4h: changed in 10 of the last 20 visits, every 2 rounds of 1d"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRough(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 850 * time.Millisecond: "850ms", 12 * time.Second: "12s", 90 * time.Second: "1m 30s",
		2 * time.Hour: "2h", 26*time.Hour + 30*time.Minute: "1d 2h", day + 30*time.Minute: "1d",
		-90 * time.Second: "1m 30s", math.MinInt64: "106751d 23h",
	} {
		if got := Rough(d); got != want {
			t.Errorf("Rough(%d) = %q, want %q", int64(d), got, want)
		}
	}
}
