package testsite

import (
	"net/http"
	"slices"
	"strings"
)

// Unkept is a word of every page that asks, in an unusual way, not to be kept.
const Unkept = "keepmenot"

// OrdersHost is the host whose pages ask, in unusual ways, not to be kept or followed.
// Links that nobody may follow lead below /unfollowed/.
const OrdersHost = "orders"

// order is a way in which a page says what a crawler may do with it.
type order struct {
	path   string
	header []string // X-Robots-Tag
	head   string   // within <head>
}

var orders = []order{
	{path: "/twentieth-header", header: append(slices.Repeat([]string{"all"}, 19), "noindex")},
	{path: "/late-in-a-header", header: []string{strings.Repeat("max-snippet: 50, ", 60) + "noindex"}},
	{path: "/last-of-4000", header: append(slices.Repeat([]string{"all"}, 1999), "noindex")},
	{path: "/semicolon", header: []string{"noindex;nofollow"}},
	{path: "/bar", header: []string{"noindex|nofollow"}},
	{path: "/colon", header: []string{"index: false, noindex"}},
	{path: "/two-names", head: `<meta name="robots,recrawl" content="noindex">`},
	{path: "/meta-semicolon", head: `<meta name="robots" content="noindex;nofollow">`},
}

// orderAttacks returns hosts that ask to be left alone in ways that are easily missed.
func orderAttacks() []Attack {
	return []Attack{{Name: OrdersHost, Handler: withoutRobots(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := slices.IndexFunc(orders, func(o order) bool { return o.path == r.URL.Path })
		if i < 0 {
			writePage(w, r, "", OrderPaths()...)
			w.Write([]byte(`<a rel="nofollow,noopener" href="/unfollowed/list">x</a><a rel="noopener;ugc" href="/unfollowed/semicolon">x</a>`))
			return
		}
		w.Header()["X-Robots-Tag"] = orders[i].header
		writePage(w, r, orders[i].head+"<meta name=description content="+Unkept+">")
		w.Write([]byte("<p>" + Unkept + "</p>"))
	}))}}
}

// OrderPaths returns the paths of the pages that ask not to be kept.
func OrderPaths() []string {
	var links []string
	for _, o := range orders {
		links = append(links, o.path)
	}
	return links
}
