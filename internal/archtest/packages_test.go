package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	packageRow = regexp.MustCompile("^\\| `([^`]+)` \\| \\S.* \\|$")
	wordRow    = regexp.MustCompile(`^\| \*\*([^*]+)\*\* \| \S.* \|$`)
)

// docs/packages.md is the map of the repository. A map that lacks a place, or shows one
// that is gone, leads newcomers astray, so it is compared with the folders.
func TestPackagesPage(t *testing.T) {
	t.Parallel()
	packages, _ := packagesPage(t)
	folders := goFolders(t)
	listed := map[string]int{}
	for _, p := range packages {
		if listed[p]++; listed[p] == 2 {
			t.Errorf("docs/packages.md lists %s twice: delete one row", p)
		}
		if !slices.Contains(folders, p) {
			t.Errorf("docs/packages.md lists %s, which has no Go files: delete the row", p)
		}
	}
	for _, f := range folders {
		if listed[f] == 0 {
			t.Errorf("docs/packages.md does not list %s: add the row \"| `%s` | What it does. |\"", f, f)
		}
	}
}

// One word, one meaning: a word that is defined twice has two.
func TestGlossary(t *testing.T) {
	t.Parallel()
	_, words := packagesPage(t)
	if len(words) < 25 {
		t.Errorf("the glossary of docs/packages.md has %d words only", len(words))
	}
	for i, w := range words[:max(len(words)-1, 0)] {
		switch next := words[i+1]; {
		case w == next:
			t.Errorf("docs/packages.md defines %q twice: delete one row", w)
		case w > next:
			t.Errorf("docs/packages.md defines %q before %q: keep the glossary in alphabetical order", w, next)
		}
	}
}

// packagesPage reads the packages and the words of docs/packages.md, in its order. Every
// row of a table is one or the other.
func packagesPage(t *testing.T) (packages, words []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "packages.md"))
	if err != nil {
		t.Fatal(err)
	}
	body, glossary, _ := strings.Cut(string(text), "\n## Glossary\n")
	return rows(t, body, packageRow), rows(t, glossary, wordRow)
}

// rows are the first cells of the tables in a text. Heads, which come before a line of
// dashes, are not among them.
func rows(t *testing.T, text string, row *regexp.Regexp) []string {
	t.Helper()
	var cells []string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		head := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| ---")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| ---") || head {
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("docs/packages.md has a row of another form: %s", line)
			continue
		}
		cells = append(cells, m[1])
	}
	return cells
}

// goFolders are the folders of the repository with Go files, from its root.
func goFolders(t *testing.T) []string {
	t.Helper()
	var folders []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || e.Name() == "testdata") {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if folder = filepath.ToSlash(folder); err == nil && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) < 15 {
		t.Fatalf("%d folders with Go files only: %v", len(folders), folders)
	}
	return folders
}
