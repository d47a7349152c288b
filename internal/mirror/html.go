package mirror

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// policy stands first in each page. It keeps a page from running or fetching anything that
// this package has overlooked: 'self' is for a served mirror, file: for one that is opened
// from a disk.
const policy = "default-src 'none'; img-src 'self' file: data:; style-src 'self' file: 'unsafe-inline'; " +
	"font-src 'self' file: data:; media-src 'self' file: data:; frame-src 'self' file:; form-action 'none'; base-uri 'none'"

const head = `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="` + policy + `">`

// rewriteHTML goes through a page token by token: a tree of a hostile page costs seconds.
// All output is written anew: each tag with its attributes in quotes, each "<" of a text as
// a reference. So a browser reads it in one way only, whatever the input.
func rewriteHTML(text []byte, l *links, isXML bool) []byte {
	if href := baseOf(text); href != "" {
		l.setBase(href)
	}
	w := htmlWriter{links: l, tokens: html.NewTokenizer(bytes.NewReader(text)), isXML: isXML}
	w.tokens.AllowCDATA(isXML)
	for w.next() {
	}
	if !w.headed {
		w.out.WriteString(head)
	}
	if w.raw != "" && !dropped[w.raw] {
		w.out.WriteString("</" + written(w.raw) + ">")
	}
	return w.out.Bytes()
}

// baseOf returns the address of the first <base> that has one, which counts for the whole
// page.
func baseOf(text []byte) string {
	if !baseTag.Match(text) {
		return ""
	}
	for z := html.NewTokenizer(bytes.NewReader(text)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			for isBase := string(name) == "base"; isBase && more; {
				var key, value []byte
				if key, value, more = z.TagAttr(); string(key) == "href" {
					return trimRef(string(value))
				}
			}
		}
	}
}

var baseTag = regexp.MustCompile(`(?i)<base[\s/]`)

// htmlWriter writes a page anew.
type htmlWriter struct {
	links  *links
	tokens *html.Tokenizer
	isXML  bool
	out    bytes.Buffer
	headed bool   // head is written
	raw    string // the element whose text is copied unchanged, or that is left out with its text
	// foreign counts the pictures and formulas that are open: elements may be empty there.
	foreign int
}

// next takes a token and reports whether there are more.
func (w *htmlWriter) next() bool {
	switch w.tokens.Next() {
	case html.ErrorToken:
		return false
	case html.TextToken:
		w.text(w.tokens.Raw())
	case html.StartTagToken:
		w.start(false)
	case html.SelfClosingTagToken:
		w.start(true)
	case html.EndTagToken:
		w.end()
	case html.DoctypeToken:
		// It decides in which mode a browser lays out the page.
		if raw := w.tokens.Raw(); !w.headed && bytes.HasSuffix(raw, []byte(">")) {
			w.out.Write(raw)
		}
	case html.CommentToken: // some browsers read some of them
	}
	return true
}

// text writes a text. "<" becomes a reference in it, even where tags are not read: a
// browser may read them there, such as in the <title> of a picture.
func (w *htmlWriter) text(raw []byte) {
	switch w.raw {
	case "script", "iframe", "noembed", "noframes":
		return
	case "style":
		css := string(raw)
		if w.isXML || w.foreign > 0 {
			css = cdata.Replace(css)
		}
		w.out.WriteString(w.links.css(css))
		return
	}
	if len(bytes.TrimSpace(raw)) > 0 {
		w.begin()
	}
	if bytes.HasPrefix(raw, []byte("<![CDATA[")) { // only in XHTML
		raw = bytes.ReplaceAll(bytes.TrimSuffix(raw[9:], []byte("]]>")), []byte("&"), []byte("&amp;"))
	}
	if w.raw == "xmp" || w.raw == "plaintext" {
		raw = bytes.ReplaceAll(raw, []byte("&"), []byte("&amp;"))
	}
	raw = bytes.ReplaceAll(raw, []byte("\x00"), nil)
	w.out.Write(bytes.ReplaceAll(raw, []byte("<"), []byte("&lt;")))
}

// cdata removes the marks around a text with unescaped "<" in XML, and in pictures in HTML.
var cdata = strings.NewReplacer("<![CDATA[", "", "]]>", "")

// begin writes the head before the first thing that a page shows or loads.
func (w *htmlWriter) begin() {
	if !w.headed {
		w.headed = true
		w.out.WriteString(head)
	}
}

