package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/browsertest"
)

// walkAll looks at every view, twice: with the page's scripts, where each is judged in all
// ways that people look at it, and without, where each must still be found and shown.
func (o *operatorPage) walkAll(t *testing.T) {
	tab := o.browser.Tab(t)
	page, odd := o.ticker(tab), o.web+"/crawls/"+oddCrawl
	begin := []string{
		o.web + "/", o.web + "/crawls/demo", page, odd, odd + "/sinks", // which has one
		// No link leads to these, or only if there is much to see.
		odd + "/url?url=https://example.com/", odd + "/sinks/team/failed", page + "/visits", page + "/versions", page + "/backlinks", page + "/duplicates",
	}
	judged := o.walk(t, begin, func(at string) { o.judge(t, tab, at) }, tab)
	plain := o.browser.Tab(t)
	plain.Scripts(false)
	shown := o.walk(t, begin, func(string) {}, plain)
	for _, view := range o.views(t) {
		if judged[view] == "" {
			t.Errorf("no link leads to %s", view)
		}
		if shown[view] == "" {
			t.Errorf("without JavaScript no link leads to %s", view)
		}
	}
	t.Logf("%d views: %v", len(judged), slices.Sorted(maps.Keys(judged)))
}

// views are the kinds of all views, as the description of the API has them: a view is also
// JSON.
func (o *operatorPage) views(t *testing.T) []string {
	t.Helper()
	resp, err := http.Get(o.web + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var api struct {
		Paths map[string]map[string]any
	}
	if err := json.NewDecoder(resp.Body).Decode(&api); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("openapi.json: %d, %v", resp.StatusCode, err)
	}
	var all []string
	for path, operations := range api.Paths {
		view, is := strings.CutSuffix(path, ".json")
		if _, shown := operations["get"]; !is || !shown {
			continue
		}
		if view == "/crawls" {
			view = "/"
		}
		all = append(all, view)
	}
	if len(all) < 10 {
		t.Fatalf("openapi.json has %d views: %v", len(all), all)
	}
	return all
}

// walk follows links until it has seen one view of each kind, and those to begin with. It
// returns the first address of each kind.
func (o *operatorPage) walk(t *testing.T, begin []string, look func(at string), tab *browsertest.Tab) map[string]string {
	t.Helper()
	seen := map[string]string{}
	queue := slices.Clone(begin)
	for i := 0; i < len(queue); i++ {
		kind := viewOf(strings.TrimPrefix(queue[i], o.web))
		if _, again := seen[kind]; again && i >= len(begin) {
			continue
		}
		if seen[kind] == "" {
			seen[kind] = queue[i]
		}
		shown := tab.Open(queue[i])
		if shown.Status != http.StatusOK || shown.Type != "text/html" {
			t.Errorf("%s: %+v", queue[i], shown)
			tab.Troubles() // that it is not shown is said
			continue
		}
		o.checkAsked(t, tab)
		look(queue[i])
		var links []string
		tab.Eval(`[...document.querySelectorAll("a[href]")].map(a => a.href.replace(/#.*/, ""))`, &links)
		for _, link := range links {
			if strings.HasPrefix(link, o.web+"/") && !notPages.MatchString(link) {
				queue = append(queue, link)
			}
		}
	}
	return seen
}

// notPages are the addresses that answer programs, and downloads.
var notPages = regexp.MustCompile(`\.(json|atom)(\?|$)|/body(\?|$)|/live(\?|$)`)

// checkAsked: a view is complete, has a heading, loads nothing from elsewhere, and the browser
// has nothing to complain about.
func (o *operatorPage) checkAsked(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	at := tab.Shown().URL
	for _, u := range tab.Asked() {
		if !strings.HasPrefix(u, o.web+"/") {
			t.Errorf("%s asked for %s", at, u)
		}
	}
	if troubles := tab.Troubles(); len(troubles) > 0 {
		t.Errorf("%s: the browser complains: %q", at, troubles)
	}
	var headings int
	if tab.Eval(`[...document.querySelectorAll("main h1")].filter(h => h.innerText.trim() !== "").length`, &headings); headings != 1 {
		t.Errorf("%s has %d main headings", at, headings)
	}
}

