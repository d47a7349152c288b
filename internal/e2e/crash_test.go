package e2e

import (
	"fmt"
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

const crashPages = 60

// crawlArgs crawl the tree quickly, with a gap that the site can check.
func crawlArgs(s *site, gap string, more ...string) []string {
	return append(append([]string{s.url + "/", "--name", "t"}, crawlSettings(gap)...), more...)
}

func crawlSettings(gap string) []string {
	return []string{
		"--delay", gap, "--factor", "0", "--policy", "fixed",
		"--default-interval", "1h", "--min-interval", "1s", "--maintain-every", "2s",
	}
}

// checkWhole asserts that the crawl has exactly the tree's pages, each visited,
// and that no page has two visits of one number.
func checkWhole(t *testing.T, d *dev, n int) {
	t.Helper()
	pages := d.pages("t")
	if len(pages) != n {
		t.Errorf("%d pages, want %d", len(pages), n)
	}
	for _, p := range pages {
		numbers := map[int]bool{}
		for _, v := range d.history(p.URL) {
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

func TestKillEverything(t *testing.T) {
	t.Parallel()
	s := serve(t, tree(crashPages))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, crawlArgs(s, "40ms")...)
	for round := range 3 {
		before := len(s.requests())
		d.eventually(3*time.Minute, "the crawl goes on", func() bool { return len(s.requests()) >= before+8 })
		pid := d.state().TemporalPID
		d.kill()
		if round == 1 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		d.start()
	}
	d.eventually(5*time.Minute, "every page is visited", d.crawled("t", crashPages, 1))
	checkWhole(t, d, crashPages)
	s.checkPolite(t, 40*time.Millisecond)
	d.stop()
}

func TestKillTemporalAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, tree(crashPages))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "40ms")...)
	for range 2 {
		before := len(s.requests())
		d.eventually(3*time.Minute, "the crawl goes on", func() bool { return len(s.requests()) >= before+8 })
		if err := syscall.Kill(d.state().TemporalPID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	d.eventually(5*time.Minute, "every page is visited", d.crawled("t", crashPages, 1))
	checkWhole(t, d, crashPages)
	s.checkPolite(t, 40*time.Millisecond)
	d.stop()
}

// TestTemporalPortTaken kills the Temporal server and takes its port before it
// can start again: it starts on another one, the worker follows it there, and
// the commands of the data folder find it.
func TestTemporalPortTaken(t *testing.T) {
	t.Parallel()
	s := serve(t, tree(crashPages))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "40ms")...)
	d.eventually(3*time.Minute, "the crawl begins", func() bool { return len(s.requests()) >= 8 })
	old := d.state()
	if err := syscall.Kill(old.TemporalPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var taken net.Listener
	d.eventuallyEvery(2*time.Millisecond, 10*time.Second, "the port is free for a moment", func() (ok bool) {
		var err error
		taken, err = net.Listen("tcp", old.Address)
		return err == nil
	})
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
	d.eventually(5*time.Minute, "every page is visited", d.crawled("t", crashPages, 1))
	if now := d.state().Address; now == old.Address {
		t.Errorf("the Temporal server is still said to be at %s", now)
	}
	d.must("visit", s.url+"/p1.html", "--crawl", "t")
	d.eventually(time.Minute, "a visit on demand", func() bool { return len(d.history(s.url+"/p1.html")) == 2 })
	checkWhole(t, d, crashPages)
	s.checkPolite(t, 40*time.Millisecond)
	d.stop()
}

// TestDeadlinesSurvive stops and kills between two visits: the next visit of
// each page comes when it was promised, not at the restart.
func TestDeadlinesSurvive(t *testing.T) {
	t.Parallel()
	s := serve(t, tree(3))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, crawlArgs(s, "10ms", "--default-interval", "25s")...)
	d.eventually(2*time.Minute, "the first pass", d.crawled("t", 3, 1))
	promised := map[string]time.Time{}
	for _, p := range d.pages("t") {
		promised[p.URL] = d.history(p.URL)[0].NextAt
	}
	d.kill()
	d.start()
	d.eventually(3*time.Minute, "the second pass", d.crawled("t", 3, 2))
	for url, due := range promised {
		for _, v := range d.history(url) {
			if v.Visit == 2 && (v.At.Before(due) || v.At.After(due.Add(15*time.Second))) {
				t.Errorf("%s: visit 2 at %s, promised for %s", url, v.At, due)
			}
			if v.Visit == 2 && v.Outcome != "unchanged" {
				t.Errorf("%s: visit 2 is %s, want unchanged", url, v.Outcome)
			}
		}
	}
	d.stop()
}

func TestLostTemporalDatabase(t *testing.T) {
	t.Parallel()
	s := serve(t, tree(crashPages))
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, crawlArgs(s, "20ms")...)
	d.eventually(3*time.Minute, "the crawl goes on", func() bool { return len(s.requests()) >= 20 })
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
	d.eventually(5*time.Minute, "every page is visited", d.crawled("t", crashPages, 1))
	checkWhole(t, d, crashPages)
	s.checkPolite(t, 20*time.Millisecond)
	d.eventually(3*time.Minute, "every page has its workflow", func() bool { return d.running("t") == crashPages })
	d.stop()
}

func TestTerminatedPageReturns(t *testing.T) {
	t.Parallel()
	s := serve(t, tree(3))
	d := startDevEnv(t, filepath.Join(t.TempDir(), "data"), []string{"RECRAWL_OVERDUE=1s"}, crawlArgs(s, "10ms", "--default-interval", "6s")...)
	d.eventually(2*time.Minute, "the first pass", d.crawled("t", 3, 1))
	id := "page/t/" + s.url + "/p1.html"
	d.temporal("workflow", "terminate", "--workflow-id", id, "--reason", "test")
	visits := len(d.history(s.url + "/p1.html"))
	d.eventually(3*time.Minute, "the page is visited again", func() bool { return len(d.history(s.url+"/p1.html")) >= visits+2 })
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
