package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"recrawl/internal/urlkey"
)

// dialer connects to public addresses and to the networks that are allowed
// besides. The check sees the address of each attempt, after all name
// resolution, so a name cannot change its address in between.
type dialer struct {
	resolver *net.Resolver
	allow    []netip.Prefix
}

// dial implements http.Transport.DialContext.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	inner := &net.Dialer{Resolver: d.resolver, Control: d.control(), KeepAliveConfig: net.KeepAliveConfig{Enable: false}}
	if !urlkey.IsLocalhost(host) {
		return inner.DialContext(ctx, network, address)
	}
	// RFC 6761 6.3: names under localhost are never looked up.
	conn, err := inner.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err == nil || ctx.Err() != nil {
		return conn, err
	}
	conn, err6 := inner.DialContext(ctx, network, net.JoinHostPort("::1", port))
	if err6 != nil {
		return nil, err // the address that nearly every local server listens on
	}
	return conn, nil
}

// control returns the check of one address, in the form that net.Dialer wants.
func (d dialer) control() func(network, address string, c syscall.RawConn) error {
	var v4, v6 []netip.Prefix
	for _, p := range d.allow {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	guard := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return func(network, address string, c syscall.RawConn) error {
		if err := guard.Safe(network, address, c); err != nil {
			return &refusedError{address: hostOnly(address), err: err}
		}
		return nil
	}
}

// hostOnly drops the port of an address for people's eyes.
func hostOnly(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return strings.Trim(host, "[]")
	}
	return address
}

// refusedError: the address may not be reached by this crawl.
type refusedError struct {
	address string
	err     error
}

func (e *refusedError) Error() string { return "address " + e.address + " refused: " + e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// IsRefused reports whether an exchange failed because the crawl may not reach
// the host's address.
func IsRefused(err error) bool {
	var refused *refusedError
	return errors.As(err, &refused)
}
