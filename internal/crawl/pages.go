package crawl

import (
	"net/url"
	"strings"
)

// Pages are some of a crawl's pages, as a rule names them: by the beginning of their
// addresses, or by their host.
type Pages struct{ prefix, host string }

// PagesOf reads the prefix or the host of a valid rule.
func PagesOf(prefix, host string) Pages {
	return Pages{prefix: canonicalPrefix(prefix), host: strings.ToLower(host)}
}

// canonicalPrefix writes scheme and host as canonical URLs have them, and closes the
// host: https://example.com must not match https://example.com.evil/.
func canonicalPrefix(prefix string) string {
	u, err := url.Parse(prefix)
	if prefix == "" || err != nil {
		return prefix
	}
	rest := prefix[min(len(u.Scheme)+len("://")+len(u.Host), len(prefix)):]
	if rest == "" {
		rest = "/"
	}
	return strings.ToLower(u.Scheme+"://"+u.Host) + rest
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
