package web

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Those who watch the server need no token, and see nothing else without one.
func TestReadyWithoutToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.Guard = Guard{Token: "a token of the operators"}
	status := http.StatusServiceUnavailable
	w.server.Ready = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "not ready\nstore: does not answer\n")
	})
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/": 401, "/readyz/crawls": 401} {
		if got := w.do(local(http.MethodGet, path, "")); got.Code != want {
			t.Errorf("%s: %d, want %d: %s", path, got.Code, want, got.Body)
		}
	}
	if got := w.do(local(http.MethodGet, "/readyz", "")); !strings.Contains(got.Body.String(), "store: does not answer") || got.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%v %s", got.Header(), got.Body)
	}
	if status = http.StatusOK; w.do(local(http.MethodGet, "/readyz", "")).Code != http.StatusOK {
		t.Error("it is not ready again")
	}
	elsewhere := local(http.MethodGet, "/readyz", "")
	elsewhere.Host = "elsewhere.example"
	if got := w.do(elsewhere); got.Code != http.StatusForbidden {
		t.Errorf("by the name of another site: %d", got.Code)
	}
	w.server.Ready = nil
	if got := w.do(local(http.MethodGet, "/readyz", "")); got.Code != http.StatusOK {
		t.Errorf("a server that needs nothing: %d", got.Code)
	}
}
