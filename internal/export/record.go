package export

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"recrawl/internal/urlkey"
)

// field is a named field of a WARC record (WARC/1.1 clause 4).
type field struct{ name, value string }

// record is a WARC record. Its block is in memory, except the body that may follow.
type record struct {
	kind   string // WARC-Type
	id     string // WARC-Record-ID
	date   string
	fields []field // further ones, in their order
	media  string  // Content-Type of the block, "" for none
	head   []byte  // the block, or what comes before the body in it
	body   int64   // bytes of the body
	// digest is that of the whole block, payload that of the data that the record is about,
	// "" for none (5.8, 5.9).
	digest, payload string
}

// header writes the record's header with its blank line.
func (r record) header(b *bytes.Buffer) {
	b.Reset()
	b.WriteString("WARC/1.1\r\n")
	put := func(name, value string) {
		if value != "" {
			b.WriteString(name + ": " + fieldText(value) + "\r\n")
		}
	}
	put("WARC-Type", r.kind)
	put("WARC-Record-ID", r.id)
	put("WARC-Date", r.date)
	for _, f := range r.fields {
		put(f.name, f.value)
	}
	put("WARC-Payload-Digest", r.payload)
	put("WARC-Block-Digest", r.digest)
	put("Content-Type", r.media)
	fmt.Fprintf(b, "Content-Length: %d\r\n\r\n", int64(len(r.head))+r.body)
}

// namedFields is a block of the type application/warc-fields. Fields without a value
// are left out.
func namedFields(fields ...field) []byte {
	var b bytes.Buffer
	for _, f := range fields {
		if f.value != "" {
			b.WriteString(f.name + ": " + fieldText(f.value) + "\r\n")
		}
	}
	return b.Bytes()
}

// fieldText makes a text fit for a field: UTF-8 without control characters.
func fieldText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}

// idSpace is the name space of recrawl's record identifiers.
var idSpace = [16]byte{0x3c, 0x5b, 0x0e, 0x6e, 0x1f, 0x64, 0x4b, 0x0d, 0x9a, 0x52, 0x7d, 0x0b, 0x8e, 0x21, 0xc4, 0x97}

// recordID names a record by what it records: a version 5 UUID (RFC 9562 5.5), the
// same in every export of it.
func recordID(parts ...any) string {
	h := sha1.New()
	h.Write(idSpace[:])
	for _, p := range parts {
		text := fmt.Sprint(p)
		fmt.Fprintf(h, "%d:%s,", len(text), text)
	}
	u := h.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0f|0x50, u[8]&0x3f|0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// warcDate writes a time as WARC/1.1 5.4 allows, with the store's full precision.
func warcDate(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// labelled writes a SHA-1 as the fields of 5.8 and 5.9 have it. It is the digest that
// all tools write and compare, in Base32; identity was decided by SHA-256, which is
// in the metadata.
func labelled(sum []byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum) }

func digestOf(block []byte) string {
	sum := sha1.Sum(block)
	return labelled(sum[:])
}

// address writes an IP address as in 5.10, "" for anything else.
func address(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Zone() != "" {
		return ""
	}
	return addr.Unmap().String()
}

// protocol is the value of WARC-Protocol, an adopted extension of the IIPC, for an
// ALPN name. Others it does not know.
func protocol(alpn string) string {
	switch alpn {
	case "http/1.0", "http/1.1", "h2", "h2c", "h3":
		return alpn
	}
	return ""
}

// asked returns a visit's URL as its request spelled it. That is how the site's own links have it,
// and players look it up by these bytes: the canonical URL has one spelling for all ("%D0" for
// "%d0", "%27" for "'"). It is the canonical one where no request was kept.
func asked(x Exchange) string {
	h, ok := requestHead(x.Request)
	if !ok {
		return x.URL
	}
	_, rest, _ := strings.Cut(h.start, " ")
	target, _, _ := strings.Cut(rest, " ")
	if strings.HasSuffix(x.URL, target) {
		return x.URL // as most are
	}
	u, err := urlkey.Canonical(x.URL)
	if err != nil || u.String() != x.URL { // of an older version
		return x.URL
	}
	if spelling := u.Spelling(target); spelling != "" {
		return u.Origin() + spelling
	}
	return x.URL
}

// targetURI escapes what RFC 3986 does not allow and the WHATWG's URLs do, so that a
// page's URL is one for WARC-Target-URI (5.14).
func targetURI(url string) string {
	var b strings.Builder
	authority := authorityEnd(url)
	for i := range len(url) {
		c := url[i]
		ok := isAlnum(c) || strings.IndexByte("-._~:/?#@!$&'()*+,;=", c) >= 0
		switch c {
		case '%':
			ok = i+2 < len(url) && isHex(url[i+1]) && isHex(url[i+2])
		case '[', ']':
			ok = i < authority
		}
		if ok {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// authorityEnd returns where the part of a URL that may have brackets ends.
func authorityEnd(url string) int {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return 0
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[i:]
		return len(url) - len(rest)
	}
	return len(url)
}
