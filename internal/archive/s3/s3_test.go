//go:build unix

package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/archive/s3"
	"recrawl/internal/archive/s3/s3test"
)

func open(t testing.TB, server *s3test.Server, url string) *s3.Store {
	t.Helper()
	s, err := s3.Open(t.Context(), url, server.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// commit stores content, as archivetest.Put does, and returns the error.
func commit(t *testing.T, s archive.Store, content []byte) error {
	t.Helper()
	w, err := s.Create(t.Context())
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write(content); err != nil {
		return err
	}
	_, _, err = w.Commit()
	return err
}

func read(t *testing.T, s archive.Store, digest string) ([]byte, error) {
	t.Helper()
	r, err := s.Open(t.Context(), digest)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// count is how many contents an archive lists.
func count(t *testing.T, s archive.Store) int {
	t.Helper()
	n := 0
	for _, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// noise is content that cannot be compressed.
func noise(t *testing.T, n int) []byte {
	t.Helper()
	content := make([]byte, n)
	if _, err := rand.NewChaCha8([32]byte{}).Read(content); err != nil {
		t.Fatal(err)
	}
	return content
}

func TestStore(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	for name, prefix := range map[string]string{"whole bucket": "", "prefix": "deep/er/archive"} {
		t.Run(name, func(t *testing.T) {
			archivetest.Run(t, func(*testing.T) archive.Store { return open(t, server, server.URL(server.Bucket(), prefix)) })
		})
	}
}

// A bucket that is copied file by file is a folder archive, and the reverse.
func TestLayoutIsThatOfAFolder(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Bucket()
	s := open(t, server, server.URL(bucket, "pages"))
	text := bytes.Repeat([]byte("<p>words "), 1000)
	small, large := archivetest.Put(t, s, []byte("small")), archivetest.Put(t, s, text)
	dir, err := archive.OpenDir(filepath.Join(server.Root(), bucket, "pages"))
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{small, large} {
		if _, err := read(t, dir, digest); err != nil {
			t.Errorf("%s as a file: %v", digest, err)
		}
	}
	other := archivetest.Put(t, dir, text[:5000])
	if got, err := read(t, s, other); err != nil || !bytes.Equal(got, text[:5000]) {
		t.Errorf("a file as an object: %d bytes, %v", len(got), err)
	}
	if n := count(t, s); n != 3 {
		t.Errorf("%d contents, want 3", n)
	}
}

// More objects than one answer lists, others among them, and other prefixes
// beside.
func TestListManyObjects(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Bucket()
	root := filepath.Join(server.Root(), bucket, "pages")
	const n = 2100
	for i := range n {
		name := archive.Name(archivetest.Digest(fmt.Append(nil, i)), archive.Codings()[i%2])
		paths := []string{filepath.Join(root, name)}
		if i < 20 {
			paths = append(paths, filepath.Join(root+"2", name), filepath.Join(root, "aa", fmt.Sprint("note", i)))
		}
		for _, path := range paths {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := open(t, server, server.URL(bucket, "pages"))
	last, listed := "", 0
	for info, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if listed++; info.Digest <= last || info.Size != 1 {
			t.Fatalf("after %s: %+v", last, info)
		}
		last = info.Digest
	}
	if listed != n {
		t.Errorf("%d contents, want %d", listed, n)
	}
}

// An existing object is not uploaded again, unless it is not whole.
func TestKnownContentIsNotUploaded(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Bucket()
	s := open(t, server, server.URL(bucket, ""))
	content := bytes.Repeat([]byte("<p>words "), 1000)
	digest := archivetest.Put(t, s, content)
	file := filepath.Join(server.Root(), bucket, archive.Name(digest, archive.Zstd))
	aged := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(file, aged, aged); err != nil {
		t.Fatal(err)
	}
	archivetest.Put(t, s, content)
	if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(aged) {
		t.Errorf("it was written again: %v, %v", info.ModTime(), err)
	}
	if err := os.Truncate(file, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, s, digest); !errors.Is(err, archive.ErrCorrupt) {
		t.Errorf("a cut object: %v", err)
	}
	archivetest.Put(t, s, content)
	if got, err := read(t, s, digest); err != nil || !bytes.Equal(got, content) {
		t.Errorf("mended: %d bytes, %v", len(got), err)
	}
}

// Each way in which opening or using an archive can fail is one line that says what
// to do, and reveals no secret.
func TestTroubleIsTold(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Bucket()
	with := func(name, value string) func(string) string {
		return func(asked string) string {
			if asked == name {
				return value
			}
			return server.Getenv(asked)
		}
	}
	for _, c := range []struct {
		name, url string
		getenv    func(string) string
		want      string
	}{
		{"no bucket", server.URL("no-such-bucket", ""), server.Getenv, "there is no such bucket"},
		{"no server", s3test.ArchiveURL("127.0.0.1:1", bucket, "x"), server.Getenv, "connection refused"},
		{"not TLS", strings.Replace(server.URL(bucket, ""), "http:", "https:", 1), server.Getenv, "HTTPS"},
		{"a wrong secret", server.URL(bucket, ""), with("AWS_SECRET_ACCESS_KEY", s3test.SecretKey+"x"), "the credentials are refused (SignatureDoesNotMatch)"},
		{"an unknown key", server.URL(bucket, ""), with("AWS_ACCESS_KEY_ID", "nobody"), `the server answered 404 "XAdminUserNotFound"`}, // others say InvalidAccessKeyId,
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := s3.Open(t.Context(), c.url, c.getenv)
			if !errors.Is(err, archive.ErrUnavailable) {
				t.Fatalf("open: %v", err)
			}
			text := err.Error()
			if !strings.Contains(text, c.want) || strings.Contains(text, s3test.SecretKey) || strings.Contains(text, "\n") || !strings.Contains(text, "s3://") {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}

// A bucket that goes away does not count as content that goes away.
func TestVanishedBucket(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Bucket()
	s := open(t, server, server.URL(bucket, ""))
	digest := archivetest.Put(t, s, []byte("x"))
	if err := os.RemoveAll(filepath.Join(server.Root(), bucket)); err != nil {
		t.Fatal(err)
	}
	for what, err := range everything(t, s, digest) {
		if !errors.Is(err, archive.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// everything makes all requests about a content that an archive supports.
func everything(t *testing.T, s archive.Store, digest string) map[string]error {
	t.Helper()
	errs := map[string]error{"commit": commit(t, s, []byte("new"))}
	_, errs["open"] = s.Open(t.Context(), digest)
	_, errs["has"] = s.Has(t.Context(), digest)
	for _, err := range s.List(t.Context(), "") {
		errs["list"] = err
	}
	return errs
}

// Requests wait for a server that is killed, but no page is fetched meanwhile; when
// it is back all goes on.
func TestServerGoesAndComesBack(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	s := open(t, server, server.URL(server.Bucket(), ""))
	digest := archivetest.Put(t, s, []byte("before"))
	server.Kill()
	errs := everything(t, s, digest)
	errs["delete"] = s.Delete(t.Context(), digest)
	_, errs["create"] = s.Create(t.Context())
	for what, err := range errs {
		if !errors.Is(err, archive.ErrUnavailable) {
			t.Errorf("%s without a server: %v", what, err)
		}
	}
	server.Restart()
	if got, err := read(t, s, digest); err != nil || string(got) != "before" {
		t.Errorf("%q, %v", got, err)
	}
	archivetest.Put(t, s, []byte("after"))
	if n := count(t, s); n != 2 {
		t.Errorf("%d contents, want 2", n)
	}
}

// way is a proxy to the server on which something happens.
type way struct {
	address string
	// after is how many bytes to the server, and then from it, pass before event.
	toServer, fromServer int64
	event                func()
	dead                 atomic.Bool // nothing passes any more
	silent               bool        // dead connections stay open
}

// start opens the way and returns its address.
func (w *way) start(t *testing.T, server string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.address = l.Addr().String()
	var open sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, client, up)
			mu.Unlock()
			open.Go(func() { w.pass(up, client, &w.toServer) })
			open.Go(func() { w.pass(client, up, &w.fromServer) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		open.Wait()
	})
}

// pass passes bytes on until the way is dead.
func (w *way) pass(to, from net.Conn, left *int64) {
	if !w.silent {
		defer to.Close()
		defer from.Close()
	}
	buffer := make([]byte, 16<<10)
	for !w.dead.Load() {
		n, err := from.Read(buffer)
		if atomic.AddInt64(left, -int64(n)) < 0 && w.dead.CompareAndSwap(false, true) {
			w.event()
			return
		}
		if err != nil || w.dead.Load() {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

const far = 1 << 40

// An upload that ends half-way, because the connection is cut or the server is
// killed, leaves nothing visible; stored again it is there.
func TestBrokenUpload(t *testing.T) {
	t.Parallel()
	content := noise(t, 8<<20)
	for name, kill := range map[string]bool{"connection cut": false, "server killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := s3test.Start(t)
			bucket := server.Bucket()
			broken := make(chan struct{})
			w := &way{toServer: 4 << 20, fromServer: far, event: func() {
				defer close(broken)
				if kill {
					server.Kill()
				}
			}}
			w.start(t, server.Address())
			s := open(t, server, s3test.ArchiveURL(w.address, bucket, ""))
			if err := commit(t, s, content); !errors.Is(err, archive.ErrUnavailable) {
				t.Errorf("commit: %v", err)
			}
			<-broken
			if kill {
				server.Restart()
			}
			direct := open(t, server, server.URL(bucket, ""))
			digest := archivetest.Digest(content)
			if there, err := direct.Has(t.Context(), digest); there || err != nil {
				t.Errorf("half of it is there: %t, %v", there, err)
			}
			if n := count(t, direct); n != 0 {
				t.Errorf("%d contents are listed", n)
			}
			archivetest.Put(t, direct, content)
			if got, err := read(t, direct, digest); err != nil || !bytes.Equal(got, content) {
				t.Errorf("stored again: %d bytes, %v", len(got), err)
			}
		})
	}
}

// A download that ends half-way is no damage.
func TestBrokenDownload(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Bucket()
	direct := open(t, server, server.URL(bucket, ""))
	for name, content := range map[string][]byte{
		"plain":      noise(t, 8<<20),
		"compressed": append(bytes.Repeat([]byte("<p>words "), 1<<20), noise(t, 6<<20)...),
	} {
		t.Run(name, func(t *testing.T) {
			digest := archivetest.Put(t, direct, content)
			w := &way{toServer: far, fromServer: 3 << 20, event: func() {}}
			w.start(t, server.Address())
			s := open(t, server, s3test.ArchiveURL(w.address, bucket, ""))
			if _, err := read(t, s, digest); !errors.Is(err, archive.ErrUnavailable) || errors.Is(err, archive.ErrCorrupt) {
				t.Errorf("read: %v", err)
			}
		})
	}
}

// A connection on which nothing moves is given up.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	bucket := server.Bucket()
	content := noise(t, 8<<20)
	digest := archivetest.Put(t, open(t, server, server.URL(bucket, "")), content)
	for name, w := range map[string]*way{
		"downloading": {toServer: far, fromServer: 3 << 20},
		"uploading":   {toServer: 3 << 20, fromServer: far},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.silent, w.event = true, func() {}
			w.start(t, server.Address())
			s := s3.Connect(t, s3test.ArchiveURL(w.address, bucket, ""), server.Getenv, 300*time.Millisecond)
			var err error
			if name == "uploading" {
				err = commit(t, s, content[1:])
			} else {
				_, err = read(t, s, digest)
			}
			if !errors.Is(err, archive.ErrUnavailable) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestFullBucket: a server without room says so in its own words, and that is not
// taken for another trouble.
func TestFullBucket(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		full   bool
	}{
		{507, "XMinioStorageFull", true},
		{507, "InsufficientStorage", true},
		{403, "QuotaExceeded", true},
		{403, "AccessDenied", false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case http.MethodPut:
				w.WriteHeader(c.status)
				fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>sorry</Message></Error>`, c.code)
			case http.MethodHead:
				if r.URL.Path != "/bucket/" {
					w.WriteHeader(http.StatusNotFound)
				}
			default:
				fmt.Fprint(w, `<?xml version="1.0"?><LocationConstraint>us-east-1</LocationConstraint>`)
			}
		}))
		t.Cleanup(server.Close)
		env := map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}
		s, err := s3.Open(t.Context(), "s3://bucket/?endpoint="+server.URL, func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		err = commit(t, s, []byte("a content"))
		if !errors.Is(err, archive.ErrUnavailable) || errors.Is(err, archive.ErrFull) != c.full {
			t.Errorf("%d %s: %v", c.status, c.code, err)
		}
	}
}
