package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// docRoots match a documentation site of over a thousand pages, Postgres' own;
// the tests' set-up installs it.
const docRoots = "/usr/share/doc/postgresql-doc-*/html"

// docPages is the number of its pages that the short form crawls.
const docPages = 150

// latency is the least time for a request to the documentation site: that of a fast real
// server, so that "busy" means something on loopback.
const latency = 50 * time.Millisecond

// docSite serves a copy of the documentation, whole or its first n pages, as a
// plain file server does, with ETag and Last-Modified.
type docSite struct {
	*site
	dir   string
	mu    sync.Mutex
	sleep time.Duration
}

func serveDocs(t *testing.T, n int) *docSite {
	t.Helper()
	roots, err := filepath.Glob(docRoots)
	if err != nil || len(roots) == 0 {
		t.Fatalf("the documentation site %s is missing: run .ci/need-packages, or install postgresql-doc", docRoots)
	}
	d := &docSite{dir: t.TempDir()}
	copyDocs(t, roots[0], d.dir, n)
	d.site = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		pause := d.sleep
		d.mu.Unlock()
		<-time.After(pause)
		d.serveFile(w, r)
	}))
	return d
}

// serveFile answers as plain file servers do. It is not http.FileServer, which
// redirects every index.html.
func (d *docSite) serveFile(w http.ResponseWriter, r *http.Request) {
	file, err := os.Open(filepath.Join(d.dir, filepath.FromSlash(path.Clean("/"+r.URL.Path))))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	http.ServeContent(w, r, info.Name(), info.ModTime(), file)
}

func copyDocs(t *testing.T, from, to string, n int) {
	t.Helper()
	var names []string
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".html") {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// The entry points first, so that a part of the site hangs together.
	slices.SortStableFunc(names, func(a, b string) int { return entryRank(a) - entryRank(b) })
	if n > 0 {
		names = names[:min(n, len(names))]
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), withoutMost(data, names), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var docLink = regexp.MustCompile(`href="([a-z0-9-]+\.html)`)

// withoutMost drops most of the links to pages that are missing from this part of the site;
// a few dead ones are realistic.
func withoutMost(page []byte, names []string) []byte {
	return docLink.ReplaceAllFunc(page, func(link []byte) []byte {
		name := string(docLink.FindSubmatch(link)[1])
		if slices.Contains(names, name) || len(name)%11 == 0 {
			return link
		}
		return []byte(`href="index.html`)
	})
}

func entryRank(name string) int {
	return slices.Index([]string{"admin.html", "sql.html", "tutorial.html", "preface.html", "bookindex.html", "index.html"}, name) * -1
}

// wget reads the site recursively and returns the paths of the HTML pages it
// collected: an independent answer to "what is this site".
func (d *docSite) wget(t *testing.T) []string {
	t.Helper()
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "wget", "--quiet", "--recursive", "--level=inf", "--no-host-directories", "--directory-prefix="+out, d.url+"/index.html")
	cmd.Env = cleanEnv(t)
	_ = cmd.Run() // wget exits 8 when any link is broken; what it collected is the answer
	var paths []string
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".html") {
			paths = append(paths, "/"+filepath.ToSlash(strings.TrimPrefix(path, out+"/")))
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("wget collected %d pages: %v", len(paths), err)
	}
	slices.Sort(paths)
	return paths
}

// TestDocumentationSite crawls a part of a real site, or with RECRAWL_LONG all
// of it, to the end and again.
func TestDocumentationSite(t *testing.T) {
	sideBySide(t, 95)
	n := docPages
	if long() {
		n = 0
	}
	s := serveDocs(t, n)
	want := s.wget(t)
	s.forget()
	s.setLatency(latency)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), s.url+"/index.html", "--name", "docs", "--delay", "0", "--factor", "0",
		"--policy", "fixed", "--default-interval", "12h", "--max-pages", "0")
	begin := time.Now()
	d.awaitEvery(3*time.Second, "the first pass", func() bool { return d.crawled("docs", len(want), 1)() })
	reportPass(t, s.requests(), time.Since(begin))
	requests := float64(len(s.requests()))
	t.Logf("CPU for each request: %.1f ms in recrawl, %.1f ms in Temporal",
		d.cpu(d.cmd.Process.Pid).Seconds()*1000/requests, d.cpu(d.state().TemporalPID).Seconds()*1000/requests)

	if got := s.collected(d); !slices.Equal(got, want) {
		t.Errorf("collected %d pages, wget %d; only here %v, only there %v", len(got), len(want), minus(got, want), minus(want, got))
	}
	living := len(d.pages("docs"))
	d.await("every page has its workflow", func() bool { return d.running("docs") == living })
	s.checkPolite(t, 0)
	secondPass(t, d, s, want)
	d.stop()
}

// secondPass edits some pages, asks for a visit of every page by one batch
// signal, and checks what the visits found.
func secondPass(t *testing.T, d *dev, s *docSite, want []string) {
	t.Helper()
	edited := map[string]bool{}
	for i := 0; i < len(want); i += max(1, len(want)/10) {
		edited[want[i]] = true
		name := filepath.Join(s.dir, filepath.FromSlash(want[i]))
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), "</body>", "<p>This sentence was added between two passes.</p></body>", 1)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.forget()
	d.temporal("workflow", "signal", "--query", "WorkflowType='Page' AND CrawlName='docs'", "--name", "visit-now", "--reason", "second pass", "--rps", "500", "--yes")
	d.await("the second pass", d.crawled("docs", len(want), 2))
	notModified := 0
	for _, r := range s.requests() {
		if r.status == http.StatusNotModified {
			notModified++
		}
	}
	if wantNot := len(want) - len(edited); notModified < wantNot {
		t.Errorf("%d answers 304, want %d", notModified, wantNot)
	}
	visits := d.stored("docs")
	for _, path := range want {
		expected := "unchanged"
		if edited[path] {
			expected = "changed"
		}
		if got := visits[s.url+path]; len(got) < 2 || got[0].Outcome != expected {
			t.Errorf("%s: second visit, the first here, %+v, want %s", path, got, expected)
		}
	}
	t.Logf("second pass: %d of %d pages edited, %d answers 304", len(edited), len(want), notModified)
}

// collected returns the paths of the pages that answered with content.
func (d *docSite) collected(dv *dev) []string {
	var paths []string
	for _, p := range dv.pages("docs") {
		if p.State == "active" {
			paths = append(paths, strings.TrimPrefix(p.URL, d.url))
		}
	}
	slices.Sort(paths)
	return paths
}

func (d *docSite) setLatency(pause time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sleep = pause
}

// forget empties the site's log.
func (s *site) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

// reportPass prints how busy the host was between its first and last request.
func reportPass(t *testing.T, log []request, took time.Duration) {
	t.Helper()
	var busy time.Duration
	for _, r := range log {
		busy += r.end.Sub(r.begin)
	}
	span := log[len(log)-1].end.Sub(log[0].begin)
	t.Logf("first pass: %d requests in %s (%.1f/s), host busy %.0f %% of the time; seen complete after %s",
		len(log), span.Round(time.Millisecond), float64(len(log))/span.Seconds(), 100*busy.Seconds()/span.Seconds(), took.Round(time.Second))
}

func minus(a, b []string) []string {
	in := map[string]bool{}
	for _, s := range b {
		in[s] = true
	}
	only := map[string]bool{}
	for _, s := range a {
		if !in[s] {
			only[s] = true
		}
	}
	return slices.Sorted(maps.Keys(only))[:min(5, len(only))]
}
