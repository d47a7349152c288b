//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// web is many hosts, each on a loopback address of its own: at one address, a crawl would
// wait for politeness.per_address. Each is a tree of pages that never change, so first visits
// find new links and later ones get a 304.
type web struct {
	hosts, pages int
	port         string
	server       *http.Server

	visits, visited, overlaps atomic.Int64
	marked, first             atomic.Int64   // the mark and the first visit after it, in Unix nanoseconds
	counts                    []atomic.Int32 // of each page
	busy                      []atomic.Bool  // of each host
}

// branches is the number of new pages to which a page links.
const branches = 8

// serveWeb serves until close.
func serveWeb(ctx context.Context, hosts, pages int) (*web, error) {
	w := &web{hosts: hosts, pages: pages, port: "0", counts: make([]atomic.Int32, hosts*pages), busy: make([]atomic.Bool, hosts)}
	w.server = &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	for host := range hosts {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(addressOf(host), w.port))
		if err == nil {
			_, w.port, err = net.SplitHostPort(listener.Addr().String()) // the first one's is everybody's
			go w.server.Serve(listener)                                  // ends with close
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("serve the web: %w", err), w.close())
		}
	}
	return w, nil
}

// addressOf is the address of a host: 127.1.0.1 and so on.
func addressOf(host int) string { return fmt.Sprintf("127.1.%d.%d", host/250, host%250+1) }

// hostOf is the number of the host with an address; false for other addresses.
func hostOf(address string) (host int, ok bool) {
	addr, err := netip.ParseAddr(address)
	if err != nil || !addr.Is4() {
		return 0, false
	}
	b := addr.As4()
	host = int(b[2])*250 + int(b[3]) - 1
	return host, host >= 0 && addressOf(host) == address
}

func (w *web) close() error { return w.server.Close() }

// url returns the address of a page.
func (w *web) url(host, page int) string {
	return "http://" + net.JoinHostPort(addressOf(host), w.port) + pathOf(page)
}

func pathOf(page int) string {
	if page == 0 {
		return "/"
	}
	return fmt.Sprintf("/p%d", page)
}

// seeds returns the first pages of all hosts.
func (w *web) seeds() []string {
	seeds := make([]string, w.hosts)
	for i := range seeds {
		seeds[i] = w.url(i, 0)
	}
	return seeds
}

// count returns how often a page was requested.
func (w *web) count(host, page int) int32 { return w.counts[host*w.pages+page].Load() }

// mark makes the next visit count as the first since now.
func (w *web) mark() {
	w.marked.Store(time.Now().UnixNano())
	w.first.Store(0)
}

// firstSinceMark returns how long after the mark the first visit came, if it has come.
func (w *web) firstSinceMark() (time.Duration, bool) {
	first := w.first.Load()
	return time.Duration(first - w.marked.Load()), first > 0
}

// ServeHTTP implements http.Handler.
func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	host, page, ok := w.find(r)
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(out, "User-agent: *\nAllow: /\n")
		return
	}
	if !ok {
		http.NotFound(out, r)
		return
	}
	if w.busy[host].Swap(true) {
		w.overlaps.Add(1)
	}
	// The client may go on as soon as it has the answer's last byte, which is sent when
	// this has returned.
	defer w.busy[host].Store(false)
	if w.counts[host*w.pages+page].Add(1) == 1 {
		w.visited.Add(1)
	}
	w.visits.Add(1)
	w.first.CompareAndSwap(0, time.Now().UnixNano())
	out.Header().Set("ETag", `"1"`)
	if r.Header.Get("If-None-Match") == `"1"` {
		out.WriteHeader(http.StatusNotModified)
		return
	}
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(out, w.body(host, page))
}

// find reads the host's and the page's number.
func (w *web) find(r *http.Request) (host, page int, ok bool) {
	name, _, err := net.SplitHostPort(r.Host)
	host, ok = hostOf(name)
	if err != nil || !ok || host >= w.hosts {
		return 0, 0, false
	}
	if r.URL.Path != "/" {
		page, err = strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/p"))
	}
	return host, page, err == nil && page >= 0 && page < w.pages
}

// words are made-up words, the most frequent ones first: as many as a language has in use.
// Among few, texts would share their shingles by chance, which those of the web do not.
var words = func() []string {
	const consonants, vowels = "bcdfghklmnprstvw", "aeiou"
	syllable := func(n int) string {
		return string([]byte{consonants[n%len(consonants)], vowels[n/len(consonants)%len(vowels)]})
	}
	all := make([]string, 20_000)
	for i := range all {
		for n := i; n >= 0; n = n/80 - 1 {
			all[i] += syllable(n % 80)
		}
	}
	return all
}()

// body returns about 3 kB of text that no other page has, with links to the page's children
// and to known pages.
func (w *web) body(host, page int) string {
	rng := rand.New(rand.NewPCG(uint64(host), uint64(page)))
	zipf := rand.NewZipf(rng, 1.1, 2, uint64(len(words)-1))
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><html lang=\"en\"><head><title>Page %d of host %d</title></head><body><nav><a href=\"/\">Home</a></nav><main><h1>Page %d</h1>\n", page, host, page)
	for range 6 {
		b.WriteString("<p>")
		for range 80 {
			b.WriteString(words[zipf.Uint64()])
			b.WriteByte(' ')
		}
		b.WriteString("</p>\n")
	}
	for child := branches*page + 1; child <= min(branches*(page+1), w.pages-1); child++ {
		fmt.Fprintf(&b, "<a href=\"%s\">page %d</a>\n", pathOf(child), child)
	}
	fmt.Fprintf(&b, "<a href=\"%s\">up</a></main></body></html>\n", pathOf(max(0, page-1)/branches))
	return b.String()
}
