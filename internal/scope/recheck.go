package scope

import "recrawl/internal/urlkey"

// Recheck is Check of a page that the crawl has, whose spec may have changed since it
// was found. Level is the page's, and hops are those that it had. The language of the
// page on which it was found is not known any more: the verdict is Undecided, and the
// page is better left alone, if a rule that might have asked for the language, or a
// program that does not answer, comes before the one that decides.
func (s Scope) Recheck(url urlkey.URL, level, hops int) Verdict {
	l := Link{URL: url, Level: level, Hops: s.Hops(url, HopsBefore(hops))}
	if v, decided := s.limits(l); decided {
		return v
	}
	for _, r := range s.rules {
		heard := &hearing{scope: s, link: l}
		switch r.filter.match(heard) {
		case yes:
			return Verdict{Accept: r.accept, Reason: r.reason, Detail: heard.said}
		case unknown, later:
			return Verdict{Undecided: true, Reason: r.reason, Detail: heard.said}
		}
	}
	return s.byType(url)
}
