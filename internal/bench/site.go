package bench

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// SiteOptions describes a Site.
type SiteOptions struct {
	// Net is the third number of the hosts' addresses, 127.0.NET.1 and so on, 0 to 255: so
	// that sites of one benchmark are different hosts. All of 127.0.0.0/8 is loopback.
	Net int
	// Hosts is the number of hosts, 1 to 250, and Pages the number of pages of each.
	Hosts, Pages int
	// Words is the length of a page's text; 0 means 300.
	Words int
}

// Site is a web on loopback whose hosts have addresses of their own and one port. The
// pages of a host are a tree: page i links to the pages 10i+1 to 10i+10, to its parent and
// to some others, so all are found from page 0. The first page of each host links to those
// of all hosts.
type Site struct {
	o         SiteOptions
	port      string
	servers   []*http.Server
	listening sync.WaitGroup

	// Changing makes each answer a new edition, with another paragraph and the same
	// links.
	Changing atomic.Bool

	seen   []atomic.Bool // by host and page: it was answered
	counts struct{ answered, unchanged, distinct, other atomic.Int64 }
	body   atomic.Int64 // bytes
	latest atomic.Int64 // when a page was first requested, in nanoseconds since 1970
}

// SiteCounts counts a site's answers so far.
type SiteCounts struct {
	Answered  int64 // requests for pages
	Unchanged int64 // of these, with 304
	Distinct  int64 // pages that were requested at least once
	Other     int64 // requests for robots.txt and for missing pages
	Bytes     int64 // of bodies
}

// NewSite returns a site that listens until Close.
func NewSite(ctx context.Context, o SiteOptions) (*Site, error) {
	if o.Words == 0 {
		o.Words = 300
	}
	if o.Hosts < 1 || o.Hosts > 250 || o.Pages < 1 || o.Net < 0 || o.Net > 255 {
		return nil, fmt.Errorf("a site of %d hosts with %d pages on network %d cannot be made", o.Hosts, o.Pages, o.Net)
	}
	s := &Site{o: o, seen: make([]atomic.Bool, o.Hosts*o.Pages)}
	for attempt := 0; ; attempt++ {
		err := s.listen(ctx)
		if err == nil {
			return s, nil
		}
		if err = errors.Join(err, s.Close()); attempt == 5 {
			return nil, fmt.Errorf("serve a site on loopback: %w", err)
		}
	}
}

// listen takes the same port on all addresses: the one that the first gets.
func (s *Site) listen(ctx context.Context) error {
	s.port, s.servers = "0", nil
	for host := range s.o.Hosts {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(s.address(host), s.port))
		if err != nil {
			return err
		}
		if _, s.port, err = net.SplitHostPort(l.Addr().String()); err != nil {
			return errors.Join(err, l.Close())
		}
		server := &http.Server{
			Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, host) }),
			ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		}
		s.servers = append(s.servers, server)
		s.listening.Go(func() { _ = server.Serve(l) }) // ends with Close
	}
	return nil
}

// Close ends all requests and stops listening.
func (s *Site) Close() error {
	var errs []error
	for _, server := range s.servers {
		errs = append(errs, server.Close())
	}
	s.listening.Wait()
	return errors.Join(errs...)
}

// Total returns the number of pages.
func (s *Site) Total() int { return s.o.Hosts * s.o.Pages }

// Addresses returns the addresses of the hosts.
func (s *Site) Addresses() []string {
	all := make([]string, s.o.Hosts)
	for host := range all {
		all[host] = s.address(host)
	}
	return all
}

// Port returns the port of all hosts.
func (s *Site) Port() string { return s.port }

// Seeds returns the first pages of all hosts.
func (s *Site) Seeds() []string {
	all := make([]string, s.o.Hosts)
	for host := range all {
		all[host] = s.url(host, 0)
	}
	return all
}

// Counts returns the answers counted so far.
func (s *Site) Counts() SiteCounts {
	return SiteCounts{
		Answered: s.counts.answered.Load(), Unchanged: s.counts.unchanged.Load(), Distinct: s.counts.distinct.Load(),
		Other: s.counts.other.Load(), Bytes: s.body.Load(),
	}
}

// LastNew returns when a page was last requested for the first time.
func (s *Site) LastNew() time.Time { return time.Unix(0, s.latest.Load()) }

func (s *Site) address(host int) string { return fmt.Sprintf("127.0.%d.%d", s.o.Net, host+1) }

func (s *Site) url(host, page int) string {
	return "http://" + net.JoinHostPort(s.address(host), s.port) + path(page)
}

func path(page int) string {
	if page == 0 {
		return "/"
	}
	return "/p" + strconv.Itoa(page) + ".html"
}

// pageOf returns the page of a path; -1 if there is none.
func (s *Site) pageOf(p string) int {
	if p == "/" {
		return 0
	}
	number, ok := strings.CutPrefix(strings.TrimSuffix(p, ".html"), "/p")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || n >= s.o.Pages || path(n) != p {
		return -1
	}
	return n
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request, host int) {
	page := s.pageOf(r.URL.Path)
	if page < 0 {
		s.counts.other.Add(1)
		http.NotFound(w, r)
		return
	}
	n := s.counts.answered.Add(1)
	if !s.seen[host*s.o.Pages+page].Swap(true) {
		s.counts.distinct.Add(1)
		s.latest.Store(time.Now().UnixNano())
	}
	edition := int64(0)
	if s.Changing.Load() {
		edition = n
	}
	etag := fmt.Sprintf(`"%d-%d-%d"`, host, page, edition)
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		s.counts.unchanged.Add(1)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := s.text(host, page, edition)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	written, _ := io.WriteString(w, body) // a client that hangs up gets no more
	s.body.Add(int64(written))
}

// text returns a page. Each has words of its own, so no two pages are alike. An edition
// rewrites one paragraph of four.
func (s *Site) text(host, page int, edition int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><html lang=en><head><title>Page %d of host %d</title></head><body><main><h1>Page %d of host %d</h1>\n", page, host, page, host)
	for paragraph := range int64(4) {
		shown := int64(0)
		if edition%4 == paragraph {
			shown = edition
		}
		b.WriteString("<p>" + s.words(host, page, paragraph, shown) + ".</p>\n")
	}
	b.WriteString("</main><ul>\n")
	for _, link := range s.links(host, page) {
		fmt.Fprintf(&b, "<li><a href=%q>%s</a></li>\n", link, link)
	}
	b.WriteString("</ul></body></html>\n")
	return b.String()
}

func (s *Site) words(key ...any) string {
	h := fnv.New64a()
	fmt.Fprint(h, key...)
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	words := make([]string, s.o.Words/4)
	for i := range words {
		words[i] = syllables[rng.IntN(len(syllables))] + syllables[rng.IntN(len(syllables))] + syllables[rng.IntN(len(syllables))]
	}
	return strings.Join(words, " ")
}

var syllables = strings.Fields("ba co di fu ge ha ji ko lu me na po qui ra so ti vu we xa yo za bri clo dra fle gru ple sta tro spi")

// links returns a page's links: to its children, its parent, some others of its host, and
// from the first page to the first pages of all hosts.
func (s *Site) links(host, page int) []string {
	var links []string
	for child := 10*page + 1; child <= min(10*page+10, s.o.Pages-1); child++ {
		links = append(links, path(child))
	}
	if page > 0 {
		links = append(links, path((page-1)/10))
	}
	for i := range 5 {
		links = append(links, path((page*7+i*i*31+3)%s.o.Pages))
	}
	if page == 0 {
		for other := range s.o.Hosts {
			links = append(links, s.url(other, 0))
		}
	}
	return links
}
