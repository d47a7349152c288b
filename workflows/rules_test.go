package workflows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// These rules of workflow code are not covered by workflowcheck: no real locks, no clock or
// random numbers, no I/O, functions that fit on a screen.
func TestRules(t *testing.T) {
	t.Parallel()
	const longest = 60
	forbidden := map[string]string{
		"sync": "coroutines are scheduled one at a time; a lock can only hang them", "sync/atomic": "as sync",
		"math/rand": "a replay would differ", "math/rand/v2": "a replay would differ", "crypto/rand": "a replay would differ",
		"os": "no I/O", "net": "no I/O", "net/http": "no I/O", "database/sql": "no I/O", "context": "use workflow.Context",
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if why, ok := forbidden[path]; ok {
				t.Errorf("%s imports %s: %s", name, path, why)
			}
			if strings.HasPrefix(path, "recrawl/") && path != "recrawl/internal/contract" && path != "recrawl/internal/crawl" {
				t.Errorf("%s imports %s: workflows know the contract and the nouns only", name, path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if lines := set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1; lines > longest {
					t.Errorf("%s: %s has %d lines, at most %d", name, n.Name.Name, lines, longest)
				}
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Sleep") {
					t.Errorf("%s: time.%s: use the workflow's clock", name, n.Sel.Name)
				}
			case *ast.GoStmt:
				t.Errorf("%s: go statement: use workflow.Go", name)
			}
			return true
		})
	}
}
