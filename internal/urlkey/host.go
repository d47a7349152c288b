package urlkey

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/publicsuffix"

	"recrawl/internal/crawl"
)

// Limits of the domain name system (RFC 1035 2.3.4).
const (
	maxName  = 253
	maxLabel = 63
)

// canonicalHost brings the host of a WHATWG parse into canonical form, or says
// why no machine can have that name. The standard allows characters that no
// resolver looks up; refusing them keeps host keys and workflow ids plain.
func canonicalHost(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		return strings.ToLower(host), nil // an address, checked by the parse
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if len(host) > maxName {
		return "", fmt.Errorf("%w: %.40q… has more than %d characters", ErrHost, host, maxName)
	}
	for label := range strings.SplitSeq(host, ".") {
		if err := checkLabel(label); err != nil {
			return "", fmt.Errorf("%w: %q %w", ErrHost, host, err)
		}
	}
	return host, nil
}

func checkLabel(label string) error {
	switch {
	case label == "":
		return fmt.Errorf("has an empty label")
	case len(label) > maxLabel:
		return fmt.Errorf("has a label of more than %d characters", maxLabel)
	}
	for i := 0; i < len(label); i++ {
		if c := label[i]; !isAlnum(c) && c != '-' && c != '_' {
			return fmt.Errorf("has the character %q", c)
		}
	}
	return nil
}

// RegistrableDomain returns the domain under which one owner registers names
// ("example.co.uk" for "www.example.co.uk"), by the public suffix list with its
// private section. An address, a public suffix and a single label are their own
// domain. A port is ignored.
func RegistrableDomain(host string) string {
	name := withoutPort(host)
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return name
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return name
	}
	return domain
}

// SameSite reports whether one owner answers for both hosts, judging by their
// names: see Site.
func SameSite(a, b URL) bool { return a.Site() == b.Site() }

// Site names the hosts for which one owner answers, judging by their names: the
// registrable domain, on any ports. Addresses and single labels have none, and are
// each a site of their own. On this machine each port is another service, and so names
// under localhost are of one site only on one port.
func (u URL) Site() string {
	switch {
	case !hasRegistrableDomain(u.Hostname()):
		return u.HostKey()
	case IsLocalhost(u.Hostname()) && u.Port() != "":
		return RegistrableDomain(u.Hostname()) + ":" + u.Port()
	}
	return RegistrableDomain(u.Hostname())
}

// hasRegistrableDomain reports whether a name lies under a domain that somebody has
// registered.
func hasRegistrableDomain(name string) bool {
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return false
	}
	_, err := publicsuffix.EffectiveTLDPlusOne(name)
	return err == nil
}

// ParseHost returns the HostKey of a host as people write it: a name or an address, with or
// without a port, or a URL, by which they mean its host.
func ParseHost(text string) (string, error) {
	raw := text
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw + "/"
	}
	u, err := Canonical(raw)
	if err != nil || strings.ContainsFunc(text, unicode.IsSpace) {
		return "", fmt.Errorf("%q is not a host: write it as `starter hosts` does, such as example.com or example.com:8080", crawl.Clean(text, 200))
	}
	return u.HostKey(), nil
}

// Namesakes returns the names, without a port, that people take for one another: that of
// host, and the same with or without "www.".
func Namesakes(host string) []string {
	name := withoutPort(host)
	if bare, is := strings.CutPrefix(name, "www."); is {
		return []string{name, bare}
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return []string{name}
	}
	return []string{name, "www." + name}
}

func withoutPort(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		return host[:i]
	}
	return host
}

// IsLoopback reports whether the host of u is this machine by its form alone:
// a loopback address, or a name under localhost, which must resolve to one (RFC
// 6761 6.3).
func (u URL) IsLoopback() bool {
	name := u.Hostname()
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return IsLocalhost(name)
}

// Loopback returns the place on this machine to which u leads by its form alone;
// nothing if it leads elsewhere. Names under localhost lead to both families.
func (u URL) Loopback() []netip.AddrPort {
	if !u.IsLoopback() {
		return nil
	}
	port := u.portNumber()
	if addr, err := netip.ParseAddr(strings.Trim(u.Hostname(), "[]")); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(addr.Unmap(), port)}
	}
	var at []netip.AddrPort
	for _, addr := range LocalhostAddrs() {
		at = append(at, netip.AddrPortFrom(addr, port))
	}
	return at
}

// HostPort returns the host name and the port, also one that the scheme implies:
// "example.com:443".
func (u URL) HostPort() string {
	return u.Hostname() + ":" + strconv.Itoa(int(u.portNumber()))
}

func (u URL) portNumber() uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	if u.Scheme() == "https" {
		return 443
	}
	return 80
}

// LocalhostAddrs are the addresses of localhost and the names under it, in the
// order in which they are tried.
func LocalhostAddrs() []netip.Addr {
	return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
}

// IsLocalhost reports whether name is localhost or a name under it.
func IsLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
