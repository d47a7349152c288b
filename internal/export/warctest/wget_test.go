package warctest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wget is another producer of WARC files, of version 1.0: every fault that the check finds
// in them must really be there.
func TestWget(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<a href="/whole">1</a> <a href="/pieces">2</a> <a href="/moved">3</a> <a href="/gone">4</a> <a href="/a%20b?c=|d">5</a>`)
		case "/pieces":
			w.(http.Flusher).Flush() // no Content-Length: chunked
			fmt.Fprint(w, strings.Repeat("piece by piece ", 1000))
		case "/moved":
			http.Redirect(w, r, "/whole", http.StatusFound)
		case "/gone", "/robots.txt":
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, "whole")
		}
	}))
	t.Cleanup(site.Close)
	dir := t.TempDir()
	wget := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "wget", append([]string{"--no-config", "-q", "-r", "--delete-after"}, append(args, site.URL+"/")...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 8) { // 8: a server said 404
			t.Fatalf("wget: %v\n%s", err, out)
		}
	}
	wget("--warc-file=packed", "--warc-cdx")
	wget("--warc-file=plain", "--no-warc-compression")
	wget("--warc-file=again", "--warc-dedup=packed.cdx")
	for _, name := range []string{"packed.warc.gz", "plain.warc", "again.warc.gz"} {
		file, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		report := check(t, file)
		n := report.Types
		if n["warcinfo"] != 1 || n["request"] < 7 || n["request"] != n["response"]+n["revisit"] || n["resource"] == 0 {
			t.Errorf("%s: records %v", name, n)
		}
		if (name == "again.warc.gz") != (n["revisit"] > 0) {
			t.Errorf("%s: %d revisits", name, n["revisit"])
		}
		for _, p := range report.Problems {
			if !knownOfWget(p, n["revisit"]) {
				t.Errorf("%s: %v", name, p)
			}
		}
	}
}

// knownOfWget reports whether a problem is one that wget 1.21 really has.
func knownOfWget(p Problem, revisits int) bool {
	switch p.Rule {
	case "5.4": // the log's records, called concurrent, are each stamped when they are written
		return p.Text == "records of one capture event have different dates"
	case "5.8": // a revisit's block digest is that of no bytes at all
		return revisits > 0
	case "5.9": // the digest of a chunked body is that of its chunks
		return p.Advice
	}
	return false
}
