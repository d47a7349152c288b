package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree is a site of n pages in which page i links to pages 2i+1 and 2i+2. Each page
// names its host: to the crawl, equal pages of two sites are duplicates, of which only
// the one that it visits first is visited again soon.
func tree(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		i := 0
		if r.URL.Path != "/" {
			if _, err := fmt.Sscanf(r.URL.Path, "/p%d.html", &i); err != nil || i <= 0 || i >= n {
				http.NotFound(w, r)
				return
			}
		}
		etag := fmt.Sprintf(`"v1-%d"`, i)
		w.Header().Set("ETag", etag)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, "<!doctype html><title>page %d</title><h1>page %d of %s</h1>", i, i, r.Host)
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < n {
				fmt.Fprintf(w, `<p><a href="/p%d.html">page %d</a>`, child, child)
			}
		}
	})
}

const crashPages = 40

// crawlArgs crawl the tree quickly, with a gap that the site can check.
func crawlArgs(s *site, gap string, more ...string) []string {
	return append(append([]string{s.url + "/", "--name", "t"}, crawlSettings(gap)...), more...)
}

func crawlSettings(gap string) []string {
	return []string{
		"--delay", gap, "--factor", "0", "--policy", "fixed",
		"--default-interval", "1h", "--min-interval", "1s", "--maintain-every", "4s",
	}
}

// checkWhole asserts that the crawl has exactly the tree's pages, each visited,
// and that no page has two visits of one number.
func checkWhole(t *testing.T, d *dev, n int) {
	t.Helper()
	pages, visits := d.pages("t"), d.stored("t")
	if len(pages) != n {
		t.Errorf("%d pages, want %d", len(pages), n)
	}
	for _, p := range pages {
		numbers := map[int]bool{}
		for _, v := range visits[p.URL] {
			if numbers[v.Visit] {
				t.Errorf("%s has two visits of number %d", p.URL, v.Visit)
			}
			numbers[v.Visit] = true
		}
		if len(numbers) == 0 {
			t.Errorf("%s was never visited", p.URL)
		}
	}
}

// stopWhole stops a crawl of the tree that is whole and was polite.
func stopWhole(t *testing.T, d *dev, s *site, gap time.Duration) {
	t.Helper()
	checkWhole(t, d, crashPages)
	s.checkPolite(t, gap)
	d.stop()
}

// rationed answers as many requests as were allowed, and keeps the others waiting until
// more are allowed or their client is gone. So a crawl cannot be over before a test has
// killed it.
type rationed struct {
	site    http.Handler
	allowed chan struct{}
}

func ration(site http.Handler) rationed {
	return rationed{site, make(chan struct{}, 100*crashPages)}
}

func (r rationed) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	select {
	case <-r.allowed:
		r.site.ServeHTTP(w, req)
	case <-req.Context().Done():
	}
}

func (r rationed) allow(n int) {
	for range n {
		r.allowed <- struct{}{}
	}
}

// used reports whether as many requests came as were allowed.
func (r rationed) used() bool { return len(r.allowed) == 0 }

// unlimited allows more requests than a test makes.
func (r rationed) unlimited() { r.allow(cap(r.allowed) - len(r.allowed)) }

func TestKillEverything(t *testing.T) {
	sideBySide(t, 45)
	pages := ration(tree(crashPages))
	s := serve(t, pages)
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, crawlArgs(s, "40ms")...)
	for round := range 3 {
		pages.allow(8)
		d.await("the crawl goes on", pages.used)
		pid := d.state().TemporalPID
		d.kill()
		if round == 1 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		d.start()
	}
	pages.unlimited()
	d.await("every page is visited", d.crawled("t", crashPages, 1))
	stopWhole(t, d, s, 40*time.Millisecond)
}

func TestKillTemporalAlone(t *testing.T) {
	sideBySide(t, 35)
	pages := ration(tree(crashPages))
	s := serve(t, pages)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "40ms")...)
	killed := 0
	for range 2 {
		pages.allow(8)
		d.await("the crawl goes on", pages.used)
		d.await("Temporal's process is known", func() bool { return d.state().TemporalPID != killed })
		killed = d.state().TemporalPID
		if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	pages.unlimited()
	d.await("every page is visited", d.crawled("t", crashPages, 1))
	stopWhole(t, d, s, 40*time.Millisecond)
}

