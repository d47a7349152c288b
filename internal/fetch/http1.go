package fetch

import (
	"strings"
	"sync"
	"time"
)

const (
	// http1TTL is how long an origin's wish for HTTP/1.1 is heeded. To us HTTP/2 is worth
	// little, since each connection has one request.
	http1TTL = 24 * time.Hour
	// maxHTTP1 bounds the origins that are remembered.
	maxHTTP1 = 4096
)

// http1 remembers which origins want HTTP/1.1 although they offer HTTP/2: they say so by an
// error when the request is there (RFC 9113 7). It is not repeated under the same permit, but
// HTTP/2 is not offered for the next one.
type http1 struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func newHTTP1() *http1 { return &http1{until: make(map[string]time.Time)} }

// note remembers an origin's wish. If there are too many, it forgets old ones or, if it must,
// any.
func (h *http1) note(origin string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if len(h.until) >= maxHTTP1 {
		for other, until := range h.until {
			if len(h.until) >= maxHTTP1 || now.After(until) {
				delete(h.until, other)
			}
		}
	}
	h.until[origin] = now.Add(http1TTL)
}

func (h *http1) wanted(origin string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Before(h.until[origin])
}

// wantsHTTP1 reports whether a server's error asks for HTTP/1.1. Net/http has no exported type
// for it.
func wantsHTTP1(err error) bool { return strings.Contains(err.Error(), "HTTP_1_1_REQUIRED") }
