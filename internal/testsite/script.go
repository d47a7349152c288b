package testsite

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Host is the script of one host.
type Host struct {
	// Name is under localhost: "news.localhost".
	Name   string
	Robots Robots
	// Troubles come over every path of the host, robots.txt included.
	Troubles []Trouble
	// Pages of the host; by custom the first is "/", and links to the others.
	Pages []Page
}

// Robots holds a host's robots.txt rules for everybody.
type Robots struct {
	// Missing: there is none, it answers 404.
	Missing bool
	// Disallow are path prefixes.
	Disallow []string
	// CrawlDelay is written in whole seconds; 0 means none.
	CrawlDelay time.Duration
	// Sitemap: it names /sitemap.xml, which lists all pages.
	Sitemap bool
	// Dates says which dates of change the sitemap gives.
	Dates Dates
}

// Dates are the dates of a sitemap.
type Dates string

// The dates of sitemaps.
const (
	NoDates   Dates = ""
	TrueDates Dates = "true"       // when the bytes of the page changed last
	NowDates  Dates = "always now" // the time of the request, as some programs write it
	SlyDates  Dates = "half lies"  // true for every other page; the rest has just changed
)

// Page is the script of one page. Its zero value, with a Path, is a page that never changes
// and has no validators.
type Page struct {
	Path, Title string
	// Text is the rate at which the main text changes. Each change makes a new edition,
	// which differs from all others.
	Text Rate
	// Wordings, if set, is the number of editions: after the last the first returns.
	Wordings int
	// Hub: each edition links to a new page below Path, which is named by its
	// number and never changes. Path ends in a slash.
	Hub bool
	// Decor is a part that changes and is not main text.
	Decor Decor
	// ETag and LastModified: the page has the validator, and answers 304 by it.
	ETag, LastModified bool
	// Links are paths, "//host/path" for another host.
	Links []string
	// Base is the page's base href, if any.
	Base string
	// Redirect, if it has a Status, is the page's only answer.
	Redirect Redirect
	// Troubles of this page; the first that holds is answered.
	Troubles []Trouble
	// Slow is how long the page takes to answer.
	Slow time.Duration
	// Type is the media type, by default HTML.
	Type string
	// Size in bytes that the page has at least.
	Size int
}

// Decor is a part of a page that changes while the main text stays.
type Decor struct {
	Place Place
	Rate  Rate
}

// Place is where a Decor is.
type Place string

// Places of decor.
const (
	Footer     Place = "footer"      // a time stamp in the footer
	Advert     Place = "advert"      // an advertisement beside the text
	WhiteSpace Place = "white space" // between the elements
)

// Redirect sends to another page.
type Redirect struct {
	Status int
	To     string // as Page.Links
}

// Trouble answers with a status other than 200 while its window is open, or with 200 and a
// page that says that it was not found, as sites do that hide their errors.
type Trouble struct {
	Window
	Status int
	// RetryAfter, if any, is sent in whole seconds.
	RetryAfter time.Duration
}

// Window is a span of time since the start of the site.
type Window struct {
	// From is when it opens.
	From time.Duration
	// For is how long it stays open, 0 for ever.
	For time.Duration
	// Every, if set, opens it again and again; it is longer than For.
	Every time.Duration
}

// open reports whether the window is open; it shuts at its end.
func (w Window) open(elapsed time.Duration) bool {
	since := elapsed - w.From
	if since < 0 {
		return false
	}
	if w.Every > 0 {
		since %= w.Every
	}
	return w.For == 0 || since < w.For
}

// troubleAt returns the first trouble that holds.
func troubleAt(troubles []Trouble, elapsed time.Duration) (Trouble, bool) {
	i := slices.IndexFunc(troubles, func(t Trouble) bool { return t.open(elapsed) })
	if i < 0 {
		return Trouble{}, false
	}
	return troubles[i], true
}

const (
	robotsPath  = "/robots.txt"
	sitemapPath = "/sitemap.xml"
)

// forbids reports whether a path may not be requested.
func (r Robots) forbids(path string) bool {
	return !r.Missing && path != robotsPath && slices.ContainsFunc(r.Disallow, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// text returns the robots.txt of a host.
func (r Robots) text(origin string) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for _, prefix := range r.Disallow {
		fmt.Fprintf(&b, "Disallow: %s\n", prefix)
	}
	if len(r.Disallow) == 0 {
		b.WriteString("Disallow:\n")
	}
	if r.CrawlDelay > 0 {
		fmt.Fprintf(&b, "Crawl-delay: %d\n", wholeSeconds(r.CrawlDelay))
	}
	if r.Sitemap {
		fmt.Fprintf(&b, "\nSitemap: %s%s\n", origin, sitemapPath)
	}
	return b.String()
}

// wholeSeconds rounds up: the headers that take seconds must not promise less.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// check panics on a script that cannot be played: it is part of a program.
func check(hosts []Host) {
	names := map[string]bool{AdminHost: true}
	for _, h := range hosts {
		if names[h.Name] || !strings.HasSuffix(h.Name, ".localhost") {
			panic(fmt.Sprintf("testsite: host %q is not under localhost, or taken", h.Name))
		}
		names[h.Name] = true
		paths := map[string]bool{robotsPath: true, sitemapPath: h.Robots.Sitemap}
		for _, p := range h.Pages {
			if paths[p.Path] || !strings.HasPrefix(p.Path, "/") || p.Hub && !strings.HasSuffix(p.Path, "/") {
				panic(fmt.Sprintf("testsite: path %q of %s is no path of a page, or taken", p.Path, h.Name))
			}
			paths[p.Path] = true
		}
	}
}
