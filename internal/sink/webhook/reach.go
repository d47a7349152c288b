package webhook

import (
	"net/netip"
	"slices"

	"recrawl/internal/fetch"
)

// private are the networks that allow_private opens: this machine, and those of an
// organisation or its provider (RFC 1918, 4193, 6598).
var private = prefixes("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")

// never are addresses that nothing opens: link-local ones, where clouds give their machines
// secrets, and those at which some clouds do so in a private network (AWS and Google by
// IPv6, Alibaba, Azure).
var never = prefixes("169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "fd20:ce::/32", "100.100.100.200/32", "168.63.129.16/32")

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, t := range texts {
		all = append(all, netip.MustParsePrefix(t))
	}
	return all
}

// reach returns the addresses that a webhook may have.
func reach(allowPrivate bool) fetch.Reach {
	r := fetch.Reach{Never: never}
	if allowPrivate {
		r.Networks = private
	}
	return r
}

// whyRefused says why an address may not be reached, and what to do.
func whyRefused(address string, allowPrivate bool) string {
	addr, err := netip.ParseAddr(address)
	within := func(p netip.Prefix) bool { return p.Contains(addr.Unmap().WithZone("")) }
	if err == nil && !allowPrivate && slices.ContainsFunc(private, within) && !slices.ContainsFunc(never, within) {
		return "its address " + address + " is on this machine or in a private network: set allow_private of the sink if that is meant"
	}
	return "its address " + address + " is one that no sink may send to"
}
