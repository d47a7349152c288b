package fetch

import (
	"fmt"
	"net/http"
	"strings"

	"recrawl/internal/crawl"
)

// maxHead bounds the text of a request's or response's head in bytes.
const maxHead = 16 << 10

// Heads are the request and the head of its answer as text, for archives that
// keep the whole exchange. They are cleaned (valid UTF-8) and end with an empty
// line; a head longer than 16 KiB is cut after a line.
type Heads struct {
	// Request is the request as HTTP/1.1 writes it, even if HTTP/2 carried it.
	Request string
	// Response is the status line, with the protocol that was spoken, and the header
	// lines in the order of their names: the order that the server chose is not
	// known. "" if there was no answer.
	Response string
	// Remote is the address that was reached, "" if that is not known (a proxy).
	Remote string
}

// requestHead is the head that net/http writes for a request without a body.
func requestHead(r *http.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), r.URL.Host)
	_ = r.Header.Write(&b) // a Builder does not fail
	return closeHead(b.String())
}

func responseHead(r *http.Response) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\r\n", r.Proto, r.Status)
	_ = r.Header.Write(&b)
	return closeHead(b.String())
}

// closeHead cleans a head line by line, up to its limit, and ends it with an
// empty line.
func closeHead(head string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(head, "\r\n") {
		line = crawl.Clean(line, maxHead)
		if line == "" {
			continue // an empty line would end the head
		}
		if b.Len()+len(line)+len("\r\n") > maxHead {
			break
		}
		b.WriteString(line)
		b.WriteString("\r\n")
	}
	return b.String() + "\r\n"
}
