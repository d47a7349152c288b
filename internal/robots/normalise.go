package robots

import "strings"

// role says how "*" and "$" are read.
type role bool

const (
	isPattern role = true  // "*" and a last "$" are wildcards
	isLiteral role = false // of a URL: they stand for themselves
)

const upperHex = "0123456789ABCDEF"

// normalise gives a rule's pattern, or a URL's path and query, one spelling:
// unreserved characters plain, hex digits upper case, and encoded everything that a
// canonical URL holds encoded. A "*" or "$" that stands for itself becomes its
// code, so that it cannot be taken for a wildcard (RFC 9309 2.2.3).
func normalise(s string, as role) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && hexValue(s[i+1]) >= 0 && hexValue(s[i+2]) >= 0:
			writeCode(&b, byte(hexValue(s[i+1])<<4|hexValue(s[i+2])))
			i += 2
		case c == '*' && as == isPattern, c == '$' && as == isPattern && i == len(s)-1:
			b.WriteByte(c)
		case c == '*', c == '$', !staysPlain(c):
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// writeCode writes an encoded character, decoded if it is unreserved.
func writeCode(b *strings.Builder, c byte) {
	if isUnreserved(c) {
		b.WriteByte(c)
		return
	}
	b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
}

// decodeReserved decodes reserved characters where they may stand plain without
// another meaning (RFC 3986 3.3, 3.4): in a path all but "/" and "?", and in a query all but
// "&", "+" and "=", which delimit there. Those that a canonical URL holds encoded stay so, and
// "*" and "$", which would become wildcards. Behind a star, a pattern may be in either
// component, and only what both have in common is decoded.
func decodeReserved(s string) string {
	path, query, ok := strings.Cut(s, "?")
	path, rest, star := strings.Cut(path, "*")
	path = reservedInPath.Replace(path)
	if star {
		path += "*" + reservedInBoth.Replace(rest)
	}
	if !ok {
		return path
	}
	return path + "?" + reservedInQuery.Replace(query)
}

var (
	reservedInBoth  = decoder("!(),;:@")
	reservedInPath  = decoder("!(),;:@&+=")
	reservedInQuery = decoder("!(),;:@/?")
)

// decoder replaces the percent-encoding of these characters by the characters.
func decoder(chars string) *strings.Replacer {
	var pairs []string
	for _, c := range []byte(chars) {
		pairs = append(pairs, string([]byte{'%', upperHex[c>>4], upperHex[c&15]}), string(c))
	}
	return strings.NewReplacer(pairs...)
}

// staysPlain: the characters that a canonical URL holds plain, and the percent
// sign, which is encoded there when it stands alone.
func staysPlain(c byte) bool {
	return isUnreserved(c) || strings.IndexByte("!$&()*+,;=:@/?", c) >= 0
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

func hexValue(c byte) int { return strings.IndexByte("0123456789abcdef", lower(c)) }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
