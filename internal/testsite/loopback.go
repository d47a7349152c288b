package testsite

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Loopback is a loopback address that serves hosts, with a log: attacks, and under all
// other names another handler. An attack that is alone there needs no name.
type Loopback struct {
	attacks []Attack
	others  http.Handler
	log     *journal
	server  *http.Server
	address string
	port    string
	cancel  context.CancelFunc // ends all attacks

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // adding to it is guarded by mu
}

// NewLoopback returns an address on which nobody listens yet.
func NewLoopback(attacks []Attack, others http.Handler) *Loopback {
	h := &Loopback{attacks: attacks, others: others, log: &journal{limit: 1_000_000, now: time.Now}}
	h.server = quietServer(h)
	ctx, cancel := context.WithCancel(context.Background())
	h.server.BaseContext = func(net.Listener) context.Context { return ctx }
	h.cancel = cancel
	return h
}

// SetClientLimit tells the time limit after which the client gives up a request. Requests that
// are given up then end in the log no later than half of it after their begin. 0 means that it
// is not known.
func (h *Loopback) SetClientLimit(limit time.Duration) {
	h.log.mu.Lock()
	defer h.log.mu.Unlock()
	h.log.clientLimit = limit
}

// Start serves on a loopback address until Close.
func (h *Loopback) Start(ctx context.Context, address string) error {
	listener, port, err := listenLoopback(ctx, address)
	if err != nil {
		return err
	}
	h.address, h.port = listener.Addr().String(), port
	go h.server.Serve(listener) // ends with Close
	return nil
}

// Close stops listening and ends all attacks.
func (h *Loopback) Close() error {
	h.cancel()
	err := h.server.Close()
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.running.Wait()
	return err
}

// open reports whether another request may be answered, and counts it.
func (h *Loopback) open() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.running.Add(1)
	}
	return !h.closed
}

// Attacks returns the attacks that are served.
func (h *Loopback) Attacks() []Attack { return h.attacks }

// URL returns the address of the first page of NAME.localhost. Call it after Start, which
// finds the port.
func (h *Loopback) URL(name string) string { return origin(name+".localhost", h.port) + "/" }

// Address returns where it listens, with the port.
func (h *Loopback) Address() string { return h.address }

// Log returns the requests so far in the order of their begin. Status is 0 if an attack
// does not speak proper HTTP.
func (h *Loopback) Log() []Request { return h.log.requests() }

// ServeHTTP implements http.Handler.
func (h *Loopback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.open() {
		return
	}
	defer h.running.Done()
	name, _ := splitHost(r.Host)
	a := &answer{ResponseWriter: w, now: time.Now}
	entry := h.log.begin(Request{Host: name, Path: r.URL.RequestURI(), UserAgent: r.UserAgent()})
	defer func() { h.log.end(entry, a, r.Context().Err() != nil) }()
	h.handler(name).ServeHTTP(a, r)
}

func (h *Loopback) handler(name string) http.Handler {
	if h.others == nil && len(h.attacks) == 1 {
		return h.attacks[0]
	}
	labels := strings.Split(name, ".")
	attacker := labels[max(0, len(labels)-2)]
	for _, a := range h.attacks {
		if a.Name == attacker {
			return a
		}
	}
	return h.others
}
