// Package archtest holds the import rules of recrawl as one test: which
// package may import what, and why.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"iter"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type pkg struct {
	Dir          string
	ImportPath   string
	Name         string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

const module = "recrawl"

// rule forbids imports of some packages; the reason is the test's message.
type rule struct {
	name   string
	in     func(pkg string) bool // packages the rule is about
	forbid func(imported string) bool
	reason string
}

// pure decides, and does nothing.
var pure = oneOf("internal/admission", "internal/requisite", "internal/crawl", "internal/urlkey", "internal/scope", "internal/schedule", "internal/schedule/gamma", "internal/polite", "internal/change", "internal/robots/directive", "internal/robots/reserve", "internal/rank", "internal/residence", "internal/sitemap", "internal/report/survey", "internal/trap", "internal/feed", "internal/sink", "internal/search")

// measures runs the built programs, as their end-to-end tests do.
func measures(p string) bool { return hasPrefix(p, module+"/internal/bench") }

var rules = []rule{
	{
		"benchmarks stay out of the product",
		not(measures),
		func(i string) bool { return hasPrefix(i, module+"/internal/bench") },
		"what measures the programs must not be linked into them",
	},
	{
		"pure packages do no I/O",
		pure,
		func(i string) bool {
			return hasPrefix(i, "go.temporal.io/", "database/sql", "math/rand", "log", "os", "net/http", "syscall") || i == "net"
		},
		"decisions are pure functions: no SDK, network, database, log, file or random numbers",
	},
	{
		"the simulator computes",
		oneOf("internal/sim", "internal/sim/optimum"),
		func(i string) bool {
			return hasPrefix(i, "go.temporal.io/", "database/sql", "log", "os", "net/http", "syscall", module+"/internal/store", module+"/internal/report") || i == "net" || i == "math/rand"
		},
		"a simulation follows from its arguments: files and stores are read by whoever asks for it",
	},
	{
		"crawl is the standard library only",
		oneOf("internal/crawl"),
		func(i string) bool { return strings.Contains(strings.Split(i, "/")[0], ".") || ours(i) },
		"everybody imports the nouns, so they import nobody",
	},
	{
		"the mathematics is the standard library only",
		oneOf("internal/schedule/gamma"),
		func(i string) bool { return strings.Contains(strings.Split(i, "/")[0], ".") || ours(i) },
		"it can be checked, and used, without knowing what a crawl is",
	},
	{
		"the Temporal SDK stays at its edges",
		not(func(p string) bool {
			return measures(p) || oneOf("workflows", "activities", "internal/contract", "internal/contract/contracttest", "internal/temporalkit", "internal/app", "internal/cli")(p)
		}),
		func(i string) bool { return hasPrefix(i, "go.temporal.io/") },
		"domain code must outlive the orchestrator",
	},
	{
		"workflows do not know activities",
		oneOf("workflows"),
		func(i string) bool {
			return i == module+"/activities" || hasPrefix(i, module+"/internal/store", module+"/internal/fetch", module+"/internal/archive",
				module+"/internal/config", module+"/internal/temporalkit", "os", "net/http", "database/sql", "math/rand", "sync")
		},
		"they meet in contract; workflows are deterministic and do no I/O",
	},
	{
		"activities do not know workflows",
		oneOf("activities"),
		func(i string) bool { return i == module+"/workflows" },
		"they meet in contract",
	},
	{
		"drivers are the app's business",
		not(oneOf("internal/app", "internal/temporalkit/embedded", "internal/store/storetest/crawltest")),
		func(i string) bool {
			return i == module+"/internal/store/sqlite" || i == module+"/internal/store/postgres" || i == module+"/internal/archive/s3" ||
				i == module+"/internal/search/fts" || i == module+"/internal/search/tsvector"
		},
		"everybody else speaks to store.Store, archive.Store and search.Index; the embedded Temporal server's own database is SQLite too, and tests get a real store",
	},
	{
		"the demo's site is the app's business",
		not(func(p string) bool { return hasPrefix(p, module+"/internal/app", module+"/internal/testsite") }),
		func(i string) bool { return hasPrefix(i, module+"/internal/testsite") },
		"no decision may know the site that it is tried on",
	},
	{
		"filter programs are run at the edges",
		not(oneOf("internal/app", "internal/cli")),
		func(i string) bool { return i == module+"/internal/scope/program" },
		"the scope asks through an interface, and only the operator's settings name what is run",
	},
	{
		"senders are the app's business",
		not(oneOf("internal/app", "internal/config")),
		func(i string) bool {
			return i == module+"/internal/sink/webhook" || i == module+"/internal/sink/program"
		},
		"everybody else delivers through sink.Sender; config reads which programs the operator lists",
	},
	{
		"maintenance knows a part of a store only",
		oneOf("internal/maintain", "internal/maintain/duplicates"),
		func(i string) bool {
			return hasPrefix(i, "go.temporal.io/", "database/sql", "log", "math/rand", "net/http", module+"/internal/store/",
				module+"/internal/contract", module+"/internal/temporalkit", module+"/internal/archive", module+"/activities") || i == "net"
		},
		"what all pages of a crawl come to follows from the store; workflows and bytes are told by whoever asks for it",
	},
	{
		"only the sort of duplicates needs a disk",
		oneOf("internal/maintain"),
		func(i string) bool { return hasPrefix(i, "os") },
		"maintenance holds in memory what it works out, and keeps in the store what it must not lose",
	},
	{
		"care knows parts of a worker only",
		oneOf("internal/care"),
		func(i string) bool {
			return hasPrefix(i, "database/sql", "net/http", module+"/internal/store/", module+"/internal/archive", module+"/internal/cli",
				module+"/internal/app", module+"/internal/config", module+"/internal/fetch")
		},
		"it keeps running what a store's crawls need, whichever program it runs in",
	},
	{
		"exports know a source only",
		func(p string) bool {
			return hasPrefix(p, module+"/internal/export") && p != module+"/internal/export/source"
		},
		func(i string) bool {
			return hasPrefix(i, "database/sql", "net/http", module+"/internal/store", module+"/internal/fetch") || i == "net"
		},
		"what writes a crawl down, and what checks it, must work for any store and without a network",
	},
	{
		"the check of WARC files knows no writer",
		oneOf("internal/export/warctest"),
		ours,
		"it judges the writer, so they share no code",
	},
	{
		"test support stays out of the product",
		not(func(p string) bool { return strings.HasSuffix(p, "test") || measures(p) }),
		func(i string) bool {
			return i == "testing" || hasPrefix(i, "github.com/stretchr/testify", "github.com/standard-webhooks/standard-webhooks", "go.temporal.io/sdk/testsuite", "pgregory.net/rapid") ||
				ours(i) && strings.HasSuffix(i, "test")
		},
		"what tests need must not be linked into binaries",
	},
}

