package e2e

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// request is one line of a site's own log.
type request struct {
	path       string
	begin, end time.Time
	status     int
	etag       string // If-None-Match of the request
	// late: the client had left before the site noticed the request, and nobody knows how long
	// before.
	late bool
}

// site is a web server on loopback that logs every request as it saw it.
type site struct {
	url   string
	srv   *http.Server
	begun atomic.Int64  // requests, also those that are not answered yet
	limit time.Duration // the crawl's time limit of a request; set before the first one

	mu  sync.Mutex
	log []request // in the order of their ends
}

func serve(t *testing.T, h http.Handler) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveAt(t, l, h)
}

func serveAt(t *testing.T, l net.Listener, h http.Handler) *site {
	s := &site{url: "http://" + l.Addr().String(), limit: crawl.DefaultSpec().Fetch.TimeLimit.Std()}
	s.srv = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := &statusWriter{ResponseWriter: w, status: 200}
			begin, late := time.Now(), clientLeft(r)
			s.begun.Add(1)
			h.ServeHTTP(rec, r)
			end := s.ended(r, begin, rec.end())
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log = append(s.log, request{r.URL.RequestURI(), begin, end, rec.status, r.Header.Get("If-None-Match"), late})
		}),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connection{}, c) },
	}
	go s.srv.Serve(l)
	t.Cleanup(func() { s.srv.Close() })
	return s
}

// connection is the key of a request's connection in its context.
type connection struct{}

// clientLeft reports whether the client has closed its connection already. The request's
// context says so too, but later.
func clientLeft(r *http.Request) bool {
	c, is := r.Context().Value(connection{}).(syscall.Conn)
	if !is {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	left := false
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		left = n == 0 && err == nil || errors.Is(err, syscall.ECONNRESET)
	})
	return err != nil || left
}

// ended is the end of a request, as the client may have seen it. A busy machine notices late
// that a request was given up. Either it had reached its time limit, or its worker was killed
// and keeps its permit for long.
func (s *site) ended(r *http.Request, begin, noticed time.Time) time.Time {
	if early := begin.Add(s.limit / 2); r.Context().Err() != nil && early.Before(noticed) {
		return early
	}
	return noticed
}

func (s *site) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.log...)
}

// statusWriter notes the status, and when the client may have had the whole answer.
type statusWriter struct {
	http.ResponseWriter
	status  int
	written int
	whole   time.Time // just before the last byte of a declared length was written
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	w.written += len(p)
	if length := w.Header().Get("Content-Length"); w.whole.IsZero() && length == strconv.Itoa(w.written) {
		w.whole = time.Now()
	}
	return w.ResponseWriter.Write(p)
}

// end is not later than the time when the client has the whole answer; its next request may
// come before a busy machine runs this handler again. Without a declared length the
// answer's end is sent after the handler has returned.
func (w *statusWriter) end() time.Time {
	if !w.whole.IsZero() {
		return w.whole
	}
	return time.Now()
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// checkPolite asserts from the site's own log that no two requests overlapped
// and that gap lay between them. A request that was noticed late says nothing: on a busy
// machine it may have waited for longer than the client, and stand beside the client's next
// one.
func (s *site) checkPolite(t *testing.T, gap time.Duration) {
	t.Helper()
	log := slices.DeleteFunc(s.requests(), func(r request) bool { return r.late })
	slices.SortStableFunc(log, func(a, b request) int { return a.begin.Compare(b.begin) })
	for i := 1; i < len(log); i++ {
		if between := log[i].begin.Sub(log[i-1].end); between < gap {
			t.Errorf("request %d (%s, %d) began at %s, %s after %s (%d, took %s) ended; the rule is %s", i, log[i].path, log[i].status,
				log[i].begin.Format(time.StampMicro), between, log[i-1].path, log[i-1].status, log[i-1].end.Sub(log[i-1].begin), gap)
		}
	}
}

// TestLateRequest: a client has left before the site's process gets round to its request. A busy
// machine's network may take a while to say so, so it is tried again.
func TestLateRequest(t *testing.T) {
	t.Parallel()
	for try := 1; ; try++ {
		s, late := lateRequest(t)
		if late["/second"] {
			t.Fatal("a request whose client waits for the answer was noticed late")
		}
		if late["/first"] {
			s.checkPolite(t, time.Hour)
			return
		}
		if try == 1000 {
			t.Fatal("no request was noticed late")
		}
	}
}

// lateRequest serves a site that finds two requests, of which the first one's client has left,
// and returns which of them were noticed late.
func lateRequest(t *testing.T) (s *site, late map[string]bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	impatient, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(impatient, "GET /first HTTP/1.1\r\nHost: a.test\r\n\r\n")
	if err = errors.Join(err, impatient.Close()); err != nil {
		t.Fatal(err)
	}
	s = serveAt(t, l, answers(http.StatusOK))
	resp, err := http.Get(s.url + "/second")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(resp.Body.Close(), s.srv.Shutdown(t.Context())); err != nil {
		t.Fatal(err)
	}
	late = map[string]bool{}
	for _, r := range s.requests() {
		late[r.path] = r.late
	}
	return s, late
}
