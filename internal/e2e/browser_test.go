package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"recrawl/internal/browsertest"
)

// operatorPage is a running demo with its page for operators, a browser that looks at it,
// and a crawl of a malicious site.
type operatorPage struct {
	*dev
	web     string // the page's address, without a slash at the end
	site    *oddSite
	browser *browsertest.Browser
	axe     browsertest.Axe
}

// TestBrowser uses the page for operators in a real browser.
func TestBrowser(t *testing.T) {
	sideBySide(t, 170)
	o := startOperatorPage(t)
	// While every view is judged, which is most of the time, the demo would only take
	// processor time from the browser.
	o.command("pause", "demo")
	t.Run("every view", o.walkAll)
	t.Run("retry", o.retry)
	o.command("resume", "demo")
	t.Run("live", o.live)
	t.Run("workflow", o.workflow)
	o.command("pause", "demo")
	t.Run("keyboard", o.keyboard)
	t.Run("hostile page", o.hostilePage)
	t.Run("other sites", o.otherSites)
	o.stop()
	o.site.check(t)
}

// startOperatorPage waits until both crawls have something to show.
func startOperatorPage(t *testing.T) *operatorPage {
	t.Helper()
	axe, err := browsertest.LoadAxe("../../tools/browser/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	o := &operatorPage{site: serveOdd(t), axe: axe}
	o.dev = startDev(t, demoFolder(t, t.TempDir()), "--demo")
	o.web = strings.TrimSuffix(o.state().Web, "/")
	spec, err := json.Marshal(map[string]any{
		"name": oddCrawl, "seeds": []string{o.site.url + "/"},
		"politeness": map[string]any{"delay": "20ms", "factor": 0},
		"revisit":    map[string]any{"policy": "fixed", "default_interval": "1h"},
		// A host that does not answer, and a receiver that is not there.
		"sinks": map[string]any{"team": map[string]any{"kind": "webhook", "to": "http://" + closedPort + "/", "allow_private": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out, code, errout := o.starter("crawl", "--spec", write(t, filepath.Join(t.TempDir(), "odd.json"), string(spec))); code != 0 {
		t.Fatal(out, errout)
	}
	o.browser = browsertest.Start(t, browsertest.Options{Names: []string{attackerName}})
	o.await("the site that means ill is visited", o.crawled(oddCrawl, oddPages, 1))
	o.site.change()
	o.command("visit", o.site.url+oddTitle)
	o.await("its change is found", func() bool { return len(o.history(o.site.url+oddTitle)) > 1 })
	o.await("the demo's first pass", func() bool {
		visited := 0
		for _, p := range o.pages("demo") {
			visited += p.Visits
		}
		return visited > 100 && strings.Contains(o.demoPages("failing"), "/broken")
	})
	return o
}

// command runs one that succeeds.
func (o *operatorPage) command(args ...string) {
	o.t.Helper()
	if out, code, errout := o.starter(args...); code != 0 {
		o.t.Fatalf("starter %v: %d: %s%s", args, code, out, errout)
	}
}

// pageAt returns the address of a URL's view, as the box for URLs finds it.
func (o *operatorPage) pageAt(tab *browsertest.Tab, crawl, u string) string {
	tab.Open(o.web + "/crawls/" + crawl + "/url?url=" + url.QueryEscape(u))
	return tab.Shown().URL
}

// ticker returns the address of the view of a demo page that changes often.
func (o *operatorPage) ticker(tab *browsertest.Tab) string {
	return o.demoPage(tab, "/ticker")
}

// demoPage is the view of a page of the demo's news.
func (o *operatorPage) demoPage(tab *browsertest.Tab, path string) string {
	return o.pageAt(tab, "demo", "http://news.localhost:"+o.demoPort()+path)
}

// retry presses the button of a crawl whose page fails, with JavaScript off, and waits for
// the visit.
func (o *operatorPage) retry(t *testing.T) {
	failing := o.site.url + oddFailing
	before := len(o.history(failing))
	o.site.mend()
	tab := o.browser.Tab(t)
	tab.Scripts(false)
	var shown browsertest.Shown
	o.await("the machine has time for the button", func() bool {
		tab.Open(o.web + "/crawls/" + oddCrawl)
		shown = tab.Follow(`form[action="/crawls/` + oddCrawl + `/retry"] button`)
		again := shown.Status == http.StatusConflict && tooBusy(tab.Text())
		if again {
			tab.Troubles() // the browser says so, too
		}
		return !again
	})
	if shown.Status != http.StatusOK || shown.URL != o.web+"/crawls/"+oddCrawl {
		t.Errorf("the button led to %+v", shown)
	}
	var said string
	if tab.Eval(`document.querySelector(".said")?.innerText ?? ""`, &said); said == "" {
		t.Error("the page does not say what the button did")
	}
	o.await("the page is visited again", func() bool {
		visits := o.history(failing)
		return len(visits) > before && visits[0].Status == http.StatusOK
	})
	if troubles := tab.Troubles(); len(troubles) > 0 {
		t.Errorf("the browser complains: %q", troubles)
	}
}

// live looks at a running crawl: the view changes while somebody looks.
func (o *operatorPage) live(t *testing.T) {
	tab := o.browser.Tab(t)
	tab.Open(o.web + "/crawls/demo")
	tab.Eval(`new Promise(changed => new MutationObserver(changed).observe(document.querySelector("main"),
		{subtree: true, childList: true, characterData: true})).then(() => null)`, nil)
	if asked := tab.Asked(); !slices.Contains(asked, o.web+"/crawls/demo/live") {
		t.Errorf("the page asked for %v", asked)
	}
	if troubles := tab.Troubles(); len(troubles) > 0 {
		t.Errorf("the browser complains: %q", troubles)
	}
}

// workflow follows a page's link to its workflow in the Temporal UI. With RECRAWL_PICTURES it
// leaves a picture of it. The page never changes: one that always does is overdue when its visit
// ends if the machine is busy, and then has no timer that says when the next one is.
func (o *operatorPage) workflow(t *testing.T) {
	tab := o.browser.Tab(t)
	tab.Look(browsertest.View{Width: 1400, Height: 1100})
	tab.Open(o.demoPage(tab, "/about"))
	if shown := tab.Follow(`a[href^="` + o.state().UI + `"]`); shown.Status != http.StatusOK {
		t.Errorf("the link leads to %+v", shown)
	}
	tab.AwaitText("Event History")
	tab.AwaitText("revisit in")
	if folder := os.Getenv("RECRAWL_PICTURES"); folder != "" {
		tab.Picture(filepath.Join(folder, "temporal-page.webp"), 1100)
	}
}

// keyboard: the first key leads past the navigation, and what has the focus can be seen.
func (o *operatorPage) keyboard(t *testing.T) {
	tab := o.browser.Tab(t)
	tab.Open(o.web + "/crawls/demo")
	tab.Press(browsertest.TabKey)
	var first struct{ Target, Outline string }
	tab.Eval(`({Target: document.activeElement.getAttribute("href") ?? "", Outline: getComputedStyle(document.activeElement).outlineStyle})`, &first)
	if first.Target != "#main" {
		t.Errorf("the first key leads to %+v, not past the navigation", first)
	}
	var hidden []string
	tab.Eval(`(() => {
		const hidden = [];
		for (const e of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")) {
			e.focus();
			const s = getComputedStyle(e);
			if (document.activeElement === e && e.matches(":focus-visible") && s.outlineStyle === "none" && s.boxShadow === "none") hidden.push(e.outerHTML.slice(0, 120));
		}
		return hidden;
	})()`, &hidden)
	if len(hidden) > 0 {
		t.Errorf("nothing shows that these have the focus: %q", hidden)
	}
}

const (
	oddCrawl     = "odd"
	attackerName = "attacker.example"

	oddTitle   = "/title"
	oddFailing = "/fails"
	oddPages   = 4 // with the home page and its frame
)

// oddSite is a malicious site: its pages try to run in the operator's browser, load from
// there, or deceive the reader. One of its pages fails until it is mended.
type oddSite struct {
	*site
	mu      sync.Mutex
	mended  bool
	version int
	browsed []string // what browsers have asked for
}

func serveOdd(t *testing.T) *oddSite {
	t.Helper()
	o := &oddSite{}
	o.site = serve(t, http.HandlerFunc(o.answer))
	return o
}

// Signs that must not act: they turn the direction of the following text, and control
// terminals.
const (
	rightToLeft = "\u202e"
	escape      = "\x1b[31m"
)

// hostileMarkup would ask for /ran if any of it worked.
const hostileMarkup = `<script>fetch("BASE/ran")</script><img src="BASE/ran" onerror="fetch('BASE/ran')">
<iframe src="BASE/frame"></iframe><style>@import url("BASE/ran"); body { background: url(BASE/ran) }</style>
<svg onload="fetch('BASE/ran')"></svg><form action="BASE/ran"><button autofocus onfocus="fetch('BASE/ran')">go</button></form>
<p>{{.}} ]]> --> </textarea></title></style></script> &lt;script&gt;fetch("BASE/ran")&lt;/script&gt;</p>`

func (o *oddSite) answer(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.Contains(r.UserAgent(), "Chrome") {
		o.browsed = append(o.browsed, r.URL.Path)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch r.URL.Path {
	case "/":
		fmt.Fprintf(w, `<title>Odd</title><h1>Odd</h1><a href="%s">title</a> <a href="%s">fails</a>`, oddTitle, oddFailing)
	case oddTitle:
		title := strings.Repeat(rightToLeft+"moc.knab </title><script>fetch('BASE/ran')</script> "+escape, 200)
		fmt.Fprint(w, strings.ReplaceAll(fmt.Sprintf("<title>%s</title><h1>Version %d of %sa page</h1><p>%s</p>%s",
			strings.ReplaceAll(title, "<", "&lt;"), o.version, rightToLeft, strings.Repeat("Words that stay. ", 20), hostileMarkup), "BASE", o.url))
	case "/frame":
		fmt.Fprint(w, "<title>A frame</title><p>framed")
	case oddFailing:
		if !o.mended {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, "<title>Mended</title><p>It works.")
	default:
		http.NotFound(w, r)
	}
}

// change changes the text of the page with the title.
func (o *oddSite) change() { o.mu.Lock(); o.version++; o.mu.Unlock() }

// mend ends the failures of the failing page.
func (o *oddSite) mend() { o.mu.Lock(); o.mended = true; o.mu.Unlock() }

// check: no browser has asked for anything.
func (o *oddSite) check(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.browsed) > 0 {
		t.Errorf("a browser that looked at our page asked the crawled site for %v", o.browsed)
	}
}

// hostilePage looks at every view of a malicious page.
func (o *operatorPage) hostilePage(t *testing.T) {
	tab := o.browser.Tab(t)
	page := o.pageAt(tab, oddCrawl, o.site.url+oddTitle)
	for _, path := range []string{
		page, page + "/visits", page + "/versions", page + "/versions/1", page + "/read", page + "/read?extent=all", page + "/diff?from=1&to=2",
		o.web + "/crawls/" + oddCrawl, o.web + "/crawls/" + oddCrawl + "/changes", o.web + "/crawls/" + oddCrawl + "/pages",
	} {
		if shown := tab.Open(path); shown.Status != http.StatusOK {
			t.Errorf("%+v", shown)
		}
		o.checkInert(t, tab)
	}
	var shown bool
	tab.Open(page + "/versions/1")
	if tab.Eval(`document.querySelector("main")?.innerText.includes("Words that stay") ?? false`, &shown); !shown {
		t.Errorf("the text of the page is not shown:\n%.500s", tab.Text())
	}
	o.checkBody(t, page+"/versions/1/body")
}

// checkInert: nothing of a crawled page is part of the view, or was loaded, and its text is
// cut and keeps its direction to itself.
func (o *operatorPage) checkInert(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	at := tab.Shown().URL
	var found struct {
		Elements []string
		Longest  int
		Signs    string
	}
	tab.Eval(`(() => {
		const text = document.documentElement.textContent;
		return {
			Elements: [...document.querySelectorAll("iframe, frame, object, embed, script:not([src^='/assets/']), style, img:not([src^='/'])")].map(e => e.outerHTML.slice(0, 120)),
			Longest: Math.max(document.title.length, ...[...document.querySelectorAll("h1, h2, h3, a, bdi, td, summary")].map(e => e.textContent.length)),
			Signs: [...text].filter(c => /[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(c)).length.toString(),
		};
	})()`, &found)
	if len(found.Elements) > 0 {
		t.Errorf("%s has parts of a crawled page: %q", at, found.Elements)
	}
	if found.Longest > 1000 {
		t.Errorf("%s has a text of %d characters where it should be cut", at, found.Longest)
	}
	if found.Signs != "0" {
		t.Errorf("%s has %s characters that turn the text around or control terminals", at, found.Signs)
	}
	for _, u := range tab.Asked() {
		if !strings.HasPrefix(u, o.web+"/") {
			t.Errorf("%s asked for %s", at, u)
		}
	}
	if troubles := tab.Troubles(); len(troubles) > 0 {
		t.Errorf("%s: the browser complains: %q", at, troubles)
	}
}

// checkBody: the bytes of a page are text or a download, wherever they are opened.
func (o *operatorPage) checkBody(t *testing.T, address string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	h := resp.Header
	plain := strings.HasPrefix(h.Get("Content-Type"), "text/plain")
	download := strings.HasPrefix(h.Get("Content-Disposition"), "attachment")
	if resp.StatusCode != http.StatusOK || !plain && !download || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%s: %d, %v", address, resp.StatusCode, h)
	}
}

// otherSites: a site whose name leads here, or that sends the operator's browser here, can
// neither read nor change anything.
func (o *operatorPage) otherSites(t *testing.T) {
	tab := o.browser.Tab(t)
	here, err := url.Parse(o.web)
	if err != nil {
		t.Fatal(err)
	}
	rebound := "http://" + attackerName + ":" + here.Port() + "/crawls/" + oddCrawl
	if shown := tab.Open(rebound); shown.Status != http.StatusForbidden || strings.Contains(tab.Text(), oddCrawl) {
		t.Errorf("a name that was made to lead here: %+v: %s", shown, tab.Text())
	}
	before := len(o.history(o.site.url + "/"))
	attacker := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>attacker</title><form method="post" action="%s/crawls/%s/do/pause"><button>win</button></form><iframe src="%s/"></iframe>`, o.web, oddCrawl, o.web)
	}))
	// A browser takes the second for the same site, since sites have no ports.
	for _, from := range []string{strings.Replace(attacker.url, "127.0.0.1", attackerName, 1), attacker.url} {
		tab.Open(from)
		if all := strings.Join(tab.Troubles(), "\n"); !strings.Contains(all, "frame-ancestors") {
			t.Errorf("%s may frame the page: %s", from, all)
		}
		if shown := tab.Follow("button"); shown.Status != http.StatusForbidden {
			t.Errorf("%s posts: %+v", from, shown)
		}
	}
	if status, _, _ := o.starter("status", oddCrawl); !strings.Contains(status, "(running)") {
		t.Errorf("another site has changed the crawl: %s", status)
	}
	if after := len(o.history(o.site.url + "/")); after != before {
		t.Errorf("another site made %d visits", after-before)
	}
}