// importers names the package of the product that may import a third party, or the few, with
// spaces between. Examples stand for programs of other people.
var importers = map[string]string{
	"github.com/temoto/robotstxt":      "internal/robots",
	"github.com/PuerkitoBio/goquery":   "internal/extract",
	"github.com/gogs/chardet":          "internal/extract",
	"github.com/jackc/pgx":             "internal/store/postgres internal/search/tsvector",
	"modernc.org/sqlite":               "internal/store/sqlite internal/search/fts",
	"github.com/nlnwa/whatwg-url":      "internal/urlkey",
	"code.dny.dev/ssrf":                "internal/fetch",
	"github.com/alecthomas/kong":       "internal/cli",
	"github.com/gofrs/flock":           "internal/app",
	"github.com/aymanbagabas/go-udiff": "internal/textdiff",
	"github.com/minio/minio-go":        "internal/archive/s3",
	"github.com/andybalholm/cascadia":  "internal/extract",
	"github.com/wneessen/go-mail":      "internal/sink/mail",
	"github.com/prometheus":            "internal/monitor",
	"go.opentelemetry.io":              "internal/tracing",
	// The SDK has a client, too, with which tests ask.
	"github.com/modelcontextprotocol/go-sdk": "internal/mcp",
}

func TestImports(t *testing.T) {
	t.Parallel()
	pkgs := list(t)
	for _, p := range pkgs {
		for _, i := range p.Imports {
			for _, r := range rules {
				if r.in(p.ImportPath) && r.forbid(i) {
					t.Errorf("%s imports %s: %s (%s)", p.ImportPath, i, r.name, r.reason)
				}
			}
			for third, only := range importers {
				if hasPrefix(i, third) && !oneOf(strings.Fields(only)...)(p.ImportPath) && !strings.HasSuffix(p.ImportPath, "test") && !hasPrefix(p.ImportPath, module+"/examples") {
					t.Errorf("%s imports %s: only %s may, so that it can be replaced in one place", p.ImportPath, i, only)
				}
			}
		}
	}
}

// readsClock are the functions of package time that read a clock or wait.
var readsClock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// seeds are the names of package math/rand/v2 that do not draw from a source of
// its own.
var seeds = []string{"New", "NewPCG", "Rand"}

// Pure packages are given the time; they never look. The simulator neither, and
// what it draws follows from a seed.
func TestPurePackagesReadNoClock(t *testing.T) {
	t.Parallel()
	simulates := oneOf("internal/sim", "internal/sim/optimum")
	for _, p := range list(t) {
		if !pure(p.ImportPath) && !simulates(p.ImportPath) {
			continue
		}
		for file, used := range selectors(t, p) {
			if used[0] == "time" && slices.Contains(readsClock, used[1]) {
				t.Errorf("%s uses time.%s: decisions are pure functions of what is passed in", file, used[1])
			}
			if used[0] == "rand" && !slices.Contains(seeds, used[1]) {
				t.Errorf("%s uses rand.%s: what is drawn follows from a seed that is passed in", file, used[1])
			}
		}
	}
}

// selectors are the files of a package with the selectors "a.B" in them.
func selectors(t *testing.T, p pkg) iter.Seq2[string, [2]string] {
	t.Helper()
	return func(yield func(string, [2]string) bool) {
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for n := range ast.Preorder(file) {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					continue
				}
				if of, ok := selector.X.(*ast.Ident); ok && !yield(path.Join(p.ImportPath, name), [2]string{of.Name, selector.Sel.Name}) {
					return
				}
			}
		}
	}
}

func TestPackageNames(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		if slices.Contains([]string{"util", "utils", "common", "helpers", "types", "models", "base"}, path.Base(p.ImportPath)) {
			t.Errorf("%s: a package is named after what it does", p.ImportPath)
		}
	}
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=Dir,ImportPath,Name,GoFiles,Imports,TestImports,XTestImports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list output: %v", err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < 15 {
		t.Fatalf("go list found %d packages only", len(pkgs))
	}
	return pkgs
}

func oneOf(names ...string) func(string) bool {
	return func(p string) bool { return slices.Contains(names, strings.TrimPrefix(p, module+"/")) }
}

func not(f func(string) bool) func(string) bool { return func(p string) bool { return !f(p) } }

func ours(i string) bool { return i == module || strings.HasPrefix(i, module+"/") }

// hasPrefix reports whether i is one of the paths or below it; a path that ends
// in a slash is a plain prefix.
func hasPrefix(i string, paths ...string) bool {
	for _, p := range paths {
		if i == p || strings.HasPrefix(i, strings.TrimSuffix(p, "/")+"/") {
			return true
		}
	}
	return false
}
