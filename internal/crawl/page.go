package crawl

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// PageState is a page's state in its crawl. The numbers are stored; never renumber
// them.
type PageState uint8

// The states of a page.
const (
	Known     PageState = 1 // in the frontier, no workflow yet
	Active    PageState = 2 // visited by policy
	Failing   PageState = 3 // last visits failed; growing back-off
	Gone      PageState = 4 // 404 or 410; probed at max_interval
	Redirect  PageState = 5 // answers with a redirect; probed at max_interval
	Duplicate PageState = 6 // same content as another page
	Excluded  PageState = 7 // robots or scope forbid it; probed at max_interval
	Evicted   PageState = 8 // gave its place to a better page; can return
	Stopped   PageState = 9 // stopped by a person; can return

	Held PageState = 10 // in the frontier, but part of a trap: not admitted until that is released

	Kept PageState = 11 // a requisite that was visited: no workflow until a page needs it anew
)

var pageStates = map[PageState]string{
	Known: "known", Active: "active", Failing: "failing", Gone: "gone", Redirect: "redirect",
	Duplicate: "duplicate", Excluded: "excluded", Evicted: "evicted", Stopped: "stopped", Held: "held",
	Kept: "kept",
}

// PageStates lists all states in their order.
func PageStates() []PageState {
	return []PageState{Known, Active, Failing, Gone, Redirect, Duplicate, Excluded, Evicted, Stopped, Held, Kept}
}

func (s PageState) String() string { return nameOf(pageStates, s) }

// Lives reports whether a page in this state keeps its workflow.
func (s PageState) Lives() bool { return s >= Active && s <= Excluded }

// LivingStates lists the states in which a page keeps its workflow.
func LivingStates() []PageState {
	return slices.DeleteFunc(PageStates(), func(s PageState) bool { return !s.Lives() })
}

// MarshalText implements encoding.TextMarshaler.
func (s PageState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *PageState) UnmarshalText(text []byte) error {
	return parseName(pageStates, text, s, "page state")
}

// Outcome is the result of one visit. The numbers are stored; never renumber.
type Outcome uint8

// The outcomes of a visit.
const (
	OutcomeNew         Outcome = 1  // first content of the page
	OutcomeChanged     Outcome = 2  // content differs from the last version
	OutcomeCosmetic    Outcome = 3  // differs in boilerplate only
	OutcomeUnchanged   Outcome = 4  // 304, or the same digest
	OutcomeRedirected  Outcome = 5  // 3xx; the target is a separate page
	OutcomeFailed      Outcome = 6  // connection, TLS, protocol or 4xx/5xx error
	OutcomeThrottled   Outcome = 7  // 429 or 503
	OutcomeGone        Outcome = 8  // 404 or 410
	OutcomeExcluded    Outcome = 9  // robots or scope forbid it, or its site reserves its use; with a status, it was the answer that forbade it
	OutcomeUnsupported Outcome = 10 // content type not wanted
	OutcomeTooLarge    Outcome = 11 // body over the size limit
	OutcomeTimedOut    Outcome = 12 // over the time limit
	OutcomeSkipped     Outcome = 13 // selective rule; no request made
	OutcomeReturned    Outcome = 14 // differs from the last version, but is one that the page had not long ago
	// OutcomeSuspect: the content looks like an error, a wall or the front page instead of
	// the page. It counts only if a second look finds such a thing again.
	OutcomeSuspect Outcome = 15
)

var outcomes = map[Outcome]string{
	OutcomeNew: "new", OutcomeChanged: "changed", OutcomeCosmetic: "cosmetic", OutcomeUnchanged: "unchanged",
	OutcomeRedirected: "redirected", OutcomeFailed: "failed", OutcomeThrottled: "throttled", OutcomeGone: "gone",
	OutcomeExcluded: "excluded", OutcomeUnsupported: "unsupported", OutcomeTooLarge: "too_large",
	OutcomeTimedOut: "timed_out", OutcomeSkipped: "skipped", OutcomeReturned: "returned",
	OutcomeSuspect: "suspect",
}

// Outcomes lists all outcomes in their order.
func Outcomes() []Outcome {
	return slices.Sorted(maps.Keys(outcomes))
}

func (o Outcome) String() string { return nameOf(outcomes, o) }

// Observes reports whether the outcome is evidence about the page's changes:
// the visit saw the content (or a 304) and could compare it.
func (o Outcome) Observes() bool {
	return o >= OutcomeNew && o <= OutcomeUnchanged || o == OutcomeReturned
}

