package e2e

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeList writes a list of URLs, gzipped.
func writeList(t *testing.T, path string, lines func(io.Writer)) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	out := bufio.NewWriter(zipped)
	lines(out)
	for _, err := range []error{out.Flush(), zipped.Close(), file.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestImportSeeds: 60 000 seeds, which Temporal refused to carry ("Blob data size exceeds
// limit"), come in beside a running crawl, also when the import is killed, and are seeds:
// they are visited, and the scope covers their hosts.
func TestImportSeeds(t *testing.T) {
	sideBySide(t, 85)
	const n = 60_000
	first := serve(t, tree(3))
	second := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>%s</title><a href="/found-by-a-link.html">a link</a>`, r.URL.Path)
	}))
	folder := t.TempDir()
	d := startDev(t, filepath.Join(folder, "data"), crawlArgs(first, "20ms", "--window", "3")...)
	d.await("the first site is crawled", d.crawled("t", 3, 1))

	list := filepath.Join(folder, "seeds.txt.gz")
	writeList(t, list, func(w io.Writer) {
		fmt.Fprintf(w, "%s/\n", second.url)
		for i := range n {
			fmt.Fprintf(w, "http://localhost:19099/some/where/a-page-of-usual-length-%d.html\n", i)
			if i%1000 == 0 {
				fmt.Fprintf(w, "ftp://example.com/%d\n", i)
			}
		}
	})
	before := d.known("t")
	killed := exec.Command(programs.starter, "--data", d.data, "import", "t", list)
	killed.Env = cleanEnv(t)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	d.awaitEvery(10*time.Millisecond, "the import has begun", func() bool { return d.known("t") > before })
	killed.Process.Kill()
	fresh, known := n+1, 0 // of both imports, the second of which goes on where the first was
	if err := killed.Wait(); err == nil {
		t.Log("the import was over before it was killed")
		fresh, known = 0, n+1
	}

	refused := filepath.Join(folder, "refused.tsv")
	out := d.must("import", "t", list, "--refused", refused)
	if want := fmt.Sprintf("imported %d seeds into crawl t (gzipped a list of URLs): %d new, %d known; 60 refused", n+1, fresh, known); !strings.Contains(out, want) {
		t.Errorf("the import says %q, want %q", out, want)
	}
	if !strings.Contains(out, "not an absolute http or https URL: 60, such as ftp://example.com/0") {
		t.Errorf("the import says %q", out)
	}
	if again := d.must("import", "t", list, "--refused", refused); !strings.Contains(again, fmt.Sprintf("0 new, %d known", n+1)) {
		t.Errorf("the import of the same says %q", again)
	}
	if lines, err := os.ReadFile(refused); err != nil || strings.Count(string(lines), "\n") != 60 {
		t.Errorf("%d lines of refused entries, %v", strings.Count(string(lines), "\n"), err)
	}
	if scope := d.must("check", "scope", second.url+"/found-by-a-link.html", "--crawl", "t"); !strings.Contains(scope, "belongs to crawl t") {
		t.Errorf("check scope says %q", scope)
	}
	d.await("the imported seed is visited, and so is what it links to", func() bool {
		return d.visits(second.url+"/") > 0 && d.visits(second.url+"/found-by-a-link.html") > 0
	})
	_, code, errout := d.starter(append([]string{"crawl", "t"}, strings.Fields(strings.Repeat("http://localhost/a ", 1001))...)...)
	if code != 2 || !strings.Contains(errout, "starter import NAME FILE") || strings.Count(errout, "\n") != 1 {
		t.Errorf("1001 seeds on a command line: %d %q", code, errout)
	}
	d.stop()
}

// known counts the pages of a crawl that wait.
func (d *dev) known(crawl string) int {
	d.t.Helper()
	all := lines[struct {
		Crawl string         `json:"crawl"`
		Pages map[string]int `json:"pages"`
	}](d, "--output", "json", "status", crawl)
	if len(all) == 0 {
		return 0
	}
	return all[0].Pages["known"]
}
