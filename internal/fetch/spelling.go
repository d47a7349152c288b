package fetch

import (
	"net/url"
	"strings"
)

// spell makes a request ask for its page under the wanted spelling. net/url respells
// URLs; only an opaque URL is written as it is.
func (r Request) spell(u *url.URL) {
	if r.asked() == r.URL.Target() {
		return
	}
	path, query, _ := strings.Cut(r.asked(), "?")
	u.Opaque, u.RawQuery = path, query
}

// asked is how the request spells path and query. A text that is no spelling of its URL
// is not requested: nobody has judged it.
func (r Request) asked() string {
	if r.URL.Spells(r.Spelling) {
		return r.Spelling
	}
	return r.URL.Target()
}

// forProxy turns an opaque URL into one for a proxy, which must be told the host.
func forProxy(u *url.URL) {
	if u.Opaque != "" {
		u.Opaque = "//" + u.Host + u.Opaque
	}
}
