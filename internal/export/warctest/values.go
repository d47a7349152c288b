package warctest

import (
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// syntax checks the value of a field; its error says what is wrong with it.
type syntax func(version, value string) error

// checkID: WARC/1.1 writes identifiers as "<" uri ">". WARC/1.0 defines uri with
// these brackets and its examples have them, its text of 5.2 not always.
func checkID(version, value string) error {
	bare := strings.TrimSuffix(strings.TrimPrefix(value, "<"), ">")
	if version == Version11 && value != "<"+bare+">" {
		return fmt.Errorf("is not in angle brackets")
	}
	return checkURI(version, bare)
}

// checkTarget: a URI, in WARC/1.0 with or without angle brackets (its grammar has
// them, its examples do not).
func checkTarget(version, value string) error {
	if version == Version10 && strings.HasPrefix(value, "<") {
		value = strings.TrimSuffix(value[1:], ">")
	}
	return checkURI(version, value)
}

// uriMarks are the characters besides letters and digits that a URI may have
// (RFC 3986 section 2).
const uriMarks = "-._~:/?#[]@!$&'()*+,;=%"

// checkURI: an absolute URI by the characters and places of RFC 3986.
func checkURI(_, value string) error {
	scheme, rest, ok := strings.Cut(value, ":")
	if !ok || scheme == "" || !isAlpha(scheme[0]) || strings.Trim(scheme, alnum+"+-.") != "" {
		return fmt.Errorf("is no URI: it has no scheme")
	}
	if rest == "" {
		return fmt.Errorf("is no URI: nothing follows its scheme")
	}
	for i := range len(rest) {
		c := rest[i]
		if !isAlnum(c) && strings.IndexByte(uriMarks, c) < 0 {
			return fmt.Errorf("is no URI: %q is to be escaped (RFC 3986)", c)
		}
		if c == '%' && (i+2 >= len(rest) || !isHex(rest[i+1]) || !isHex(rest[i+2])) {
			return fmt.Errorf("is no URI: a percent sign without two hex digits")
		}
	}
	if strings.Count(rest, "#") > 1 {
		return fmt.Errorf("is no URI: two number signs")
	}
	authority := ""
	if strings.HasPrefix(rest, "//") {
		authority = rest[2:]
		if i := strings.IndexAny(authority, "/?#"); i >= 0 {
			authority = authority[:i]
		}
	}
	if strings.Count(rest, "[")+strings.Count(rest, "]") != strings.Count(authority, "[")+strings.Count(authority, "]") {
		return fmt.Errorf("is no URI: brackets outside the host")
	}
	return nil
}

const alnum = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isAlnum(c byte) bool { return isAlpha(c) || c >= '0' && c <= '9' }
func isHex(c byte) bool   { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// dateLayouts are the granularities of the W3C's date and time formats, in UTC.
var dateLayouts = []string{"2006", "2006-01", "2006-01-02", "2006-01-02T15:04Z", "2006-01-02T15:04:05Z"}

// checkDate: WARC/1.0 has whole seconds only; WARC/1.1 any granularity and up to
// nine digits of a fraction.
func checkDate(version, value string) error {
	if version == Version10 {
		if !isDate(value, dateLayouts[4:]) {
			return fmt.Errorf("is not YYYY-MM-DDThh:mm:ssZ")
		}
		return nil
	}
	if whole, fraction, ok := strings.Cut(value, "."); ok {
		digits := strings.TrimSuffix(fraction, "Z")
		if digits == fraction || !isDigits(digits) || len(digits) > 9 || !isDate(whole+"Z", dateLayouts[4:]) {
			return fmt.Errorf("is no UTC time with one to nine digits of a fraction")
		}
		return nil
	}
	if !isDate(value, dateLayouts) {
		return fmt.Errorf("is no UTC time of the W3C's date and time formats")
	}
	return nil
}

// isDate: time.Parse accepts a fraction where the layout has none, but a text of
// the layout's length has no room for one.
func isDate(value string, layouts []string) bool {
	for _, l := range layouts {
		if _, err := time.Parse(l, value); err == nil && len(value) == len(l) {
			return true
		}
	}
	return false
}

// checkMediaType: type "/" subtype and parameters, with white space around the
// semicolons, which the standard's own examples have.
func checkMediaType(_, value string) error {
	essence, params, more := strings.Cut(value, ";")
	kind, sub, ok := strings.Cut(strings.TrimRight(essence, " \t"), "/")
	if !ok || !isToken(kind) || !isToken(sub) {
		return fmt.Errorf("is no media type")
	}
	for more {
		var name, text string
		if name, text, ok = strings.Cut(strings.Trim(params, " \t"), "="); !ok || !isToken(name) {
			return fmt.Errorf("is no media type: its parameter has no name or no value")
		}
		if text, params, more, ok = cutValue(text); !ok {
			return fmt.Errorf("is no media type: the value of %s ends nowhere", name)
		}
		if !strings.HasPrefix(text, `"`) && !isToken(strings.TrimRight(text, " \t")) {
			return fmt.Errorf("is no media type: the value of %s is neither a token nor quoted", name)
		}
	}
	return nil
}

// cutValue cuts a parameter's value, a token or quoted string, from those after it.
func cutValue(s string) (value, rest string, more, ok bool) {
	end := 0
	if strings.HasPrefix(s, `"`) {
		for end = 1; end < len(s) && s[end] != '"'; end++ {
			if s[end] == '\\' {
				end++
			}
		}
		if end >= len(s) {
			return "", "", false, false
		}
	}
	i := strings.IndexByte(s[end:], ';')
	if i < 0 {
		return s, "", false, true
	}
	return s[:end+i], s[end+i+1:], true, true
}

// checkDigest: algorithm ":" value. The equals sign and the slash of padded Base32
// and Base64 are no token, but everybody's reading.
func checkDigest(_, value string) error {
	algorithm, sum, ok := strings.Cut(value, ":")
	if !ok || !isToken(algorithm) || !isToken(strings.NewReplacer("=", "", "/", "").Replace(sum)) {
		return fmt.Errorf("is no labelled digest")
	}
	_, err := parseDigest(value)
	return err
}

// digest is a digest's bytes and their algorithm in one spelling.
type digest struct {
	algorithm string // "sha1", "sha256", …
	sum       string
}

// sizes are the lengths in bytes of the digests that are verified.
var sizes = map[string]int{"md5": 16, "sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64}

// parseDigest reads a labelled digest in Base32 or hex, in whatever case. That of
// an unknown algorithm has no sum.
func parseDigest(value string) (digest, error) {
	label, text, _ := strings.Cut(value, ":")
	algorithm := strings.ReplaceAll(strings.ToLower(label), "sha-", "sha")
	size, known := sizes[algorithm]
	if !known {
		return digest{algorithm: algorithm}, nil
	}
	if sum, err := hex.DecodeString(text); err == nil && len(sum) == size {
		return digest{algorithm, string(sum)}, nil
	}
	plain := base32.StdEncoding.WithPadding(base32.NoPadding)
	if sum, err := plain.DecodeString(strings.TrimRight(strings.ToUpper(text), "=")); err == nil && len(sum) == size {
		return digest{algorithm, string(sum)}, nil
	}
	return digest{}, fmt.Errorf("is no %s in Base32 or hex", algorithm)
}

func checkIP(_, value string) error {
	if addr, err := netip.ParseAddr(value); err != nil || addr.Zone() != "" {
		return fmt.Errorf("is no IP address")
	}
	return nil
}

func checkNumber(_, value string) error {
	if !isDigits(value) {
		return fmt.Errorf("is no number")
	}
	return nil
}

func checkToken(_, value string) error {
	if !isToken(value) {
		return fmt.Errorf("is no token")
	}
	return nil
}

func checkText(string, string) error { return nil }
