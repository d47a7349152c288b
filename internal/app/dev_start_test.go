package app

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/temporalkit"
)

// TestStartWaitsForNoCrawlThatRuns: after a stop, a crawl's workflow answers only after
// the tasks that were due before it. The start does not ask it, and so has nothing to warn
// of.
func TestStartWaitsForNoCrawlThatRuns(t *testing.T) {
	t.Parallel()
	c := contracttest.DevServer(t) // no worker is there to answer
	s := crawltest.Store(t)
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "news", []string{"http://127.0.0.1:2/"}
	if _, err := s.OpenCrawl(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	flows := temporalkit.Workflows{Client: c, Store: s.ID()}
	if err := flows.RestartCrawl(t.Context(), text, contract.CrawlProgress{Name: "news"}, false); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	d := &devRun{store: s, client: c, home: store.Home{TaskQueue: contract.TaskQueue}, log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := d.startCrawls(t.Context()); err != nil || log.Len() > 0 {
		t.Errorf("%v; %s", err, &log)
	}
}
