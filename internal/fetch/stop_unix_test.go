//go:build unix

package fetch

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"recrawl/internal/testsite"
	"recrawl/internal/urlkey"
)

// envStopped makes this binary's TestStoppedProcess a crawler of the URL in it.
const envStopped = "RECRAWL_TEST_STOPPED_URL"

// stoppedLimit is the time limit of the requests of TestStoppedProcess.
const stoppedLimit = 150 * time.Millisecond

// TestStoppedProcess stops a process between its connection and its request and
// continues it after the deadline, with the server's answer to the handshake
// waiting: nothing may be sent. The order in which the process then finds the
// answer and the deadline is random, so there are many rounds.
func TestStoppedProcess(t *testing.T) {
	if url := os.Getenv(envStopped); url != "" {
		crawlForEver(url)
	}
	t.Parallel()
	rounds := 20
	if os.Getenv("RECRAWL_LONG") != "" {
		rounds = 500
	}
	var requests atomic.Int64
	var process atomic.Int64 // its id
	stopped, answer, sent := make(chan struct{}), make(chan struct{}), make(chan struct{})
	over := make(chan struct{}) // nobody listens any more
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Listener = testsite.TellFirstWrites(server.Listener, func(net.Addr) {
		select {
		case sent <- struct{}{}:
		case <-over:
		}
	})
	server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if err := syscall.Kill(int(process.Load()), syscall.SIGSTOP); err != nil {
			return nil, err
		}
		select {
		case stopped <- struct{}{}:
			<-answer
		case <-over:
		}
		return nil, nil
	}}
	server.StartTLS()
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	certificate := t.TempDir() + "/certificate.pem"
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(certificate, block, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoppedProcess$")
	cmd.Env = append(os.Environ(), envStopped+"="+server.URL, "SSL_CERT_FILE="+certificate)
	ready, err := cmd.StdinPipe() // until then the process id is not known
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	process.Store(int64(cmd.Process.Pid))
	if err := ready.Close(); err != nil {
		t.Fatal(err)
	}
	for range rounds {
		select {
		case <-stopped:
		case <-time.After(hostileTime):
			t.Fatal("no handshake")
		}
		time.Sleep(stoppedLimit + 20*time.Millisecond)
		answer <- struct{}{}
		<-sent
		if err := syscall.Kill(cmd.Process.Pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	<-stopped // whatever the last round sent has arrived
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	answer <- struct{}{}
	<-sent
	if n := requests.Load(); n != 0 {
		t.Errorf("%d of %d requests were sent after their deadline", n, rounds)
	}
}

// crawlForEver makes requests until it is killed.
func crawlForEver(url string) {
	_, _ = io.Copy(io.Discard, os.Stdin) // both ends belong to the test
	u, err := urlkey.Canonical(url)
	if err != nil {
		panic(err)
	}
	client := New(Options{})
	for {
		client.Do(context.Background(), Request{
			URL: u, MaxBody: 1000, Deadline: time.Now().Add(stoppedLimit),
			AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		}, io.Discard)
	}
}
