package fetch

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

// Answers that browsers read, and that net/http would refuse or misread as they are.
func TestUntidyHeads(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	cases := []struct{ name, answer string }{
		{"no colon", ok + "PHP Notice\r\nContent-Length: 8\r\n\r\n<p>hello"},
		{"no colon, first", "HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello"},
		{"no colon, and it goes on", ok + "a line\r\n\tthat: goes on\r\n\r\n<p>hello"},
		{"no name", ok + ": x\r\n\r\n<p>hello"},
		{"a name with other characters", ok + "X(Y): x\r\nn\xe9e: x\r\nTwo Words: x\r\n\r\n<p>hello"},
		{"a space first", "HTTP/1.1 200 OK\r\n X: y\r\nContent-Type: text/html\r\n\r\n<p>hello"},
		{"control characters", ok + "X: \x01\x00\x7f\r\n\r\n<p>hello"},
		{"a line end alone", ok + "X: y\rz\r\n\r\n<p>hello"},
		{"space behind names", "HTTP/1.1 200 OK\r\nContent-Type : text/html\r\nTransfer-Encoding\t: chunked\r\n\r\n8\r\n<p>hello\r\n0\r\n\r\n"},
		{"chunks twice", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n<p>hello\r\n0\r\n\r\n"},
		{"chunks beside a length that is none", ok + "Content-Length: \r\nTransfer-Encoding: Chunked\r\n\r\n8\r\n<p>hello\r\n0\r\n\r\n"},
		{"no length", ok + "Content-Length:\r\n\r\n<p>hello"},
		{"a length twice in a line", ok + "Content-Length: 8, 8\r\n\r\n<p>hello, and more"},
		{"a length twice", ok + "Content-Length: 8\r\nContent-Length: 8 , 8\r\n\r\n<p>hello, and more"},
		{"identity", ok + "Transfer-Encoding: identity\r\nContent-Length: 8\r\n\r\n<p>hello"},
		{"line feeds alone", "HTTP/1.1 200 OK\nContent-Type: text/html\nnothing\n\n<p>hello"},
		{"a folded line", "HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html;\r\n\tcharset=utf-8\r\nX\r\n\r\n<p>hello"},
		{"early hints", "HTTP/1.1 103 Early Hints\r\nLink\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + ok + "X\r\n\r\n<p>hello"},
		{"nothing to tidy", ok + "\r\n<p>hello"},
	}
	for _, c := range cases {
		for name, pieces := range map[string]int{"": len(c.answer), ", byte by byte": 1} {
			t.Run(c.name+name, func(t *testing.T) {
				for _, secure := range []bool{false, true} {
					url, roots := serveRaw(t, c.answer, pieces, secure)
					var sink bytes.Buffer
					got := New(Options{RootCAs: roots}).Do(t.Context(), get(t, url), &sink)
					checkResult(t, got)
					if !got.Content || sink.String() != "<p>hello" || got.MediaType.Type != "text/html" {
						t.Errorf("TLS %v: %s: %q (%v), body %q of %+v", secure, got.Outcome, got.Problem, got.Err, &sink, got.MediaType)
					}
				}
			})
		}
	}
}

// serveRaw serves one raw answer, in pieces of a size.
func serveRaw(t *testing.T, answer string, pieces int, secure bool) (url string, roots *x509.CertPool) {
	t.Helper()
	answerTo := func(c net.Conn) {
		if readRequest(bufio.NewReader(c)) != nil {
			return
		}
		for text := answer; text != ""; text = text[min(pieces, len(text)):] {
			if _, err := io.WriteString(c, text[:min(pieces, len(text))]); err != nil {
				return
			}
		}
	}
	if !secure {
		return serveWire(t, answerTo).url, nil
	}
	trusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(trusted.Close)
	s := serveWire(t, func(c net.Conn) {
		tlsConn := tls.Server(c, &tls.Config{Certificates: trusted.TLS.Certificates})
		defer tlsConn.Close()
		answerTo(tlsConn)
	})
	roots = x509.NewCertPool()
	roots.AddCert(trusted.Certificate())
	return strings.Replace(s.url, "http:", "https:", 1), roots
}

// What a site asks for is heard, even with a space before the colon.
func TestAskedUntidily(t *testing.T) {
	s := answering(t, "HTTP/1.1 503 Busy\r\nRetry-After : 120\r\nX-Robots-Tag : noindex\r\n\r\n")
	got := New(Options{}).Do(t.Context(), get(t, s.url), nil)
	checkResult(t, got)
	if got.Outcome != crawl.OutcomeThrottled || got.RetryAfter != "120" || len(got.RobotsTags) != 1 || got.RobotsTags[0] != "noindex" {
		t.Errorf("%+v", got)
	}
}

// Lines that are left out count for the limit of the header.
func TestEndlessUntidyHead(t *testing.T) {
	s := serveWire(t, func(c net.Conn) {
		if readRequest(bufio.NewReader(c)) != nil {
			return
		}
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		for err == nil {
			_, err = io.WriteString(c, "no colon\r\n")
		}
	})
	got := New(Options{}).Do(t.Context(), get(t, s.url), nil)
	checkResult(t, got)
	if got.Content || got.Outcome == crawl.OutcomeNew {
		t.Errorf("%s: %q", got.Outcome, got.Problem)
	}
}
