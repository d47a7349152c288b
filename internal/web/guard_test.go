package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const token, readToken = "a-token-of-the-test-1", "a-token-to-read-with-1"

// A browser that comes here by another name is turned away: the name may belong to another
// site, whose page could then read and press everything.
func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Guard.Hosts = []string{"crawl.example.org"}
	for host, want := range map[string]int{
		"localhost:8234": 200, "LOCALHOST.": 200, "127.0.0.1:8234": 200, "[::1]:8234": 200, "192.0.2.7:8234": 200, "crawl.example.org": 200, "Crawl.example.org:443": 200,
		"evil.example": 403, "evil.example:8234": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "": 403, "crawl.example.org.evil.example": 403,
	} {
		for _, path := range []string{"/", "/crawls/news", "/crawls/news.json", "/crawls/news/live", "/assets/style.css", "/nowhere"} {
			if path == "/crawls/news/live" && want == 200 {
				continue // it would not return
			}
			r := local(http.MethodGet, path, "")
			r.Host = host
			got, want := w.do(r), want
			if path == "/nowhere" && want == 200 {
				want = 404
			}
			if got.Code != want {
				t.Errorf("%q by the name %q: %d, want %d", path, host, got.Code, want)
			}
		}
	}
}

// Another site cannot make a browser press a button.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, header := range map[string]http.Header{
		"of another site":        {"Sec-Fetch-Site": {"cross-site"}},
		"of a sister":            {"Sec-Fetch-Site": {"same-site"}},
		"of another origin":      {"Origin": {"https://evil.example"}},
		"of the port beside":     {"Origin": {"http://localhost:8042"}},
		"of nobody":              {"Origin": {"null"}},
		"of another site's form": {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
	} {
		for _, path := range []string{"/crawls/news/do/stop", "/crawls/news/retry", "/login"} {
			r := local(http.MethodPost, path, "")
			r.Header.Del("Sec-Fetch-Site")
			for k, v := range header {
				r.Header[k] = v
			}
			if got := w.do(r); got.Code != http.StatusForbidden {
				t.Errorf("%s %s: %d", path, name, got.Code)
			}
		}
	}
	if len(w.commands.calls) > 0 {
		t.Errorf("something was done: %v", w.commands.calls)
	}
	program := local(http.MethodPost, "/crawls/news/do/pause", "")
	program.Header.Del("Sec-Fetch-Site")
	program.Header.Set("Accept", "application/json")
	if got := w.do(program); got.Code != http.StatusOK || got.Body.String() != `{"message":"did: pause news"}`+"\n" {
		t.Errorf("of a program: %d %s", got.Code, got.Body)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Guard.Token, w.server.Guard.ReadToken = token, readToken
	for _, c := range []struct {
		name, bearer string
		get, post    int
	}{
		{"none", "", 401, 401},
		{"a wrong one", "not-the-token-of-this", 401, 401},
		{"half of it", token[:10], 401, 401},
		{"that to read", readToken, 200, 403},
		{"that for all", token, 200, 200},
	} {
		ask := func(method, path string) int {
			r := local(method, path, "")
			r.Header.Set("Accept", "application/json")
			if c.bearer != "" {
				r.Header.Set("Authorization", "Bearer "+c.bearer)
			}
			return w.do(r).Code
		}
		if got := ask(http.MethodGet, "/crawls/news"); got != c.get {
			t.Errorf("look with %s: %d, want %d", c.name, got, c.get)
		}
		if got := ask(http.MethodPost, "/crawls/news/do/pause"); got != c.post {
			t.Errorf("press with %s: %d, want %d", c.name, got, c.post)
		}
	}
	if len(w.commands.calls) != 1 {
		t.Errorf("commands: %v, want the one of the token for all", w.commands.calls)
	}
	if got := w.do(local(http.MethodGet, "/assets/style.css", "")); got.Code != http.StatusOK {
		t.Errorf("the style of the page that asks for the token: %d", got.Code)
	}
}