// dropped are elements that are left out. Their contents stay, except the text of those in
// w.text.
var dropped = map[string]bool{
	"script": true, "noscript": true, "noembed": true, "noframes": true, "base": true, "object": true, "embed": true, "applet": true,
	"param": true, "portal": true, "bgsound": true, "fencedframe": true, "handler": true, "listener": true,
}

// rawText are the elements whose text the tokenizer does not read.
var rawText = map[string]bool{
	"script": true, "style": true, "title": true, "textarea": true, "iframe": true, "noembed": true, "noframes": true,
	"xmp": true, "plaintext": true,
}

// void are the elements without an end.
var void = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "link": true,
	"meta": true, "param": true, "source": true, "track": true, "wbr": true, "frame": true, "basefont": true, "keygen": true,
}

func (w *htmlWriter) start(closed bool) {
	raw, more := w.tokens.TagName()
	name := string(raw)
	attributes := w.attributes(more)
	w.raw = ""
	if name == "noscript" { // there are no scripts here, so its contents count
		w.tokens.NextIsNotRawText()
	}
	empty := closed && w.isXML // in HTML the slash means nothing, except in pictures
	if rawText[name] {
		if w.raw = name; empty || closed && w.foreign > 0 {
			w.tokens.NextIsNotRawText()
			w.raw = ""
		}
	}
	if isForeign(name) && !closed {
		w.foreign++
	}
	if dropped[name] || !plainName(name) || !keeps(name, attributes) {
		return
	}
	if name != "html" && name != "head" {
		w.begin()
	}
	w.out.WriteString("<" + written(name))
	w.write(name, attributes)
	switch {
	case empty && !void[name]:
		w.out.WriteString("></" + written(name))
	case closed:
		w.out.WriteString("/")
	}
	w.out.WriteString(">")
	if name == "head" {
		w.begin()
	}
}

func (w *htmlWriter) end() {
	raw, _ := w.tokens.TagName()
	name := string(raw)
	w.raw = ""
	if isForeign(name) && w.foreign > 0 {
		w.foreign--
	}
	if dropped[name] || !plainName(name) {
		return
	}
	w.begin()
	w.out.WriteString("</" + written(name) + ">")
}

func isForeign(name string) bool { return name == "svg" || name == "math" }

// written returns the name under which an element is written: <pre> for elements whose text
// browsers show unchanged, so that its tags can be references.
func written(name string) string {
	if name == "xmp" || name == "plaintext" || name == "listing" {
		return "pre"
	}
	return name
}

// attributes reads the attributes of a tag, in their order. Of several with one name the
// first counts.
func (w *htmlWriter) attributes(more bool) []html.Attribute {
	var all []html.Attribute
	seen := map[string]bool{}
	for more {
		var key, value []byte
		key, value, more = w.tokens.TagAttr()
		if name := string(key); !seen[name] {
			seen[name] = true
			all = append(all, html.Attribute{Key: name, Val: string(value)})
		}
	}
	return all
}

