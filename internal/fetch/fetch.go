// Package fetch makes one HTTP exchange per call: one connection, one request
// written at most once, one answer read within limits. It follows no redirect,
// repeats nothing and reuses no connection, because each request was counted
// and paid for at the host gate.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/urlkey"
)

// Options are the settings of a Client that do not depend on the request. The
// zero value is usable.
type Options struct {
	// RootCAs verify servers; nil is the system's.
	RootCAs *x509.CertPool
	// Resolver looks up names; nil is the system's.
	Resolver *net.Resolver
	// MaxHeader bounds the answer's header in bytes; 0 is DefaultMaxHeader.
	MaxHeader int64
	// MinRate is the least rate in bytes per second at which a body must come in
	// each Window; 0 is DefaultMinRate. A server that drips would otherwise hold
	// the host's permit until the deadline.
	MinRate int64
	// Window is the time over which MinRate is measured; 0 is DefaultWindow.
	Window time.Duration
	// Proxy returns the proxy for a URL, nil for none. If it is nil, HTTP_PROXY,
	// HTTPS_PROXY and NO_PROXY of the environment decide, as they are at New.
	Proxy func(*url.URL) (*url.URL, error)
}

// Defaults of Options.
const (
	DefaultMaxHeader = 64 << 10
	DefaultMinRate   = 100
	DefaultWindow    = 20 * time.Second
)

// Client makes exchanges, from any goroutine. It holds no connection: it remembers only the
// addresses of names, the requests in flight to each address, and the origins that want
// HTTP/1.1. A process should have only one, since these and the memory of decoders are bounded
// for each Client.
type Client struct {
	options   Options
	names     *names
	addresses *addresses
	decoders  decoders
	http1     *http1
	proxy     func(*url.URL) (*url.URL, error)
}

// New returns a Client with the options' defaults filled in.
func New(o Options) *Client {
	if o.MaxHeader <= 0 {
		o.MaxHeader = DefaultMaxHeader
	}
	if o.MinRate <= 0 {
		o.MinRate = DefaultMinRate
	}
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	if o.Proxy == nil {
		o.Proxy = environmentProxy()
	}
	return &Client{options: o, names: newNames(o.Resolver), addresses: newAddresses(), decoders: newDecoders(), http1: newHTTP1(), proxy: o.Proxy}
}

// Request is one GET.
type Request struct {
	URL urlkey.URL
	// Spelling is the path and query of URL in the request, if not as in URL; see
	// urlkey.URL.Spells.
	Spelling string
	// UserAgent and From introduce us; an empty From is not sent.
	UserAgent, From string
	// ETag and LastModified, where known, make the request conditional.
	ETag, LastModified string
	// Accept are the media types whose bodies are wanted; empty wants all.
	Accept []string
	// MaxBody bounds the body in bytes, both on the wire and decoded.
	MaxBody int64
	// Truncate keeps the first MaxBody bytes of a larger body instead of refusing
	// it, for robots.txt.
	Truncate bool
	// Deadline ends the exchange. Take it from time.Now, so that it carries the
	// monotonic clock. Zero is none.
	Deadline time.Time
	// AllowNetworks are networks that may be reached although they are not public.
	AllowNetworks []netip.Prefix
	// AllowAddresses are further single addresses, with their ports, that may be reached.
	AllowAddresses []netip.AddrPort
	// PerAddress is the most requests that may be in flight to one address, whatever
	// names lead there; the strictest of those in flight counts. 0 means no limit for this
	// request.
	PerAddress int
	// Place, if set, was reserved for the request. Do gives it back.
	Place *Place
	// Ticket, if set, lets the request come to a full address: Reserve finds room for it.
	Ticket *Ticket
	// BeforeWrite, if set, is called when the connection stands, just before the
	// request is written; an error of it ends the exchange with nothing sent.
	BeforeWrite func() error
}

// reach returns the addresses to which the request may go.
func (r Request) reach() Reach { return Reach{Networks: r.AllowNetworks, Addresses: r.AllowAddresses} }

// HostAnswer is how the host answered, for its back-off. The values are those of
// the host gate.
type HostAnswer string

// How a host answered.
const (
	HostOK        HostAnswer = "ok"        // any other answer
	HostThrottled HostAnswer = "throttled" // 429 or 503, or that it wants calm (HTTP/2)
	HostFailed    HostAnswer = "failed"    // no whole answer: connection, TLS, protocol or time-out
	HostNone      HostAnswer = "none"      // it gave none: the crawl may not reach it, see IsRefused, or we broke off before
)

