//go:build unix

// Package s3test gives tests a private S3 server: Versity's gateway to a folder,
// which `make s3-server` builds. Tests only.
package s3test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"recrawl/internal/porttest"
)

// AccessKey and SecretKey are the server's only credentials.
const (
	AccessKey = "recrawl-test"
	SecretKey = "not-a-secret-but-must-not-be-printed"
)

const (
	startTimeout = 10 * time.Minute // only ends a hang
	// pollEvery is how often a starting server is asked whether it is up: it has no
	// other way to say so.
	pollEvery = 20 * time.Millisecond
)

// supervisor runs the server as its child and kills it when its standard input
// is closed: also when the test process dies in a way that runs no clean-up. Its
// arguments are a file for the server's process id and the server's command.
const supervisor = `pid=$1; shift
exec 3<&0
"$@" 3<&- & server=$!
echo $server >"$pid"
(read -r _ <&3; kill -KILL $server) 2>/dev/null & reader=$!
wait $server
kill $reader 2>/dev/null`

// Server is a running S3 server, until the test ends.
type Server struct {
	t       testing.TB
	dir     string
	address string

	end   func()        // of the supervisor, and with it of the server
	ended chan struct{} // closed when the supervisor has ended
}

// Start starts a server without buckets. It fails the test when the program has
// not been built, and skips it among the quick ones (-short).
func Start(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no S3 server")
	}
	s := &Server{t: t, dir: t.TempDir()}
	for _, folder := range []string{s.Root(), s.metadata()} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.stop)
	deadline := time.Now().Add(startTimeout)
	for !s.start(freeAddress(t)) { // somebody took the port in between
		if time.Now().After(deadline) {
			t.Fatalf("the S3 server does not come up: %s", s.lastWords())
		}
	}
	return s
}

// Root is the folder in which buckets are folders and objects are files.
func (s *Server) Root() string { return filepath.Join(s.dir, "root") }

func (s *Server) metadata() string { return filepath.Join(s.dir, "metadata") }

// Address is the server's host:port.
func (s *Server) Address() string { return s.address }

// Getenv is the environment of a program that uses the server.
func (s *Server) Getenv(name string) string {
	return map[string]string{"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey, "AWS_REGION": "us-east-1"}[name]
}

var buckets atomic.Int64

// Bucket makes a new bucket and returns its name.
func (s *Server) Bucket() string {
	s.t.Helper()
	name := fmt.Sprintf("bucket-%d", buckets.Add(1))
	client, err := minio.New(s.address, &minio.Options{Creds: credentials.NewStaticV4(AccessKey, SecretKey, "")})
	if err == nil {
		err = client.MakeBucket(s.t.Context(), name, minio.MakeBucketOptions{})
	}
	if err != nil {
		s.t.Fatalf("make a bucket: %v", err)
	}
	return name
}

// URL is the URL of an archive on the server.
func (s *Server) URL(bucket, prefix string) string { return ArchiveURL(s.address, bucket, prefix) }

// ArchiveURL is the URL of an archive on a server, or on a proxy to it.
func ArchiveURL(address, bucket, prefix string) string {
	return fmt.Sprintf("s3://%s/%s?endpoint=http://%s&region=us-east-1", bucket, prefix, address)
}

// Kill ends the server by SIGKILL. Its objects stay for Restart.
func (s *Server) Kill() {
	s.t.Helper()
	text, err := os.ReadFile(s.pidFile())
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		s.t.Fatalf("kill the S3 server: %v", err)
	}
	<-s.ended
}

// Restart starts the server again where it was. If another process has taken the port, it
// waits for that one to give it back.
func (s *Server) Restart() {
	s.t.Helper()
	s.stop()
	deadline := time.Now().Add(startTimeout)
	for !s.start(s.address) {
		if time.Now().After(deadline) {
			s.t.Fatalf("the S3 server does not come up again: %s", s.lastWords())
		}
	}
}

func (s *Server) stop() {
	if s.end != nil {
		s.end()
		<-s.ended
	}
}

func (s *Server) pidFile() string { return filepath.Join(s.dir, "pid") }

// start starts the server and reports whether it came up.
func (s *Server) start(address string) bool {
	s.t.Helper()
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	// Not bound to the test's context: the server lives until its input is closed.
	cmd := exec.Command("/bin/sh", "-c", supervisor, "sh", s.pidFile(), program(s.t), "--quiet",
		"--port", address, "posix", "--sidecar", s.metadata(), s.Root())
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "ROOT_ACCESS_KEY=" + AccessKey, "ROOT_SECRET_KEY=" + SecretKey}
	cmd.Stdout, cmd.Stderr = log, log
	// A separate process group: Ctrl-C of a test run must reach the server by way of
	// its supervisor only.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatalf("start the S3 server: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the server's messages are in its log
	}()
	s.address, s.ended, s.end = address, ended, func() { _ = input.Close() }
	return s.waitUp()
}

// waitUp waits until the server answers, or has ended.
func (s *Server) waitUp() bool {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/", nil)
		if err != nil {
			s.t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			return true
		}
		select {
		case <-s.ended:
			return false
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

// lastWords is the end of the server's log.
func (s *Server) lastWords() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-1000):]))
}

func program(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), "bin", "versitygw")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the S3 server is missing (%v): run `make s3-server`", err)
	}
	return path
}

func freeAddress(t testing.TB) string {
	t.Helper()
	port, err := porttest.Free(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", port)
}
