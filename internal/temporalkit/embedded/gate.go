package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Gate guards the way to the Temporal UI. The UI's server answers every request,
// under any host name. A page of another site, whose name leads to this machine for
// a moment, counts as the same origin in the browser, and could read all workflows
// and end them. So the UI's server listens where no page finds it, see
// hiddenAddress, and the gate lets through only the requests of the operator's
// browser itself.
type Gate struct {
	listener net.Listener
	server   *http.Server
	done     chan struct{} // closed when the server has ended
}

// OpenGate listens on the wanted port. Requests that it lets in go over connections
// that dial makes.
func OpenGate(want Port, dial func(context.Context) (net.Conn, error)) (*Gate, error) {
	l, err := listenOn(want, "the Temporal UI")
	if err != nil {
		return nil, err
	}
	quiet := log.New(logNothing{}, "", 0)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "temporal-ui"})
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
			DisableCompression: true, // compressed answers are passed on as they are
			IdleConnTimeout:    time.Minute,
		},
		ErrorLog: quiet,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "The Temporal server is not up. It is started again when it ends; try again in a moment.", http.StatusBadGateway)
		},
	}
	g := &Gate{listener: l, done: make(chan struct{})}
	g.server = &http.Server{Handler: ownPagesOnly(proxy), ReadHeaderTimeout: time.Minute, ErrorLog: quiet}
	go func() {
		defer close(g.done)
		_ = g.server.Serve(l) // it ends by Close
	}()
	return g, nil
}

// Address is the UI's address for people.
func (g *Gate) Address() string {
	return "http://" + net.JoinHostPort("localhost", strconv.Itoa(portOf(g.listener)))
}

// Close ends the gate and waits until its server has ended.
func (g *Gate) Close() error {
	err := g.server.Close()
	<-g.done
	return err
}

type logNothing struct{}

func (logNothing) Write(p []byte) (int, error) { return len(p), nil }

// ownPagesOnly answers 403 to requests that another site has a browser make.
func ownPagesOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := foreign(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign says why a request comes from another site, "" if it does not. Programs
// other than browsers name this machine and send no Origin; they are on this
// machine, and could ask Temporal itself.
func foreign(r *http.Request) string {
	if !namesThisMachine(r.Host) {
		return "Ask for this by the name localhost. Another name that leads here may be another site's."
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return "Other sites may ask for nothing here."
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return ""
	}
	// A link from elsewhere may lead here.
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
		return ""
	}
	return "Other sites may ask for nothing here."
}

// namesThisMachine reports whether a request names this machine in a way that
// nobody else can. The owner of any other name could point it here.
func namesThisMachine(hostport string) bool {
	u := url.URL{Host: hostport}
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// hiddenAddress returns a free address for the UI's server. It is one of sixteen
// million addresses of this machine, on any port, so that a page that tries them
// all never finishes. Where the system has only one such address (macOS) only the
// port is unknown.
func hiddenAddress() (netip.AddrPort, error) {
	var random [3]byte
	_, _ = rand.Read(random[:])      // it does not fail
	random[2] = max(1, random[2]&^1) // 0 and 255 may stand for all of a network
	for _, ip := range []netip.Addr{netip.AddrFrom4([4]byte{127, random[0], random[1], random[2]}), netip.AddrFrom4([4]byte{127, 0, 0, 1})} {
		l, err := net.Listen("tcp", netip.AddrPortFrom(ip, 0).String())
		if err != nil {
			continue
		}
		port := portOf(l)
		if err := l.Close(); err != nil {
			return netip.AddrPort{}, err
		}
		return netip.AddrPortFrom(ip, uint16(port)), nil
	}
	return netip.AddrPort{}, fmt.Errorf("no address for the Temporal UI: %w", errors.ErrUnsupported)
}
