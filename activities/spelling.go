package activities

import (
	"fmt"
	"strings"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// maxRespellings is the most visits in a row that may end with a redirect to another
// spelling of the page's own URL. One would do for honest servers, unless there are two
// of them, one behind the other. More are a redirect loop.
const maxRespellings = 2

// respell completes the result for an answer that wants another spelling of the
// page. After too many such answers in a row it is a redirect to itself.
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

// selfRedirect makes a failure of a redirect to an address that the crawl keeps as the
// page's own, such as one with a session id that urls.strip_params removes. The page is not
// elsewhere, and its content can be had only if the rule goes.
func selfRedirect(out *contract.FetchOut, page store.PageRecord, rules urlkey.Rules, r fetch.Result) {
	if out.Outcome != crawl.OutcomeRedirected || out.Respelled {
		return
	}
	kept, steps := rules.Apply(r.Location)
	if kept.String() != page.URL {
		return
	}
	out.Outcome, out.Location, out.Spelling = crawl.OutcomeFailed, "", ""
	out.Problem = crawl.Clean(fmt.Sprintf("redirects to itself once the spec's urls rules are applied: %s from %s", strings.Join(steps, ", "), r.Location), maxCircle)
}

// maxCircle bounds in bytes the text about a circle.
const maxCircle = 300

// respelling returns the spelling for later requests of the page, as the visit found out;
// nil leaves it unchanged.
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

// answered reports whether a server has answered the page's URL itself instead of naming
// another spelling.
func answered(o crawl.Outcome) bool {
	switch o {
	case crawl.OutcomeGone, crawl.OutcomeRedirected, crawl.OutcomeUnsupported, crawl.OutcomeTooLarge:
		return true
	}
	return o.Observes()
}
