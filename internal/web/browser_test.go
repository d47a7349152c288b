package web

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"recrawl/internal/browsertest"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// opened is the view of a world's crawl in a browser.
type opened struct {
	*world
	page   int64
	tab    *browsertest.Tab
	base   string
	refuse atomic.Int64 // how many more streams are answered with 500
}

func open(t *testing.T) *opened {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser")
	}
	o := &opened{world: newWorld(t)}
	o.server.Report.Relations = o.s
	o.page = o.world.page("https://a.test/", "a.test")
	handler := o.server.Handler()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/crawls/news/live" && o.refuse.Add(-1) >= 0 {
			http.Error(w, "the store is away", http.StatusInternalServerError)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { served.CloseClientConnections(); served.Close() }) // streams last
	o.base = served.URL
	o.tab = browsertest.Start(t, browsertest.Options{}).Tab(t)
	return o
}

// is evaluates an expression that is a text.
func (o *opened) is(expression, want string) {
	o.Helper()
	var got string
	if o.tab.Eval(expression, &got); got != want {
		o.Errorf("%s: %q, want %q", expression, got, want)
	}
}

// What has the focus keeps it when its part of the page is replaced.
func TestLiveKeepsTheFocus(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.tab.Open(o.base + "/crawls/news")
	o.tab.AwaitText("live")
	for _, c := range []struct{ part, at string }{
		{"opening", `form[action$="/pause"] button`},
		{"opening", `details.menu summary`},
		{"days", `details.numbers summary`},
		{"days", `details.numbers .scroll`},
	} {
		o.tab.Eval(`(() => {
			const part = document.querySelector('[data-fresh="`+c.part+`"]'), of = part.querySelector('`+c.at+`');
			of.closest("details.numbers")?.setAttribute("open", "");
			of.focus();
			part.append("x"); // so that it differs from what comes
			window.replaced = new Promise((done) => new MutationObserver(() => { if (!of.isConnected) done() }).observe(part, {childList: true}));
		})()`, nil)
		o.visit(o.page, store.VisitRecord{Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 304})
		o.tab.Eval(`window.replaced.then(() => null)`, nil)
		o.is(`document.activeElement === document.querySelector('[data-fresh="`+c.part+`"] `+c.at+`') ? "kept" : document.activeElement.outerHTML.slice(0, 200)`, "kept")
	}
}

// What is being pressed stays until it is let go: a click on it counts.
func TestLiveLeavesWhatIsPressed(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.tab.Open(o.base + "/crawls/news")
	o.tab.AwaitText("live")
	release := o.tab.Hold(`[data-fresh="opening"] details.menu summary`)
	o.tab.Eval(`(() => {
		window.pressed = document.querySelector('[data-fresh="opening"] details.menu');
		for (const part of document.querySelectorAll('[data-fresh="opening"], [data-fresh="days"]')) part.append("x"); // so that both differ from what comes
		const days = document.querySelector('[data-fresh="days"]'), first = days.firstChild;
		window.replaced = new Promise((done) => new MutationObserver(() => { if (!first.isConnected) done() }).observe(days, {childList: true}));
	})()`, nil)
	o.visit(o.page, store.VisitRecord{Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 304})
	o.tab.Eval(`window.replaced.then(() => null)`, nil)
	o.is(`window.pressed.isConnected ? "there" : "replaced"`, "there")
	release()
	o.is(`document.querySelector('[data-fresh="opening"] details.menu').open ? "open" : "shut"`, "open")
}

// The stream comes back after an answer that is none, and what was not there at first appears.
func TestLiveComesBack(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.refuse.Store(1)
	o.tab.Open(o.base + at("news", "pages", strconv.FormatInt(o.page, 10)))
	o.tab.AwaitText("not connected")
	o.tab.Eval(`new Promise((live) => new MutationObserver(() => document.getElementById("live").textContent === "live" && live())
		.observe(document.getElementById("live"), {childList: true})).then(() => null)`, nil)
	o.visit(o.page, store.VisitRecord{Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 304})
	o.tab.Eval(`new Promise((come) => {
		const look = () => document.querySelector('[data-fresh="visits"] table') && come(null);
		new MutationObserver(look).observe(document.querySelector('[data-fresh="visits"]'), {childList: true});
		look();
	})`, nil)
}
