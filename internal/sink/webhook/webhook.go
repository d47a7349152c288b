// Package webhook sends changes to a URL, signed as Standard Webhooks says
// (https://www.standardwebhooks.com): as JSON for programs, or in the form of a service
// that shows them to people.
//
// A receiver may belong to anybody, and pages are strangers'. So the address is checked at
// the dial, redirects are not followed, answers are bounded, nothing of a page goes into
// the address, and text of a page stands where the service does not look for links or
// mentions.
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/fetch"
	"recrawl/internal/sink"
)

// Limits of a try.
const (
	// timeLimit is for all of it: names, connection, TLS, request and answer. The caller of
	// Send allows a little more, so that our reason is the one reported.
	timeLimit = 25 * time.Second
	// dialLimit is for the connection, and as much for TLS.
	dialLimit = 10 * time.Second
	// answerLimit is how long the body of an answer is read, once its head is there.
	answerLimit = 2 * time.Second
	// idleLimit is how long a connection is kept for the next change.
	idleLimit = 10 * time.Second
	// maxHead and maxAnswer bound the bytes read of an answer.
	maxHead   = 16 << 10
	maxAnswer = 4 << 10
	// maxBody is the largest body that Standard Webhooks allows: less than 20 kB.
	maxBody = 20_000 - 1
)

// Options holds what a Sender needs besides its spec. The zero value is usable.
type Options struct {
	// UserAgent introduces us; "" is recrawl.
	UserAgent string
	// Getenv reads the worker's environment; nil is os.Getenv.
	Getenv func(string) string
	// Now is the clock of signatures; nil is time.Now.
	Now func() time.Time
	// RootCAs verify receivers; nil is the system's.
	RootCAs *x509.CertPool
	// Resolver looks up names; nil is the system's.
	Resolver *net.Resolver
	// TimeLimit bounds a try; 0 is 25 seconds.
	TimeLimit time.Duration
}

// Sender delivers to one webhook. It implements sink.Sender.
type Sender struct {
	options Options
	to      place
	secrets []place
	format  format
	private bool // it may be in a private network
	// patience is how long the body of an answer is read.
	patience time.Duration

	transport *http.Transport
}

// New returns the sender of a spec of kind webhook, or says in one line what is wrong with
// the spec. Secrets, and perhaps the address, which the spec only names, are read for each
// try, so that they can be replaced while the worker runs.
func New(spec crawl.SinkSpec, o Options) (*Sender, error) {
	if o.UserAgent == "" {
		o.UserAgent = "recrawl"
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.TimeLimit <= 0 {
		o.TimeLimit = timeLimit
	}
	s := &Sender{options: o, private: spec.AllowPrivate, patience: answerLimit}
	var err error
	if s.format, err = formatOf(spec.Format); err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	if s.to, err = s.checkTo(spec.To); err != nil {
		return nil, fmt.Errorf("to: %w", err)
	}
	if s.secrets, err = parseSecrets(spec.Secret); err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	s.transport = s.newTransport()
	return s, nil
}

// checkTo reads where the address is, and the address itself if that is all.
func (s *Sender) checkTo(text string) (place, error) {
	to, named := parsePlace(text)
	if named {
		return to, nil
	}
	to = place{kind: literal, at: text}
	_, err := s.address(to)
	return to, err
}

// address reads the present URL of a place. No error repeats it: for some services, knowing
// the address is enough to write there.
func (s *Sender) address(at place) (*url.URL, error) {
	text, err := at.read(s.options.Getenv)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return nil, errors.New("this is not an http or https URL")
	case u.User != nil:
		return nil, errors.New("leave user and password out of the URL")
	case crawl.BadPort(u.Port()):
		return nil, fmt.Errorf("port %s belongs to another protocol and is never asked", u.Port())
	}
	u.Fragment, u.RawFragment = "", ""
	return u, s.format.checkTo(u)
}

// newTransport uses no proxy: the checked address must be the one that is reached.
func (s *Sender) newTransport() *http.Transport {
	dialer := &net.Dialer{
		Timeout: dialLimit, Control: reach(s.private).Control(), Resolver: s.options.Resolver,
		KeepAliveConfig: net.KeepAliveConfig{Enable: false},
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: s.options.RootCAs},
		TLSHandshakeTimeout:    dialLimit,
		MaxResponseHeaderBytes: maxHead,
		DisableCompression:     true,
		IdleConnTimeout:        idleLimit,
		MaxIdleConnsPerHost:    1,
		Protocols:              &protocols,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 64 << 10},
	}
}

// Send implements sink.Sender.
func (s *Sender) Send(ctx context.Context, e feed.Event) error {
	return s.deliver(ctx, e.ID, func(to *url.URL) ([]byte, error) { return s.format.event(to, e) })
}

// SendDigest implements sink.Sender.
func (s *Sender) SendDigest(ctx context.Context, d sink.Digest) error {
	return s.deliver(ctx, d.ID, func(to *url.URL) ([]byte, error) { return s.format.digest(to, d) })
}

// Close implements sink.Sender.
func (s *Sender) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// deliver makes one try.
func (s *Sender) deliver(ctx context.Context, id string, write func(to *url.URL) ([]byte, error)) error {
	to, err := s.address(s.to)
	if err != nil {
		return &sink.Later{Reason: "to: " + err.Error()}
	}
	keys, err := s.keys()
	if err != nil {
		return &sink.Later{Reason: "secret: " + err.Error()}
	}
	body, err := write(to)
	if err != nil {
		return &sink.Refused{Reason: err.Error()}
	}
	trying, cancel := context.WithTimeout(ctx, s.options.TimeLimit)
	defer cancel()
	req, err := s.request(trying, s.format.target(to), id, keys, body)
	if err != nil {
		return err
	}
	hidden := newHider(to, keys)
	resp, err := s.transport.RoundTrip(req) // not a Client, which would follow redirects
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return fmt.Errorf("webhook: %w", ctx.Err()) // this is no answer of the receiver
		}
		return &sink.Later{Reason: hidden.clean(s.trouble(to, err))}
	}
	a := answer{status: resp.StatusCode, retryAfter: resp.Header.Get("Retry-After"), body: said(resp, s.patience, cancel)}
	return a.judge(to.Hostname(), hidden, s.options.Now())
}

// request is the POST with its signatures. A receiver may answer a second request with the
// same id as before.
func (s *Sender) request(ctx context.Context, to *url.URL, id string, keys []key, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("webhook: the address makes no request") // the error would quote it
	}
	at := s.options.Now()
	req.Header.Set("Content-Type", s.format.contentType)
	req.Header.Set("User-Agent", s.options.UserAgent)
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	if len(keys) > 0 {
		req.Header.Set("Webhook-Signature", sign(keys, id, at, body))
	}
	// For net/http alone: a connection that died while it was idle may be replaced.
	req.Header["Idempotency-Key"] = []string{}
	return req, nil
}

// trouble says why there was no answer.
func (s *Sender) trouble(to *url.URL, err error) string {
	var refused *fetch.RefusedError
	var timeout net.Error
	switch {
	case errors.As(err, &refused):
		return to.Hostname() + ": " + whyRefused(refused.Address, s.private)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return to.Hostname() + " did not answer in time"
	}
	return to.Hostname() + ": " + fetch.Explain(err)
}
