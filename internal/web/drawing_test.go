package web

import (
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
)

func TestDayCharts(t *testing.T) {
	t.Parallel()
	days := []report.Day{
		{Day: "2026-02-27", Visits: 1000, Changes: 10, Lag: crawl.Duration(90 * time.Second)},
		{Day: "2026-02-28"},
		{Day: "2026-03-01", Visits: 1, Changes: 1},
	}
	charts := dayCharts(days)
	visits := charts[0]
	if len(charts) != 3 || visits.Label != "Visits a day since 2026-02-27: 1 visit today, at most 1000 visits, on 2026-02-27" || visits.Today != "1 visit" {
		t.Fatalf("%+v", charts)
	}
	if charts[2].Most != "1m 30s" || charts[2].Today != "none" {
		t.Errorf("lag: %+v", charts[2])
	}
	if b := visits.Bars; b[0].Height != chartHeight || b[0].Y != 0 || b[1].Height != 0 || b[2].Height != leastBar || b[2].X+b[2].Width > chartDays*dayWidth || b[2].X < (chartDays-1)*dayWidth {
		t.Errorf("the most, nothing and a little: %+v", b)
	}
	// However many days there are, none is drawn outside.
	var many []report.Day
	for range 40 {
		many = append(many, report.Day{Day: "2026-03-01", Visits: 5})
	}
	for _, c := range dayCharts(many) {
		for _, b := range c.Bars {
			if b.X < 0 || b.X+b.Width > chartDays*dayWidth || b.Y < 0 || b.Y+b.Height > chartHeight {
				t.Errorf("%s: %+v is outside", c.Name, b)
			}
		}
	}
	if c := dayCharts(nil); len(c) != 3 || c[0].Bars != nil {
		t.Errorf("no days: %+v", c)
	}
}

func TestHostBars(t *testing.T) {
	t.Parallel()
	bars := hostBars("news", []report.HostPass{
		{Host: "example.com:8080", Pages: 1056, Every: crawl.Duration(10 * time.Second), Pass: crawl.Duration(10560 * time.Second)},
		{Host: "small.test", Pages: 1, Every: crawl.Duration(10 * time.Second), Pass: crawl.Duration(10 * time.Second)},
	})
	if bars[0].Share != 100 || bars[1].Share != 1 || bars[0].Link != "/crawls/news/hosts/example.com:8080" || bars[0].Words() != "1056 pages, one every 10s" {
		t.Errorf("%+v, %s", bars, bars[0].Words())
	}
	if bars := hostBars("news", []report.HostPass{{Host: "new.test"}}); bars[0].Share != 0 {
		t.Errorf("a host without pages: %+v", bars)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 pages", 1: "1 page", 9999: "9999 pages", 10_000: "10\u202f000 pages", 1_234_567: "1\u202f234\u202f567 pages"} {
		if got := count(n, "page"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	for share, want := range map[float64]string{0: "0 %", 0.001: "under 1 %", 0.5: "50 %", 0.999: "over 99 %", 1: "100 %"} {
		if got := report.Percent(share); got != want {
			t.Errorf("%v: %q", share, got)
		}
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	got := string(timeElement(now.Add(-3*time.Hour), now))
	if !strings.Contains(got, `datetime="2026-03-01T09:00:00Z"`) || !strings.Contains(got, ">3h ago<") {
		t.Error(got)
	}
	if got := timeElement(time.Time{}, now); got != "–" {
		t.Error(got)
	}
}