// TestTemporalPortTaken kills the Temporal server and takes its port before it
// can start again: it starts on another one, the worker follows it there, and
// the commands of the data folder find it.
func TestTemporalPortTaken(t *testing.T) {
	sideBySide(t, 30)
	pages := ration(tree(crashPages))
	s := serve(t, pages)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "40ms")...)
	pages.allow(8)
	d.await("the crawl begins", pages.used)
	old := d.state()
	taken := d.takePort(old)
	defer taken.Close()
	go func() { // what listens there answers nothing that Temporal would
		for {
			conn, err := taken.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	d.await("the Temporal server is said to be elsewhere", func() bool { return d.state().Address != old.Address })
	pages.unlimited()
	d.await("every page is visited", d.crawled("t", crashPages, 1))
	before := d.visits(s.url + "/p1.html")
	d.must("visit", s.url+"/p1.html", "--crawl", "t")
	d.await("a visit on demand", func() bool { return d.visits(s.url+"/p1.html") > before })
	stopWhole(t, d, s, 40*time.Millisecond)
}

// takePort kills the Temporal server and listens in its place. The starter is stopped
// meanwhile, since it would start another one there at once.
func (d *dev) takePort(temporal devState) net.Listener {
	d.t.Helper()
	signal := func(pid int, s syscall.Signal) {
		d.t.Helper()
		if err := syscall.Kill(pid, s); err != nil {
			d.t.Fatal(err)
		}
	}
	signal(d.cmd.Process.Pid, syscall.SIGSTOP)
	signal(temporal.TemporalPID, syscall.SIGKILL)
	var taken net.Listener
	d.await("the port is free", func() (ok bool) {
		var err error
		taken, err = net.Listen("tcp", temporal.Address)
		return err == nil
	})
	signal(d.cmd.Process.Pid, syscall.SIGCONT)
	return taken
}

// workflowDue returns the time of a page's next visit according to its workflow; zero if
// the workflow does not answer.
func (d *dev) workflowDue(url string) time.Time {
	d.t.Helper()
	type explained struct {
		Workflow struct {
			Due time.Time `json:"due"`
		} `json:"workflow"`
	}
	return lines[explained](d, "--output", "json", "explain", url)[0].Workflow.Due
}

// TestDeadlinesSurvive kills between two visits: the next visit of each page keeps its due
// time, and does not come with the restart.
func TestDeadlinesSurvive(t *testing.T) {
	sideBySide(t, 40)
	late, soon := serve(t, tree(3)), serve(t, tree(3))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(late, "10ms")...)
	d.must(append([]string{"crawl", "soon", soon.url + "/"}, append(crawlSettings("10ms"), "--default-interval", "20s")...)...)
	d.await("the first pass", func() bool { return d.crawled("t", 3, 1)() && d.crawled("soon", 3, 1)() })
	promised := map[string]time.Time{}
	for _, p := range append(d.pages("t"), d.pages("soon")...) {
		visits := d.history(p.URL)
		promised[p.URL] = visits[len(visits)-1].NextAt // the first one's
	}
	d.kill()
	d.start()
	for _, p := range d.pages("t") {
		var due time.Time
		d.await("the workflow answers", func() bool { due = d.workflowDue(p.URL); return !due.IsZero() })
		if !due.Equal(promised[p.URL]) {
			t.Errorf("%s: the next visit is due at %s, promised for %s", p.URL, due, promised[p.URL])
		}
	}
	d.await("the second pass", d.crawled("soon", 3, 2))
	for _, p := range d.pages("soon") {
		for _, v := range d.history(p.URL) {
			if v.Visit == 2 && v.At.Before(promised[p.URL]) {
				t.Errorf("%s: visit 2 at %s, promised for %s", p.URL, v.At, promised[p.URL])
			}
			if v.Visit == 2 && v.Outcome != "unchanged" {
				t.Errorf("%s: visit 2 is %s, want unchanged", p.URL, v.Outcome)
			}
		}
	}
	for _, p := range d.pages("t") {
		if p.Visits != 1 {
			t.Errorf("%s: %d visits, want only the first", p.URL, p.Visits)
		}
	}
	d.stop()
}

