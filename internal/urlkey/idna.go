package urlkey

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
)

// parser is the WHATWG parse of a URL, except for the names of hosts; see newParser.
var parser = newParser()

// newParser makes a parser whose hosts are named by this package's hostName. Those that it
// refuses come out empty, and canonicalHost refuses all other names that no machine can
// have. The library's own reading of names allows only letters, digits and hyphens in a
// name with a letter beyond ASCII.
func newParser(options ...whatwg.ParserOption) whatwg.Parser {
	return whatwg.NewParser(append(options,
		whatwg.WithLaxHostParsing(),
		whatwg.WithPreParseHostFunc(func(_ *whatwg.Url, raw string) string {
			name, err := hostName(raw)
			if err != nil {
				return ""
			}
			return name
		}),
	)...)
}

// names is the processing of UTS 46 as the URL standard's "domain to ASCII" asks for it
// with beStrict false: hyphens and lengths are not checked, joiners and directions are,
// and characters such as "ß" are separate letters.
var names = idna.New(
	idna.MapForLookup(), idna.BidiRule(), idna.CheckHyphens(false), idna.CheckJoiners(true),
	idna.StrictDomainName(false), idna.Transitional(false), idna.VerifyDNSLength(false),
)

// newerMappings are the changes of the mapping table of UTS 46 between Unicode 15.0,
// whose table idna has when it is built by Go before 1.27, and 17.0, where 15.0 knows
// the resulting characters. With the newer table they change nothing. Characters that
// 15.0 does not know are refused until then.
var newerMappings = newerMapper()

func newerMapper() *strings.Replacer {
	var pairs []string
	with := func(from, to rune) { pairs = append(pairs, string(from), string(to)) }
	for from, to := range map[rune]rune{
		'\u1E9E': 'ß', '\u04C0': '\u04CF', '\u2132': '\u214E', '\u2183': '\u2184',
		'\uA7CB': '\u0264', '\uA7D2': '\uA7D3', '\uA7D4': '\uA7D5', '\uA7DC': '\u019B', '\uA7F1': 's',
		'\U0002F868': '\u36FC', '\U0002F874': '\u5F53', '\U0002F91F': '\U000243AB', '\U0002F95F': '\u7AEE', '\U0002F9BF': '\u45D7',
	} {
		with(from, to)
	}
	for r := '\u10A0'; r <= '\u10C5'; r++ { // Georgian capitals
		with(r, r-'\u10A0'+'\u2D00')
	}
	for r := '\U0001CCD6'; r <= '\U0001CCEF'; r++ { // outlined letters
		with(r, r-'\U0001CCD6'+'a')
	}
	for r := '\U0001CCF0'; r <= '\U0001CCF9'; r++ { // outlined digits
		with(r, r-'\U0001CCF0'+'0')
	}
	for _, ignored := range "\u115F\u1160\u17B4\u17B5\u180E\u2061\u2062\u2063\u206A\u206B\u206C\u206D\u206E\u206F\u3164\uFFA0" +
		"\U0001D173\U0001D174\U0001D175\U0001D176\U0001D177\U0001D178\U0001D179\U0001D17A" {
		pairs = append(pairs, string(ignored), "")
	}
	return strings.NewReplacer(pairs...)
}

// hostName makes the ASCII name of a host as it stands in a URL: decoded and lower case,
// its labels beyond ASCII in Punycode. The other requirements of the URL standard's host
// parser and the limits of the domain name system are checked elsewhere.
func hostName(raw string) (string, error) {
	if strings.HasPrefix(raw, "[") {
		if inner, closed := strings.CutSuffix(raw[1:], "]"); closed && strings.ContainsAny(inner, "[]") {
			return "", errors.New("has further brackets") // which the parse would ignore
		}
		return raw, nil // an address
	}
	ascii, err := domainToASCII(decodePercent(raw))
	switch {
	case err != nil:
		return "", err
	case strings.Contains(ascii, "%"):
		return "", errors.New("has a percent sign") // which the parse would decode again
	case strings.HasPrefix(ascii, "["):
		return "", errors.New("becomes an address in brackets") // which the parse would take
	case isSignedAddress(ascii):
		return "", errors.New("has a number with a sign")
	}
	return ascii, nil
}

var (
	// numberRE is a last part with which the parse reads a name as an IPv4 address, and
	// signedRE a part with a sign, which it takes for a number although the standard does not.
	numberRE = regexp.MustCompile(`^(?:0?[+-]?[0-9]+|0x[+-]?[0-9a-f]*)$`)
	signedRE = regexp.MustCompile(`^(?:0x?)?[+-][0-9a-f]+$`)
)

// isSignedAddress reports whether the parse would make an address of a name that is none:
// +127.1, 1.-2 or 0-1.
func isSignedAddress(ascii string) bool {
	if !strings.ContainsAny(ascii, "+-") {
		return false
	}
	name := strings.TrimSuffix(ascii, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	return numberRE.MatchString(last) && slices.ContainsFunc(strings.Split(name, "."), signedRE.MatchString)
}

// domainToASCII is that of the URL standard, with beStrict false.
func domainToASCII(name string) (string, error) {
	if isASCII(name) && !hasPunycode(name) {
		return strings.ToLower(name), nil
	}
	if !utf8.ValidString(name) {
		return "", errors.New("is no UTF-8")
	}
	if hasPunycodeOfNothing(name) {
		return "", errors.New("has a label of Punycode without content")
	}
	mapped := newerMappings.Replace(name)
	ascii, err := names.ToASCII(mapped)
	if err == nil && endsInEmptyPunycode(mapped, ascii) {
		err = errors.New("has a label of Punycode without content")
	}
	return ascii, err
}

// hasPunycodeOfNothing: UTS 46 refuses a label whose Punycode stands for no character beyond
// ASCII (revision 33, 4.2): it ends in the hyphen before them. The package idna does not, if
// there is another such character in the label.
func hasPunycodeOfNothing(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if strings.HasSuffix(label, "-") && hasPunycode(label) {
			return true
		}
	}
	return false
}

// endsInEmptyPunycode finds a last label that becomes "xn--" once it is mapped. The package
// idna makes an empty label of it, which looks like the dot that a name may end in. A letter
// more tells them apart: "xn--a" is not decoded to "a". Empty labels elsewhere are refused
// later.
func endsInEmptyPunycode(name, ascii string) bool {
	if !strings.HasSuffix(ascii, ".") || strings.HasSuffix(name, ".") {
		return false
	}
	longer, err := names.ToASCII(name + "a")
	return err != nil || longer != ascii+"a"
}

// decodePercent decodes percent-encoded bytes and leaves other percent signs.
func decodePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if len(s) > 2 && s[0] == '%' && isHex(s[1]) && isHex(s[2]) {
			b.WriteByte(unhex(s[1])<<4 | unhex(s[2]))
			s = s[3:]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const punycode = "xn--"

// hasPunycode reports whether a label of the name begins as one in Punycode does.
func hasPunycode(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if len(label) >= len(punycode) && strings.EqualFold(label[:len(punycode)], punycode) {
			return true
		}
	}
	return false
}
