package web

import (
	"context"
	"net/http"
	"time"
)

// view is one address that answers a question.
type view struct {
	// pattern is that of net/http's ServeMux, without the method: "/crawls/{crawl}/hosts".
	pattern string
	// template is the file in templates that shows the answer.
	template string
	answer   func(ctx context.Context, s *Server, r *http.Request) (answer, error)
	// limit is how long the answer may take, if not answerLimit.
	limit time.Duration
}

// answer is the answer of a view.
type answer struct {
	// Title is that of the page; the site's name is added.
	Title string
	// Crawl is the crawl that the page is about, marked in the navigation; "" for none.
	Crawl string
	// Now is the store's time, relative to which times are shown ("3h ago"); zero means
	// this machine's.
	Now time.Time
	// Data is the answer itself, for JSON and as .Data for the template.
	Data any
	// To is the address to which people are redirected instead, "" for none.
	To string
	// More holds the parts that only people see, as .More: words, drawings, forms.
	More any
}

// list is a part of a longer list in JSON.
type list[T any] struct {
	V     int `json:"v"` // the version of the objects
	Items []T `json:"items"`
	// Next is the address of the next part, null if there is none.
	Next *string `json:"next"`
}

// apiVersion is the version of the objects that programs get. It is raised when one of their
// fields changes its meaning or its type, or is removed.
const apiVersion = 1

// views returns all addresses that answer questions.
func views() []view {
	return []view{
		{pattern: "/{$}", template: "crawls.html", answer: crawlsView},
		{pattern: "/crawls/{crawl}", template: "crawl.html", answer: crawlView},
		{pattern: "/crawls/{crawl}/changes", template: "changes.html", answer: changesView},
		{pattern: "/crawls/{crawl}/pages", template: "pages.html", answer: pagesView},
		{pattern: "/crawls/{crawl}/search", template: "search.html", answer: searchView},
		{pattern: "/crawls/{crawl}/url", template: "url.html", answer: urlView},
		{pattern: "/crawls/{crawl}/hosts", template: "hosts.html", answer: hostsView},
		{pattern: "/crawls/{crawl}/hosts/{host}", template: "host.html", answer: hostView},
		{pattern: "/crawls/{crawl}/rejected", template: "rejected.html", answer: rejectedView},
		{pattern: "/crawls/{crawl}/traps", template: "traps.html", answer: trapsView},
		{pattern: "/crawls/{crawl}/duplicates", template: "duplicates.html", answer: duplicatesView},
		{pattern: "/crawls/{crawl}/sources", template: "sources.html", answer: sourcesView},
		{pattern: "/crawls/{crawl}/sinks", template: "sinks.html", answer: sinksView},
		{pattern: "/crawls/{crawl}/sinks/{sink}/failed", template: "failed.html", answer: failedView},
		{pattern: "/crawls/{crawl}/forecast", template: "forecast.html", answer: forecastView},
		{pattern: "/crawls/{crawl}/hosts/{host}/evidence", template: "evidence.html", answer: evidenceView, limit: countLimit},
		{pattern: "/crawls/{crawl}/pages/{page}", template: "page.html", answer: pageView},
		{pattern: "/crawls/{crawl}/pages/{page}/visits", template: "page_visits.html", answer: visitsView},
		{pattern: "/crawls/{crawl}/pages/{page}/versions", template: "page_versions.html", answer: versionsView},
		{pattern: "/crawls/{crawl}/pages/{page}/versions/{seq}", template: "page_version.html", answer: versionView},
		{pattern: "/crawls/{crawl}/pages/{page}/read", template: "page_read.html", answer: readView},
		{pattern: "/crawls/{crawl}/pages/{page}/diff", template: "page_diff.html", answer: diffView},
		{pattern: "/crawls/{crawl}/pages/{page}/duplicates", template: "page_duplicates.html", answer: copiesView},
		{pattern: "/crawls/{crawl}/pages/{page}/backlinks", template: "page_backlinks.html", answer: backlinksView},
	}
}