func TestLostTemporalDatabase(t *testing.T) {
	sideBySide(t, 40)
	s := serve(t, tree(crashPages))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, crawlArgs(s, "20ms")...)
	d.await("the crawl goes on", func() bool { return len(s.requests()) >= 20 })
	d.stop()
	files, err := filepath.Glob(filepath.Join(data, "temporal.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("temporal database: %v %v", files, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	d.args = nil // nobody repeats the crawl's URL: the store knows it
	d.start()
	d.await("every page is visited", d.crawled("t", crashPages, 1))
	checkWhole(t, d, crashPages)
	s.checkPolite(t, 20*time.Millisecond)
	d.await("every page has its workflow", func() bool { return d.running("t") == crashPages })
	d.stop()
}

func TestTerminatedPageReturns(t *testing.T) {
	sideBySide(t, 25)
	s := serve(t, tree(3))
	d := startDevEnv(t, filepath.Join(t.TempDir(), "data"), []string{"RECRAWL_OVERDUE=1s"}, crawlArgs(s, "10ms", "--default-interval", "6s")...)
	d.await("the first pass", d.crawled("t", 3, 1))
	id := "page/t/" + s.url + "/p1.html"
	d.temporal("workflow", "terminate", "--workflow-id", id, "--reason", "test")
	visits := d.visits(s.url + "/p1.html")
	d.await("the page is visited again", func() bool { return d.visits(s.url+"/p1.html") >= visits+2 })
	d.stop()
}

// running counts the crawl's running Page workflows.
func (d *dev) running(crawl string) int {
	d.t.Helper()
	out := d.temporal("workflow", "count", "--query", fmt.Sprintf("WorkflowType='Page' AND CrawlName='%s' AND ExecutionStatus='Running'", crawl))
	var n int
	if _, err := fmt.Sscanf(strings.TrimSpace(out), "Total: %d", &n); err != nil {
		d.t.Fatalf("temporal workflow count: %q", out)
	}
	return n
}

// TestTemporalFallsBehind: a power cut may leave Temporal's database some seconds older
// than the store, here by most of a crawl.
func TestTemporalFallsBehind(t *testing.T) {
	sideBySide(t, 55)
	s := serve(t, tree(crashPages))
	data := filepath.Join(t.TempDir(), "data")
	overdue := []string{"RECRAWL_OVERDUE=2s"} // after which lost workflows are started
	d := startDevEnv(t, data, overdue, s.url+"/", "--name", "t", "--delay", "20ms", "--factor", "0",
		"--policy", "fixed", "--default-interval", "20s", "--min-interval", "1s", "--maintain-every", "2s")
	d.await("the crawl goes on", func() bool { return len(s.requests()) >= 8 })
	d.stop()
	database := filepath.Join(data, "temporal.db")
	older, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	d.args = nil
	d.start()
	d.await("every page is visited", d.crawled("t", crashPages, 1))
	d.stop()
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(database + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(database, older, 0o600); err != nil {
		t.Fatal(err)
	}
	d.start()
	d.await("every page is visited again", d.crawled("t", crashPages, 2))
	stopWhole(t, d, s, 20*time.Millisecond)
}

// TestTunedWorker: with pollers that follow the backlog, few slots, and a tenth of the
// workflows in memory, a crawl is as whole as with the defaults.
func TestTunedWorker(t *testing.T) {
	sideBySide(t, 25)
	s := serve(t, tree(crashPages))
	env := []string{
		"RECRAWL_WORKFLOW_POLLERS=2-10", "RECRAWL_ACTIVITY_POLLERS=1-4", "RECRAWL_WORKFLOW_CACHE=6",
		"RECRAWL_WORKFLOW_TASKS=20", "RECRAWL_LOCAL_ACTIVITIES=20", "RECRAWL_STOP_TIMEOUT=5s",
	}
	d := startDevEnv(t, filepath.Join(t.TempDir(), "data"), env, crawlArgs(s, "20ms")...)
	d.await("every page is visited", d.crawled("t", crashPages, 1))
	// An operator may ask which release ran a page.
	release := strings.Fields(d.answer("version"))[1]
	query := fmt.Sprintf("WorkflowType = 'Page' AND BuildIds = 'unversioned:%s'", release)
	d.await("the server's list has the release of every page", func() bool { // which it learns of a little later
		return strings.TrimSpace(d.temporal("workflow", "count", "--query", query)) == fmt.Sprintf("Total: %d", crashPages)
	})
	stopWhole(t, d, s, 20*time.Millisecond)
}
