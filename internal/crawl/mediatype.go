package crawl

import (
	"slices"
	"strings"
)

// MediaType is a body's type according to its Content-Type.
type MediaType struct {
	// Type is the essence in lower case ("text/html"), "" when there is none.
	Type string
	// Charset is the charset parameter in lower case, "" when there is none.
	Charset string
}

// String writes the media type as a header's value that ParseMediaType, and
// mime.ParseMediaType, read back.
func (m MediaType) String() string {
	switch {
	case m.Type == "":
		return ""
	case m.Charset == "":
		return m.Type
	}
	return m.Type + "; charset=" + m.Charset
}

// Among reports whether the type is one of those named, in whatever case. text/* names all
// types of text, and */* all types.
func (m MediaType) Among(types []string) bool {
	kind, _, _ := strings.Cut(m.Type, "/")
	return slices.ContainsFunc(types, func(t string) bool {
		of, all := strings.CutSuffix(t, "/*")
		return strings.EqualFold(t, m.Type) || all && m.Type != "" && (of == "*" || strings.EqualFold(of, kind))
	})
}

// ParseMediaType reads a Content-Type as the MIME Sniffing standard does
// (https://mimesniff.spec.whatwg.org/#parsing-a-mime-type). mime.ParseMediaType
// loses the charset of many values that browsers understand: repeated
// semicolons, a repeated charset, a quote that never ends. A value that names
// no type gives the zero MediaType.
func ParseMediaType(value string) MediaType {
	essence, params, _ := strings.Cut(value, ";")
	essence = strings.ToLower(strings.Trim(essence, httpSpace))
	kind, sub, ok := strings.Cut(essence, "/")
	if !ok || !isToken(kind) || !isToken(sub) {
		return MediaType{}
	}
	return MediaType{Type: essence, Charset: charsetOf(params)}
}

// ParseContentType reads a whole Content-Type header, whose fields a comma joins. It is the
// last readable type of the header, as in the Fetch standard
// (https://fetch.spec.whatwg.org/#concept-header-extract-mime-type), and the zero MediaType if
// none is readable or names a type. */* does not, nor do the names that servers have for an
// unknown type (https://mimesniff.spec.whatwg.org/#determining-the-computed-mime-type-of-a-resource).
func ParseContentType(header string) MediaType {
	var found MediaType
	for header != "" {
		var value string
		value, header = nextValue(header)
		m := ParseMediaType(value)
		if m.Type == "" || m.Type == "*/*" {
			continue
		}
		if m.Charset == "" && m.Type == found.Type {
			m.Charset = found.Charset
		}
		found = m
	}
	if found.Type == "unknown/unknown" || found.Type == "application/unknown" {
		return MediaType{}
	}
	return found
}

// nextValue cuts a list at its first comma outside quotes.
func nextValue(list string) (value, rest string) {
	inQuotes := false
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '"':
			inQuotes = !inQuotes
		case list[i] == '\\' && inQuotes:
			i++
		case list[i] == ',' && !inQuotes:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}

const httpSpace = " \t\r\n"

// charsetOf returns the first readable charset parameter.
func charsetOf(params string) string {
	for params != "" {
		var name, value string
		name, value, params = nextParam(params)
		if name == "charset" && isToken(value) && len(value) <= 64 {
			return strings.ToLower(value)
		}
	}
	return ""
}

// nextParam cuts one parameter off; name is "" where there was nothing to read.
func nextParam(s string) (name, value, rest string) {
	s = strings.TrimLeft(s, httpSpace)
	end := strings.IndexAny(s, ";=")
	if end < 0 {
		return "", "", ""
	}
	if s[end] == ';' {
		return "", "", s[end+1:]
	}
	name, s = strings.ToLower(s[:end]), s[end+1:]
	if strings.HasPrefix(s, `"`) {
		value, s = Unquote(s[1:])
		_, rest, _ = strings.Cut(s, ";")
		return name, value, rest
	}
	value, rest, _ = strings.Cut(s, ";")
	return name, strings.TrimRight(value, httpSpace), rest
}

// Unquote reads a quoted string of a header (RFC 9110 section 5.6.4) whose first quote is
// already gone; one that never ends extends to the end of the text.
func Unquote(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// isToken reports whether s is an HTTP token (RFC 9110 5.6.2).
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
