// Package trap recognises parts of sites that have no end: calendars, links that
// lead back into themselves, session ids, combinations of parameters, names for
// ever more hosts. It decides by the look of URLs and by the contents of the pages
// behind them. Its findings are held, not thrown away, so it should be right, and
// may be wrong.
//
// The shapes are those that Heritrix, Nutch and StormCrawler keep out by fixed
// rules (repeated segments, path depth, session ids); the evidence of contents,
// and a guard that looks at sites which dominate a crawl, are Sizov's (Web Mining,
// chapter 5, "crawler traps").
package trap

import (
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

// Reasons why pages are held. They are stored; never change them.
const (
	// ReasonRepeats: a piece of the path comes again and again.
	ReasonRepeats = "repeated path segments"
	// ReasonDepth: the path has more than MaxSegments segments.
	ReasonDepth = "deep path"
	// ReasonSession: the address is that of a known page, except for a session id.
	ReasonSession = "session id"
	// ReasonDates: dates go on far into the future.
	ReasonDates = "calendar"
	// ReasonParams: parameters are combined in ever new ways.
	ReasonParams = "combined parameters"
	// ReasonOnward: pages that say nothing lead to more of their kind, and nowhere else.
	ReasonOnward = "empty pages that lead on"
	// ReasonCopies: nearly all pages have the content of other pages.
	ReasonCopies = "copies"
	// ReasonHosts: ever more hosts of a domain have the content of other pages.
	ReasonHosts = "copied hosts"
	// ReasonIdle: the address is that of a known page, except for parameters that choose nothing.
	ReasonIdle = "idle parameters"
	// ReasonBudget: a host or a prefix has more pages than the crawl allows it.
	ReasonBudget = "budget"
)

// Kind says how a Pattern chooses URLs. The texts are stored.
type Kind string

// The kinds.
const (
	KindPrefix  Kind = "prefix"  // a path and all below it
	KindParams  Kind = "params"  // a path with at least this many parameters
	KindDates   Kind = "dates"   // a path and dates below it from a year on
	KindOnward  Kind = "onward"  // a form of URL, found on an empty page of that form
	KindIdle    Kind = "idle"    // URLs with a parameter, whose pages are known without it; see Without
	KindHosts   Kind = "hosts"   // all hosts under a domain, except for some
	KindRepeats Kind = "repeats" // the URLs that Shaped finds on a host, by its reason
	KindDepth   Kind = "depth"
	KindSession Kind = "session" // the URLs that Session finds on a host
)

// Pattern is a set of URLs of one site. It is stored as JSON.
type Pattern struct {
	Kind Kind `json:"kind"`
	// Host is a host key; of KindHosts a domain.
	Host string `json:"host"`
	// Path is the shapes of the first segments; see shapes. Of KindOnward it is a form.
	Path []string `json:"path,omitempty"`
	// Beside are further forms of KindOnward, of empty pages that are found on its pages.
	Beside [][]string `json:"beside,omitempty"`
	// Common are the phrases (of change.Wording) that the pages of KindOnward share.
	Common []uint32 `json:"common,omitempty"`
	// Everywhere says that URLs of KindOnward are held wherever they are found, and not
	// only on such pages.
	Everywhere bool `json:"everywhere,omitempty"`
	// Params is the least number of parameters.
	Params int `json:"params,omitempty"`
	// Param is the parameter of KindIdle: "name", whatever its value, or "name=value". A
	// spelling of addresses counts as one.
	Param string `json:"param,omitempty"`
	// Year is the first year.
	Year int `json:"year,omitempty"`
	// Except are hosts that are no part of it.
	Except []string `json:"except,omitempty"`
}

// String names the pattern; two patterns of one name are the same. In a path a #
// stands for digits, and a * for a segment that looks drawn at random or, of
// KindOnward, for any segment or value.
func (p Pattern) String() string {
	path := p.Host + "/" + strings.Join(p.Path, "/")
	switch p.Kind {
	case KindParams:
		return fmt.Sprintf("%s?%d+", path, p.Params)
	case KindDates:
		return path + "@dates" // without the year: next year it is the same trap
	case KindOnward:
		return p.Host + "/" + formText(p.Path) + "@onward"
	case KindIdle:
		if isTwin(p.Param) {
			return p.Host + " " + strings.TrimSuffix(strings.NewReplacer("<", "", ">", "").Replace(p.Param), "=")
		}
		if !strings.Contains(p.Param, "=") {
			return p.Host + "/?" + p.Param + "=*"
		}
		return p.Host + "/?" + p.Param
	case KindHosts:
		return "*." + p.Host
	case KindRepeats, KindDepth, KindSession:
		return p.Host + " " + string(p.Kind)
	}
	return path
}

// SamePart reports whether two patterns, perhaps of different names, are about one part of a
// site: a path whose parameters are combined, however many of them each takes.
func (p Pattern) SamePart(other Pattern) bool {
	return p.Kind == KindParams && other.Kind == KindParams && p.Host == other.Host && slices.Equal(p.Path, other.Path)
}

// Site is the registrable domain to which the pattern's URLs belong.
func (p Pattern) Site() string { return urlkey.RegistrableDomain(p.Host) }

// Covers reports whether the URL is one of the pattern's. For KindRepeats,
// KindDepth and KindSession, Shaped and Session decide that; of the URLs of
// KindOnward and KindIdle only some are held, see Takes and Without.
func (p Pattern) Covers(u urlkey.URL) bool {
	switch p.Kind {
	case KindHosts:
		return strings.HasSuffix(u.Hostname(), "."+p.Host) && !slices.Contains(p.Except, u.HostKey())
	case KindPrefix:
		return u.HostKey() == p.Host && startsWith(shapes(u), p.Path)
	case KindOnward:
		return u.HostKey() == p.Host && (hasForm(u, p.Path) || p.isBeside(u))
	case KindIdle:
		return u.HostKey() == p.Host && slices.ContainsFunc(idleParams(u), p.idles)
	case KindParams:
		return u.HostKey() == p.Host && len(u.Params()) >= p.Params && slices.Equal(pathShapes(u), p.Path)
	case KindDates:
		if u.HostKey() != p.Host || !startsWith(pathShapes(u), p.Path) {
			return false
		}
		d, ok := dateIn(u)
		return ok && d.year >= p.Year
	}
	return false
}

// Takes reports whether a URL that was found on a page is held.
func (p Pattern) Takes(u urlkey.URL, on Page) bool {
	if p.Kind == KindIdle || !p.Covers(u) { // of the former, only known pages are held
		return false
	}
	// Months and days mean different traps.
	if p.Kind != KindOnward || p.Everywhere && !p.isBeside(u) {
		return true
	}
	return on.URL.HostKey() == p.Host && hasForm(on.URL, p.Path) && (isDates(p.Path) || on.isEmpty(p.Common))
}

func (p Pattern) isBeside(u urlkey.URL) bool {
	return slices.ContainsFunc(p.Beside, func(form []string) bool { return hasForm(u, form) })
}

func startsWith(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// Finding is a pattern that should be held, and why.
type Finding struct {
	Pattern Pattern
	Reason  string // one of the Reason constants
	Detail  string // the evidence in words
}
