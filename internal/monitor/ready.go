package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// askLimit is how long one part may take to answer.
	askLimit = 3 * time.Second
	// askEvery is how long an answer is valid: more frequent questions ask nobody else.
	askEvery = time.Second
)

// Part is something that a program needs.
type Part struct {
	Name string
	// Ask returns an error if the part is not there.
	Ask func(ctx context.Context) error
}

// Readiness tracks whether a worker, or another program, works: it has taken up its work,
// and all its parts answer. As a handler it says so to whoever asks.
type Readiness struct {
	mu    sync.Mutex
	doing string // why it does not work, in words; "" while it does
	parts []Part
	asked time.Time
	lines []string
	ready bool
}

// NewReadiness is for a worker that is starting.
func NewReadiness() *Readiness { return &Readiness{doing: "starting"} }

// Working reports that the worker works, with these parts.
func (r *Readiness) Working(parts ...Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doing, r.parts, r.asked = "", parts, time.Time{}
}

// Not reports why the worker does not work, in words.
func (r *Readiness) Not(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doing, r.asked = why, time.Time{}
}

// Look reports whether the worker works, with a line for each of its parts.
func (r *Readiness) Look(ctx context.Context) (lines []string, ready bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && time.Since(r.asked) < askEvery {
		return r.lines, r.ready
	}
	r.lines, r.ready = nil, r.doing == ""
	if r.doing != "" {
		r.lines = []string{"worker: " + r.doing}
	}
	problems := askAll(ctx, r.parts)
	for i, p := range r.parts {
		word := "ok"
		if problems[i] != nil {
			word, r.ready = oneLine(problems[i]), false
		}
		r.lines = append(r.lines, p.Name+": "+word)
	}
	r.asked = time.Now()
	return r.lines, r.ready
}

// askAll asks all parts at the same time.
func askAll(ctx context.Context, parts []Part) []error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	problems := make([]error, len(parts))
	var all sync.WaitGroup
	for i, p := range parts {
		all.Go(func() { problems[i] = p.Ask(ctx) })
	}
	all.Wait()
	return problems
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// ServeHTTP answers with 200 or 503, and a line for each part.
func (r *Readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	lines, ready := r.Look(context.WithoutCancel(req.Context())) // others get the same answer
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	fmt.Fprintln(w, strings.Join(slices.Concat([]string{map[bool]string{true: "ready", false: "not ready"}[ready]}, lines), "\n"))
}

// Ready asks the program that listens at HOST:PORT or :PORT, at /readyz, whether it works.
// The error says why not; who names the program in it.
func Ready(ctx context.Context, who, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address: %w", address, err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit+time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", who, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", who, err)
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "; "))
	}
	return nil
}
