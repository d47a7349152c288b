package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestBadWeekPostgres makes the mistakes of a bad week on Postgres with two workers and a
// Temporal server: a worker with another store, a crawl and some of its pages that are
// terminated, a page that no worker can go on with, and a database that dies under all of
// it, Temporal's too. Each visit of each page is made once.
func TestBadWeekPostgres(t *testing.T) {
	sideBySide(t, 220)
	const pages = 24
	s := serveTLS(t, tree(pages))
	c := startCluster(t, "SSL_CERT_FILE="+s.certificate)
	c.starter("crawl", "t", s.url+"/", "--delay", clusterGap.String(), "--factor", "0", "--policy", "fixed",
		"--default-interval", "20s", "--min-interval", "1s", "--maintain-every", "2s", "--time-limit", clusterTimeLimit.String())
	c.finish(pages)
	o := c.operator()
	victims := make([]string, terminated())
	for i := range victims {
		victims[i] = fmt.Sprintf("%s/p%d.html", s.url, i+1)
	}

	stranger := c.startStranger()
	c.await("a worker with another store takes up nothing", func() bool { return strings.Contains(stranger.out.String(), idle) })
	o.isTold("has another store, ")
	stranger.kill()

	o.temporal("workflow", "terminate", "--workflow-id", "crawl/t", "--reason", "a mistake")
	o.isTold("workflow: it was terminated and was started anew")
	o.terminatePages(victims)
	o.isTold(fmt.Sprintf("pages: workflows that ended in the last hour: %d terminated; all run again", len(victims)))
	c.wedge("page/t/" + s.url + "/p21.html")
	// The program that wedged it took tasks of other pages, too, and failed them: on a busy
	// machine so often that more than one is stuck.
	o.isTold(" stuck (")

	if err := c.postgres.Kill9(); err != nil {
		t.Fatal(err)
	}
	if out, code, problem := o.starter("status", "t"); code == 0 || strings.Count(problem, "\n") != 1 || !strings.Contains(problem, "store") {
		t.Errorf("status without a database: %d: %q %q, want a line about the store", code, out, problem)
	}
	if err := c.postgres.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := map[string]int{}
	c.await("status has the store again", func() bool { _, code, _ := o.starter("status", "t"); return code == 0 })
	for _, p := range decodeLines[pageLine](t, c.starter("--output", "json", "pages", "t", "--limit", "0")) {
		before[p.URL] = p.Visits
	}
	c.await("every page is visited twice more", func() bool {
		for _, p := range decodeLines[pageLine](t, c.starter("--output", "json", "pages", "t", "--limit", "0")) {
			if p.Visits < before[p.URL]+2 {
				return false
			}
		}
		return len(before) == pages
	})
	for url := range before {
		visits := c.visits(url)
		slices.SortFunc(visits, func(a, b visitLine) int { return cmp.Compare(a.Visit, b.Visit) })
		for i, v := range visits {
			if v.Visit != i+1 {
				t.Errorf("visit %d of %s is in place %d: one is missing or doubled", v.Visit, url, i+1)
			}
		}
	}
	s.checkPolite(t, clusterGap)
	for _, w := range c.of["worker"] {
		c.mustRun("worker", w)
	}
}

// startStranger starts a worker of the file on a database of its own.
func (c *cluster) startStranger() *process {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.postgres.DSN())
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(c.t.Context())
	if _, err := conn.Exec(c.t.Context(), "CREATE DATABASE stranger"); err != nil {
		c.t.Fatal(err)
	}
	service := c.project.Services["worker"]
	env := append(c.env(service), "RECRAWL_STORE="+withDatabase(c.t, c.postgres.DSN(), "stranger"), "RECRAWL_ARCHIVE="+c.t.TempDir())
	argv := c.argv(service)
	return startProcess(c.t, env, argv[0], argv[1:]...)
}
