package replay

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNoPlayer: wabac.js is not where it should be; the error says what to do.
var ErrNoPlayer = errors.New("wabac.js, which plays archives back, is not there")

// scriptName is the file of wabac.js that is needed.
const scriptName = "sw.js"

// FindPlayer returns the script of wabac.js: in the folder that the operator names or, if that
// is "", beside the program.
func FindPlayer(named, program string) (path string, err error) {
	folder := named
	if folder == "" {
		folder = filepath.Join(filepath.Dir(program), "replay")
	}
	path = filepath.Join(folder, scriptName)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		return path, nil
	case err == nil:
		err = fmt.Errorf("%s is no file", path)
	}
	return "", fmt.Errorf("%w: %w: install it with make replay, or name the folder of its %s in RECRAWL_REPLAY", ErrNoPlayer, err, scriptName)
}

//go:embed assets
var assets embed.FS

var page = template.Must(template.ParseFS(assets, "assets/page.html"))

// pagesAtOnce is the number of pages that the list shows.
const pagesAtOnce = 200

// policies are the Content-Security-Policies of served files. The player's answers for
// archived pages have one of their own, which keeps them to this origin.
const (
	pagePolicy   = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	playerPolicy = "default-src 'none'; connect-src 'self'"
)

// server serves one archive.
type server struct {
	archive *Archive
	player  string
}

// Handler serves an archive and the script that plays it back. It answers to the names of
// this machine's loopback alone, so that no other site can make a browser ask it under that
// site's own name.
func Handler(a *Archive, player string) http.Handler {
	s := &server{archive: a, player: player}
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", s.page)
	m.HandleFunc("GET /sw.js", s.script)
	m.HandleFunc("GET /assets/{name}", s.asset)
	m.HandleFunc("GET /archive/{name}", s.wacz)
	// Archived pages, as long as the player does not answer for them yet.
	m.HandleFunc("GET /w/", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusSeeOther) })
	return guard(m)
}

// guard answers only to loopback's names, and forbids caching, so that another archive at
// this address is not mistaken for this one.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			name = host
		}
		ip := net.ParseIP(strings.Trim(name, "[]"))
		if name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "an archive is served to this machine only: open it as localhost", http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'")
		next.ServeHTTP(w, r)
	})
}

// view is the data of the page.
type view struct {
	*Archive
	Having      string
	Skip, Next  int
	Pages       []Page
	More, Empty bool
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	v := view{Archive: s.archive, Having: r.FormValue("q")}
	v.Skip, _ = strconv.Atoi(r.FormValue("skip")) // a value that is no number skips nothing
	v.Skip = max(v.Skip, 0)
	v.Next = v.Skip + pagesAtOnce
	var err error
	if v.Pages, v.More, err = s.archive.Pages(r.Context(), v.Having, v.Skip, pagesAtOnce); err != nil {
		http.Error(w, "the archive's list of pages cannot be read: "+err.Error(), http.StatusInternalServerError)
		return
	}
	v.Empty = len(v.Pages) == 0
	var out bytes.Buffer
	if err := page.Execute(&out, v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes()) // the browser may have gone
}

// Link returns the link to the page for the page's script, in the form of the player's own
// links.
func (p Page) Link() template.URL {
	return template.URL("#" + url.Values{"view": {"replay"}, "url": {p.URL}, "ts": {p.Stamp()}}.Encode())
}

func (s *server) script(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", playerPolicy)
	s.file(w, r, s.player, "text/javascript; charset=utf-8")
}

func (s *server) asset(w http.ResponseWriter, r *http.Request) {
	types := map[string]string{"replay.js": "text/javascript; charset=utf-8", "replay.css": "text/css; charset=utf-8"}
	kind, ok := types[r.PathValue("name")]
	text, err := assets.ReadFile("assets/" + r.PathValue("name"))
	if !ok || err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the browser may have gone
}

func (s *server) file(w http.ResponseWriter, r *http.Request, path, kind string) {
	f, err := os.Open(path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", kind)
	info, err := f.Stat()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// wacz serves the archive, or the requested range.
func (s *server) wacz(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("name") != s.archive.ID+".wacz" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/wacz")
	http.ServeContent(w, r, "", s.archive.info.ModTime(), io.NewSectionReader(s.archive.file, 0, s.archive.info.Size()))
}
