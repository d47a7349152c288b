package seeds

import (
	"errors"
	"strings"

	"recrawl/internal/urlkey"
)

// Reasons why an entry is no seed. They are stored and shown; never change them.
const (
	ReasonNoURL    = "no URL"
	ReasonScheme   = "not an absolute http or https URL"
	ReasonHost     = "bad host name"
	ReasonLong     = "URL too long"
	ReasonPassword = "user name or password"
	ReasonPort     = "port of another protocol"
	ReasonContact  = "no contact for sites beyond this machine"
	ReasonIndex    = "sitemap of an index: fetch and import it by itself"
)

// ReasonForgotten is the reason for leaving out a seed that was forgotten.
const ReasonForgotten = "forgotten"

// Judge decides on entries.
type Judge struct {
	Rules urlkey.Rules // the crawl's
	// Contact: the crawl names who makes its requests, or makes some already.
	Contact bool
}

// Seed returns the URL under which the crawl keeps an entry, or why it is no seed.
func (j Judge) Seed(e Entry) (u urlkey.URL, refused string) {
	if e.Refused != "" {
		return u, e.Refused
	}
	u, err := urlkey.Canonical(e.Text)
	switch {
	case errors.Is(err, urlkey.ErrTooLong):
		return u, ReasonLong
	case errors.Is(err, urlkey.ErrScheme):
		return u, ReasonScheme
	case errors.Is(err, urlkey.ErrHost):
		return u, ReasonHost
	case err != nil && strings.Contains(e.Text, "://"):
		return u, ReasonNoURL
	case err != nil:
		return u, ReasonScheme
	case hasUser(e.Text):
		return u, ReasonPassword
	case u.BadPort():
		return u, ReasonPort
	case !j.Contact && !u.IsLoopback():
		return u, ReasonContact
	}
	u, _ = j.Rules.Apply(u)
	return u, ""
}

// hasUser reports whether a URL carries a user name.
func hasUser(text string) bool {
	_, rest, _ := strings.Cut(text, ":")
	rest = strings.TrimLeft(rest, `/\`)
	end := strings.IndexAny(rest, `/\?#`)
	if end >= 0 {
		rest = rest[:end]
	}
	return strings.Contains(rest, "@")
}
