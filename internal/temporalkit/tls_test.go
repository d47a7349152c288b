package temporalkit_test

import (
	"net"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"recrawl/internal/contract/contracttest"
	"recrawl/internal/temporalkit"
	"recrawl/internal/temporalkit/proxytest"
)

// TestTLS dials a server behind TLS, client certificates and an API key as an operator
// does, by variables of the environment. An error is one line that says what to set.
func TestTLS(t *testing.T) { //nolint:paralleltest // variables of the environment
	_, upstream := contracttest.DevServerAt(t)
	const key = "a-good-key"
	strict := proxytest.Start(t, proxytest.Options{Upstream: upstream, ClientCertificates: true, Key: key})
	keyed := proxytest.Start(t, proxytest.Options{Upstream: upstream, Key: key})
	stranger := proxytest.NewAuthority(t).Issue(t, "a stranger")
	_, port, err := net.SplitHostPort(strict.Address)
	if err != nil {
		t.Fatal(err)
	}
	const (
		ca, cert, certKey, apiKey = "TEMPORAL_TLS_SERVER_CA_CERT_PATH", "TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_KEY_PATH", "TEMPORAL_API_KEY"
	)
	good := map[string]string{ca: strict.Authority.File, cert: strict.Client.Cert, certKey: strict.Client.Key, apiKey: key}
	for _, c := range []struct {
		name, address string
		set           map[string]string // over good; "" takes it away
		want          []string          // in the error; none is success
	}{
		{"everything", strict.Address, nil, nil},
		{"key alone", keyed.Address, map[string]string{ca: keyed.Authority.File, cert: "", certKey: ""}, nil},
		{"line ends of mounted secrets", keyed.Address + "\n", map[string]string{ca: keyed.Authority.File, cert: "", certKey: "", apiKey: key + "\n"}, nil},
		{"by another name", "127.0.0.1:" + port, map[string]string{"TEMPORAL_TLS_SERVER_NAME": proxytest.Host}, nil},
		{"no client certificate", strict.Address, map[string]string{cert: "", certKey: ""}, []string{"asks for a client certificate", cert, certKey}},
		{"a stranger's certificate", strict.Address, map[string]string{cert: stranger.Cert, certKey: stranger.Key}, []string{"does not take our client certificate", cert}},
		{"half a certificate", strict.Address, map[string]string{certKey: ""}, []string{"client cert", "other must be present too"}},
		{"no authority", strict.Address, map[string]string{ca: ""}, []string{"do not trust", ca}},
		{"another authority", strict.Address, map[string]string{ca: keyed.Authority.File}, []string{"do not trust", ca}},
		{"another name", "127.0.0.1:" + port, nil, []string{"for another name", "TEMPORAL_ADDRESS", "TEMPORAL_TLS_SERVER_NAME"}},
		{"a wrong key", strict.Address, map[string]string{apiKey: "a-bad-key"}, []string{"refuses our API key", apiKey}},
		{"a key in two lines", strict.Address, map[string]string{apiKey: "a-bad\nkey"}, []string{"cannot be sent", apiKey}},
		{"no key", strict.Address, map[string]string{apiKey: ""}, []string{"without an API key", apiKey}},
		{"TLS to a server without", upstream, nil, []string{"speaks no TLS", "TEMPORAL_TLS=false"}},
	} {
		t.Run(c.name, func(t *testing.T) { //nolint:paralleltest // as above
			for name, value := range good {
				t.Setenv(name, value)
			}
			for name, value := range c.set {
				t.Setenv(name, value)
			}
			t.Setenv("TEMPORAL_ADDRESS", c.address)
			conn, err := temporalkit.Dial(t.Context(), temporalkit.Options{})
			if err == nil {
				defer conn.Close()
				// The key goes with every call.
				_, err = temporalkit.OpenCrawls(t.Context(), conn, client.DefaultNamespace)
			}
			if len(c.want) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			checkRefused(t, err, c.want)
		})
	}
	t.Run("no TLS to a server with it", func(t *testing.T) { //nolint:paralleltest // as above
		t.Setenv("TEMPORAL_ADDRESS", strict.Address)
		_, err := temporalkit.Dial(t.Context(), temporalkit.Options{})
		if err == nil || !strings.Contains(err.Error(), "set TEMPORAL_TLS=true") {
			t.Error(err)
		}
	})
}

func checkRefused(t *testing.T, err error, want []string) {
	t.Helper()
	if err == nil {
		t.Fatal("it was let in")
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v: want %q in it", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "-key-") || strings.Contains(err.Error(), "a-bad-key") {
		t.Errorf("not one line, or it shows the key: %v", err)
	}
	if temporalkit.IsAbsent(err) {
		t.Error("a worker would wait for ever")
	}
}
