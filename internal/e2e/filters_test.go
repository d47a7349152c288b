//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clean is a filter program that knows a word, and is not available at first: it ends until
// a file exists.
const clean = `#!/bin/sh
while read -r url; do
  test -e %s || exit 7
  case $url in
  *casino*) echo "reject gambling" ;;
  *) echo accept ;;
  esac
done
`

// TestFilterProgram crawls with a filter program that fails at first: its links wait, those
// that do not concern it do not, and none is lost.
func TestFilterProgram(t *testing.T) {
	sideBySide(t, 15)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<p>The page at %s.</p><a href="/ask/news">n</a> <a href="/ask/casino">c</a> <a href="/plain">p</a>`, r.URL.Path)
	}))
	folder := t.TempDir()
	ready, program, spec := filepath.Join(folder, "ready"), filepath.Join(folder, "clean"), filepath.Join(folder, "spec.yaml")
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(program, fmt.Sprintf(clean, ready), 0o700)
	write(spec, fmt.Sprintf(`name: filtered
seeds: ["%s/"]
politeness: {delay: 0s, factor: 0}
maintain_every: 1s
scope: {rules: [{name: clean, reject: {prefix: "%s/ask/", not: {program: clean}}}]}
`, s.url, s.url), 0o600)
	d := startDevEnv(t, filepath.Join(folder, "data"), []string{"RECRAWL_FILTERS=clean=" + program})
	if out, code, errout := d.starter("crawl", "--spec", spec); code != 0 {
		t.Fatalf("%d: %s%s", code, out, errout)
	}
	asked := func(path string) bool {
		for _, r := range s.requests() {
			if r.path == path {
				return true
			}
		}
		return false
	}
	d.await("the link that nobody asks about is followed", func() bool { return asked("/plain") })
	if asked("/ask/news") || asked("/ask/casino") {
		t.Error("links were followed that the program has not answered about")
	}
	write(ready, "", 0o600)
	d.await("the link that the program accepts is followed", func() bool { return asked("/ask/news") })
	d.await("the rejected link is counted", func() bool {
		out, _, _ := d.starter("rejected", "filtered")
		return strings.Contains(out, "rule clean") && strings.Contains(out, "gambling")
	})
	if asked("/ask/casino") {
		t.Error("a rejected link was followed")
	}
	d.stop()
}

// TestFilterProgramMissing: the operator's mistake is reported at the start, in a line.
func TestFilterProgramMissing(t *testing.T) {
	sideBySide(t, 5)
	env := append(cleanEnv(t), "RECRAWL_TEMPORAL_CLI="+programs.temporal, "RECRAWL_FILTERS=clean=/no/such/program")
	out, code, errout := runEnv(t, env, programs.starter, "dev", "--data", filepath.Join(t.TempDir(), "data"))
	if code != 1 || !strings.Contains(errout, "filter program clean") || strings.Count(errout, "\n") != 1 {
		t.Errorf("%d: %s%s", code, out, errout)
	}
}