// A browser asks for the token once, and then comes back to where it wanted to go.
func TestLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Guard.Token, w.server.Guard.ReadToken = token, readToken
	asked := w.do(local(http.MethodGet, "/crawls/news?kinds=page.new", ""))
	if asked.Code != http.StatusUnauthorized {
		t.Fatalf("without a token: %d", asked.Code)
	}
	w.has(asked.Body.String(), `value="/crawls/news?kinds=page.new"`, `type="password"`)
	if strings.Contains(asked.Body.String(), "news</a>") {
		t.Error("whoever has no token sees the names of crawls")
	}
	if wrong := w.do(local(http.MethodPost, "/login", "token=guess")); wrong.Code != http.StatusUnauthorized || len(wrong.Result().Cookies()) > 0 {
		t.Errorf("a wrong token: %d, %v", wrong.Code, wrong.Result().Cookies())
	}
	for given, pressed := range map[string]int{token: http.StatusSeeOther, readToken: http.StatusForbidden} {
		in := w.do(local(http.MethodPost, "/login", url.Values{"token": {given}, "back": {"/crawls/news?kinds=page.new"}}.Encode()))
		cookies := in.Result().Cookies()
		if in.Code != http.StatusSeeOther || in.Header().Get("Location") != "/crawls/news?kinds=page.new" || len(cookies) != 1 {
			t.Fatalf("log in: %d to %q with %v", in.Code, in.Header().Get("Location"), cookies)
		}
		if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, given) {
			t.Errorf("the cookie: %+v", c)
		}
		look, press := local(http.MethodGet, "/crawls/news", ""), local(http.MethodPost, "/crawls/news/do/pause", "")
		look.AddCookie(cookies[0])
		press.AddCookie(cookies[0])
		if got := w.do(look); got.Code != http.StatusOK {
			t.Errorf("look: %d", got.Code)
		}
		if got := w.do(press); got.Code != pressed {
			t.Errorf("press: %d, want %d", got.Code, pressed)
		}
	}
	elsewhere := w.do(local(http.MethodPost, "/login", url.Values{"token": {token}, "back": {"//evil.example/"}}.Encode()))
	if to := elsewhere.Header().Get("Location"); to != "/" {
		t.Errorf("a form of another site leads to %q after the log-in", to)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Commands = nil
	for _, a := range actions() {
		path := strings.NewReplacer("{crawl}", "news", "{change}", "pause", "{sink}", "team", "{command}", "test", "{host}", "example.com", "{block}", "block", "{trap}", "x").Replace(a.pattern)
		if got := w.do(local(http.MethodPost, path, "")); got.Code != http.StatusForbidden {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	page := w.get("/crawls/news")
	w.has(page, "You may look", "<button disabled>Pause</button>")
}

// Every answer carries the policy under which nothing of a crawled page runs or is loaded.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/", "/crawls/news", "/crawls/news.json", "/crawls/nowhere", "/assets/live.js", "/login"} {
		h := w.do(local(http.MethodGet, path, "")).Header()
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: no %s in %q", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("Content-Type") == "" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// A button that is pressed after the login has expired leads to the page where it stood, and
// so does a token that is mistyped.
func TestLoginLeadsBackToTheButton(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Guard.Token = "0123456789abcdef"
	for _, path := range []string{"/crawls/news/do/pause", "/login"} {
		got := w.do(local(http.MethodPost, path, url.Values{"back": {"/crawls/news?kinds=page.new"}, "token": {"wrong"}}.Encode()))
		if got.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, got.Code)
		}
		w.has(got.Body.String(), `name="back" value="/crawls/news?kinds=page.new"`)
	}
}

// A button that did not work leads back to where it was pressed.
func TestErrorLeadsBackToTheButton(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commands.err = errors.New("it is stopped")
	got := w.do(local(http.MethodPost, "/crawls/news/do/pause", url.Values{"back": {"/crawls/news"}}.Encode()))
	if got.Code != http.StatusConflict {
		t.Errorf("%d", got.Code)
	}
	w.has(got.Body.String(), `<a href="/crawls/news">Back to where you were</a>`)
}

