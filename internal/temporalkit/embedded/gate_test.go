package embedded

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestForeign(t *testing.T) {
	t.Parallel()
	link := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	for _, c := range []struct {
		name, method, host string
		header             map[string]string
		foreign            bool
	}{
		{"a program", "GET", "localhost:8233", nil, false},
		{"a program that changes something", "POST", "127.0.0.1:8233", nil, false},
		{"by another loopback address", "GET", "[::1]:8233", nil, false},
		{"through a tunnel", "GET", "localhost:9000", nil, false},
		{"without a port", "GET", "localhost", nil, false},
		{"typed into the browser", "GET", "localhost:8233", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, false},
		{"the UI itself", "POST", "localhost:8233", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:8233"}, false},
		{"the UI in an old browser", "POST", "localhost:8233", map[string]string{"Origin": "http://localhost:8233"}, false},
		{"a link from elsewhere", "GET", "localhost:8233", link, false},

		{"another name", "GET", "attacker.example:8233", map[string]string{"Sec-Fetch-Site": "same-origin"}, true},
		{"a name that begins alike", "GET", "localhost.attacker.example", nil, true},
		{"an address in a name", "GET", "127.0.0.1.attacker.example:8233", nil, true},
		{"a name below localhost", "GET", "attacker.localhost:8233", nil, true},
		{"another machine's address", "GET", "192.0.2.1:8233", nil, true},
		{"no name", "GET", "", nil, true},
		{"another site", "POST", "localhost:8233", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://attacker.example"}, true},
		{"another site in an old browser", "POST", "localhost:8233", map[string]string{"Origin": "http://attacker.example"}, true},
		{"a page without an origin", "POST", "localhost:8233", map[string]string{"Origin": "null"}, true},
		{"another port of this machine", "GET", "localhost:8233", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, true},
		{"another port, by its origin", "GET", "localhost:8233", map[string]string{"Origin": "http://localhost:3000"}, true},
		{"the same by https", "GET", "localhost:8233", map[string]string{"Origin": "https://localhost:8233"}, true},
		{"a picture from here", "GET", "localhost:8233", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, true},
		{"a frame from here", "GET", "localhost:8233", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, true},
		{"a form from elsewhere", "POST", "localhost:8233", link, true},
	} {
		r := httptest.NewRequest(c.method, "/", nil)
		r.Host = c.host
		for name, value := range c.header {
			r.Header.Set(name, value)
		}
		if why := foreign(r); (why != "") != c.foreign {
			t.Errorf("%s: %q, want foreign: %t", c.name, why, c.foreign)
		}
	}
}

// The gate passes on the operator's requests, and says so while there is no server.
func TestUIGate(t *testing.T) {
	t.Parallel()
	ui := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host+r.URL.Path) }))
	defer ui.Close()
	up := make(chan bool, 1)
	gate, err := OpenGate(Port{}, func(ctx context.Context) (net.Conn, error) {
		if !<-up {
			return nil, errors.New("it is down")
		}
		return new(net.Dialer).DialContext(ctx, "tcp", ui.Listener.Addr().String())
	})
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(gate.Address(), "http://")
	ask := func(host string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, gate.Address()+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	up <- false
	if code, text := ask(host); code != http.StatusBadGateway || !strings.Contains(text, "not up") {
		t.Errorf("without a server: %d %q", code, text)
	}
	up <- true
	if code, text := ask(host); code != http.StatusOK || text != host+"/a" {
		t.Errorf("with a server: %d %q", code, text)
	}
	if code, text := ask("attacker.example"); code != http.StatusForbidden || !strings.Contains(text, "localhost") {
		t.Errorf("by another name: %d %q", code, text)
	}
	if _, err := OpenGate(Port{Number: portOf(gate.listener), Must: true}, nil); !errors.Is(err, ErrPortInUse) {
		t.Errorf("on a port that is in use: %v", err)
	}
	if err := gate.Close(); err != nil {
		t.Error(err)
	}
}

// The UI's server is not where a page would look.
func TestHiddenAddress(t *testing.T) {
	t.Parallel()
	first, err := hiddenAddress()
	if err != nil {
		t.Fatal(err)
	}
	second, err := hiddenAddress()
	if err != nil || first == second || !first.Addr().IsLoopback() || !second.Addr().IsLoopback() {
		t.Errorf("%s and %s, %v: want two addresses of this machine", first, second, err)
	}
}
