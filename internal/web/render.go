package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
)

// pages are the templates by the names of their files.
type pages map[string]*template.Template

// layout is the template around all pages. It shows the block "main" of each.
const layout = "layout.html"

// parsePages reads all templates. Each page is layout.html with the blocks that its own file
// and those in parts/ define.
func parsePages() pages {
	all := pages{}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		if path.Base(name) == layout {
			continue
		}
		t := template.New(layout).Funcs(functions()).Funcs(pageFunctions())
		all[path.Base(name)] = template.Must(t.ParseFS(files, "templates/"+layout, "templates/parts/*.html", name))
	}
	return all
}

// functions returns the functions that templates may call.
func functions() template.FuncMap {
	return template.FuncMap{
		"at":      func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"path":    segment,
		"time":    timeElement,
		"count":   count,
		"clean":   func(limit int, text string) string { return crawl.Clean(text, limit) },
		"pagesOf": pagesOf,
		"percent": report.Percent,
		"sum":     func(a, b int) int { return a + b },
		"inDays":  inDays,
		"press":   press,
		"upper":   upperFirst,
		"asset":   asset,
		"styles":  styles,
		// inTime adds the time relative to which a change's times are shown.
		"inTime":   func(c change, now time.Time) shownChange { return shownChange{c, now} },
		"sentence": sentence,
		"json":     jsonAddress,
		"release":  releaseButton,
		"utc":      func(t any) string { return asTime(t).UTC().Format("2006-01-02 15:04:05") },
		"rounded":  func(d *crawl.Duration) string { return polite.Rounded(d.Std()) },
		"visible":  func(text string) string { return strings.Map(crawl.Visible, text) },
		"rough":    func(d any) string { return schedule.Rough(asDuration(d)) },
	}
}

// shown is the data that templates see.
type shown struct {
	answer
	// Said says what the last button did, "" if none was pressed.
	Said string
	// Path is the page's own address, for forms to come back to. After a button that was
	// not carried out it is where the button was pressed.
	Path string
	// Pressed says that a button led here.
	Pressed bool
	// Section is the part of the crawl to which the page belongs: "pages" below
	// /crawls/NAME/pages, "" on the crawl's own page.
	Section  string
	ReadOnly bool
	// LogIn is the address where a reader gets the buttons for another token, "" if there is none.
	LogIn string
	// Here says that the reader is at this machine, and lives by its clock.
	Here bool
	// JSON says that programs can get the same answer.
	JSON bool
}

// Sections returns the parts of a crawl, for the navigation.
func (shown) Sections() []section {
	return []section{
		{"", "Overview"},
		{"search", "Search"},
		{"changes", "Changes"},
		{"pages", "Pages"},
		{"hosts", "Hosts"},
		{"sources", "Sources"},
		{"duplicates", "Duplicates"},
		{"rejected", "Rejected"},
		{"traps", "Traps"},
		{"sinks", "Sinks"},
		{"forecast", "Forecast"},
	}
}

// section is a part of a crawl: its path below the crawl's address, and its name.
type section struct{ Path, Name string }

// sectionOf returns the part of a crawl to which an address belongs.
func sectionOf(path string) string {
	parts := strings.Split(path, "/") // "", "crawls", NAME, SECTION
	if len(parts) < 4 || parts[1] != "crawls" {
		return ""
	}
	return parts[3]
}

