package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// realPage is one page of go-trafilatura's evaluation.
type realPage struct {
	file          string
	with, without []string // segments of the main text, and of the rest
}

// realPages reads the list of pages from the module's source.
func realPages() ([]realPage, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/markusmobius/go-trafilatura").Output()
	if err != nil {
		return nil, fmt.Errorf("find go-trafilatura: %w", err)
	}
	dir := strings.TrimSpace(string(out))
	list, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "scripts", "comparison", "data.go"), nil, 0)
	if err != nil {
		return nil, fmt.Errorf("read the list of pages: %w", err)
	}
	var pages []realPage
	ast.Inspect(list, func(n ast.Node) bool {
		// An element of the list: an address and a composite with fields.
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if _, isAddress := pair.Key.(*ast.BasicLit); !isAddress {
			return true
		}
		page := realPage{}
		for name, value := range fields(pair.Value) {
			switch name {
			case "File":
				page.file = filepath.Join(dir, "test-files", "comparison", strings.Join(texts(value), ""))
			case "With":
				page.with = texts(value)
			case "Without":
				page.without = texts(value)
			}
		}
		pages = append(pages, page)
		return false
	})
	slices.SortFunc(pages, func(a, b realPage) int { return cmp.Compare(a.file, b.file) })
	return pages, nil
}

func fields(value ast.Expr) map[string]ast.Expr {
	all := map[string]ast.Expr{}
	if composite, ok := value.(*ast.CompositeLit); ok {
		for _, element := range composite.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				if name, ok := pair.Key.(*ast.Ident); ok {
					all[name.Name] = pair.Value
				}
			}
		}
	}
	return all
}

// texts are the string literals of an expression that are not blank.
func texts(value ast.Expr) []string {
	var all []string
	ast.Inspect(value, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			if text, err := strconv.Unquote(literal.Value); err == nil && strings.TrimSpace(text) != "" {
				all = append(all, text)
			}
		}
		return true
	})
	return all
}
