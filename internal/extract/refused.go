package extract

import (
	"errors"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// Refused are links for which there is no page: of another scheme, too long, or
// malformed.
type Refused struct {
	// Cause is urlkey.ErrScheme, ErrTooLong or, for all others, ErrSyntax.
	Cause error
	Links int
	// Examples are some of them as the page has them. They need not be readable as URLs.
	Examples []string
}

const (
	// refusedExamples is the number of links that are kept for a cause, and refusedLength
	// bounds the bytes of each.
	refusedExamples = 4
	refusedLength   = 300
)

// refusals collects them, each link once.
type refusals struct {
	seen map[string]bool
	all  []Refused
}

// add notes a reference that could not be resolved. A script is no link.
func (r *refusals) add(href string, err error) {
	href = strings.TrimSpace(href)
	scheme, _, _ := strings.Cut(href, ":")
	if href == "" || strings.EqualFold(scheme, "javascript") || r.seen[href] {
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[href] = true
	cause := urlkey.ErrSyntax
	for _, known := range []error{urlkey.ErrScheme, urlkey.ErrTooLong} {
		if errors.Is(err, known) {
			cause = known
		}
	}
	for i := range r.all {
		if r.all[i].Cause == cause {
			r.all[i].note(href)
			return
		}
	}
	r.all = append(r.all, Refused{Cause: cause})
	r.all[len(r.all)-1].note(href)
}

func (r *Refused) note(href string) {
	r.Links++
	if len(r.Examples) < refusedExamples {
		r.Examples = append(r.Examples, crawl.Clean(href, refusedLength))
	}
}