func attribute(all []html.Attribute, name string) (string, bool) {
	for _, a := range all {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// keeps reports whether an element stays in the page, by its attributes.
func keeps(name string, all []html.Attribute) bool {
	switch name {
	case "meta":
		if _, ok := attribute(all, "charset"); ok {
			return false
		}
		instead, ok := attribute(all, "http-equiv") // refresh, a policy, a cookie
		return !ok || strings.EqualFold(instead, "default-style") || strings.EqualFold(instead, "content-language")
	case "link":
		return keepsLink(all)
	case "animate", "set", "animatetransform", "animatemotion", "animatecolor":
		what, _ := attribute(all, "attributename")
		return !strings.HasSuffix(strings.ToLower(strings.TrimSpace(what)), "href")
	}
	return true
}

// keepsLink reports whether a <link> stays. One that only makes a browser fetch something for
// later, or names a service of the site, is of no use in a copy.
func keepsLink(all []html.Attribute) bool {
	rel, _ := attribute(all, "rel")
	for word := range strings.FieldsSeq(strings.ToLower(rel)) {
		switch word {
		case "preload", "modulepreload", "prefetch", "prerender", "dns-prefetch", "preconnect", "manifest", "import", "serviceworker", "pingback", "expect":
			return false
		}
	}
	return true
}

var nameForm = regexp.MustCompile(`^[a-z_][a-z0-9_:.-]*$`)

// plainName reports whether an element or attribute of this name is read as one everywhere.
func plainName(name string) bool { return len(name) <= 100 && nameForm.MatchString(name) }

// left are attributes that are left out besides those of events: they name something that
// is not fetched, check bytes that have changed, or hold a page of their own.
var left = map[string]bool{
	"srcdoc": true, "ping": true, "manifest": true, "action": true, "formaction": true, "codebase": true, "classid": true, "archive": true,
	"code": true, "data": true, "profile": true, "nonce": true, "integrity": true, "crossorigin": true, "attributionsrc": true,
	"dynsrc": true, "lowsrc": true, "xml:base": true, "is": true, "sandbox": true, "allow": true, "csp": true, "fetchpriority": true,
}

// write writes the attributes of an element.
func (w *htmlWriter) write(name string, all []html.Attribute) {
	for _, a := range all {
		if left[a.Key] || strings.HasPrefix(a.Key, "on") || !plainName(a.Key) {
			continue
		}
		value, ok := w.value(name, a, all)
		if !ok {
			continue
		}
		w.out.WriteString(" " + a.Key)
		if value != "" || a.Val != "" {
			w.out.WriteString(`="` + quote.Replace(value) + `"`)
		}
	}
}

var quote = strings.NewReplacer("&", "&amp;", `"`, "&#34;", "<", "&lt;", ">", "&gt;", "\x00", "")

// value returns the new value of an attribute. It reports false for one that leads nowhere.
func (w *htmlWriter) value(name string, a html.Attribute, all []html.Attribute) (string, bool) {
	switch a.Key {
	case "href", "xlink:href":
		return w.href(name, a.Val, all)
	case "src":
		if name == "iframe" || name == "frame" {
			return w.refer(a.Val, frame)
		}
		return w.refer(a.Val, embed)
	case "poster", "background":
		return w.refer(a.Val, embed)
	case "cite", "longdesc":
		return w.refer(a.Val, follow)
	case "srcset", "imagesrcset":
		return w.srcset(a.Val)
	case "style":
		return w.links.css(a.Val), true
	}
	return a.Val, true
}

func (w *htmlWriter) refer(ref string, u use) (string, bool) {
	t := w.links.to(ref, u)
	return t.text, t.text != ""
}

// href returns the new target of a link. A <link> may be a style or an icon, or say where a
// page comes from, which stays unchanged.
func (w *htmlWriter) href(name, ref string, all []html.Attribute) (string, bool) {
	switch name {
	case "a", "area":
		return w.refer(ref, follow)
	case "link":
		rel, _ := attribute(all, "rel")
		for word := range strings.FieldsSeq(strings.ToLower(rel)) {
			switch word {
			case "canonical":
				u, err := w.links.base.Resolve(ref)
				return u.String(), err == nil
			case "stylesheet", "icon", "apple-touch-icon", "mask-icon":
				return w.refer(ref, embed)
			}
		}
		return w.refer(ref, follow)
	}
	return w.refer(ref, embed)
}

// srcset keeps the pictures that are in the mirror: a browser might choose a missing one
// and show nothing.
func (w *htmlWriter) srcset(value string) (string, bool) {
	var kept []string
	for rest := value; ; {
		rest = strings.TrimLeft(rest, " \t\r\n\f,")
		if rest == "" {
			break
		}
		end := strings.IndexAny(rest, " \t\r\n\f")
		if end < 0 {
			end = len(rest)
		}
		ref, size := rest[:end], ""
		if cut := strings.TrimRight(ref, ","); cut != ref {
			ref, rest = cut, rest[end:]
		} else {
			size, rest = descriptor(rest[end:])
		}
		if t := w.links.to(ref, embed); t.inside {
			if schemeOf(t.text) != "data" {
				t.text = strings.ReplaceAll(t.text, ",", "%2C")
			}
			kept = append(kept, strings.TrimSpace(t.text+" "+size))
		}
	}
	return strings.Join(kept, ", "), len(kept) > 0
}

// descriptor reads the text after an address, up to the comma that ends it.
func descriptor(text string) (size, rest string) {
	size, rest, _ = strings.Cut(text, ",")
	return strings.TrimSpace(size), rest
}
