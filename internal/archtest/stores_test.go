package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// mostMethods is how much of a store a consumer may see at once.
const mostMethods = 25

// wires makes the stores and hands their parts out; a store's own packages are all of it.
func wires(p string) bool {
	return p == module+"/internal/app" || hasPrefix(p, module+"/internal/store")
}

// notStores are interfaces whose methods speak of a store's records, and are no part of a
// store.
var notStores = map[string]bool{module + "/internal/cli.Backend": true}

// A package that needs the store declares which part of it. Who sees all of it can be
// tried with all of it only, and says nothing of what it does.
func TestConsumersSeePartsOfTheStore(t *testing.T) {
	t.Parallel()
	seen := interfaces(t)
	checked := 0
	for name, found := range seen {
		if p := name[:strings.LastIndex(name, ".")]; wires(p) || notStores[name] || !found.speaksOfStores {
			continue
		}
		checked++
		if n := len(methods(seen, name)); n > mostMethods {
			t.Errorf("%s has %d methods, at most %d are a part of a store: divide it by subject", name, n, mostMethods)
		}
	}
	if checked < 15 {
		t.Errorf("only %d interfaces were looked at", checked)
	}
	if n := len(methods(seen, module+"/internal/store.Store")); n < 80 {
		t.Errorf("store.Store counts %d methods only", n)
	}
	for _, p := range list(t) {
		if wires(p.ImportPath) || strings.HasSuffix(p.ImportPath, "test") {
			continue
		}
		for file, used := range selectors(t, p) {
			if used == [2]string{"store", "Store"} {
				t.Errorf("%s names store.Store: declare the part that it needs", file)
			}
		}
	}
}

// declared is an interface as its package declares it.
type declared struct {
	own            []string // methods
	embeds         []string // names of interfaces, as keys of the map that it is in
	speaksOfStores bool
}

// interfaces are the product's, by "path.Name".
func interfaces(t *testing.T) map[string]declared {
	t.Helper()
	all := map[string]declared{}
	for _, p := range list(t) {
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			imports := importNames(t, file)
			for n := range ast.Preorder(file) {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if is, ok := spec.Type.(*ast.InterfaceType); ok {
					all[p.ImportPath+"."+spec.Name.Name] = declaredBy(is, p.ImportPath, imports)
				}
			}
		}
	}
	return all
}

func declaredBy(is *ast.InterfaceType, in string, imports map[string]string) declared {
	var d declared
	for _, f := range is.Methods.List {
		for _, name := range f.Names {
			d.own = append(d.own, name.Name)
		}
		if len(f.Names) == 0 {
			switch of := f.Type.(type) {
			case *ast.Ident:
				d.embeds = append(d.embeds, in+"."+of.Name)
			case *ast.SelectorExpr:
				if x, ok := of.X.(*ast.Ident); ok {
					d.embeds = append(d.embeds, imports[x.Name]+"."+of.Sel.Name)
				}
			}
		}
		for n := range ast.Preorder(f) {
			if x, ok := n.(*ast.Ident); ok && imports[x.Name] == module+"/internal/store" {
				d.speaksOfStores = true
			}
		}
	}
	return d
}

// importNames are the imports of a file by the names that it uses.
func importNames(t *testing.T, file *ast.File) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, i := range file.Imports {
		from, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(from)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = from
	}
	return names
}

// methods are those of an interface, with what it embeds. Those of packages that are not
// ours do not count.
func methods(all map[string]declared, name string) map[string]bool {
	found := map[string]bool{}
	for _, m := range all[name].own {
		found[m] = true
	}
	for _, e := range all[name].embeds {
		for m := range methods(all, e) {
			found[m] = true
		}
	}
	return found
}
