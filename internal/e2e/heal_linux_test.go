package e2e

import (
	"strings"
	"testing"
)

func (c *cluster) operator() operator {
	c.t.Helper()
	service := c.project.Services["starter"]
	argv := c.argv(service)
	return operator{
		c.t,
		func(args ...string) (string, int, string) { return runEnv(c.t, c.env(service), argv[0], args...) },
		func(args ...string) string {
			out, code, problem := run(c.t, programs.temporal, append(args, "--address", c.names.Replace("temporal:7233"))...)
			if code != 0 {
				c.t.Fatalf("temporal %s: %d: %s%s", strings.Join(args, " "), code, out, problem)
			}
			return out
		},
		c.await,
	}
}

// TestClusterHeals makes the mistakes on Postgres with two workers.
func TestClusterHeals(t *testing.T) {
	t.Parallel()
	const pages = 12
	s := serveTLS(t, tree(pages))
	c := startCluster(t, "SSL_CERT_FILE="+s.certificate)
	c.starter("crawl", "t", s.url+"/", "--delay", clusterGap.String(), "--factor", "0", "--policy", "fixed",
		"--default-interval", "1h", "--min-interval", "1s", "--maintain-every", "2s")
	c.finish(pages)
	c.operator().aTerminatedCrawl("t")
}
