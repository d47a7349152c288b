package testsite

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
)

// ServeHTTP answers by the name in the Host header.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, port := splitHost(r.Host)
	w.Header().Set("Date", s.clock.Now().UTC().Format(http.TimeFormat))
	if isAdmin(name) {
		s.serveAdmin(w, r, port)
		return
	}
	h, ok := s.host(name)
	if !ok {
		http.Error(w, fmt.Sprintf("There is no host %q here; see %s/", name, origin(AdminHost, port)), http.StatusMisdirectedRequest)
		return
	}
	a := &answer{ResponseWriter: w, now: s.clock.Now}
	entry := s.log.begin(requestOf(r, h))
	defer func() { s.log.end(entry, a, r.Context().Err() != nil) }()
	s.answer(a, r, h, port)
}

// splitHost parts a Host header into name and port.
func splitHost(hostPort string) (name, port string) {
	name, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		name, port = hostPort, ""
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), port
}

func requestOf(r *http.Request, h *host) Request {
	return Request{
		Host: h.Name, Path: r.URL.RequestURI(), UserAgent: r.UserAgent(),
		IfNoneMatch: r.Header.Get("If-None-Match"), IfModifiedSince: r.Header.Get("If-Modified-Since"),
		Forbidden:  h.Robots.forbids(r.URL.Path),
		CrawlDelay: crawl.Duration(h.Robots.CrawlDelay),
	}
}

// answer is a response that remembers what the log records.
type answer struct {
	http.ResponseWriter
	now        func() time.Time
	status     int
	retryAfter time.Duration
	edition    int
	// lastWrite is when the last piece of the body was about to be handed over. No client
	// can have seen the end before that, though it can before the handler returns.
	lastWrite time.Time
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.lastWrite = a.now()
	return a.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// answer plays the script of a host.
func (s *Site) answer(a *answer, r *http.Request, h *host, port string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		a.Header().Set("Allow", "GET, HEAD")
		http.Error(a, "There is nothing here but to read.", http.StatusMethodNotAllowed)
		return
	}
	if t, ok := troubleAt(h.Troubles, s.elapsed()); ok {
		a.trouble(t)
		return
	}
	switch path := r.URL.Path; {
	case path == robotsPath && !h.Robots.Missing:
		a.text("text/plain; charset=utf-8", h.Robots.text(origin(h.Name, port)))
	case path == sitemapPath && h.Robots.Sitemap:
		a.text("application/xml", s.sitemap(h, port))
	default:
		s.answerPage(a, r, h, port)
	}
}

func (s *Site) answerPage(a *answer, r *http.Request, h *host, port string) {
	p, ok := h.find(r.URL.Path, s.elapsed())
	if !ok {
		http.NotFound(a, r)
		return
	}
	if !s.pause(r.Context(), p.Slow) {
		return // the client has gone, and nothing was answered
	}
	elapsed := s.elapsed()
	if t, ok := troubleAt(p.Troubles, elapsed); ok {
		a.trouble(t)
		return
	}
	if p.Redirect.Status != 0 {
		a.Header().Set("Location", absolute(p.Redirect.To, port))
		a.WriteHeader(p.Redirect.Status)
		return
	}
	s.answerContent(a, r, p.at(elapsed), port)
}

// answerContent leaves validators and ranges to net/http.
func (s *Site) answerContent(a *answer, r *http.Request, at state, port string) {
	a.edition = at.edition
	at.setHeader(a.Header())
	var modified time.Time // zero: no Last-Modified
	if at.LastModified {
		modified = s.start.Add(at.changed)
	}
	http.ServeContent(a, r, "", modified, bytes.NewReader(at.body(port)))
}

// pause waits, unless the client goes away.
func (s *Site) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-s.clock.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (a *answer) trouble(t Trouble) {
	if t.RetryAfter > 0 {
		seconds := wholeSeconds(t.RetryAfter)
		a.retryAfter = time.Duration(seconds) * time.Second
		a.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	if t.Status == http.StatusOK {
		a.text("text/html; charset=utf-8", softError)
		return
	}
	http.Error(a, http.StatusText(t.Status), t.Status)
}

// softError is the page of an error that hides behind a 200.
const softError = `<!doctype html><title>Page not found</title><main><h1>Page not found</h1><p>Nothing of that name is here.</main>`

func (a *answer) text(mediaType, body string) {
	a.Header().Set("Content-Type", mediaType)
	a.Header().Set("Content-Length", strconv.Itoa(len(body)))
	a.Write([]byte(body))
}

func (s *Site) sitemap(h *host, port string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for i, p := range h.Pages {
		if !h.Robots.forbids(p.Path) {
			fmt.Fprintf(&b, "<url><loc>%s%s</loc>%s</url>\n", origin(h.Name, port), p.Path, s.lastmod(h, i))
		}
	}
	b.WriteString("</urlset>\n")
	return b.String()
}

// lastmod returns the sitemap's date for the i-th page of a host.
func (s *Site) lastmod(h *host, i int) string {
	elapsed := s.elapsed()
	changed := h.pages[h.Pages[i].Path].at(elapsed).changed
	switch h.Robots.Dates {
	case NoDates:
		return ""
	case NowDates:
		changed = elapsed
	case SlyDates:
		if i%2 == 1 {
			changed = elapsed - time.Duration(i)*time.Millisecond
		}
	}
	return "<lastmod>" + s.start.Add(changed).UTC().Format("2006-01-02T15:04:05.000Z07:00") + "</lastmod>"
}
