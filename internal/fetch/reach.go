package fetch

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// platform are addresses in public ranges behind which a cloud gives its
// machines their secrets: Azure's 168.63.129.16.
var platform = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// Control checks an address with its port just before a connection to it, in the form
// that net.Dialer wants. All names are resolved by then, so none can change its address
// between the check and the connection. The error is a *RefusedError.
type Control = func(network, address string, c syscall.RawConn) error

// Reach is the set of addresses that may be connected to: public ones, and those that
// it names.
type Reach struct {
	// Networks may be reached although they are not public.
	Networks []netip.Prefix
	// Addresses are further addresses that may be reached, each on its port.
	Addresses []netip.AddrPort
	// Never are networks that may not be reached, even if Networks cover them.
	Never []netip.Prefix
}

// Control returns the check.
func (r Reach) Control() Control {
	var v4, v6 []netip.Prefix
	for _, p := range r.Networks {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	guard := ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(platform...), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return func(network, address string, c syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err == nil {
			addr := at.Addr().Unmap().WithZone("")
			if slices.ContainsFunc(r.Never, func(p netip.Prefix) bool { return p.Contains(addr) }) {
				return &RefusedError{Address: hostOnly(address), err: ssrf.ErrProhibitedIP}
			}
			if slices.Contains(r.Addresses, netip.AddrPortFrom(addr, at.Port())) {
				return nil
			}
		}
		if err := guard.Safe(network, address, c); err != nil {
			return &RefusedError{Address: hostOnly(address), err: err}
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

// RefusedError: the address may not be reached.
type RefusedError struct {
	// Address is that of the connection, without its port.
	Address string
	err     error
}

func (e *RefusedError) Error() string { return "address " + e.Address + " refused: " + e.err.Error() }
func (e *RefusedError) Unwrap() error { return e.err }
