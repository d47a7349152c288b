package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"golang.org/x/net/http/httpproxy"

	"recrawl/internal/urlkey"
)

// A proxy of the environment stands between us and the address of the host: the
// proxy looks up the name and connects. So its own address is not checked (the
// person who set it means it); a host that is spelled as an address is checked
// before the proxy hears of it; and the proxy decides which addresses a name may
// lead to. Therefore requests in flight to an address are counted only for hosts
// that are spelled as one. This machine is never reached by a proxy.

// environmentProxy reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
func environmentProxy() func(*url.URL) (*url.URL, error) {
	return httpproxy.FromEnvironment().ProxyFunc()
}

// proxyFor returns the proxy for the request, nil if there is none.
func (x *exchange) proxyFor() (*url.URL, error) {
	u := x.req.URL
	if u.IsLoopback() {
		return nil, nil
	}
	proxy, err := x.client.proxy(&url.URL{Scheme: u.Scheme(), Host: u.Host(), Path: "/"})
	if err != nil {
		// The error may quote the setting, and that may hold a password.
		return nil, errors.New("the proxy that the environment names is not a URL")
	}
	if proxy == nil {
		return nil, nil
	}
	return proxy, x.checkSpelled(u)
}

// checkSpelled checks a host that is itself an address.
func (x *exchange) checkSpelled(u urlkey.URL) error {
	addr, ok := spelledAddress(u)
	if !ok {
		return nil // a name
	}
	network := "tcp6"
	if addr.Is4() {
		network = "tcp4"
	}
	return x.req.reach().Control()(network, netip.AddrPortFrom(addr, 0).String(), nil)
}

// spelledAddress is the address of a host that is itself an address.
func spelledAddress(u urlkey.URL) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(hostOnly(address(u)))
	return addr.Unmap(), err == nil
}

// proxyRefusal keeps a proxy's answer to CONNECT, which net/http reduces to text.
func proxyRefusal(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	err := fmt.Errorf("the proxy answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	if answer.StatusCode == http.StatusProxyAuthRequired {
		return localError{err} // says nothing about the host
	}
	return err
}

// proxyTrouble marks errors on the way to the proxy as ours.
func proxyTrouble(proxy *url.URL, err error) error {
	var op *net.OpError
	if proxy != nil && errors.As(err, &op) && op.Op == "proxyconnect" {
		return localError{fmt.Errorf("the proxy %s: %w", proxy.Host, err)}
	}
	return err
}