// Result is the outcome of one exchange. Strings from the web are cleaned.
type Result struct {
	// Outcome is final unless Content is set; then it is crawl.OutcomeNew, and
	// comparing the digest with the last version's decides.
	Outcome crawl.Outcome
	// Content: a wanted body came whole, or was cut as asked; the sink has it, and
	// Size and Digest describe it.
	Content bool
	// Sent: the request may have reached the host. Without it no request counts.
	Sent bool
	// Status is the HTTP status, 0 when there was none.
	Status int
	// HostAnswer is for the host gate.
	HostAnswer HostAnswer
	// Problem describes in plain words what went wrong, "" if nothing did.
	Problem string
	// Err is why the exchange did not run to its end, nil if it did.
	Err error
	// Local: Err arose on our side (a cancelled context, the sink, BeforeWrite) and
	// says nothing about the page or its host.
	Local bool

	// ETag and LastModified are the answer's validators, fit to be sent back.
	ETag, LastModified string
	// RetryAfter and Date are the raw headers.
	RetryAfter, Date string
	// RobotsTags are the raw X-Robots-Tag headers, all of them and whole: MaxHeader
	// bounds them, and an answer with more has no content.
	RobotsTags []string
	// Stated are the headers about uses of the content, in the same way. See package reserve.
	Stated []reserve.Header
	// Location is where a redirect leads.
	Location urlkey.URL
	// Spelling is how a redirect spells path and query, empty if it spells them as Location
	// does. Without a Location it is a spelling of the request's URL, under which the
	// server wants to be asked.
	Spelling string
	// MediaType is the body's, sniffed where the server does not say.
	MediaType crawl.MediaType

	// Heads are the texts around the body.
	Heads Heads

	// Bytes is the body's size as received, Size as decoded.
	Bytes, Size int64
	// Digest is the SHA-256 of the decoded body in hex.
	Digest string
	// Cut: the connection was closed while the host may still have been answering. It
	// learns of that later than we do.
	Cut bool
	// Truncated: the body was cut at MaxBody.
	Truncated bool
	// Duration is the time from the start of the connection to the end, without waiting
	// for a place at the address.
	Duration time.Duration
}

// Do makes one exchange and writes the decoded body of a wanted answer to sink.
// The Result reports everything that happens; without Content the sink may hold a
// part that must be dropped.
func (c *Client) Do(ctx context.Context, req Request, sink io.Writer) Result {
	start := time.Now()
	req.ETag = entityTag(req.ETag)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !req.Deadline.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, req.Deadline, errDeadline)
		defer stop()
	}
	defer req.Place.Release()
	x := exchange{client: c, req: req, sink: sink, cancel: cancel, start: start}
	defer x.exit()
	if err := x.run(ctx); err != nil {
		x.fail(ctx, err)
	}
	x.res.Duration = time.Since(start) - x.waited
	return x.res
}

// exchange is one call of Do.
type exchange struct {
	client *Client
	req    Request
	sink   io.Writer
	cancel context.CancelCauseFunc
	start  time.Time
	res    Result
	// byProxy: a proxy reads the request and answers it, instead of passing bytes on
	// through a tunnel.
	byProxy bool
	place   *Place        // at the address, nil if it has none
	waited  time.Duration // for places
}

// run connects, asks and judges the answer. An error means that the exchange
// broke off.
func (x *exchange) run(ctx context.Context) error {
	hr, err := x.httpRequest(ctx)
	if err != nil {
		return localError{err}
	}
	conn, err := x.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := x.lastCheck(ctx); err != nil {
		return err
	}
	x.res.Sent = true
	x.res.Heads.Request = requestHead(hr)
	if x.byProxy {
		forProxy(hr.URL)
	}
	// A ClientConn writes a request once: the code that makes http.Transport repeat a
	// request when a connection dies is in the layer above.
	x.res.Cut = true // until there is an answer, whole
	resp, err := conn.RoundTrip(hr)
	if err != nil {
		return err
	}
	body := &ending{ReadCloser: resp.Body, ended: sentAlready(resp)}
	resp.Body = body
	defer func() {
		resp.Body.Close()
		x.res.Cut = !body.ended
	}()
	if x.byProxy && resp.StatusCode == http.StatusProxyAuthRequired {
		x.res.Sent = false // the proxy kept it
		return proxyRefusal(ctx, nil, nil, resp)
	}
	if code := resp.StatusCode; code < 100 || code > 999 {
		return fmt.Errorf("malformed HTTP status code %d", code) // by HTTP/2, where net/http takes any number
	}
	x.res.Heads.Response = responseHead(resp)
	return x.judge(ctx, resp)
}

