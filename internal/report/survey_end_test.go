package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report/survey"
	"recrawl/internal/store"
)

// A crawl that was stopped keeps its figures: the last states of its pages, and how long it
// took.
func TestSurveyOfAStoppedCrawl(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	state := func(p store.PageRecord) crawl.PageState { return p.State }
	stopped := func(store.PageRecord) crawl.PageState { return crawl.Stopped }
	evicted := func(store.PageRecord) crawl.PageState { return crawl.Evicted }
	for _, c := range []struct {
		name      string
		now       func(store.PageRecord) crawl.PageState
		crawl     store.CrawlRecord
		ended     time.Time
		perDay    float64
		lastedFor time.Duration
	}{
		{"it runs", state, store.CrawlRecord{State: crawl.CrawlRunning}, time.Time{}, 0.3, 10 * day},
		{"it was stopped", stopped, store.CrawlRecord{State: crawl.CrawlStopped, StoppedAt: now.Add(-4 * day)}, now.Add(-4 * day), 0.5, 6 * day},
		{"and before", stopped, store.CrawlRecord{State: crawl.CrawlStopped, StoppedAt: now.Add(-4 * day), Rested: 3 * day}, now.Add(-4 * day), 1, 3 * day},
		{"it runs again", evicted, store.CrawlRecord{State: crawl.CrawlRunning, Rested: 4 * day}, time.Time{}, 0.5, 6 * day},
		{"an older program stopped it", stopped, store.CrawlRecord{State: crawl.CrawlStopped}, now.Add(-8 * day), 1.5, 2 * day},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{visits: map[int64][]store.VisitRecord{}, status: map[int64]store.StatusRecord{}}
			c.crawl.ID, c.crawl.CreatedAt, c.crawl.Spec = 1, now.Add(-10*day), crawl.DefaultSpec()
			c.crawl.Spec.Name = "news"
			f.crawls = []store.CrawlRecord{c.crawl}
			for i, left := range []crawl.PageState{crawl.Duplicate, crawl.Duplicate, crawl.Gone, crawl.Active} {
				p := store.PageRecord{PageRef: crawl.PageRef{CrawlID: 1, PageID: int64(i + 1), Host: "example.com"}, State: left, Visits: 1, LastAt: now.Add(-8 * day), Backlinks: 1}
				f.visits[p.PageID] = []store.VisitRecord{{PageID: p.PageID, Visit: 1, State: left, At: p.LastAt}}
				if left != crawl.Gone {
					p.Last.ID = 1
				}
				p.State = c.now(p)
				f.pages = append(f.pages, p)
			}
			var out bytes.Buffer
			r := Reporter{Store: f, Visits: f, Out: &out, Format: JSON}
			if err := r.Survey(t.Context(), SurveyQuery{Crawl: "news", Options: survey.Options{Top: 2}}); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Duplicates, Broken struct{ Pages, Links int }
				PagesPerDay        float64    `json:"pages_per_day"`
				Lasted             float64    `json:"lasted_seconds"`
				EndedAt            *time.Time `json:"ended_at"`
			}
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if got.Duplicates.Pages != 2 || got.Broken.Pages != 1 || got.Broken.Links != 1 {
				t.Errorf("duplicates %d, broken %+v; want 2 and 1", got.Duplicates.Pages, got.Broken)
			}
			if got.Lasted != c.lastedFor.Seconds() || got.PagesPerDay != c.perDay {
				t.Errorf("%v s, %v pages a day; want %v and %v", got.Lasted, got.PagesPerDay, c.lastedFor, c.perDay)
			}
			if c.ended.IsZero() != (got.EndedAt == nil) || got.EndedAt != nil && !got.EndedAt.Equal(c.ended) {
				t.Errorf("ended at %v, want %v", got.EndedAt, c.ended)
			}
		})
	}
}

// Two crawls on a page: both names, every figure once, and no empty bars.
func TestComparePage(t *testing.T) {
	t.Parallel()
	var page, out bytes.Buffer
	f := sample()
	r := Reporter{Store: f, Visits: f, Out: &out, Format: Text}
	q := CompareQuery{SurveyQuery: SurveyQuery{Crawl: "news", HTML: &page}, Other: "docs"}
	if err := r.Compare(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	html := page.String()
	for _, want := range []string{"<title>Crawls news and docs in figures</title>", `<th scope="col">docs</th>`, "<td>window of a host (queue)</td><td>16</td><td>16</td></tr>"} {
		if strings.Count(html, want) != 1 {
			t.Errorf("%d times %s in\n%s", strings.Count(html, want), want, html)
		}
	}
	if strings.Contains(html, "<svg") {
		t.Errorf("a bar in\n%s", html)
	}
	q.Other = "none"
	if err := r.Compare(t.Context(), q); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of no crawl: %v", err)
	}
}
