package e2e

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
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
	s := &site{url: "http://" + l.Addr().String(), limit: crawl.DefaultSpec().Fetch.TimeLimit.Std()}
	s.srv = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &statusWriter{ResponseWriter: w, status: 200}
		begin := time.Now()
		s.begun.Add(1)
		h.ServeHTTP(rec, r)
		end := s.ended(r, begin, rec.end())
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, request{r.URL.RequestURI(), begin, end, rec.status, r.Header.Get("If-None-Match")})
	})}
	go s.srv.Serve(l)
	t.Cleanup(func() { s.srv.Close() })
	return s
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
// and that gap lay between them.
func (s *site) checkPolite(t *testing.T, gap time.Duration) {
	t.Helper()
	log := s.requests()
	slices.SortStableFunc(log, func(a, b request) int { return a.begin.Compare(b.begin) })
	for i := 1; i < len(log); i++ {
		if between := log[i].begin.Sub(log[i-1].end); between < gap {
			t.Errorf("request %d (%s) began %s after %s ended; the rule is %s", i, log[i].path, between, log[i-1].path, gap)
		}
	}
}
