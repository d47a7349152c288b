package activities

import (
	"fmt"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// maxRespellings is how many visits in a row may end with a redirect to another spelling
// of the page's own URL: one would do for honest servers, unless two of them stand behind
// each other. More are a circle.
const maxRespellings = 2

// respell completes what an answer came to that wants the page to be asked for under
// another spelling. After too many such answers in a row it is a redirect to itself.
func respell(out *contract.FetchOut, page store.PageRecord, r fetch.Result) {
	out.Spelling = r.Spelling
	if r.Spelling == "" || !r.Location.IsZero() {
		return
	}
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return
	}
	if page.Respelling.Times >= maxRespellings {
		asked := u.Target()
		if page.Respelling.Spelling != "" {
			asked = page.Respelling.Spelling
		}
		out.Outcome, out.Spelling = crawl.OutcomeFailed, ""
		out.Problem = crawl.Clean(fmt.Sprintf("redirects in a circle between spellings of its own address: asked for as %.80s, sent to %.80s", asked, r.Spelling), maxCircle)
		return
	}
	out.Respelled, out.Location = true, u.Origin()+r.Spelling
}

// maxCircle bounds in bytes the words about a circle.
const maxCircle = 300

// respelling returns how the page should be requested from now on, as the visit found out; nil
// leaves that as it is.
func respelling(page store.PageRecord, f contract.FetchOut) *store.Respelling {
	u, err := urlkey.Canonical(page.URL)
	switch {
	case f.Respelled && err == nil:
		return &store.Respelling{Spelling: u.Spelling(f.Spelling), Times: page.Respelling.Times + 1}
	case page.Respelling.Times > 0 && answered(f.Outcome):
		return &store.Respelling{Spelling: page.Respelling.Spelling}
	}
	return nil
}

// answered reports whether a server has given a page's answer instead of another spelling.
func answered(o crawl.Outcome) bool {
	switch o {
	case crawl.OutcomeGone, crawl.OutcomeRedirected, crawl.OutcomeUnsupported, crawl.OutcomeTooLarge:
		return true
	}
	return o.Observes()
}
