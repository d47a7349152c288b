package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	namedPath = regexp.MustCompile("`((?:activities|docs|internal|starter|tools|worker|workflows)/[A-Za-z0-9_./-]*)`")
	linkedDoc = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)

	linkedPart = regexp.MustCompile(`\]\(([^)#:]*)#([^)]*)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	givenID    = regexp.MustCompile(`<a id="([^"]+)">`)

	namedTest = regexp.MustCompile("`(?:[a-z0-9]+\\.)?((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)`")
)

// docPages are the texts of the pages for people, by their paths.
func docPages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		paths = append(paths, filepath.Join(root, name))
	}
	pages := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[path] = string(text)
	}
	return pages
}

// Pages that name a file send their readers there, so a file that moves takes its pages
// along. NAME in a path is for the reader to fill in. The change log is about the past.
func TestDocsNameFiles(t *testing.T) {
	t.Parallel()
	named := 0
	for page, text := range docPages(t) {
		exists := func(written, path string) {
			if named++; strings.Contains(path, "NAME") {
				return
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s names %s, which does not exist: write where it is now", filepath.Base(page), written)
			}
		}
		for _, m := range namedPath.FindAllStringSubmatch(text, -1) {
			exists(m[1], filepath.Join(root, m[1]))
		}
		for _, m := range linkedDoc.FindAllStringSubmatch(text, -1) {
			exists(m[1], filepath.Join(filepath.Dir(page), m[1]))
		}
	}
	if named < 100 {
		t.Errorf("%d names of files only: the pages were not understood", named)
	}
}

// Links to a part of a page lead to one of its headings.
func TestDocsLinkToHeadings(t *testing.T) {
	t.Parallel()
	pages, links := docPages(t), 0
	for page, text := range pages {
		for _, m := range linkedPart.FindAllStringSubmatch(text, -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if links++; pages[to] != "" && !partsOf(pages[to])[m[2]] {
				t.Errorf("%s links to %s#%s, and there is no such heading", filepath.Base(page), filepath.Base(to), m[2])
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links to headings only: the pages were not understood", links)
	}
}

// partsOf returns the ids of a page's headings, as GitHub makes them, and those that are given.
func partsOf(text string) map[string]bool {
	parts := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		parts[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])] = true
	}
	for _, m := range givenID.FindAllStringSubmatch(text, -1) {
		parts[m[1]] = true
	}
	return parts
}

// Pages that name a test lean on what it shows.
func TestDocsNameTests(t *testing.T) {
	t.Parallel()
	there, named := map[string]bool{}, 0
	for name := range testNames(t) {
		_, alone, _ := strings.Cut(name, ".")
		there[alone] = true
	}
	for page, text := range docPages(t) {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			if named++; !there[m[1]] {
				t.Errorf("%s names %s, and there is no such test", filepath.Base(page), m[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("%d names of tests only: the pages were not understood", named)
	}
}
