package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each view and each button is described to programs, and nothing else.
func TestEveryAddressIsDescribed(t *testing.T) {
	t.Parallel()
	var there, told []string
	for _, v := range views() {
		there = append(there, "GET "+v.pattern)
	}
	for _, a := range actions() {
		there = append(there, "POST "+a.pattern)
	}
	for _, o := range viewOperations() {
		told = append(told, "GET "+o.pattern)
	}
	for _, o := range buttonOperations() {
		told = append(told, "POST "+o.pattern)
	}
	slices.Sort(there)
	slices.Sort(told)
	if !slices.Equal(there, told) {
		t.Errorf("there are\n%q\nand openapi_views.go describes\n%q", there, told)
	}
}

// readsParam finds the parameters that handlers read by name.
var readsParam = regexp.MustCompile(`\b(?:Query\(\)\.Get|FormValue|form\.Get|asked\.Get|\.text)\("(\w+)"\)`)

// forBrowsers are parameters that only the pages' own forms and links send.
var forBrowsers = []string{"back", "token"}

// Each parameter that a handler reads is described.
func TestEveryParameterIsDescribed(t *testing.T) {
	t.Parallel()
	told := map[string][]string{}
	all := slices.Clone(forBrowsers)
	for _, o := range append(viewOperations(), buttonOperations()...) {
		for _, p := range o.params {
			told[o.pattern] = append(told[o.pattern], p.name)
			all = append(all, p.name)
		}
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range readsParam.FindAllStringSubmatch(string(source), -1) {
			if found++; !slices.Contains(all, m[1]) {
				t.Errorf("%s reads %s, which no address describes", name, m[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d reads were found: the test does not see how handlers read parameters", found)
	}
	// Those that several addresses share.
	for _, pattern := range []string{"/crawls/{crawl}/pages/{page}/versions/{seq}", "/crawls/{crawl}/pages/{page}/diff"} {
		if !slices.Contains(told[pattern], "view") {
			t.Errorf("%s does not describe view", pattern)
		}
	}
}

// Programs that are turned away get an object, as with other errors.
func TestForbiddenForPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := local(http.MethodGet, "/crawls/news.json", "")
	other.Host = "elsewhere.example"
	cross := local(http.MethodPost, "/crawls/news/do/pause", "")
	cross.Header.Set("Accept", "application/json")
	cross.Header.Set("Sec-Fetch-Site", "cross-site")
	for _, r := range []*http.Request{other, cross} {
		got := w.do(r)
		var answer failureAnswer
		if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil || got.Code != http.StatusForbidden || answer.Error == "" {
			t.Errorf("%s %s: %d %q, %v", r.Method, r.URL, got.Code, got.Body, err)
		}
	}
}
