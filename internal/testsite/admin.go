package testsite

import (
	"fmt"
	"html/template"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// AdminHost is where people and tests look behind the scenes. It is not part of the
// simulated web, and its requests are not logged. On systems without names under localhost,
// the bare address serves it too.
const AdminHost = "admin.localhost"

func isAdmin(name string) bool {
	if name == AdminHost || name == "localhost" {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil
}

func (s *Site) serveAdmin(w http.ResponseWriter, r *http.Request, port string) {
	switch r.URL.Path {
	case robotsPath:
		w.Write([]byte("User-agent: *\nDisallow: /\n"))
	case "/log":
		w.Header().Set("Content-Type", "application/jsonl")
		WriteLog(w, s.selectLog(r.FormValue("host")))
	case "/truth":
		w.Header().Set("Content-Type", "application/jsonl")
		writeLines(w, s.truths(r.FormValue("host"), r.FormValue("path")))
	case "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		indexTemplate.Execute(w, s.index(port))
	default:
		http.NotFound(w, r)
	}
}

// selectLog returns the log of one host, or of all.
func (s *Site) selectLog(host string) []Request {
	var log []Request
	for _, r := range s.Log() {
		if host == "" || r.Host == host {
			log = append(log, r)
		}
	}
	return log
}

// PageTruth is a line of the admin host's /truth: when a page's main text
// changed.
type PageTruth struct {
	Host    string      `json:"host"`
	Path    string      `json:"path"`
	Script  string      `json:"script"`
	Changes []time.Time `json:"changes,omitempty"`
}

// truths returns the truths of the pages of a host and a path, "" for all.
func (s *Site) truths(host, path string) []PageTruth {
	var lines []PageTruth
	for _, h := range s.hosts {
		for _, p := range h.Pages {
			if (host == "" || host == h.Name) && (path == "" || path == p.Path) {
				lines = append(lines, PageTruth{h.Name, p.Path, p.Words(), s.Truth(h.Name, p.Path)})
			}
		}
	}
	return lines
}

// index is the data of the admin's first page.
type index struct {
	Elapsed  string
	Seed     uint64
	Hosts    []indexHost
	Requests int
}

type indexHost struct {
	Host
	URL   string
	Pages []indexPage
}

type indexPage struct {
	Page
	URL       string
	Forbidden bool
	Changes   int
	Requests  int
	Last      string
}

func (s *Site) index(port string) index {
	log := s.Log()
	last := map[string]Request{}
	count := map[string]int{}
	for _, r := range log {
		last[r.Host+r.Path] = r
		count[r.Host+r.Path]++
	}
	x := index{Elapsed: s.elapsed().Round(time.Second).String(), Seed: s.seed, Requests: len(log)}
	for _, h := range s.hosts {
		at := origin(h.Name, port)
		row := indexHost{Host: h.Host, URL: at + "/"}
		for _, p := range h.Host.Pages {
			key := h.Name + p.Path
			row.Pages = append(row.Pages, indexPage{
				Page: p, URL: at + p.Path, Forbidden: h.Robots.forbids(p.Path),
				Changes: len(h.pages[p.Path].text.until(s.elapsed())), Requests: count[key], Last: s.lastWords(last[key]),
			})
		}
		x.Hosts = append(x.Hosts, row)
	}
	return x
}

func (s *Site) lastWords(r Request) string {
	switch {
	case r.Begin.IsZero():
		return ""
	case r.End.IsZero():
		return "running"
	case r.Status == 0:
		return "hung up"
	}
	return fmt.Sprintf("%d, %s ago", r.Status, s.clock.Now().Sub(r.End).Round(time.Second))
}

var indexTemplate = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="5">
<title>testsite</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .2em .6em; border-top: 1px solid #ddd; vertical-align: top }
.number { text-align: right }
.forbidden { color: #a00 }
</style>
</head>
<body>
<h1>testsite</h1>
<p>A scripted web, started {{.Elapsed}} ago with seed {{.Seed}}. {{.Requests}} requests so far:
<a href="/log">log</a> (JSON Lines; <code>?host=news.localhost</code> for one host). When the pages changed:
<a href="/truth">truth</a> (<code>?host=</code>, <code>&amp;path=</code>).</p>
{{range .Hosts}}
<h2><a href="{{.URL}}">{{.Name}}</a></h2>
<p>{{.Words}}.</p>
<table>
<tr><th>Page</th><th>Script</th><th class="number">Changes</th><th class="number">Requests</th><th>Last request</th></tr>
{{- range .Pages}}
<tr><td><a href="{{.URL}}">{{.Path}}</a></td><td>{{if .Forbidden}}<span class="forbidden">forbidden by robots.txt</span>; {{end}}{{.Words}}</td><td class="number">{{.Changes}}</td><td class="number">{{.Requests}}</td><td>{{.Last}}</td></tr>
{{- end}}
</table>
{{end}}
</body>
</html>
`))
