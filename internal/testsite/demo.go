package testsite

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Hosts of the demo.
const (
	News  = "news.localhost"
	Docs  = "docs.localhost"
	Shop  = "shop.localhost"
	Flaky = "flaky.localhost"
	Busy  = "busy.localhost"
)

// Demo returns the default script: what a crawler meets on the web in months, within two
// minutes.
func Demo() []Host {
	return []Host{news(), docs(), shop(), flaky(), busy()}
}

// news changes quickly, in text and in decor, and has forbidden pages.
func news() Host {
	h := Host{Name: News, Robots: Robots{Disallow: []string{"/private/"}, Sitemap: true, Dates: TrueDates}, Pages: []Page{
		{Path: "/", Title: "News", Text: Every(10 * time.Second), ETag: true, LastModified: true},
		{Path: "/ticker", Title: "Ticker", Text: Every(2 * time.Second)},
		{Path: "/live", Title: "Live", Text: Every(5 * time.Second), ETag: true},
		{Path: "/markets", Title: "Markets", Text: Poisson(5 * time.Second), ETag: true},
		{Path: "/sport", Title: "Sport", Text: Poisson(15 * time.Second)},
		{Path: "/weather", Title: "Weather", Text: Every(15 * time.Second), ETag: true, LastModified: true},
		{Path: "/opinion", Title: "Opinion", Text: Every(time.Minute), ETag: true, LastModified: true},
		{Path: "/stories/", Title: "Stories", Text: Every(12 * time.Second), Hub: true, ETag: true},
		{Path: "/about", Title: "About us", ETag: true, LastModified: true, Links: []string{"/imprint", "//docs.localhost/glossary"}},
		{Path: "/imprint", Title: "Imprint", LastModified: true, Links: []string{"/about"}},
		{Path: "/archive/1975", Title: "The year 1975", ETag: true, LastModified: true, Links: []string{"/archive/1976"}},
		{Path: "/archive/1976", Title: "The year 1976", ETag: true, LastModified: true, Links: []string{"/archive/1975"}},
		{Path: "/clock", Title: "A page with a clock", Decor: Decor{Footer, Every(3 * time.Second)}},
		{Path: "/sponsored", Title: "A page with advertisements", Decor: Decor{Advert, Every(4 * time.Second)}, ETag: true},
		{Path: "/layout", Title: "A page that is laid out again", Decor: Decor{WhiteSpace, Every(6 * time.Second)}, ETag: true},
		{Path: "/partner", Title: "Our partner", Redirect: Redirect{http.StatusFound, "//docs.localhost/guide/install"}},
		{Path: "/private/drafts", Title: "Drafts", Text: Every(5 * time.Second)},
	}}
	h = linked(h)
	h.Pages = append(h.Pages, Page{Path: "/archive/1974", Title: "The year 1974, known to the sitemap only", ETag: true, LastModified: true})
	return h
}

// docs hardly changes, asks for a Crawl-delay, and has moved more than once.
func docs() Host {
	guide := []string{"/guide/", "/guide/install", "/guide/configure", "/guide/operate", "/glossary"}
	return linked(Host{Name: Docs, Robots: Robots{CrawlDelay: time.Second}, Pages: []Page{
		{Path: "/", Title: "Documentation", ETag: true, LastModified: true},
		{Path: "/guide/", Title: "Guide", ETag: true, LastModified: true, Links: guide},
		{Path: "/guide/install", Title: "Install", ETag: true, LastModified: true, Links: guide},
		{Path: "/guide/configure", Title: "Configure", ETag: true, LastModified: true, Links: guide},
		{Path: "/guide/operate", Title: "Operate", ETag: true, LastModified: true, Links: guide},
		{Path: "/glossary", Title: "Glossary", LastModified: true},
		{Path: "/changelog", Title: "Change log", Text: Every(time.Minute), ETag: true},
		{Path: "/roadmap", Title: "Road map", Text: Poisson(30 * time.Second), ETag: true},
		{Path: "/based/", Title: "A page with a base", Base: "/guide/", Links: []string{"install", "configure"}, ETag: true},
		{Path: "/old/install", Title: "Install", Redirect: Redirect{http.StatusMovedPermanently, "/guide/install"}},
		{Path: "/chain/1", Title: "Moved", Redirect: Redirect{http.StatusMovedPermanently, "/chain/2"}},
		{Path: "/chain/2", Title: "Moved", Redirect: Redirect{http.StatusFound, "/chain/3"}},
		{Path: "/chain/3", Title: "Moved", Redirect: Redirect{http.StatusPermanentRedirect, "/guide/operate"}},
	}})
}

