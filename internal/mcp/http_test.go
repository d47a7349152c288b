package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"recrawl/internal/mcp"
	"recrawl/internal/report"
	"recrawl/internal/web"
)

// serve serves the page for operators with the tools, to those whom a guard lets in.
func (w *world) serve(guard web.Guard) *httptest.Server {
	w.Helper()
	server := httptest.NewServer(web.New(web.Options{
		Report: w.options.Reports.(report.Reporter), Feed: w.s, Files: w.files, Guard: guard, Log: w.options.Log, MCP: mcp.New(w.options).Handler(),
	}).Handler())
	w.Cleanup(server.Close)
	return server
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Over HTTP a client gets the same as on standard input, and the token for looking is
// enough, even with the handshake of older clients.
func TestHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.page("/")
	w.finds(page.PageID, "Home", html("Home", "<p>Welcome.</p>"), days(1))
	at := w.serve(web.Guard{Token: "full-token", ReadToken: "read-token"}).URL + "/mcp"
	for _, version := range []string{"", "2025-11-25", "2025-03-26"} {
		client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: at, HTTPClient: &http.Client{Transport: bearer("read-token")},
		}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		w.check(err)
		r := call(t, client, "read_page", map[string]any{"page": page.PageID})
		r.quotes("Welcome.")
		tools, err := client.ListTools(t.Context(), nil)
		w.check(err)
		for _, tool := range tools.Tools {
			if tool.Name == "request_visit" {
				t.Error("visits can be asked for over HTTP")
			}
		}
		w.check(client.Close())
	}
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

// The page's guard protects the tools like everything else.
func TestHTTPGuard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.serve(web.Guard{Token: "full-token", ReadToken: "read-token", Hosts: []string{"crawls.example.com"}})
	for name, c := range map[string]struct {
		header map[string]string
		method string
		body   string
		status int
	}{
		"with the token":                {status: http.StatusOK},
		"by a listed name":              {header: map[string]string{"Host": "crawls.example.com"}, status: http.StatusOK},
		"without a token":               {header: map[string]string{"Authorization": ""}, status: http.StatusUnauthorized},
		"with a wrong token":            {header: map[string]string{"Authorization": "Bearer guess"}, status: http.StatusUnauthorized},
		"by a rebound name":             {header: map[string]string{"Host": "evil.test"}, status: http.StatusForbidden},
		"from another site":             {header: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: http.StatusForbidden},
		"from another origin":           {header: map[string]string{"Origin": "https://evil.test"}, status: http.StatusForbidden},
		"as a form posts it":            {header: map[string]string{"Content-Type": "text/plain"}, status: http.StatusUnsupportedMediaType},
		"with a body of more than 64 k": {body: `{"x":"` + strings.Repeat("x", 70_000) + `"}`, status: http.StatusRequestEntityTooLarge},
		"that only looks":               {method: http.MethodGet, status: http.StatusMethodNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, body := http.MethodPost, listTools
			if c.method != "" {
				method = c.method
			}
			if c.body != "" {
				body = c.body
			}
			r, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/mcp", strings.NewReader(body))
			mustBe(t, err)
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer read-token")
			for key, value := range c.header {
				if key == "Host" {
					r.Host = value
				}
				r.Header.Set(key, value)
			}
			got, err := server.Client().Do(r)
			mustBe(t, err)
			mustBe(t, got.Body.Close())
			if got.StatusCode != c.status {
				t.Errorf("answered with %d, want %d", got.StatusCode, c.status)
			}
		})
	}
}

func mustBe(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
