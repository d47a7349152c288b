package temporalkit

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"recrawl/internal/temporalkit/proxytest"
)

// TestCertificatesAreRenewed: a program that runs while its certificate, and the authority of
// the server's, are replaced in their files connects with what is in the files by then.
func TestCertificatesAreRenewed(t *testing.T) { //nolint:paralleltest // variables of the environment
	before, after := proxytest.NewAuthority(t), proxytest.NewAuthority(t)
	first, second := before.Issue(t, "first"), after.Issue(t, "second")
	files := map[string]string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": before.File, "TEMPORAL_TLS_CLIENT_CERT_PATH": first.Cert, "TEMPORAL_TLS_CLIENT_KEY_PATH": first.Key}
	for name, path := range files {
		t.Setenv(name, path)
	}
	opts, err := Options{}.clientOptions()
	if err != nil {
		t.Fatal(err)
	}
	// connect returns whose certificate a server gets that has one of the authority.
	connect := func(authority proxytest.Authority) string {
		own := authority.Issue(t, proxytest.Host)
		certificate, err := tls.LoadX509KeyPair(own.Cert, own.Key)
		if err != nil {
			t.Fatal(err)
		}
		listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
			Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		client, err := grpc.NewClient(net.JoinHostPort(proxytest.Host, port), opts.ConnectionOptions.DialOptions...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		client.Connect()
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		secured := conn.(*tls.Conn) //nolint:forcetypeassert // of a TLS listener
		if err := secured.HandshakeContext(t.Context()); err != nil {
			return err.Error()
		}
		return peer(secured.ConnectionState().PeerCertificates)
	}
	if got := connect(before); got != "first" {
		t.Errorf("at first it is %q", got)
	}
	copyFile(t, after.File, before.File)
	copyFile(t, second.Cert, first.Cert)
	// Between the two renames certificate and key do not fit.
	if got := connect(before); got != "first" {
		t.Errorf("while the files are replaced it is %q", got)
	}
	copyFile(t, second.Key, first.Key)
	if got := connect(after); got != "second" {
		t.Errorf("then it is %q", got)
	}
}

// TestHungUpAfterTLS: a gateway that hangs up on a certificate without a word gets a hint at
// the certificate.
func TestHungUpAfterTLS(t *testing.T) { //nolint:paralleltest // variables of the environment
	authority := proxytest.NewAuthority(t)
	own := authority.Issue(t, proxytest.Host)
	certificate, err := tls.LoadX509KeyPair(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	defer served.Wait()
	defer listener.Close()
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).HandshakeContext(t.Context()) //nolint:forcetypeassert // of a TLS listener
			_ = conn.Close()
		}
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_TLS_SERVER_CA_CERT_PATH", authority.File)
	_, err = Dial(t.Context(), Options{Address: net.JoinHostPort(proxytest.Host, port), Patience: time.Second})
	if !IsAbsent(err) || !strings.Contains(err.Error(), "TEMPORAL_TLS_CLIENT_CERT_PATH") {
		t.Error(err)
	}
}

// TestHungUp: that a server hangs up is noticed when the client reads or when it writes.
func TestHungUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end  string
		tls  *tls.Config
		want string
	}{
		{"connection error: desc = \"error reading server preface: EOF\"", &tls.Config{MinVersion: tls.VersionTLS12}, "TEMPORAL_TLS_CLIENT_CERT_PATH"},
		{"write tcp 127.0.0.1:2->127.0.0.1:1: write: broken pipe", &tls.Config{MinVersion: tls.VersionTLS12}, "TEMPORAL_TLS_CLIENT_CERT_PATH"},
		{"read tcp 127.0.0.1:2->127.0.0.1:1: read: connection reset by peer", &tls.Config{MinVersion: tls.VersionTLS12}, "TEMPORAL_TLS_CLIENT_CERT_PATH"},
		{"read tcp 127.0.0.1:2->127.0.0.1:1: read: connection reset by peer", nil, "TEMPORAL_TLS=true"},
		{"dial tcp 127.0.0.1:1: connect: connection refused", nil, ": start it, or set TEMPORAL_ADDRESS"},
	} {
		opts := client.Options{HostPort: "127.0.0.1:1", ConnectionOptions: client.ConnectionOptions{TLS: c.tls}}
		if got := newDialError(t.Context(), opts, errors.New("failed reaching server: "+c.end)); !got.absent || !strings.Contains(got.text, c.want) {
			t.Errorf("%s: %s", c.end, got.text)
		}
	}
}

// TestRefusals: who refuses whom, by the words of TLS, and what to do about it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	opts := client.Options{HostPort: "127.0.0.1:1"}
	for words, want := range map[string]string{
		"remote error: tls: unrecognized name": "correct TEMPORAL_ADDRESS, or TEMPORAL_TLS_SERVER_NAME",
		"x509: certificate has expired or is not yet valid: current time 1970-01-01T00:00:09Z is before 2026-01-01T00:00:00Z": "or our clock is wrong",
		"x509: certificate is not valid for any names, but wanted to match temporal":                                          "for another name",
		"x509: certificate specifies an incompatible key usage":                                                               "must be replaced there",
	} {
		got := newDialError(t.Context(), opts, errors.New("authentication handshake failed: "+words))
		if got.absent || !strings.Contains(got.text, want) || strings.Contains(got.text, "CLIENT_CERT") {
			t.Errorf("%s: %s", words, got.text)
		}
	}
}

func peer(chain []*x509.Certificate) string {
	if len(chain) == 0 {
		return ""
	}
	return chain[0].Subject.CommonName
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
