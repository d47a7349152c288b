package urlkey

import "strings"

// Pages are some of a crawl's pages, as a rule names them: by the beginning of their
// addresses, or by their host.
type Pages struct{ prefix, host string }

// PagesOf reads the prefix or the host of a valid rule.
func PagesOf(prefix, host string) Pages {
	return Pages{prefix: Prefix(prefix), host: hostPattern(host)}
}

// Prefix writes the beginning of an address as canonical URLs begin, and closes the host:
// https://example.com must not match https://example.com.evil/. A text that begins no address
// stays as it is.
func Prefix(text string) string {
	u, err := Canonical(text)
	if err != nil {
		return text
	}
	return u.String()
}

// Begun is Prefix for what a person has typed of an address so far: while no path has begun, the
// host may go on.
func Begun(text string) string {
	if _, rest, ok := strings.Cut(text, "://"); !ok || !strings.Contains(rest, "/") {
		return text
	}
	return Prefix(text)
}

// hostPattern writes a host, or *. before one, as the hosts of canonical URLs are written.
func hostPattern(text string) string {
	text = strings.ToLower(text)
	name, wild := strings.CutPrefix(text, "*.")
	host, err := ParseHost(name)
	switch {
	case err != nil:
		return text
	case wild:
		return "*." + host
	}
	return host
}

// Has reports whether a page is one of them, by its canonical URL.
func (p Pages) Has(url string) bool {
	if p.prefix != "" {
		return strings.HasPrefix(url, p.prefix)
	}
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	if below, ok := strings.CutPrefix(p.host, "*"); ok {
		return strings.HasSuffix(host, below)
	}
	return host == p.host
}
