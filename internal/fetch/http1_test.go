package fetch

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// A server that offers HTTP/2 and then wants HTTP/1.1 gets it with the next request, and no
// second request with the first.
func TestHTTP1Required(t *testing.T) {
	refusals := map[string]func(f *http2.Framer, stream uint32) error{
		"reset": func(f *http2.Framer, stream uint32) error {
			return f.WriteRSTStream(stream, http2.ErrCodeHTTP11Required)
		},
		"go away": func(f *http2.Framer, _ uint32) error { return f.WriteGoAway(0, http2.ErrCodeHTTP11Required, nil) },
	}
	for name, refuse := range refusals {
		t.Run(name, func(t *testing.T) {
			var refused, served atomic.Int32
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				served.Add(1)
				html(w, "<p>hello")
			}))
			s.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
			s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){"h2": func(_ *http.Server, c *tls.Conn, _ http.Handler) {
				refused.Add(1)
				answerH2(c, refuse)
			}}
			s.StartTLS()
			t.Cleanup(s.Close)
			roots := x509.NewCertPool()
			roots.AddCert(s.Certificate())
			client := New(Options{RootCAs: roots})
			got := client.Do(t.Context(), get(t, s.URL), nil)
			checkResult(t, got)
			if got.Content || got.HostAnswer != HostOK || got.Problem != "the server wants HTTP/1.1 for this page, and gets it the next time" || refused.Load() != 1 || served.Load() != 0 {
				t.Errorf("%s, %s: %q (%v), %d refused, %d served", got.Outcome, got.HostAnswer, got.Problem, got.Err, refused.Load(), served.Load())
			}
			var sink bytes.Buffer
			got = client.Do(t.Context(), get(t, s.URL), &sink)
			checkResult(t, got)
			if sink.String() != "<p>hello" || refused.Load() != 1 || served.Load() != 1 {
				t.Errorf("%s: %q (%v), %d refused, %d served", got.Outcome, got.Problem, got.Err, refused.Load(), served.Load())
			}
		})
	}
}

func TestHTTP1Remembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHTTP1()
		for n := range 2 * maxHTTP1 {
			h.note(fmt.Sprint(n))
		}
		last := fmt.Sprint(2*maxHTTP1 - 1)
		if len(h.until) > maxHTTP1 || !h.wanted(last) || h.wanted("other") {
			t.Errorf("%d origins, the last %t", len(h.until), h.wanted(last))
		}
		time.Sleep(http1TTL + 1)
		if h.wanted(last) {
			t.Error("remembered for ever")
		}
		h.note("new")
		if len(h.until) != 1 {
			t.Errorf("%d origins, want the new one", len(h.until))
		}
	})
}
