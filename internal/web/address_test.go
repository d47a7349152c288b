package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

// A crawl whose name ends like an address for programs has a page, to which the others link,
// and an answer for programs beside those of the crawl with the shorter name.
func TestCrawlNamedJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "news.json", []string{"https://a.test/"}
	_, err := w.s.OpenCrawl(t.Context(), spec)
	w.check(err)
	const page = "/crawls/news%2Ejson"
	w.has(w.get("/"), `href="`+page+`"`)
	w.has(w.get("/crawls/news.json/rejected"), `href="`+page+`"`)
	w.has(w.get(page), "<h1>news.json", `href="`+page+`.json"`)
	for address, want := range map[string]string{"/crawls/news.json": "news", page + ".json": "news.json", "/crawls/news.json.json": "news.json"} {
		var line struct{ Crawl string }
		if err := json.Unmarshal([]byte(w.get(address)), &line); err != nil || line.Crawl != want {
			t.Errorf("%s: %q, %v, want %s", address, line.Crawl, err, want)
		}
	}
	answer, next := w.press("/crawls/news.json/do/pause", map[string][]string{"back": {page}})
	if answer.Header().Get("Location") != page || !strings.Contains(next, "did: pause news.json") {
		t.Errorf("%d to %q: %s", answer.Code, answer.Header().Get("Location"), next)
	}
}

// Pages at two ports of one machine share a browser's cookies, and neither reads those of
// the other.
func TestCookiesOfPorts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pressed := w.do(local(http.MethodPost, "/crawls/news/do/pause", ""))
	w.server.Guard = Guard{Token: token}
	in := w.do(local(http.MethodPost, "/login", "token="+token))
	for _, c := range append(pressed.Result().Cookies(), in.Result().Cookies()...) {
		beside := local(http.MethodGet, "/", "")
		beside.Host = "localhost:8235"
		beside.AddCookie(c)
		got := w.do(beside)
		if got.Code != http.StatusUnauthorized || len(got.Result().Cookies()) > 0 {
			t.Errorf("%s is taken at another port: %d, %v", c.Name, got.Code, got.Result().Cookies())
		}
	}
}

// A reader at this machine lives by its clock; one who came from elsewhere, or whom a proxy
// or a container's port let in, is told the zone of times.
func TestAtThisMachine(t *testing.T) {
	t.Parallel()
	loopback, other := &net.TCPAddr{IP: net.IPv6loopback, Port: 8234}, &net.TCPAddr{IP: net.IPv4(172, 17, 0, 2), Port: 8234}
	for _, c := range []struct {
		host string
		to   net.Addr
		want bool
	}{
		{"localhost:8234", loopback, true},
		{"127.0.0.1", loopback, true},
		{"[::1]:8234", loopback, true},
		{"crawl.example.org", loopback, false},
		{"192.0.2.7:8234", other, false},
		{"localhost:8234", other, false},
		{"localhost:8234", nil, false},
	} {
		r := local(http.MethodGet, "/", "")
		r.Host = c.host
		if c.to != nil {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.to))
		}
		if got := atThisMachine(r); got != c.want {
			t.Errorf("%s at %v: %v", c.host, c.to, got)
		}
	}
}

// A parameter that is not encoded is refused: passed over, it would choose nothing.
func TestParametersAreEncoded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, address := range []string{
		"/crawls/news/pages.json?text=a;b", "/crawls/news/pages.json?text=100%", "/crawls/news/url.json?url=https://a.test/;id=1",
		"/crawls/news/changes.atom?kinds=page.new;host=a.test",
	} {
		if got := w.do(local(http.MethodGet, address, "")); got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), "write %3B for a semicolon") {
			t.Errorf("%s: %d %s", address, got.Code, got.Body)
		}
	}
	if got := w.do(local(http.MethodGet, "/crawls/news/rejected.json?reason=a%3Bb", "")); got.Code != http.StatusOK {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
