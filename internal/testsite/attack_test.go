package testsite

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recrawl/internal/robots"
)

// startHostile serves all attacks.
func startHostile(t *testing.T) *Loopback {
	t.Helper()
	h := NewLoopback(Attacks(Aims{Victim: "victim.localhost:81", Neighbour: "127.0.0.1:82"}), NewEndless(3, 2030))
	if err := h.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// ask reads at most limit bytes of an attack's answer at a path.
func (h *Loopback) ask(t *testing.T, name, path string, limit int64) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+h.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+name+".localhost:"+h.port+"\r\nConnection: close\r\n\r\n")
	answer, _ := io.ReadAll(io.LimitReader(conn, limit)) // an error is an attack's right
	return string(answer)
}

// Every attack has a name of its own, which a host may have, and answers.
func TestAttacks(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	seen := map[string]bool{}
	for _, a := range h.Attacks() {
		if seen[a.Name] || strings.Trim(a.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("%q is taken, or no name", a.Name)
		}
		seen[a.Name] = true
		if got := h.ask(t, a.Name, "/", 40); got == "" && a.Name != "closed" && a.Name != "reset" {
			t.Errorf("%s answers nothing", a.Name)
		}
		if got := h.ask(t, a.Name, robotsPath, 12); a.Outcome != 0 && got != "HTTP/1.1 404" {
			t.Errorf("%s answers %q for its robots.txt", a.Name, got)
		}
	}
	if got := h.ask(t, "calendar", "/page/1", 100); !strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("a name that is no attack's: %q", got)
	}
	if log := h.Log(); len(log) != 2*len(seen)+1 || log[0].Host != "stars.localhost" || log[0].Path != "/" {
		t.Errorf("%d requests of %d attacks, the first %+v", len(log), len(seen), log[0])
	}
}

// The files with stars are within the limit of a file's size.
func TestStarRulesCount(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	for name, want := range map[string]int{"stars": 1995, "more-stars": 2000, "bare-stars": 2000, "others": 2401} {
		_, file, _ := strings.Cut(h.ask(t, name, robotsPath, 1<<20), "\r\n\r\n")
		if got := strings.Count(file, "Disallow: /"); got != want || len(file) > robots.MaxBytes {
			t.Errorf("%s has %d rules in %d bytes, want %d in at most %d", name, got, len(file), want, robots.MaxBytes)
		}
	}
}

// Each order stands where its name says.
func TestOrders(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	get := func(path string) (*http.Response, string) {
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(h.ask(t, OrdersHost, path, 1<<20))), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	for _, path := range OrderPaths() {
		resp, body := get(path)
		orders := resp.Header.Values("X-Robots-Tag")
		if !strings.Contains(strings.Join(orders, "")+body, "noindex") || !strings.Contains(body, Unkept) {
			t.Errorf("%s says %.100q, %s", path, orders, body)
		}
		if path == "/twentieth-header" && (len(orders) != 20 || orders[19] != "noindex") || path == "/late-in-a-header" && strings.Index(orders[0], "noindex") < 512 {
			t.Errorf("%s says %.100q", path, orders)
		}
	}
	if _, body := get("/"); strings.Count(body, `href="/unfollowed/`) != 2 || strings.Contains(body, Unkept) {
		t.Errorf("the first page says %s", body)
	}
}

// Closing ends attacks whose clients stay.
func TestLoopbackCloses(t *testing.T) {
	t.Parallel()
	h := startHostile(t)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+h.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: dripping-gzip.localhost\r\n\r\n")
	if _, err := io.ReadFull(conn, make([]byte, 40)); err != nil {
		t.Fatal(err)
	}
	h.Close()
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Logf("the connection ended with %v", err)
	}
	if log := h.Log(); len(log) != 1 || log[0].End.IsZero() {
		t.Errorf("the log says %+v", log)
	}
}

func TestChainAndRelay(t *testing.T) {
	t.Parallel()
	attacks := NewLoopback(Attacks(Aims{Victim: "victim.localhost:81", Neighbour: "127.0.0.1:82"}), nil)
	for url, want := range map[string]string{
		"http://chain.localhost:83/":                "http://c1.chain.localhost:83/",
		"http://c41.chain.localhost:83/":            "http://c42.chain.localhost:83/",
		"http://r7.relay.localhost:83/robots.txt":   "http://n307.victim.localhost:81/robots.txt",
		"http://neighbour.localhost:83/robots.txt":  "http://127.0.0.1:82/",
		"http://relay.localhost:83/robots.txt":      "",
		"http://throttle.localhost:83/page/3":       "",
		"http://sitemaps-abroad.localhost:83/other": "",
	} {
		w := httptest.NewRecorder()
		attacks.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("%s leads to %q, want %q", url, got, want)
		}
	}
}
