package fetch

import (
	"bufio"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"recrawl/internal/crawl"
)

// proxyTo returns a proxy that sends everything to one server, and counts its
// requests.
func proxyTo(t *testing.T, target string, connectStatus int) (proxy func(*url.URL) (*url.URL, error), asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if connectStatus == http.StatusProxyAuthRequired {
			w.WriteHeader(connectStatus) // whatever is asked
			return
		}
		if r.Method != http.MethodConnect {
			html(w, "by proxy: "+r.RequestURI)
			return
		}
		w.WriteHeader(connectStatus)
		if connectStatus == http.StatusOK {
			tunnel(w, target)
		}
	})
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("me", "secret")
	return func(*url.URL) (*url.URL, error) { return u, nil }, asked
}

func tunnel(w http.ResponseWriter, target string) {
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	other, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer other.Close()
	go func() { _, _ = io.Copy(other, buffered) }()
	_, _ = io.Copy(conn, other)
}

func TestProxy(t *testing.T) {
	proxy, asked := proxyTo(t, "", 0)
	req := get(t, "http://site.example/page")
	req.AllowNetworks = nil // neither the proxy's address nor a name is checked
	got := New(Options{Proxy: proxy}).Do(t.Context(), req, nil)
	checkResult(t, got)
	if !got.Content || got.Digest != digest("by proxy: http://site.example/page") || asked.Load() != 1 {
		t.Errorf("%+v after %d requests", got, asked.Load())
	}
}

func TestProxyTunnel(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		var requests atomic.Int32
		s, roots := tlsServer(t, h2, func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			html(w, "x")
		})
		proxy, asked := proxyTo(t, s.Listener.Addr().String(), http.StatusOK)
		got := New(Options{Proxy: proxy, RootCAs: roots}).Do(t.Context(), get(t, "https://example.com/"), nil)
		checkResult(t, got)
		if !got.Content || asked.Load() != 1 || requests.Load() != 1 {
			t.Errorf("HTTP/2 %v: %+v after %d requests", h2, got, requests.Load())
		}
	}
}

// TestHostThatPosesAsTheProxy: 407 in a tunnel is the host's own answer. Taken for the proxy's, it
// would be a fault of ours, for which the page would be asked for again and again.
func TestHostThatPosesAsTheProxy(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		s, roots := tlsServer(t, h2, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) })
		proxy, _ := proxyTo(t, s.Listener.Addr().String(), http.StatusOK)
		got := New(Options{Proxy: proxy, RootCAs: roots}).Do(t.Context(), get(t, "https://example.com/"), nil)
		checkResult(t, got)
		if got.Local || !got.Sent || got.Outcome != crawl.OutcomeFailed || got.Status != http.StatusProxyAuthRequired {
			t.Errorf("HTTP/2 %v: %+v", h2, got)
		}
	}
}

// TestProxyIsNotAWayIn: a host that is spelled as an address is checked, and this
// machine is never requested through a proxy.
func TestProxyIsNotAWayIn(t *testing.T) {
	proxy, asked := proxyTo(t, "", http.StatusOK)
	client := New(Options{Proxy: proxy, RootCAs: x509.NewCertPool()})
	for _, host := range []string{
		"10.0.0.1", "0x0a.1", "169.254.169.254", "168.63.129.16", "[::ffff:10.0.0.1]", "[fd00::1]", "[64:ff9b::a00:1]", "127.0.0.1:2", "localhost:2", "a.localhost:2", "[::1]:2", "mail.example.com:25",
	} {
		for _, scheme := range []string{"http://", "https://"} {
			req := get(t, scheme+host)
			req.AllowNetworks = nil
			got := client.Do(t.Context(), req, nil)
			checkResult(t, got)
			if !IsRefused(got.Err) || got.Sent || got.Local {
				t.Errorf("%s: %+v", host, got)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

// TestProxyTrouble: the proxy's faults are not held against the host, and nobody
// reads its password.
func TestProxyTrouble(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	bad := errors.New(`invalid proxy address "http://me:secret@ /"`)
	denied, _ := proxyTo(t, "", http.StatusProxyAuthRequired)
	unreachable, _ := proxyTo(t, "", http.StatusBadGateway)
	cases := []struct {
		name    string
		proxy   func(*url.URL) (*url.URL, error)
		url     string
		local   bool
		problem string
	}{
		{"dead", func(*url.URL) (*url.URL, error) { return url.Parse(strings.Replace(dead.URL, "//", "//me:secret@", 1)) }, "http://a.example", true, "the proxy 127.0.0.1:"},
		{"no URL", func(*url.URL) (*url.URL, error) { return nil, bad }, "http://a.example", true, "not a URL"},
		{"login, without a tunnel", denied, "http://a.example", true, "the proxy answered 407"},
		{"login", denied, "https://a.example", true, "the proxy answered 407"},
		{"host unreachable", unreachable, "https://a.example", false, "the proxy answered 502 Bad Gateway"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := New(Options{Proxy: c.proxy}).Do(t.Context(), get(t, c.url), nil)
			checkResult(t, got)
			if got.Outcome != crawl.OutcomeFailed || got.Local != c.local || got.Sent || !strings.Contains(got.Problem, c.problem) {
				t.Errorf("%+v", got)
			}
			if strings.Contains(got.Problem+got.Err.Error(), "secret") {
				t.Errorf("tells the password: %v", got.Err)
			}
		})
	}
}

func TestProxyOfTheEnvironment(t *testing.T) {
	s := serveWire(t, func(c net.Conn) {
		if readRequest(bufio.NewReader(c)) == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nby proxy")
		}
	})
	t.Setenv("HTTP_PROXY", s.url)
	t.Setenv("NO_PROXY", "direct.example")
	client := New(Options{Resolver: nameServer(t, nil)})
	if got := client.Do(t.Context(), get(t, "http://site.example/"), nil); got.Digest != digest("by proxy") {
		t.Errorf("%+v", got)
	}
	if got := client.Do(t.Context(), get(t, "http://direct.example/"), nil); !strings.Contains(got.Problem, "does not exist") {
		t.Errorf("%+v", got)
	}
}
