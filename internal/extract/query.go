package extract

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// queries writes the queries of a document's links as browsers do: in the encoding of the
// document (the URL standard's "percent-encode after encoding"). Paths are in UTF-8 in any
// document.
type queries struct {
	in encoding.Encoding // nil for UTF-8
}

// queriesOf returns the queries of a document that was read in an encoding. The queries of
// a document in UTF-16 are in UTF-8, since UTF-16 could not be sent.
func queriesOf(name string) queries {
	switch name {
	case "", "utf-8", "utf-16le", "utf-16be", "replacement":
		return queries{}
	}
	// Package charset's encoding writes HTML references itself, unencoded.
	in, err := htmlindex.Get(name)
	if err != nil {
		return queries{}
	}
	return queries{in: in}
}

// encode encodes characters beyond ASCII in the query of a reference, if it has one.
func (q queries) encode(ref string) string {
	if q.in == nil || isASCII(ref) {
		return ref
	}
	text, fragment, hasFragment := strings.Cut(ref, "#")
	path, query, hasQuery := strings.Cut(text, "?")
	if !hasQuery || isASCII(query) {
		return ref
	}
	var b strings.Builder
	b.WriteString(path)
	b.WriteByte('?')
	for query != "" {
		n := 0
		for n < len(query) && query[n] < utf8.RuneSelf {
			n++
		}
		b.WriteString(query[:n])
		query = query[n:]
		for n = 0; n < len(query) && query[n] >= utf8.RuneSelf; {
			n++
		}
		q.write(&b, query[:n])
		query = query[n:]
	}
	if hasFragment {
		b.WriteString("#" + fragment)
	}
	return b.String()
}

// write writes characters beyond ASCII. Those that the encoding lacks become HTML
// references ("&#8364;"), as in a form.
func (q queries) write(b *strings.Builder, text string) {
	encoder := q.in.NewEncoder()
	if encoded, err := encoder.String(text); err == nil {
		writeQuery(b, encoded)
		return
	}
	for _, r := range text {
		encoder.Reset()
		if encoded, err := encoder.String(string(r)); err == nil {
			writeQuery(b, encoded)
		} else {
			fmt.Fprintf(b, "%%26%%23%d%%3B", r)
		}
	}
}

// writeQuery percent-encodes the bytes that stand encoded in a query.
func writeQuery(b *strings.Builder, encoded string) {
	for i := range len(encoded) {
		if c := encoded[i]; c <= ' ' || c > '~' || strings.IndexByte(`"#<>'`, c) >= 0 {
			fmt.Fprintf(b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
