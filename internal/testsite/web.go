package testsite

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Web describes a web to generate: pages that never change, and links that prefer pages
// with many links, so that few pages have most of the links, as on the web.
type Web struct {
	Seed  uint64
	Hosts int
	Pages int // at least one for each host
	// Links is the average number of links of a page, besides one to each of its children,
	// and one to the first page of its host.
	Links int
}

// Generated returns the script of a web, which follows from w alone. Every page can be
// reached from the first page of its host.
func Generated(w Web) []Host {
	g := webMaker{rng: rngOf(w.Seed, "web"), pages: make([]int, 0, w.Pages)}
	for h := range w.Hosts {
		g.hosts = append(g.hosts, Host{Name: fmt.Sprintf("site%d.localhost", h+1)})
		g.add(h, "/")
	}
	for n := w.Hosts; n < w.Pages; n++ {
		// The first hosts are the largest.
		h := int(float64(w.Hosts)*g.rng.Float64()*g.rng.Float64()) % w.Hosts
		pages := g.hosts[h].Pages
		parent := &pages[g.rng.IntN(len(pages))]
		path := fmt.Sprintf("%s%d/", parent.Path, len(pages))
		if len(path) > 60 {
			path = fmt.Sprintf("/%d/", len(pages))
		}
		parent.Links = append(parent.Links, path)
		g.add(h, path)
	}
	for range w.Pages * w.Links {
		g.link()
	}
	return g.hosts
}

// webMaker makes a web.
type webMaker struct {
	rng   *rand.Rand
	hosts []Host
	pages []int    // hosts of all pages, in the order in which they were made
	at    []int    // and their indices in their hosts
	drawn [][2]int // targets of all links so far: host and index
	known map[string]bool
}

func (g *webMaker) add(host int, path string) {
	at := len(g.hosts[host].Pages)
	g.hosts[host].Pages = append(g.hosts[host].Pages, Page{Path: path, Title: fmt.Sprintf("Page %d", len(g.pages)+1), ETag: true})
	g.pages, g.at = append(g.pages, host), append(g.at, at)
}

// link adds a link from any page: mostly to the target of an earlier one, and mostly within
// its host.
func (g *webMaker) link() {
	from := g.rng.IntN(len(g.pages))
	host, page := g.pages[from], &g.hosts[g.pages[from]].Pages[g.at[from]]
	to := g.target()
	for try := 0; to[0] != host && try < 20 && g.rng.IntN(10) < 7; try++ {
		to = g.target()
	}
	g.drawn = append(g.drawn, to)
	href := g.hosts[to[0]].Pages[to[1]].Path
	if to[0] != host {
		href = "//" + g.hosts[to[0]].Name + href
	}
	key := fmt.Sprint(from, href)
	if g.known == nil {
		g.known = map[string]bool{}
	}
	if href == page.Path || g.known[key] {
		return
	}
	g.known[key] = true
	page.Links = append(page.Links, href)
}

// target draws where a link leads.
func (g *webMaker) target() [2]int {
	if len(g.drawn) > 0 && g.rng.IntN(10) < 6 {
		return g.drawn[g.rng.IntN(len(g.drawn))]
	}
	n := g.rng.IntN(len(g.pages))
	return [2]int{g.pages[n], g.at[n]}
}

// Outlinks returns all links of a page of a host as "//host/path", with the one to the
// first page of the host that every page has; a link that is there twice is listed twice.
func Outlinks(h Host, p Page) []string {
	links := []string{"//" + h.Name + "/"}
	for _, link := range p.Links {
		if !strings.HasPrefix(link, "//") {
			link = "//" + h.Name + link
		}
		links = append(links, link)
	}
	return links
}
