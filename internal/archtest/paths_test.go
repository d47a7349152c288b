package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedPath = regexp.MustCompile("`((?:activities|docs|internal|starter|tools|worker|workflows)/[A-Za-z0-9_./-]*)`")
	linkedDoc = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// Pages that name a file send their readers there, so a file that moves takes its pages
// along. NAME in a path is for the reader to fill in. The change log is about the past.
func TestDocsNameFiles(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		pages = append(pages, filepath.Join(root, name))
	}
	named := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		exists := func(written, path string) {
			if named++; strings.Contains(path, "NAME") {
				return
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s names %s, which does not exist: write where it is now", filepath.Base(page), written)
			}
		}
		for _, m := range namedPath.FindAllStringSubmatch(string(text), -1) {
			exists(m[1], filepath.Join(root, m[1]))
		}
		for _, m := range linkedDoc.FindAllStringSubmatch(string(text), -1) {
			exists(m[1], filepath.Join(filepath.Dir(page), m[1]))
		}
	}
	if named < 100 {
		t.Errorf("%d names of files only: the pages were not understood", named)
	}
}
