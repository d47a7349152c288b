package testsite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// paragraphs of a page. A new edition writes one of them anew, in turn, so no
	// edition returns unless the script says so.
	paragraphs = 4
	// firstChildren of a hub are there from the start.
	firstChildren = 3
	// listed is the number of its newest children to which a hub links.
	listed = 30
)

// page is a page while it is played.
type page struct {
	Page
	host string
	seed uint64
	// born is when the page appeared, 0 for the start.
	born time.Duration
	// age is how long before that it was written, for Last-Modified.
	age         time.Duration
	text, decor *timeline
}

func newPage(seed uint64, host string, p Page) *page {
	const oldest = 3 * 365 * 24 * 60 * 60
	return &page{
		Page: p, host: host, seed: seed,
		age:   time.Duration(1+rngOf(seed, host, p.Path, "age").IntN(oldest)) * time.Second,
		text:  newTimeline(p.Text, rngOf(seed, host, p.Path, "text")),
		decor: newTimeline(p.Decor.Rate, rngOf(seed, host, p.Path, "decor")),
	}
}

// child returns a hub's page of a number, if it exists by now.
func (p *page) child(number string, elapsed time.Duration) (*page, bool) {
	n, err := strconv.Atoi(number)
	if !p.Hub || err != nil || strconv.Itoa(n) != number || n < 1 {
		return nil, false
	}
	editions := p.text.until(elapsed)
	if n > firstChildren+len(editions) {
		return nil, false
	}
	c := newPage(p.seed, p.host, Page{Path: p.Path + number, Title: p.Title + " " + number, ETag: true, LastModified: true, Links: []string{p.Path}})
	if n > firstChildren {
		c.born, c.age = editions[n-firstChildren-1], 0
	}
	return c, true
}

// state is a page's state at one time; with the port it decides every byte.
type state struct {
	*page
	edition, decoration int
	// changed is when the last of the two changes happened, since the start;
	// negative if it was before.
	changed time.Duration
	// decorated is when the decor changed last.
	decorated time.Duration
}

func (p *page) at(elapsed time.Duration) state {
	s := state{page: p, changed: p.born - p.age}
	if editions := p.text.until(elapsed); len(editions) > 0 {
		s.edition, s.changed = len(editions), editions[len(editions)-1]
	}
	if p.Wordings > 0 {
		s.edition %= p.Wordings
	}
	if decor := p.decor.until(elapsed); len(decor) > 0 {
		s.decoration, s.decorated = len(decor), decor[len(decor)-1]
		s.changed = max(s.changed, s.decorated)
	}
	return s
}

// etag is a strong validator: equal exactly if the bytes are, on one port.
func (s state) etag() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s %d %d", s.seed, s.host, s.Path, s.edition, s.decoration))
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// body returns the bytes of the page; port is the site's, for links to other
// hosts.
func (s state) body(port string) []byte {
	var b strings.Builder
	if s.Type != "" {
		fmt.Fprintf(&b, "%s, edition %d\n%s\n", s.Title, s.edition, strings.Join(s.paragraphs(), "\n"))
		return []byte(b.String())
	}
	err := pageTemplate.Execute(&b, struct {
		state
		Paragraphs             []string
		Hrefs                  []string
		Stamp, Advert, Indents string
		Filler                 template.HTML
	}{s, s.paragraphs(), s.hrefs(port), s.stamp(), s.advert(), s.indents(), s.filler()})
	if err != nil {
		panic(err) // a mistake in the template
	}
	return []byte(b.String())
}

var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{.Title}}</title>
{{- with .Base}}
<base href="{{.}}">
{{- end}}
</head>
<body>{{.Indents}}
<header>{{.Host}}</header>
<nav><a href="/">Home</a></nav>
<main>
<h1>{{.Title}}</h1>
<p>Edition {{.Edition}}.</p>
{{- range .Paragraphs}}
<p>{{.}}</p>
{{- end}}
{{- with .Hrefs}}
<ul>
{{- range .}}
<li><a href="{{.}}">{{.}}</a></li>
{{- end}}
</ul>
{{- end}}
{{.Filler}}</main>
{{- with .Advert}}
<aside>{{.}}</aside>
{{- end}}
<footer>Script: {{.Words}}.{{with .Stamp}} {{.}}{{end}}</footer>
</body>
</html>
`))

// Host and Edition are for the template.
func (s state) Host() string { return s.host }

// Edition counts the changes of the main text.
func (s state) Edition() int { return s.edition }

func (s state) paragraphs() []string {
	texts := make([]string, paragraphs)
	for i := range texts {
		texts[i] = paragraph(rngOf(s.seed, s.host, s.Path, "paragraph", strconv.Itoa(i), strconv.Itoa(lastRewrite(s.edition, i))))
	}
	return texts
}

// lastRewrite returns the latest edition that wrote a paragraph anew: those whose number
// leaves the paragraph's index as the remainder. 0 is the first text.
func lastRewrite(edition, index int) int {
	return max(0, edition-(edition-index+paragraphs)%paragraphs)
}

// hrefs returns the page's links, the newest children of a hub first.
func (s state) hrefs(port string) []string {
	var hrefs []string
	if s.Hub {
		newest := firstChildren + s.edition
		for n := newest; n > max(0, newest-listed); n-- {
			hrefs = append(hrefs, s.Path+strconv.Itoa(n))
		}
	}
	for _, link := range s.Links {
		hrefs = append(hrefs, absolute(link, port))
	}
	return hrefs
}

// absolute gives a link to another host the scheme and the port.
func absolute(link, port string) string {
	rest, ok := strings.CutPrefix(link, "//")
	if !ok {
		return link
	}
	host, path, _ := strings.Cut(rest, "/")
	return origin(host, port) + "/" + path
}

func origin(host, port string) string {
	if port != "" {
		host += ":" + port
	}
	return "http://" + host
}

func (s state) stamp() string {
	if s.Decor.Place != Footer {
		return ""
	}
	return "Made " + s.decorated.Round(time.Millisecond).String() + " after the start."
}

func (s state) advert() string {
	if s.Decor.Place != Advert {
		return ""
	}
	rng := rngOf(s.seed, s.host, s.Path, "advert", strconv.Itoa(s.decoration))
	return fmt.Sprintf("Advertisement %d: buy a %s %s.", s.decoration, vocabulary[rng.IntN(len(vocabulary))], vocabulary[rng.IntN(len(vocabulary))])
}

// indents writes the number of the decoration in white space, so that no two have the same
// bytes.
func (s state) indents() string {
	if s.Decor.Place != WhiteSpace {
		return ""
	}
	return "\n" + strings.NewReplacer("0", " ", "1", "\t").Replace(strconv.FormatInt(int64(s.decoration), 2))
}

// filler brings a big page to its size.
func (s state) filler() template.HTML {
	if s.Size == 0 {
		return ""
	}
	var block strings.Builder
	for i := range 100 {
		fmt.Fprintf(&block, "<p>%s</p>\n", paragraph(rngOf(s.seed, s.host, s.Path, "filler", strconv.Itoa(i))))
	}
	return template.HTML(strings.Repeat(block.String(), s.Size/block.Len()+1))
}

func (s state) mediaType() string {
	if s.Type != "" {
		return s.Type
	}
	return "text/html; charset=utf-8"
}

// setHeader writes the page's own headers.
func (s state) setHeader(h http.Header) {
	h.Set("Content-Type", s.mediaType())
	if s.ETag {
		h.Set("ETag", s.etag())
	}
}
