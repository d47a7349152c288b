package testsite

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Clock tells the site the time and lets slow pages wait.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

type realClock struct{}

func (realClock) Now() time.Time                         { return time.Now() }
func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Options of a Site. The zero value plays the demo from now on.
type Options struct {
	// Seed chooses texts, phases and random times.
	Seed uint64
	// Start is when the script starts; zero is now. A site that continues an
	// earlier one takes its seed and its start.
	Start time.Time
	// Clock is by default the real one.
	Clock Clock
	// Hosts is the script, by default Demo().
	Hosts []Host
	// MaxLog is the least number of requests that the log keeps, by default 100 000.
	MaxLog int
}

// Site is a scripted web. It may be used from any goroutine.
type Site struct {
	seed  uint64
	start time.Time
	clock Clock
	hosts []*host
	log   *journal

	server *http.Server
	port   string
}

// host is a host while it is played.
type host struct {
	Host
	pages map[string]*page
	hubs  []*page
}

// New returns a site that does not listen yet. It panics on a script that
// contradicts itself.
func New(o Options) *Site {
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	if o.Start.IsZero() {
		o.Start = o.Clock.Now()
	}
	if o.Hosts == nil {
		o.Hosts = Demo()
	}
	if o.MaxLog <= 0 {
		o.MaxLog = 100_000
	}
	check(o.Hosts)
	s := &Site{seed: o.Seed, start: o.Start, clock: o.Clock, log: &journal{limit: o.MaxLog, now: o.Clock.Now}}
	for _, h := range o.Hosts {
		s.hosts = append(s.hosts, newHost(o.Seed, h))
	}
	s.server = quietServer(s)
	return s
}

func newHost(seed uint64, script Host) *host {
	h := &host{Host: script, pages: map[string]*page{}}
	for _, p := range script.Pages {
		played := newPage(seed, script.Name, p)
		h.pages[p.Path] = played
		if p.Hub {
			h.hubs = append(h.hubs, played)
		}
	}
	return h
}

// Start listens on a loopback address ("127.0.0.1:0" takes any free port) and
// serves until Close.
func (s *Site) Start(ctx context.Context, address string) error {
	listener, port, err := listenLoopback(ctx, address)
	if err != nil {
		return err
	}
	s.port = port
	go s.server.Serve(listener) // ends with Close
	return nil
}

// Close ends all requests and stops listening.
func (s *Site) Close() error { return s.server.Close() }

// StartedAt returns when the script started.
func (s *Site) StartedAt() time.Time { return s.start }

// URL returns the address of a host's first page ("http://news.localhost:8080/"). Call it
// after Start, which finds the port.
func (s *Site) URL(host string) string { return origin(host, s.port) + "/" }

// Seeds returns the addresses from which to crawl the whole site.
func (s *Site) Seeds() []string {
	var seeds []string
	for _, h := range s.hosts {
		seeds = append(seeds, s.URL(h.Name))
	}
	return seeds
}

// Script returns the script of a page that exists by now.
func (s *Site) Script(host, path string) (Page, bool) {
	p, ok := s.find(host, path)
	if !ok {
		return Page{}, false
	}
	return p.Page, true
}

// Hosts returns the script of all hosts.
func (s *Site) Hosts() []Host {
	var hosts []Host
	for _, h := range s.hosts {
		hosts = append(hosts, h.Host)
	}
	return hosts
}

// Truth returns when a page's main text changed, up to now, whether or not it could be
// seen: the i-th time is when edition i+1 appeared.
func (s *Site) Truth(host, path string) []time.Time {
	p, ok := s.find(host, path)
	if !ok {
		return nil
	}
	var times []time.Time
	for _, at := range p.text.until(s.elapsed()) {
		times = append(times, s.start.Add(at))
	}
	return times
}

// Log returns the requests so far in the order of their begin, those that still
// run included.
func (s *Site) Log() []Request { return s.log.requests() }

func (s *Site) elapsed() time.Duration { return s.clock.Now().Sub(s.start) }

func (s *Site) find(name, path string) (*page, bool) {
	h, ok := s.host(name)
	if !ok {
		return nil, false
	}
	return h.find(path, s.elapsed())
}

func (s *Site) host(name string) (*host, bool) {
	for _, h := range s.hosts {
		if h.Name == name {
			return h, true
		}
	}
	return nil, false
}

// find returns the page of a path, if it exists by now.
func (h *host) find(path string, elapsed time.Duration) (*page, bool) {
	if p, ok := h.pages[path]; ok {
		return p, true
	}
	for _, hub := range h.hubs {
		if number, ok := strings.CutPrefix(path, hub.Path); ok {
			return hub.child(number, elapsed)
		}
	}
	return nil, false
}
