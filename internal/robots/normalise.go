package robots

import "strings"

const upperHex = "0123456789ABCDEF"

// normalise brings a pattern or a path with query into one spelling (RFC 9309
// 2.2.2): unreserved characters plain, everything else that may not stand in a
// URL percent-encoded with upper-case digits. In a path, "*" and "$" are
// characters like others and are encoded; in a pattern they are special, except
// for a "$" that is not the end.
func normalise(s string, pattern bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			writeOctet(&b, unhex(s[i+1])<<4|unhex(s[i+2]), true)
			i += 2
		case c == '*' && pattern, c == '$' && pattern && i == len(s)-1:
			b.WriteByte(c)
		case c == '*', c == '$':
			writeEncoded(&b, c)
		default:
			writeOctet(&b, c, false)
		}
	}
	return b.String()
}

// writeOctet writes a character: unreserved ones plain, reserved ones as they
// were spelled, others encoded.
func writeOctet(b *strings.Builder, c byte, wasEncoded bool) {
	switch {
	case isUnreserved(c):
		b.WriteByte(c)
	case wasEncoded, c <= ' ', c >= 0x7f, strings.IndexByte("\"<>\\^`{|}", c) >= 0:
		writeEncoded(b, c)
	default:
		b.WriteByte(c)
	}
}

func writeEncoded(b *strings.Builder, c byte) {
	b.WriteByte('%')
	b.WriteByte(upperHex[c>>4])
	b.WriteByte(upperHex[c&15])
}

// decodeReserved is the second form of a normalised path: reserved characters
// that may stand plain in a query, decoded there (RFC 9309 2.2.2, the table's
// second row).
func decodeReserved(path string) string {
	start := strings.IndexByte(path, '?')
	if start < 0 {
		return path
	}
	return path[:start] + strings.NewReplacer("%3A", ":", "%2F", "/", "%3F", "?", "%40", "@").Replace(path[start:])
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
