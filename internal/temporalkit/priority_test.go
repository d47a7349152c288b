package temporalkit_test

import (
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/temporalkit"
)

// TestCrawlOvertakes: a crawl is started with a priority before that of pages. A server that has
// no new matcher, as this one, keeps it and does not order by it.
func TestCrawlOvertakes(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	flows := temporalkit.Workflows{Client: c}
	key := func(id string) int32 {
		t.Helper()
		event, err := c.GetWorkflowHistory(t.Context(), id, "", false, 0).Next()
		if err != nil {
			t.Fatal(err)
		}
		return event.GetWorkflowExecutionStartedEventAttributes().GetPriority().GetPriorityKey()
	}
	if err := flows.RestartCrawl(t.Context(), []byte(`{}`), contract.CrawlProgress{Name: "t"}, false); err != nil {
		t.Fatal(err)
	}
	if got, want := key(contract.CrawlID("t")), int32(contract.CrawlPriority.PriorityKey); got != want {
		t.Errorf("a crawl has priority %d, want %d", got, want)
	}
	page := crawl.PageRef{CrawlID: 1, Crawl: "t", PageID: 1, URL: "https://example.com/", Host: "example.com"}
	if err := flows.StartPage(t.Context(), contract.PageIn{Page: page, State: crawl.Active}); err != nil {
		t.Fatal(err)
	}
	if got, most := key(contract.PageID("t", page.URL)), int32(contract.CrawlPriority.PriorityKey); got != 0 && got <= most {
		t.Errorf("a page has priority %d", got)
	}
}
