package fetch

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

// insists serves a page under one spelling only, and redirects to it from all others.
func insists(on string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != on {
			w.Header().Set("Location", on)
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		html(w, "asked for "+r.RequestURI)
	}
}

// TestServerInsistsOnASpelling: a redirect from the key to another spelling of it is
// distinguished from one to itself, and the request can be made under that spelling.
func TestServerInsistsOnASpelling(t *testing.T) {
	for _, target := range []string{"/O'Brien", "/%7Ejoe", "/caf%c3%a9", "/a[1]", "/p?q='y'", "/a|b", "/it's?"} {
		t.Run(target, func(t *testing.T) {
			s := serve(t, insists(target))
			client, req := New(Options{}), get(t, s.URL+target)
			first := client.Do(t.Context(), req, nil)
			checkResult(t, first)
			if first.Outcome != crawl.OutcomeRedirected || !first.Location.IsZero() || first.Spelling != target {
				t.Fatalf("%s, to %s spelled %q: %s", first.Outcome, first.Location, first.Spelling, first.Problem)
			}
			req.Spelling = first.Spelling
			second := client.Do(t.Context(), req, nil)
			checkResult(t, second)
			if !second.Content || second.Digest != digest("asked for "+target) {
				t.Errorf("%s: %s", second.Outcome, second.Problem)
			}
			if head := "GET " + target + " HTTP/1.1\r\n"; !strings.HasPrefix(second.Heads.Request, head) {
				t.Errorf("the request is kept as %q", second.Heads.Request)
			}
		})
	}
}

// TestSpellingByHTTP2: the same in the pseudo-header of HTTP/2, and through a tunnel.
func TestSpellingByHTTP2(t *testing.T) {
	s, roots := tlsServer(t, true, insists("/O'Brien"))
	req := get(t, s.URL+"/O'Brien")
	req.Spelling = "/O'Brien"
	if got := New(Options{RootCAs: roots}).Do(t.Context(), req, nil); !got.Content || got.Digest != digest("asked for /O'Brien") {
		t.Errorf("%+v", got)
	}
}

func TestSpellingByProxy(t *testing.T) {
	proxy, _ := proxyTo(t, "", 0)
	req := get(t, "http://site.example/O'Brien?q='")
	req.AllowNetworks, req.Spelling = nil, "/O'Brien?q='"
	got := New(Options{Proxy: proxy}).Do(t.Context(), req, nil)
	if got.Digest != digest("by proxy: http://site.example/O'Brien?q='") || !strings.HasPrefix(got.Heads.Request, "GET /O'Brien?q=' ") {
		t.Errorf("%+v", got)
	}
}

// TestRedirectToTheSameSpelling: a server that gets the spelling that it wants, and
// redirects to it, redirects to itself.
func TestRedirectToTheSameSpelling(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/O'Brien")
		w.WriteHeader(http.StatusFound)
	})
	req := get(t, s.URL+"/O'Brien")
	req.Spelling = "/O'Brien"
	got := New(Options{}).Do(t.Context(), req, nil)
	if got.Outcome != crawl.OutcomeFailed || got.Problem != "redirects to itself" || got.Spelling != "" {
		t.Errorf("%s %q %q", got.Outcome, got.Problem, got.Spelling)
	}
}

// TestForeignSpelling: a text that is no spelling of the URL is not requested.
func TestForeignSpelling(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { html(w, r.RequestURI) })
	for _, foreign := range []string{"/secret", "/%2e%2e/secret", "/page?x", "/page HTTP/1.1\r\nX: y", "//evil.example/page"} {
		req := get(t, s.URL+"/page")
		req.Spelling = foreign
		if got := New(Options{}).Do(t.Context(), req, nil); got.Digest != digest("/page") {
			t.Errorf("%q: %+v", foreign, got)
		}
	}
}

// TestSpellingOnTheWire: the request line has the bytes of the spelling.
func TestSpellingOnTheWire(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	line := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		asked, _ := bufio.NewReader(conn).ReadString('\n')
		line <- asked
		_, _ = io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	}()
	req := get(t, "http://"+listener.Addr().String()+"/%7Ejoe/it's/a[1]|?q=%c3'")
	req.Spelling = "/%7Ejoe/it's/a[1]|?q=%c3'"
	New(Options{}).Do(t.Context(), req, nil)
	if got := <-line; got != "GET /%7Ejoe/it's/a[1]|?q=%c3' HTTP/1.1\r\n" {
		t.Errorf("asked %q", got)
	}
}
