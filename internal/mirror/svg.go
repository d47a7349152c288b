package mirror

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// rewriteSVG goes through a picture token by token. A browser that opens it alone would run
// its scripts. One that cannot be read gives nothing.
func rewriteSVG(text []byte, l *links) []byte {
	l.alone = true
	w := svgWriter{links: l, tokens: xml.NewDecoder(bytes.NewReader(text))}
	w.tokens.Strict = false
	// The text is UTF-8 by now, whatever it declares.
	w.tokens.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		t, err := w.tokens.RawToken()
		if errors.Is(err, io.EOF) {
			return w.out.Bytes()
		}
		if err != nil {
			return nil
		}
		w.token(t)
	}
}

// svgWriter writes a picture anew.
type svgWriter struct {
	links  *links
	tokens *xml.Decoder
	out    bytes.Buffer
	// skip counts the open elements within one that is left out, including itself; style
	// those within a <style>.
	skip, style int
	css         strings.Builder
}

// droppedSVG are elements that are left out with all their contents.
var droppedSVG = map[string]bool{
	"script": true, "iframe": true, "frame": true, "object": true, "embed": true, "applet": true, "handler": true, "listener": true,
	"base": true, "meta": true, "link": true, "portal": true,
}

func (w *svgWriter) token(t xml.Token) {
	switch t := t.(type) {
	case xml.StartElement:
		w.start(t)
	case xml.EndElement:
		w.end(t)
	case xml.CharData:
		switch {
		case w.skip > 0:
		case w.style > 0:
			w.css.Write(t)
		default:
			escapeXML(&w.out, string(t))
		}
	}
	// Comments, instructions and declarations are left out. The latter could name entities,
	// which our output never needs.
}

func (w *svgWriter) start(t xml.StartElement) {
	local := strings.ToLower(t.Name.Local)
	switch {
	case w.skip > 0 || droppedSVG[local] || !plainName(strings.ToLower(xmlName(t.Name))) || animatesHref(local, t.Attr):
		w.skip++
		return
	case local == "style" || w.style > 0:
		w.style++
	}
	w.out.WriteString("<" + xmlName(t.Name))
	seen := map[string]bool{}
	for _, a := range t.Attr {
		name := xmlName(a.Name)
		if value, ok := w.value(local, a); ok && !seen[name] && plainName(strings.ToLower(name)) {
			seen[name] = true
			w.out.WriteString(" " + name + `="`)
			escapeXML(&w.out, value)
			w.out.WriteString(`"`)
		}
	}
	w.out.WriteString(">")
}

func (w *svgWriter) end(t xml.EndElement) {
	if w.skip > 0 {
		w.skip--
		return
	}
	if w.style > 0 {
		if w.style--; w.style == 0 {
			escapeXML(&w.out, w.links.css(w.css.String()))
			w.css.Reset()
		}
	}
	if plainName(strings.ToLower(xmlName(t.Name))) {
		w.out.WriteString("</" + xmlName(t.Name) + ">")
	}
}

func animatesHref(local string, all []xml.Attr) bool {
	if !strings.HasPrefix(local, "animate") && local != "set" {
		return false
	}
	for _, a := range all {
		if strings.EqualFold(a.Name.Local, "attributeName") && strings.HasSuffix(strings.ToLower(strings.TrimSpace(a.Value)), "href") {
			return true
		}
	}
	return false
}

// value returns the new value of an attribute; false for one that is left out.
func (w *svgWriter) value(element string, a xml.Attr) (string, bool) {
	local := strings.ToLower(a.Name.Local)
	switch {
	case strings.HasPrefix(local, "on"), left[local] && local != "is", a.Name.Space == "xml" && local == "base":
		return "", false
	case local == "href", local == "src":
		u := embed
		if element == "a" {
			u = follow
		}
		t := w.links.to(a.Value, u)
		return t.text, t.text != ""
	case local == "srcset":
		return "", false
	case local == "style":
		return w.links.css(a.Value), true
	}
	return a.Value, true
}

func xmlName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

var xmlEscape = strings.NewReplacer("&", "&amp;", `"`, "&#34;", "<", "&lt;", ">", "&gt;")

// escapeXML writes a text, without characters that XML does not have.
func escapeXML(out *bytes.Buffer, text string) {
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, text)
	// Writing to a bytes.Buffer cannot fail.
	_, _ = xmlEscape.WriteString(out, text)
}
