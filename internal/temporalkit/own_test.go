package temporalkit

import (
	"context"
	"net"
	"testing"

	"go.temporal.io/sdk/client"
)

// TestOwnServer: the key, the certificates and the headers for another server do not go to the
// one that a `starter dev` has started. The namespace of the environment counts where a command
// names none.
func TestOwnServer(t *testing.T) { //nolint:paralleltest // variables of the environment
	for name, value := range map[string]string{
		"TEMPORAL_ADDRESS": "cloud.example:7233", "TEMPORAL_NAMESPACE": "theirs", "TEMPORAL_API_KEY": "a-key",
		"TEMPORAL_TLS_CLIENT_CERT_PATH": "/no/such/file", "TEMPORAL_TLS_CLIENT_KEY_PATH": "/no/such/file", "TEMPORAL_GRPC_META_TEAM": "a-team",
	} {
		t.Setenv(name, value)
	}
	dial := func(context.Context, string) (net.Conn, error) { return nil, net.ErrClosed }
	for _, c := range []struct {
		name            string
		options         Options
		host, namespace string
	}{
		{"by its address", Options{Address: "127.0.0.1:7233", Own: true}, "127.0.0.1:7233", "theirs"},
		{"with a namespace", Options{Address: "127.0.0.1:7233", Namespace: "ours", Own: true}, "127.0.0.1:7233", "ours"},
		{"by its process", Options{Dial: dial, Namespace: client.DefaultNamespace}, embeddedAddress, client.DefaultNamespace},
	} {
		opts, err := c.options.clientOptions()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if opts.HostPort != c.host || opts.Namespace != c.namespace {
			t.Errorf("%s: %s in namespace %q, want %s in %q", c.name, opts.HostPort, opts.Namespace, c.host, c.namespace)
		}
		if opts.Credentials != nil || opts.ConnectionOptions.TLS != nil || opts.HeadersProvider != nil {
			t.Errorf("%s: it gets what is for another server: %+v", c.name, opts)
		}
	}
	if _, err := (Options{Address: "cloud.example:7233"}).clientOptions(); err == nil {
		t.Error("another server is asked without the certificate that was named")
	}
	if got := Namespace(Options{}); got != "theirs" {
		t.Errorf("while the certificate is being replaced, the namespace is %q", got)
	}
}
