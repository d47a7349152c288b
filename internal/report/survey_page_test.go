package report

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report/survey"
	"recrawl/internal/store"
)

// pageOf returns a report as a page, of a crawl with thirty days behind it.
func pageOf(t *testing.T, f *fake) string {
	t.Helper()
	var page bytes.Buffer
	r := Reporter{Store: f, Visits: f, Out: io.Discard, Format: Text}
	if err := r.Survey(t.Context(), SurveyQuery{Crawl: "news", Options: survey.Options{Backlinks: 2, Top: 5}, HTML: &page}); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// aDay is the length of one.
const aDay = 24 * time.Hour

func withDays(f *fake) *fake {
	s := f.status[1]
	for i := range 9 {
		s.Days = append(s.Days, store.Day{Start: now.UTC().Truncate(aDay).Add(-time.Duration(i) * aDay), Visits: 40 + 7*i, Changes: 3 * i, Due: 30, Late: time.Duration(i) * time.Hour})
	}
	f.status[1] = s
	return f
}

// The page first answers people, and then those who compare crawlers.
func TestSurveyPageSpeaksToPeopleFirst(t *testing.T) {
	t.Parallel()
	page := pageOf(t, withDays(sample()))
	at := -1
	for _, want := range []string{
		"<h1>Crawl news</h1>", `<p class="sentence">`, "Up to date", "A change waits", "What changed last", "Day by day", "<title>2026-02-22: ", "The same as a table",
		"<h2>Hosts</h2>", "One pass takes", "In the figures of the papers", "H/T ", "Back-links by level", "Most important pages",
	} {
		i := strings.Index(page, want)
		if i <= at {
			t.Errorf("%q is at %d, what comes before it at %d", want, i, at)
		}
		at = i
	}
}

// Pages are links if their addresses are web addresses. Titles do no harm.
func TestSurveyPageLinksToPages(t *testing.T) {
	t.Parallel()
	f := sample()
	f.pages[0].Last.Title = "<script>alert(1)</script>\u202e" + strings.Repeat("long ", 2000)
	f.pages[4].URL, f.pages[4].Weight = "javascript:alert(1)", 9
	page := pageOf(t, f)
	for _, want := range []string{`<a href="https://example.com/" rel="noreferrer nofollow"><bdi>&lt;script&gt;`, `<td class="url"><a href="https://example.com/a?x=1&amp;y=2"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	for _, bad := range []string{"<script", "\u202e", `href="javascript`, "long long long long long long long long long long long long long long long long long long long long long long long long long"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q in\n%s", bad, page)
		}
	}
}

// Headings stay whole, every table is explained, and nothing is loaded.
func TestSurveyPageIsReadable(t *testing.T) {
	t.Parallel()
	if css := regexp.MustCompile(`(?m)^th \{.*white-space: nowrap`); !css.MatchString(surveyHTML) || regexp.MustCompile(`(?m)^[^{]*\bth\b[^{]*\{[^}]*overflow-wrap: anywhere`).MatchString(surveyHTML) {
		t.Error("headings of tables may be broken in the middle of a word")
	}
	if loads := regexp.MustCompile(`(?i)<script|<link|<img|@import|url\(`).FindString(surveyHTML); loads != "" {
		t.Errorf("the page loads something: %s", loads)
	}
	line := surveyLine{Settings: newSettingsLine(crawl.DefaultSpec())}
	for _, table := range line.tables() {
		if table.About == "" {
			t.Errorf("%q is not explained", table.Title)
		}
	}
	line.Budget, line.Freshness.Pages, line.Intervals.Looks = 1, 1, 1
	line.Foreseen = []foreseenLine{{Visits: 1}}
	for _, row := range line.rows(now) {
		if figureAbout[row[0]] == "" {
			t.Errorf("%q is not explained", row[0])
		}
	}
}

// Days stand side by side in the box, changes within visits, and the dates end with today.
func TestDayDrawing(t *testing.T) {
	t.Parallel()
	days := daysOf([]store.Day{
		{Start: now.Truncate(aDay), Visits: 10, Changes: 4, Due: 5, Late: 50 * time.Minute},
		{Start: now.Truncate(aDay).Add(-aDay), Visits: 20},
	}, now.Add(-40*aDay), now)
	d := drawDays(days)
	if len(d.Bars) != store.DaysKept || d.Labels[len(d.Labels)-1].Text != "1 Mar" || d.Most != "20 visits" || d.Latest != "10m" {
		t.Fatalf("%d bars, labels %+v, %s, %s", len(d.Bars), d.Labels, d.Most, d.Latest)
	}
	today, yesterday := d.Bars[len(d.Bars)-1], d.Bars[len(d.Bars)-2]
	if yesterday.Visits != visitsHigh || today.Visits != visitsHigh/2 || today.Changes != visitsHigh/5 || today.Late != lateHigh || yesterday.Changes != 0 {
		t.Errorf("today %+v, yesterday %+v", today, yesterday)
	}
	for i, b := range d.Bars {
		if b.X < 0 || b.X+b.Width > dayWidth || i > 0 && b.X < d.Bars[i-1].X+d.Bars[i-1].Width {
			t.Errorf("bar %d at %v, %v wide", i, b.X, b.Width)
		}
	}
	if empty := drawDays(daysOf(nil, now, now)); len(empty.Bars) != 0 || len(empty.Days) != 1 {
		t.Errorf("no visits: %+v", empty)
	}
}