// Nobody holds a connection by beginning to send a form, least of all without a token. What a
// command does afterwards may take as long as it likes.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		commands := &slowCommands{}
		s := New(Options{Guard: Guard{Token: token}, Commands: commands, Log: slog.New(slog.DiscardHandler)})
		conns := make(pipes)
		server := &http.Server{Handler: s.Handler()}
		go server.Serve(conns)
		defer server.Close()
		ask := func(head, body string) string {
			ours, theirs := net.Pipe()
			conns <- theirs
			defer ours.Close()
			go io.WriteString(ours, head+"\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\n"+body)
			answer, err := http.ReadResponse(bufio.NewReader(ours), nil)
			if err != nil {
				return err.Error()
			}
			defer answer.Body.Close()
			_, _ = io.Copy(io.Discard, answer.Body)
			return answer.Status
		}
		begun := time.Now()
		if got := ask("POST /login HTTP/1.1", "token="); got != "401 Unauthorized" || time.Since(begun) != bodyLimit {
			t.Errorf("a form that does not come: %s after %s", got, time.Since(begun))
		}
		head := "POST /crawls/news/retry HTTP/1.1\r\nAccept: application/json\r\nAuthorization: Bearer " + token
		if got := ask(head, "host=a.te"); got != "400 Bad Request" {
			t.Errorf("a form that does not end: %s", got)
		}
		got := ask(head, "host=a.tst")
		if got != "200 OK" || commands.err != nil {
			t.Errorf("a command that takes long: %s, %v", got, commands.err)
		}
	})
}

// slowCommands takes longer for a retry than a form may take to come.
type slowCommands struct {
	pressedCommands
	err error
}

func (c *slowCommands) Retry(ctx context.Context, _, _ string) (string, error) {
	select {
	case <-ctx.Done():
	case <-time.After(2 * bodyLimit):
	}
	c.err = ctx.Err()
	return "done", nil
}

// pipes are the connections that a server accepts.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p pipes) Close() error { close(p); return nil }
func (pipes) Addr() net.Addr { return &net.IPAddr{} }

// Whoever logged in to look logs in with the other token, and comes back to where the buttons are.
func TestLoginAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Guard.Token, w.server.Guard.ReadToken = token, readToken
	reads := w.do(local(http.MethodPost, "/login", url.Values{"token": {readToken}}.Encode())).Result().Cookies()[0]
	as := func(r *http.Request, cookie *http.Cookie) *httptest.ResponseRecorder {
		r.AddCookie(cookie)
		return w.do(r)
	}
	looks := as(local(http.MethodGet, "/crawls/news?kinds=page.new", ""), reads)
	w.has(looks.Body.String(), `<a href="/login?back=%2Fcrawls%2Fnews%3Fkinds%3Dpage.new">Log in</a>`)
	form := as(local(http.MethodGet, "/login?back=%2Fcrawls%2Fnews%3Fkinds%3Dpage.new", ""), reads)
	if form.Code != http.StatusOK || strings.Contains(form.Body.String(), "JSON") {
		t.Errorf("the form: %d\n%s", form.Code, form.Body)
	}
	w.has(form.Body.String(), `name="back" value="/crawls/news?kinds=page.new"`, `type="password"`)
	in := as(local(http.MethodPost, "/login", url.Values{"token": {token}, "back": {"/crawls/news"}}.Encode()), reads)
	if in.Code != http.StatusSeeOther || in.Header().Get("Location") != "/crawls/news" {
		t.Fatalf("log in again: %d", in.Code)
	}
	all := as(local(http.MethodGet, "/crawls/news", ""), in.Result().Cookies()[0]).Body.String()
	if strings.Contains(all, "disabled") || strings.Contains(all, "/login") {
		t.Errorf("still without buttons:\n%s", all)
	}
	w.server.Guard = Guard{}
	if got := w.do(local(http.MethodGet, "/login", "")); got.Code != http.StatusNotFound {
		t.Errorf("where no token is needed: %d", got.Code)
	}
}

// The cookie goes through TLS only if the browser came through TLS, also by a proxy. The case of
// the word Bearer does not matter (RFC 9110 11.1).
func TestTokensByProxies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Guard.Token = token
	for proto, want := range map[string]bool{"": false, "http": false, "https": true, "HTTPS": true} {
		r := local(http.MethodPost, "/login", url.Values{"token": {token}}.Encode())
		r.Header.Set("X-Forwarded-Proto", proto)
		if got := w.do(r).Result().Cookies(); len(got) != 1 || got[0].Secure != want {
			t.Errorf("by %q: %v", proto, got)
		}
	}
	for header, want := range map[string]int{"Bearer " + token: 200, "bearer " + token: 200, "BEARER  " + token: 200, "Basic " + token: 401, token: 401, "Bearer": 401} {
		r := local(http.MethodGet, "/crawls/news.json", "")
		r.Header.Set("Authorization", header)
		if got := w.do(r).Code; got != want {
			t.Errorf("%q: %d, want %d", header, got, want)
		}
	}
}
