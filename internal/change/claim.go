package change

import (
	"cmp"
	"strings"
)

// Claim is a page's claim to be the original among pages with one content. It depends on
// the page's address and on its own statement, and not on when the page was found or
// fetched. So every comparison of the same pages finds the same original, and it stays the
// original for as long as it has the content and no better page comes.
//
// In this order, a claim is better
//
//   - if the page does not name another one as its canonical page,
//   - by https than by http,
//   - without a query rather than with one, since queries hold sessions and orders of
//     lists,
//   - with fewer segments in the path,
//   - if the address is shorter,
//   - if the host comes first in the alphabet, so that of two equal hosts one has all
//     originals,
//   - by a digest of the address, if all this is equal.
//
// The zero Claim is that of an unknown page; it is equal to itself only.
type Claim struct {
	grade  uint64 // everything before the host; less is better
	host   string
	digest uint64
}

// NewClaim returns the claim of a page with a canonical URL, as package urlkey makes it,
// whose rel=canonical names another such URL, or nothing.
func NewClaim(url, canonical string) Claim {
	scheme, rest, _ := strings.Cut(url, "://")
	before, _, query := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(before, "/")
	var c Claim
	for _, against := range []bool{canonical != "" && canonical != url, scheme != "https", query} {
		c.grade <<= 1
		if against {
			c.grade |= 1
		}
	}
	c.grade = c.grade<<16 | uint64(min(strings.Count(strings.TrimSuffix(path, "/"), "/"), 1<<16-1))
	c.grade = c.grade<<32 | uint64(min(len(url), 1<<32-1))
	c.host, c.digest = host, exactKey("url "+url)
	return c
}

// Compare is negative if the claim is better than the other, and 0 only for the claims of
// one page.
func (c Claim) Compare(other Claim) int {
	return cmp.Or(cmp.Compare(c.grade, other.grade), strings.Compare(c.host, other.host), cmp.Compare(c.digest, other.digest))
}

// Sharing returns the same claim with its host's name taken from hosts, which
// collects every name once: this bounds the memory of many claims of one host.
func (c Claim) Sharing(hosts map[string]string) Claim {
	name, known := hosts[c.host]
	if !known {
		name = strings.Clone(c.host)
		hosts[name] = name
	}
	c.host = name
	return c
}
