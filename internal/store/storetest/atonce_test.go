package storetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// sources are the functions and the collection's methods by name, and the promises of their tables.
type sources struct {
	calls    map[string][]string // those that each one calls
	parallel map[string]bool     // those that start a goroutine themselves
	promises map[string]bool     // the functions in tables of cases, but that of RunAtOnce
	atOnce   map[string]bool     // those of RunAtOnce
}

// readSources reads this package.
func readSources(t *testing.T) sources {
	t.Helper()
	s := sources{map[string][]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, is := d.(*ast.FuncDecl); is && (fn.Recv == nil || receiver(fn) == "collection") {
				s.read(fn)
			}
		}
	}
	return s
}

// receiver names the type of a method.
func receiver(fn *ast.FuncDecl) string {
	if pointer, is := fn.Recv.List[0].Type.(*ast.StarExpr); is {
		if name, is := pointer.X.(*ast.Ident); is {
			return name.Name
		}
	}
	return ""
}

func (s sources) read(fn *ast.FuncDecl) {
	name, table := fn.Name.Name, s.promises
	if name == "atOnceCases" {
		table = s.atOnce
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			s.parallel[name] = true
		case *ast.CallExpr:
			switch callee := n.Fun.(type) {
			case *ast.Ident:
				s.calls[name] = append(s.calls[name], callee.Name)
			case *ast.SelectorExpr:
				s.parallel[name] = s.parallel[name] || callee.Sel.Name == "Go"
				if of, is := callee.X.(*ast.Ident); is && of.Name == "c" {
					s.calls[name] = append(s.calls[name], callee.Sel.Name)
				}
			}
		case *ast.CompositeLit: // {"Name", function}
			if len(n.Elts) == 2 {
				_, named := n.Elts[0].(*ast.BasicLit)
				if run, is := n.Elts[1].(*ast.Ident); named && is {
					table[run.Name] = true
				}
			}
		}
		return true
	})
}

// asksAtOnce reports whether a function starts goroutines, itself or through another one.
func (s sources) asksAtOnce(name string, seen map[string]bool) bool {
	if s.parallel[name] {
		return true
	}
	if seen[name] {
		return false
	}
	seen[name] = true
	return slices.ContainsFunc(s.calls[name], func(callee string) bool { return s.asksAtOnce(callee, seen) })
}

// The race detector watches a promise in which several callers ask at once only if it stands in
// RunAtOnce, too.
func TestAtOnceCasesAreWhole(t *testing.T) {
	t.Parallel()
	s := readSources(t)
	found := 0
	for _, promise := range slices.Sorted(maps.Keys(s.promises)) {
		if !s.asksAtOnce(promise, map[string]bool{}) {
			continue
		}
		if found++; !s.atOnce[promise] {
			t.Errorf("in %s several callers ask at once, so it belongs into atOnceCases", promise)
		}
	}
	if found < len(s.atOnce) {
		t.Errorf("of the %d cases of atOnceCases, only %d are seen to ask at once", len(s.atOnce), found)
	}
}