// writePage shows an answer as a page.
func (s *Server) writePage(w http.ResponseWriter, r *http.Request, status int, name string, a answer) {
	var page bytes.Buffer
	if a.Now.IsZero() {
		a.Now = time.Now()
	}
	in := shown{
		answer: a, Said: s.said(w, r), Path: r.URL.RequestURI(), Pressed: r.Method == http.MethodPost, Section: sectionOf(r.URL.EscapedPath()),
		ReadOnly: s.Commands == nil || readOnly(r.Context()), Here: atThisMachine(r), JSON: status == http.StatusOK && r.URL.Path != loginPath,
	}
	if in.Pressed || r.URL.Path == loginPath {
		in.Path = back(r)
	}
	if s.Commands != nil && s.Guard.Token != "" && readOnly(r.Context()) {
		in.LogIn = loginPath + "?" + url.Values{backField: {in.Path}}.Encode()
	}
	if err := s.pages[name].ExecuteTemplate(&page, layout, in); err != nil {
		s.Log.Error("the page cannot be shown", "path", r.URL.Path, "error", err)
		http.Error(w, "the page cannot be shown; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // an error means that the reader has gone
}

// atThisMachine reports whether a request came by loopback. By its own word alone it cannot
// be known: a container is asked as localhost too.
func atThisMachine(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return false
	}
	to, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return to != nil && to.IP.IsLoopback()
}

// writeJSON writes an answer for programs.
func (s *Server) writeJSON(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	s.writeText(w, status, body.Bytes(), err)
}

// writeText writes an answer for programs that is JSON already; err says that it could not
// be made.
func (s *Server) writeText(w http.ResponseWriter, status int, text []byte, err error) {
	if err != nil {
		s.Log.Error("an answer cannot be written", "error", err)
		http.Error(w, `{"error":"the answer cannot be written"}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the reader has gone
}

// jsonSuffix ends the addresses that answer programs.
const jsonSuffix = ".json"

// jsonPattern returns the pattern of a view for programs. ServeMux knows no suffix after a
// wildcard, so those views strip it themselves; see value.
func jsonPattern(pattern string) string {
	if pattern == "/{$}" {
		return "/crawls" + jsonSuffix
	}
	if strings.HasSuffix(pattern, "}") {
		return ""
	}
	return pattern + jsonSuffix
}

// jsonAddress returns the address of the same answer for programs.
func jsonAddress(address string) string {
	path, query, asked := strings.Cut(address, "?")
	switch {
	case path == "/":
		path = "/crawls"
	case strings.HasSuffix(path, jsonSuffix):
		path = strings.TrimSuffix(path, jsonSuffix)
	}
	if path += jsonSuffix; asked {
		path += "?" + query
	}
	return path
}

// value returns a wildcard of an address, without the suffix that asks for JSON.
func value(r *http.Request, name string) string {
	v := r.PathValue(name)
	if strings.HasSuffix(r.Pattern, "{"+name+"}") && strings.HasSuffix(r.URL.EscapedPath(), jsonSuffix) {
		v = strings.TrimSuffix(v, jsonSuffix)
	}
	return v
}

// wantsJSON reports whether a program asks. An escaped point is part of a name; see segment.
func wantsJSON(r *http.Request) bool {
	if strings.HasSuffix(r.URL.EscapedPath(), jsonSuffix) {
		return true
	}
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// saidCookie carries a button's result to the page that is shown next.
const saidCookie = "recrawl-said"

func (s *Server) tell(w http.ResponseWriter, r *http.Request, said string) {
	http.SetCookie(w, &http.Cookie{Name: atPort(saidCookie, r), Value: url.QueryEscape(said), Path: "/", MaxAge: 60, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// atPort returns the name of a cookie for the port at which the browser asks: it would send
// the cookie to all ports of the machine.
func atPort(name string, r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return name
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		return name + "-" + strconv.FormatUint(n, 10)
	}
	return name
}

// said returns the last button's result, which is shown once.
func (s *Server) said(w http.ResponseWriter, r *http.Request) string {
	cookie, err := r.Cookie(atPort(saidCookie, r))
	if err != nil {
		return ""
	}
	http.SetCookie(w, &http.Cookie{Name: atPort(saidCookie, r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	said, err := url.QueryUnescape(cookie.Value)
	if err != nil {
		return ""
	}
	return said
}

// backField is the field of every form that says from which page it was sent.
const backField = "back"

// back returns the page from which a button was pressed, as its form says: a path of this
// server.
func back(r *http.Request) string {
	to, err := url.Parse(r.FormValue(backField))
	if err != nil || to.Scheme != "" || to.Host != "" || !strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.Path, "//") {
		return "/"
	}
	return to.RequestURI()
}

// styles returns the addresses of all style sheets, the common one first.
func styles() []string {
	names, err := fs.Glob(files, "assets/*.css")
	if err != nil {
		panic(err)
	}
	all := []string{asset(commonStyle)}
	for _, name := range names {
		if path.Base(name) != commonStyle {
			all = append(all, asset(path.Base(name)))
		}
	}
	return all
}

// commonStyle is the style sheet of all pages.
const commonStyle = "style.css"

// asset returns the address of a file in assets, which changes with the file.
func asset(name string) string {
	data, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // a mistake in a template
	}
	sum := sha256.Sum256(data)
	return "/assets/" + name + "?v=" + hex.EncodeToString(sum[:6])
}

// cached lets browsers cache the program's own files, under the addresses of asset.
func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("v") {
			w.Header().Set("Cache-Control", "max-age=31536000, immutable")
		} else {
			w.Header().Set("Cache-Control", "no-cache")
		}
		next.ServeHTTP(w, r)
	})
}