// Changed reports whether the visit saw a real change of a known page: a text that the
// page did not have before. A page that returns to an earlier text says nothing about
// how often it has a new one.
func (o Outcome) Changed() bool { return o == OutcomeChanged }

// BringsText reports whether the page has another main text after the visit than before:
// its first, a new one, or an earlier one again.
func (o Outcome) BringsText() bool {
	return o == OutcomeNew || o == OutcomeChanged || o == OutcomeReturned
}

// FreesDuplicates reports whether the page may no longer have the content that it had, so that
// its duplicates may have to stand for themselves.
func (o Outcome) FreesDuplicates() bool {
	switch o {
	case OutcomeChanged, OutcomeReturned, OutcomeGone, OutcomeRedirected, OutcomeExcluded:
		return true
	}
	return false
}

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *Outcome) UnmarshalText(text []byte) error { return parseName(outcomes, text, o, "outcome") }

// Class is the priority class of a page in a host's line; lower comes first.
type Class uint8

// The classes of a host's line.
const (
	ClassManual  Class = 0 // a person asked for this visit
	ClassRevisit Class = 1 // a page of the collection is due
	ClassFirst   Class = 2 // first visit of a discovered page
	ClassProbe   Class = 3 // failing, gone, redirecting or excluded pages
)

// RevisitClass is the class in which a page of this state waits for its next visit, when
// it has been visited and no person asks for the visit.
func (s PageState) RevisitClass() Class {
	switch s {
	case Failing, Gone, Redirect, Duplicate, Excluded:
		return ClassProbe
	}
	return ClassRevisit
}

// Classes is the number of classes.
const Classes = 4

// CrawlState says whether a crawl's pages may be fetched. The numbers are
// stored; never renumber them.
type CrawlState uint8

// The states of a crawl.
const (
	CrawlRunning CrawlState = 1
	CrawlPaused  CrawlState = 2
	CrawlStopped CrawlState = 3
)

var crawlStates = map[CrawlState]string{CrawlRunning: "running", CrawlPaused: "paused", CrawlStopped: "stopped"}

func (s CrawlState) String() string { return nameOf(crawlStates, s) }

// MarshalText implements encoding.TextMarshaler.
func (s CrawlState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *CrawlState) UnmarshalText(text []byte) error {
	return parseName(crawlStates, text, s, "crawl state")
}

// PageRef names one page of one crawl wherever it is passed around.
type PageRef struct {
	// Store is the identity of the store that gave the page its ids; "" in data from
	// before stores had one.
	Store   string `json:"store,omitempty"`
	CrawlID int64  `json:"crawl_id"`
	Crawl   string `json:"crawl"`
	PageID  int64  `json:"page_id"`
	URL     string `json:"url"`
	// Host is the page's politeness unit (urlkey.HostKey of the URL).
	Host string `json:"host"`
}

// PermitKind says what a permit is for.
type PermitKind string

// The kinds of permits.
const (
	PermitPage   PermitKind = "page"
	PermitRobots PermitKind = "robots"
)

// Permit is the right to make one request to one host, for a bounded time.
// Nothing is fetched without one. It crosses workflow histories as a value; the
// host's row in the store is decisive.
type Permit struct {
	ID     int64      `json:"id"`
	HostID int64      `json:"host_id"`
	Kind   PermitKind `json:"kind"`
	// URL is the URL that may be requested: the page, or a robots.txt.
	URL string `json:"url"`
	// Lifetime is how long the request may take from Begin on; the request's own
	// deadline ends before it.
	Lifetime time.Duration `json:"lifetime"`
	// Generation is the crawl's spec generation at the grant.
	Generation int64 `json:"generation"`
}

// Reason is one part of the explanation of a decision, as a code and numbers so
// that it can be stored compactly and worded when read.
type Reason struct {
	Code string             `json:"code"`
	Num  map[string]float64 `json:"num,omitempty"`
	Text string             `json:"text,omitempty"`
}

func nameOf[T ~uint8](names map[T]string, v T) string {
	if s, ok := names[v]; ok {
		return s
	}
	return fmt.Sprintf("%d", uint8(v))
}

func parseName[T ~uint8](names map[T]string, text []byte, into *T, what string) error {
	for v, s := range names {
		if s == string(text) {
			*into = v
			return nil
		}
	}
	return fmt.Errorf("%q is not a %s", text, what)
}
