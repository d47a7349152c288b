package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// named is a test as docs/security.md names it: `fetch.TestRebinding`, by the last
// element of its package's path.
var named = regexp.MustCompile("`([a-z0-9]+)\\.((?:Test|Fuzz)[A-Za-z0-9_]*)`")

// A promise of docs/security.md is worth the test that shows it: each row of its
// tables names one, and each test that it names exists.
func TestSecurityNamesTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	rows, names := 0, 0
	for n, line := range strings.Split(string(text), "\n") {
		found := named.FindAllStringSubmatch(line, -1)
		for _, m := range found {
			names++
			if !tests[m[1]+"."+m[2]] {
				t.Errorf("line %d names %s.%s, and there is no such test", n+1, m[1], m[2])
			}
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasSuffix(line, "| Shown by |") {
			continue
		}
		if rows++; len(found) == 0 {
			t.Errorf("line %d promises something and names no test: %s", n+1, line)
		}
	}
	if rows < 20 || names < rows {
		t.Errorf("%d promises, %d tests", rows, names)
	}
}

var testFunction = regexp.MustCompile("^(Test|Fuzz|Benchmark)")

// testNames are the tests, fuzz targets and benchmarks of the module, with the last element of
// their package's path.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "tools" || strings.HasPrefix(e.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && testFunction.MatchString(f.Name.Name) {
				names[filepath.Base(filepath.Dir(path))+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
