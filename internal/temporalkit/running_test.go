package temporalkit_test

import (
	"fmt"
	"slices"
	"testing"

	"go.temporal.io/sdk/client"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/temporalkit"
)

// TestRunningPages: the list has exactly the running pages of one crawl; and tasks that
// nobody takes are the task queue's backlog.
func TestRunningPages(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t)
	flows := temporalkit.Workflows{Client: c}
	start := func(name string, i int) string {
		t.Helper()
		url := fmt.Sprintf("https://example.com/%d", i)
		in := contract.PageIn{Page: crawl.PageRef{CrawlID: 1, Crawl: name, PageID: int64(i), URL: url, Host: "example.com"}, State: crawl.Active}
		if err := flows.StartPage(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		return contract.PageID(name, url)
	}
	var ids []string
	for i := range 5 {
		ids = append(ids, start("news", i+1))
	}
	start("newsletter", 1)
	if err := c.TerminateWorkflow(t.Context(), ids[4], "", "a mistake"); err != nil {
		t.Fatal(err)
	}
	until(t, "the list has what runs", func() bool {
		var found []string
		if err := flows.RunningPages(t.Context(), "news", func(id string) { found = append(found, id) }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		return slices.Equal(found, ids[:4])
	})
	until(t, "there is a backlog", func() bool {
		is, err := temporalkit.BacklogOf(t.Context(), c, client.DefaultNamespace, contract.TaskQueue)
		if err != nil {
			t.Fatal(err)
		}
		return is.Tasks >= 5 && is.Age > 0
	})
}