// judge looks at a view by day, at night and on a phone. With RECRAWL_PICTURES it leaves
// pictures in that folder (`make pictures`).
func (o *operatorPage) judge(t *testing.T, tab *browsertest.Tab, at string) {
	t.Helper()
	name := pictureName(strings.TrimPrefix(at, o.web))
	for _, v := range []browsertest.View{browsertest.Night, browsertest.Phone, browsertest.Desktop} {
		tab.Look(v)
		for _, found := range o.violations(tab, v) {
			if found.Impact == "serious" || found.Impact == "critical" {
				t.Errorf("%s, %s: %s", at, v.Name, found)
			} else {
				t.Logf("%s, %s: %s", at, v.Name, found)
			}
		}
		var wide []string
		if tab.Eval(sticksOut, &wide); len(wide) > 0 {
			t.Errorf("%s, %s: the page is wider than the window: %q", at, v.Name, wide)
		}
		if folder := os.Getenv("RECRAWL_PICTURES"); folder != "" {
			tab.Picture(filepath.Join(folder, name+"-"+v.Name+".webp"), pictureHeight)
		}
	}
}

// violations are those of the rules for whose verdict the way of looking matters: a colour is that
// of the day on every width, at night nothing else differs, and the styles that may bind a page to
// one way of holding a phone are the same on all.
func (o *operatorPage) violations(tab *browsertest.Tab, v browsertest.View) []browsertest.Violation {
	const (
		contrast = "color-contrast"
		lock     = "css-orientation-lock"
	)
	switch {
	case v.Dark:
		return o.axe.Check(tab, contrast)
	case v == browsertest.Phone:
		return o.axe.CheckBut(tab, contrast, lock)
	}
	return o.axe.Check(tab)
}

// sticksOut are the elements that make a page wider than its window.
const sticksOut = `(() => {
	if (document.scrollingElement.scrollWidth <= innerWidth) return [];
	const all = [...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > innerWidth);
	return ["by " + (document.scrollingElement.scrollWidth - innerWidth), ...all.slice(-5).map(e => e.outerHTML.slice(0, 150))];
})()`

// pictureHeight is the height of a long page's part that is in a picture.
const pictureHeight = 1400

// namedParts are the parts of an address before a name or number: the name of the part, and
// of one of its elements.
var namedParts = map[string]struct{ name, one string }{
	"crawls": {"crawl", ""}, "pages": {"page", "page"}, "versions": {"seq", "version"}, "hosts": {"host", "host"}, "sinks": {"sink", "sink"},
}

// viewOf returns the kind of view at an address: /crawls/demo/pages/7 is one of
// /crawls/{crawl}/pages/{page}.
func viewOf(address string) string {
	path, _, _ := strings.Cut(address, "?")
	parts := strings.Split(path, "/")
	for i := 1; i < len(parts); i++ {
		if named := namedParts[parts[i-1]]; named.name != "" {
			parts[i] = "{" + named.name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// pictureName returns the name of an address's pictures: demo, demo-pages,
// demo-page-versions.
func pictureName(address string) string {
	path, _, _ := strings.Cut(address, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "" {
		return "crawls"
	}
	var words []string
	for i := 0; i < len(parts); i++ {
		named, is := namedParts[parts[i]]
		switch {
		case !is || i+1 == len(parts):
			words = append(words, parts[i])
		case named.one == "":
			i++
			words = append(words, parts[i])
		default:
			i++
			words = append(words, named.one)
		}
	}
	return strings.Join(words, "-")
}

func TestViewOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]string{
		"/":                                    {"/", "crawls"},
		"/crawls/demo":                         {"/crawls/{crawl}", "demo"},
		"/crawls/demo/pages?state=failing":     {"/crawls/{crawl}/pages", "demo-pages"},
		"/crawls/demo/pages/7/versions/2":      {"/crawls/{crawl}/pages/{page}/versions/{seq}", "demo-page-version"},
		"/crawls/demo/hosts/a.test:1/evidence": {"/crawls/{crawl}/hosts/{host}/evidence", "demo-host-evidence"},
		"/crawls/demo/sinks/team/failed":       {"/crawls/{crawl}/sinks/{sink}/failed", "demo-sink-failed"},
	} {
		if got := [2]string{viewOf(address), pictureName(address)}; got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
