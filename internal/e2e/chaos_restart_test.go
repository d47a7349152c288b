package e2e

import (
	"path/filepath"
	"testing"
)

// TestCrawlIsTakenUpLate starts again beside a crawl whose workflow answers
// nothing for longer than a start waits, as after crashes in a row, when Temporal
// still believes that a dead worker has its task. Here it stands in a queue that
// nobody works on.
func TestCrawlIsTakenUpLate(t *testing.T) {
	sideBySide(t, 25)
	s := serve(t, tree(3))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "10ms")...)
	d.await("the first pass", d.crawled("t", 3, 1))
	d.temporal("workflow", "terminate", "--workflow-id", "crawl/t", "--reason", "test")
	d.temporal("workflow", "start", "--workflow-id", "crawl/t", "--type", "Crawl", "--task-queue", "nobody")
	d.kill()
	d.args = nil
	d.start()
	d.must("visit", s.url+"/p1.html")
	d.await("a visit on demand", func() bool { return d.visits(s.url+"/p1.html") == 2 })
	d.stop()
}
