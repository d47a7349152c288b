package fetch

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// meter counts the bytes of the body on the wire, ends it when it exceeds the
// limit, and gives up when it comes too slowly.
type meter struct {
	r        io.Reader
	limit    int64
	received int64
	pace     *pace
	err      error // why r ended
}

func (m *meter) Read(p []byte) (int, error) {
	m.pace.begin()
	n, err := m.r.Read(p)
	m.pace.end(n)
	m.received += int64(n)
	if over := m.received - m.limit; over > 0 {
		// The excess is counted but not passed on.
		n, err = max(n-int(over), 0), limitError{m.limit}
	}
	if err != nil {
		m.err = err
	}
	return n, err
}

func (m *meter) ended() error { return m.err }

// pace watches a reader: in each window of time spent waiting for the host, at
// least a number of bytes must come. Only waiting counts, so a slow disk of ours
// is not the host's fault; and a burst pays for its own window only, so that
// nobody buys hours of dripping with the first kilobytes.
type pace struct {
	window time.Duration
	least  int64
	slow   func() // called when the host is too slow

	mu      sync.Mutex
	timer   *time.Timer
	reading bool
	began   time.Time     // of the current read or, within it, the current window
	left    time.Duration // of the window
	got     int64         // in the window, by reads that ended
}

func newPace(window time.Duration, least int64, slow func()) *pace {
	return &pace{window: window, least: least, slow: slow, left: window}
}

func (p *pace) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.began = true, time.Now()
	if p.timer == nil {
		p.timer = time.AfterFunc(p.left, p.expire)
		return
	}
	p.timer.Reset(p.left)
}

func (p *pace) end(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.reading = false
	p.left -= time.Since(p.began)
	p.got += int64(n)
	if p.left <= 0 {
		p.next()
	}
}

// expire runs when a read outlasts the window.
func (p *pace) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A timer that fired just before it was stopped may find another read.
	if !p.reading || time.Since(p.began) < p.left {
		return
	}
	p.began = time.Now()
	p.next()
	p.timer.Reset(p.left)
}

// next judges the window that is over and opens another.
func (p *pace) next() {
	if p.got < p.least {
		p.slow()
	}
	p.got, p.left = 0, p.window
}

// budget is the most bytes that one connection may bring in all. The limits of
// header and body see a message without its framing, and a hostile server can send
// framing for ever: chunks of one byte, HTTP/2 pings, TLS records.
type budget struct {
	left  atomic.Int64
	spent func() // called when nothing is left
}

// framing is the part of a connection's budget that does not depend on the body:
// certificates, and what HTTP/2 may send ahead of our reading.
const framing = 2 << 20

func newBudget(header, body int64, spent func()) *budget {
	b := &budget{spent: spent}
	b.left.Store(framing + header + 2*body)
	return b
}

// meteredConn spends a budget.
type meteredConn struct {
	net.Conn
	budget *budget
}

func (c meteredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.budget.left.Add(-int64(n)) < 0 {
		c.budget.spent()
		return 0, errFlood
	}
	return n, err
}
