package fetch

import (
	"net/http"
	"strings"
	"testing"
)

func TestHeads(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Two", "b")
		w.Header().Add("X-Two", "caf\xe9") // Latin-1, as servers still send it
		w.Header()["Date"] = nil
		html(w, "<p>hello")
	})
	req := get(t, s.URL+"/a?b=1")
	req.UserAgent, req.ETag = "recrawl/1 (+me@example.org)", `"v1"`
	heads := New(Options{}).Do(t.Context(), req, nil).Heads
	wantRequest := "GET /a?b=1 HTTP/1.1\r\nHost: " + strings.TrimPrefix(s.URL, "http://") + "\r\n" +
		"Accept: text/html, application/xhtml+xml, */*;q=0.1\r\nAccept-Encoding: " + acceptEncoding + "\r\nIf-None-Match: \"v1\"\r\n" +
		"User-Agent: recrawl/1 (+me@example.org)\r\n\r\n"
	if heads.Request != wantRequest {
		t.Errorf("request\n%q, want\n%q", heads.Request, wantRequest)
	}
	if want := "HTTP/1.1 200 OK\r\n"; !strings.HasPrefix(heads.Response, want) || !strings.HasSuffix(heads.Response, "X-Two: b\r\nX-Two: caf\uFFFD\r\n\r\n") {
		t.Errorf("response %q", heads.Response)
	}
	if heads.Remote != "127.0.0.1" && heads.Remote != "::1" {
		t.Errorf("remote %q", heads.Remote)
	}
}

func TestHeadsOfHTTP2(t *testing.T) {
	t.Parallel()
	s, roots := tlsServer(t, true, func(w http.ResponseWriter, _ *http.Request) { html(w, "<p>two") })
	heads := New(Options{RootCAs: roots}).Do(t.Context(), get(t, s.URL), nil).Heads
	if !strings.HasPrefix(heads.Response, "HTTP/2.0 200") || !strings.HasPrefix(heads.Request, "GET / HTTP/1.1\r\n") {
		t.Errorf("%+v", heads)
	}
}

func TestHeadIsBounded(t *testing.T) {
	t.Parallel()
	for _, head := range []string{
		"", "\r\n\r\n", strings.Repeat("x", 3*maxHead), "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: "+strings.Repeat("x", 1000)+"\r\n", 40),
	} {
		got := closeHead(head)
		end := strings.Index(got, "\r\n\r\n")
		if len(got) > maxHead+2 || !strings.HasSuffix(got, "\r\n") || end >= 0 && end != len(got)-4 {
			t.Errorf("%d bytes of head: %d bytes, %.80q", len(head), len(got), got)
		}
	}
}
