package fetch

import (
	"net/url"
	"strings"
)

// spell makes a request ask for its page under the spelling that is wanted. net/url has
// spellings of its own; only an opaque URL is written as it is.
func (r Request) spell(u *url.URL) {
	if r.asked() == r.URL.Target() {
		return
	}
	path, query, _ := strings.Cut(r.asked(), "?")
	u.Opaque, u.RawQuery = path, query
}

// asked is how the request spells path and query. What is no spelling of its URL is not
// asked for: nobody has judged it.
func (r Request) asked() string {
	if r.URL.Spells(r.Spelling) {
		return r.Spelling
	}
	return r.URL.Target()
}

// forProxy makes an opaque URL one that a proxy is asked for: it must hear of the host.
func forProxy(u *url.URL) {
	if u.Opaque != "" && u.Scheme == "http" {
		u.Opaque = "//" + u.Host + u.Opaque
	}
}
