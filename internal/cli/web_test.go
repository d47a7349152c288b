package cli

import (
	"strings"
	"testing"

	"recrawl/internal/config"
)

func TestWebCommand(t *testing.T) {
	t.Parallel()
	b := &fakeBackend{}
	if got := starter(t, b, "web"); got.code != ExitOK || got.errOut != "" {
		t.Fatalf("%+v", got)
	}
	if b.web == nil || b.web.Listen != "127.0.0.1:8234" || b.web.ReadOnly || b.web.At.Store == "" {
		t.Errorf("%+v", b.web)
	}
	if got := starter(t, b, "web", "--listen", "[::1]:9000", "--read-only", "--ui", "http://ui.example.org"); got.code != ExitOK {
		t.Fatalf("%+v", got)
	}
	if b.web.Listen != "[::1]:9000" || !b.web.ReadOnly || b.web.UI != "http://ui.example.org" {
		t.Errorf("%+v", b.web)
	}
}

// A health check asks, and serves nothing. It needs no token to do so.
func TestWebReady(t *testing.T) {
	t.Parallel()
	b := &fakeBackend{}
	got := starter(t, b, "web", "--ready", "--listen", "0.0.0.0:8234")
	if got.code != ExitFailed || b.web != nil || b.webReady != "0.0.0.0:8234" {
		t.Errorf("%+v, %+v, asked %q", got, b.web, b.webReady)
	}
	checkLine(t, got.errOut, "not ready; store: does not answer")
}

// The Temporal UI's address comes from its variable, unless the flag gives another.
func TestWebUI(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{"": "http://fleet.example.org", "--ui http://other.example.org": "http://other.example.org"} {
		b, env := &fakeBackend{}, map[string]string{"RECRAWL_STORE": "sqlite:x.db", "RECRAWL_DATA": t.TempDir(), config.EnvWebUI: "http://fleet.example.org"}
		if got := starterEnv(t, b, env, append([]string{"web"}, strings.Fields(flags)...)...); got.code != ExitOK || b.web == nil || b.web.UI != want {
			t.Errorf("%q: %+v, %+v", flags, got, b.web)
		}
	}
}

// Where others can reach the page it is not served without a token, and nothing is begun.
func TestWebRefused(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"0.0.0.0:8234": "0.0.0.0:8234 can be reached from other machines, and there is no token: set RECRAWL_WEB_TOKEN",
		":8234":        ":8234 can be reached from other machines",
		"8234":         "write HOST:PORT, such as 127.0.0.1:8234",
	} {
		b := &fakeBackend{}
		got := starter(t, b, "web", "--listen", listen)
		if got.code != ExitUsage || b.web != nil || got.out != "" {
			t.Errorf("%s: %+v, %+v", listen, got, b.web)
		}
		checkLine(t, got.errOut, want)
	}
	b := &fakeBackend{}
	got := starter(t, b, "dev", "--web-port", "8300")
	if got.code != ExitOK || b.dev.WebPort != 8300 {
		t.Errorf("dev: %+v, %+v", got, b.dev)
	}
	if help := starter(t, b, "web", "--help"); !strings.Contains(help.out, "RECRAWL_WEB_TOKEN") {
		t.Errorf("the help does not name the token's variable: %s", help.out)
	}
}