// shop has no robots.txt, goods that come and go, and files that are no pages.
func shop() Host {
	return linked(Host{Name: Shop, Robots: Robots{Missing: true}, Pages: []Page{
		{Path: "/", Title: "Shop", Text: Every(30 * time.Second), ETag: true, LastModified: true},
		{Path: "/lamp", Title: "Lamp", Text: Every(15 * time.Second), ETag: true, Links: []string{"/chair", "/table"}},
		{Path: "/chair", Title: "Chair", Text: Poisson(20 * time.Second), ETag: true, Links: []string{"/lamp", "/table"}},
		{Path: "/table", Title: "Table", ETag: true, LastModified: true, Links: []string{"/lamp", "/chair"}},
		{Path: "/offer", Title: "Offer of the day", ETag: true, Troubles: []Trouble{
			{Window: Window{From: 40 * time.Second}, Status: http.StatusGone},
		}},
		{Path: "/umbrella", Title: "Umbrella", ETag: true, Troubles: []Trouble{
			{Window: Window{From: 30 * time.Second, For: 20 * time.Second}, Status: http.StatusNotFound},
		}},
		{Path: "/stock", Title: "Stock", Text: Every(30 * time.Second), Slow: 2 * time.Second},
		{Path: "/manual.pdf", Title: "Manual", Type: "application/pdf", ETag: true},
		{Path: "/catalogue", Title: "Catalogue", Size: 1 << 20, ETag: true},
		{Path: "/dump", Title: "Everything", Size: 12 << 20, ETag: true},
		{Path: "/loop/a", Title: "Loop", Redirect: Redirect{http.StatusFound, "/loop/b"}},
		{Path: "/loop/b", Title: "Loop", Redirect: Redirect{http.StatusFound, "/loop/a"}},
	}})
}

// flaky fails, and mostly recovers.
func flaky() Host {
	return linked(Host{Name: Flaky, Pages: []Page{
		{Path: "/", Title: "Flaky", ETag: true, LastModified: true},
		{Path: "/steady", Title: "Steady", Text: Every(10 * time.Second), ETag: true},
		{Path: "/recovering", Title: "Recovering", Text: Every(15 * time.Second), Troubles: []Trouble{
			{Window: Window{From: 20 * time.Second, For: 20 * time.Second, Every: 2 * time.Minute}, Status: http.StatusInternalServerError},
		}},
		{Path: "/hiccup", Title: "Hiccup", Text: Every(10 * time.Second), Troubles: []Trouble{
			{Window: Window{From: 10 * time.Second, For: 5 * time.Second, Every: 30 * time.Second}, Status: http.StatusBadGateway},
		}},
		{Path: "/broken", Title: "Broken", Troubles: []Trouble{{Status: http.StatusInternalServerError}}},
	}})
}

// busy throttles everybody from time to time and says for how long.
func busy() Host {
	h := Host{Name: Busy, Troubles: []Trouble{
		{Window{From: 25 * time.Second, For: 10 * time.Second, Every: time.Minute}, http.StatusTooManyRequests, 12 * time.Second},
		{Window{From: 70 * time.Second, For: 5 * time.Second, Every: 2 * time.Minute}, http.StatusServiceUnavailable, 7 * time.Second},
	}, Pages: []Page{{Path: "/", Title: "Busy", Text: Every(20 * time.Second), ETag: true}}}
	for i, seconds := range []time.Duration{3, 4, 6, 8, 12} {
		h.Pages = append(h.Pages, Page{Path: fmt.Sprintf("/desk/%d", i+1), Title: fmt.Sprintf("Desk %d", i+1), Text: Every(seconds * time.Second)})
	}
	return linked(h)
}

// linked adds links from the host's first page to all others.
func linked(h Host) Host {
	h.Pages = slices.Clone(h.Pages)
	for _, p := range h.Pages[1:] {
		h.Pages[0].Links = append(h.Pages[0].Links, p.Path)
	}
	return h
}