// connect makes the one connection, by a proxy if there is one.
func (x *exchange) connect(ctx context.Context) (*http.ClientConn, error) {
	if x.req.URL.BadPort() {
		return nil, &portError{x.req.URL.Port()}
	}
	proxy, err := x.proxyFor()
	if IsRefused(err) {
		return nil, err
	}
	if err != nil {
		return nil, localError{err}
	}
	x.byProxy = proxy != nil && x.req.URL.Scheme() == "http" && !strings.HasPrefix(proxy.Scheme, "socks5")
	if addr, ok := spelledAddress(x.req.URL); ok && proxy != nil {
		if err := x.enter(ctx, addr); err != nil {
			return nil, err
		}
	}
	conn, err := x.transport(proxy).NewClientConn(ctx, x.req.URL.Scheme(), address(x.req.URL))
	return conn, proxyTrouble(proxy, err)
}

// lastCheck is made between the handshake and the first byte of the request. It
// checks the clock: in a process that was stopped and continued, the context's
// timer may not have fired yet.
func (x *exchange) lastCheck(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if late(x.req.Deadline) {
		x.cancel(errDeadline)
		return errDeadline
	}
	if x.req.BeforeWrite == nil {
		return nil
	}
	if err := x.req.BeforeWrite(); err != nil {
		return localError{err}
	}
	return nil
}

// httpRequest builds the GET.
func (x *exchange) httpRequest(ctx context.Context) (*http.Request, error) {
	if x.req.URL.IsZero() || x.req.MaxBody <= 0 {
		return nil, errors.New("fetch: a request needs a URL and a MaxBody")
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodGet, x.req.URL.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	x.req.spell(hr.URL)
	set := func(name, value string) {
		if value != "" {
			hr.Header.Set(name, value)
		}
	}
	hr.Header["User-Agent"] = []string{x.req.UserAgent} // even if empty: never net/http's
	set("From", x.req.From)
	set("If-None-Match", x.req.ETag)
	set("If-Modified-Since", x.req.LastModified)
	set("Accept", acceptHeader(x.req.Accept))
	set("Accept-Encoding", acceptEncoding)
	return hr, nil
}

// acceptHeader asks for the wanted types. Everything else stays acceptable at
// low preference: a server that answers 406 hides its content.
func acceptHeader(wanted []string) string {
	if len(wanted) == 0 {
		return "*/*"
	}
	return strings.Join(wanted, ", ") + ", */*;q=0.1"
}

// receiveBuffer is how much an HTTP/2 server may send ahead of our reading. It is
// memory of ours that a server fills at will.
const receiveBuffer = 256 << 10

// transport returns a new transport for the exchange, so that no connection or
// setting is shared.
func (x *exchange) transport(proxy *url.URL) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(!x.client.http1.wanted(x.req.URL.Origin()))
	options := x.client.options
	dial := dialer{
		reached: &x.res.Heads.Remote, enter: x.enter, exit: x.exit,
		names: x.client.names, check: x.req.reach().Control(), deadline: x.req.Deadline,
		budget: newBudget(options.MaxHeader, x.req.MaxBody, func() { x.cancel(errFlood) }),
	}
	if proxy != nil {
		dial.check, dial.reached, dial.enter = nil, nil, nil
	}
	trust := &tls.Config{RootCAs: options.RootCAs, CipherSuites: cipherSuites()}
	transport := &http.Transport{
		DialContext:            dial.tidy(options.MaxHeader),
		Proxy:                  http.ProxyURL(proxy),
		OnProxyConnectResponse: proxyRefusal,
		TLSClientConfig:        trust,
		DisableKeepAlives:      true,
		DisableCompression:     true, // we decode, so that both sizes can be limited
		MaxResponseHeaderBytes: options.MaxHeader,
		Protocols:              &protocols,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: receiveBuffer, MaxReceiveBufferPerConnection: receiveBuffer},
	}
	if proxy == nil { // else net/http makes the tunnel first
		transport.DialTLSContext = dial.tidyTLS(trust, options.MaxHeader)
	}
	return transport
}

// cipherSuites are those that Go offers by itself and, as browsers do, those of old servers that
// agree on a key by RSA alone. Their pages are as public as others.
var cipherSuites = sync.OnceValue(func() []uint16 {
	suites := []uint16{
		tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384, tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA,
	}
	for _, suite := range tls.CipherSuites() {
		suites = append(suites, suite.ID)
	}
	return suites
})

// address returns host and port to connect to.
func address(u urlkey.URL) string {
	switch {
	case u.Port() != "":
		return u.Host()
	case u.Scheme() == "https":
		return u.Host() + ":443"
	}
	return u.Host() + ":80"
}
