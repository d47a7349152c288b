package e2e

import "testing"

func (c *cluster) operator() operator {
	c.t.Helper()
	temporal := func(args ...string) string {
		c.t.Helper()
		return temporalCLI(c.t, c.names.Replace("temporal:7233"), args...)
	}
	return operator{c.t, c.try, temporal, c.await}
}

// TestClusterHeals makes the mistakes on Postgres with two workers: pages whose workflows
// another version of the program has begun, and pages and crawls that are terminated. The
// short form is part of TestBadWeekPostgres; TestTerminatedCrawl shows what commands do to
// a terminated crawl, which does not depend on the store.
func TestClusterHeals(t *testing.T) {
	if !long() {
		t.Skip("TestBadWeekPostgres makes these mistakes among others")
	}
	sideBySide(t, 600)
	const pages = 12
	s := serveTLS(t, tree(pages))
	c := startCluster(t, "SSL_CERT_FILE="+s.certificate, "RECRAWL_OVERDUE=3s")
	c.starter("crawl", "t", s.url+"/", "--delay", clusterGap.String(), "--factor", "0", "--policy", "fixed",
		"--default-interval", "20s", "--min-interval", "1s", "--maintain-every", "2s")
	c.finish(pages)
	o := c.operator()
	wedged, gone := s.url+"/p1.html", s.url+"/p2.html"
	c.wedge("page/t/" + wedged)
	o.temporal("workflow", "terminate", "--workflow-id", "page/t/"+gone, "--reason", "a mistake")
	o.awaitSays(" stuck (", "status", "t")
	for _, url := range []string{wedged, gone} {
		before := len(c.visits(url))
		c.await(url+" is visited again", func() bool { return len(c.visits(url)) > before+1 })
		visits := c.visits(url)
		for i, v := range visits { // newest first
			if v.Visit != visits[0].Visit-i {
				t.Errorf("visit %d of %s is in place %d: one is missing or doubled", v.Visit, url, i)
			}
		}
	}
	o.aTerminatedCrawl("t")
	s.checkPolite(t, clusterGap)
}

func (c *cluster) visits(url string) []visitLine {
	c.t.Helper()
	return decodeLines[visitLine](c.t, c.starter("--output", "json", "history", url, "--limit", "0"))
}

// wedge wedges a workflow while the workers are away, and starts two.
func (c *cluster) wedge(id string) {
	c.t.Helper()
	for _, w := range c.of["worker"] {
		w.kill()
	}
	c.of["worker"] = nil
	wedge(c.t, c.names.Replace("temporal:7233"), id)
	for range 2 {
		c.start("worker")
	}
	for i := range c.of["worker"] {
		c.awaitReady("worker", i)
	}
}
