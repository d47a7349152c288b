// Package proxytest stands before a plaintext Temporal server as Temporal Cloud, or a
// company's gateway, does: it asks for TLS, for a client certificate and for an API key,
// and refuses some calls. Tests only.
package proxytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

// Host is the name in the proxy's certificate.
const Host = "localhost"

// Proxy is a running proxy.
type Proxy struct {
	// Address is host and port, by the name in its certificate.
	Address string
	// Authority signed the certificates of the proxy and of Client.
	Authority Authority
	// Client is a certificate that the proxy accepts.
	Client Pair
}

// Options set the proxy's requirements.
type Options struct {
	// Upstream is the server's host and port.
	Upstream string
	// ClientCertificates asks for one.
	ClientCertificates bool
	// Key is the API key that every call must bring; "" asks for none.
	Key string
	// Refuse are the codes with which calls are answered, by the end of their names.
	Refuse map[string]codes.Code
}

// Pair is a certificate and its key, in files.
type Pair struct{ Cert, Key string }

// Start starts a proxy for a test.
func Start(t testing.TB, o Options) *Proxy {
	t.Helper()
	p := &Proxy{Authority: NewAuthority(t)}
	p.Client = p.Authority.Issue(t, "a worker")
	own := p.Authority.Issue(t, Host)
	certificate, err := tls.LoadX509KeyPair(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	if o.ClientCertificates {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, p.Authority.pool
	}
	var plain http.Protocols
	plain.SetUnencryptedHTTP2(true)
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: o.Upstream})
			r.Out.Header.Del("Authorization") // the dev server would judge it too
		},
		Transport: &http.Transport{Protocols: &plain},
		ErrorLog:  log.New(io.Discard, "", 0), // calls end with their clients
	}
	server := &http.Server{
		TLSConfig: config, Handler: o.judge(forward), ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // handshakes fail on purpose
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ServeTLS(listener, "", "") // until it is closed
	}()
	t.Cleanup(func() {
		_ = server.Close() // its connections end with the test
		<-ended
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p.Address = net.JoinHostPort(Host, port)
	return p
}

// judge refuses calls according to the options.
func (o Options) judge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.Key != "" && r.Header.Get("Authorization") != "Bearer "+o.Key {
			refuse(w, codes.Unauthenticated, "Request unauthorized.")
			return
		}
		for call, code := range o.Refuse {
			if strings.HasSuffix(r.URL.Path, "/"+call) {
				refuse(w, code, "Request unauthorized.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers a call with a status only.
func refuse(w http.ResponseWriter, code codes.Code, message string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", fmt.Sprint(uint32(code)))
	w.Header().Set("Grpc-Message", message)
}

// Authority signs certificates.
type Authority struct {
	// File is its own certificate.
	File        string
	pool        *x509.CertPool
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority makes an authority that nobody else trusts.
func NewAuthority(t testing.TB) Authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	a := Authority{key: key, pool: x509.NewCertPool(), File: write(t, "CERTIFICATE", der)}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.certificate)
	return a
}

// Issue signs a certificate for a name.
func (a Authority) Issue(t testing.TB, name string) Pair {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return Pair{Cert: write(t, "CERTIFICATE", der), Key: write(t, "PRIVATE KEY", private)}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t testing.TB, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.ToLower(strings.ReplaceAll(kind, " ", "-"))+".pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
