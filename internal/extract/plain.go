package extract

import (
	"bytes"
	"iter"
	"strings"

	"recrawl/internal/crawl"
)

// isPlain reports whether bodies of a type that is not HTML are text for people or programs.
func isPlain(media string) bool {
	kind, format, _ := strings.Cut(media, "/")
	if kind == "application" {
		return isFormat(format, "json") || isFormat(format, "xml")
	}
	return kind == "text"
}

func isFormat(name, of string) bool { return name == of || strings.HasSuffix(name, "+"+of) }

// parsePlain reads a text that is no HTML: its lines are blocks. Programs write XML and JSON in
// one line or in many; there each tag, text, member and item is a block.
func parsePlain(src Source, decoded []byte, rules Rules) Page {
	_, format, _ := strings.Cut(crawl.ParseMediaType(src.ContentType).Type, "/")
	lines := bytes.Lines
	switch {
	case isFormat(format, "xml"):
		lines = linesOfXML
	case isFormat(format, "json"):
		lines = linesOfJSON
	}
	var text strings.Builder
	var l line
	for part := range lines(decoded) {
		l.add(string(part), false)
		writeLine(&text, rules.clean(l.trimmed()))
		l.reset()
	}
	return Page{Text: text.String(), Main: text.String(), Own: text.String(), Whole: true, Language: canonicalLanguage(src.Language)}
}

// linesOfXML yields the tags and texts of a document, without comments. It is no parser: a document
// that is none has lines, too.
func linesOfXML(decoded []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest := decoded
		take := func(n int) bool {
			part := rest[:n]
			rest = rest[n:]
			if bytes.HasPrefix(part, []byte("<!--")) {
				return true
			}
			return yield(part)
		}
		for len(rest) > 0 {
			if !take(partOfXML(rest)) {
				return
			}
		}
	}
}

// partOfXML is the length of the tag, comment or text that a document begins with.
func partOfXML(rest []byte) int {
	until := func(end string) int {
		if i := bytes.Index(rest, []byte(end)); i >= 0 {
			return i + len(end)
		}
		return len(rest)
	}
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return until("-->")
	case rest[0] == '<' && !bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return until(">")
	case rest[0] == '<':
		return len("<![CDATA[") // its text follows
	}
	if i := bytes.IndexByte(rest, '<'); i >= 0 {
		return i
	}
	return len(rest)
}

// linesOfJSON yields the members and items of a document, in lines as a printer would break them.
func linesOfJSON(decoded []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		line := make([]byte, 0, 256)
		inString := false
		end := func() bool {
			whole := yield(line)
			line = line[:0]
			return whole
		}
		for i := 0; i < len(decoded); i++ {
			switch c := decoded[i]; {
			case inString:
				line = append(line, c)
				if c == '\\' && i+1 < len(decoded) {
					i++
					line = append(line, decoded[i])
				}
				inString = c != '"'
			case c == ' ', c == '\t', c == '\r', c == '\n':
			case c == '}' || c == ']':
				if len(line) > 0 && !end() {
					return
				}
				line = append(line, c)
			default:
				line = append(line, c)
				inString = c == '"'
				if c == ':' {
					line = append(line, ' ')
				}
				if (c == '{' || c == '[' || c == ',') && !end() {
					return
				}
			}
		}
		end()
	}
}
