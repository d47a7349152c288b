package feed

import "recrawl/internal/crawl"

// Before is a page as a visit found it.
type Before struct {
	State crawl.PageState
	// Settled is the last state that was not failing, and Location where the last redirect
	// led to, "" if it is not known. They matter only to a visit that NeedsPast.
	Settled  crawl.PageState
	Location string
	Version  int // number of the version that the page had, 0 for none
}

// Seen is the result of a visit.
type Seen struct {
	Outcome  crawl.Outcome
	State    crawl.PageState // of the page after the visit
	Version  int             // number of the version that the page has since, 0 for none
	Location string          // redirect target
	// Respelled: the redirect led to another spelling of the page's own URL.
	Respelled bool
}

// NeedsPast reports whether the page's state before the visit is not enough to know the
// change: it failed before and no longer does, or it redirects again.
func NeedsPast(was crawl.PageState, seen Seen) bool {
	switch was {
	case crawl.Failing:
		return seen.State.Lives() && seen.State != crawl.Failing
	case crawl.Redirect:
		return seen.moved()
	}
	return false
}

// moved reports whether the visit found a redirect to another page.
func (s Seen) moved() bool {
	return s.State == crawl.Redirect && s.Outcome == crawl.OutcomeRedirected && !s.Respelled
}

// OfVisit decides what kind of change a visit is, 0 for none, and the data of its row.
// A visit that is none and found another version is VersionOnly.
//
//	the first content                                   new
//	another text, or an earlier one again               changed
//	gone, redirect, excluded or duplicate, and was not  gone, moved, excluded, duplicate
//	another target of the redirect                      moved
//	active, and was one of these                        back
//	failing, and was not                                failing
//	as before it failed                                 recovered
//
// A visit is one change at most. If a line below and one above both match, the state says
// more: a page that is gone and comes back with another text is back, with both versions; a
// new page whose content its original has already is a duplicate. But the first content, and
// another text after failures, say more than that the page answers again. What a page was
// before it failed decides what it is after: gone, failing and gone again has recovered,
// gone, failing and active is back.
func OfVisit(before Before, seen Seen) (Kind, Data) {
	kind := before.kindOf(seen)
	switch {
	case kind != 0:
	case seen.Version > 0 && seen.Version != before.Version:
		return VersionOnly, Data{}
	default:
		return 0, Data{}
	}
	data := Data{Was: before.State, State: seen.State, From: before.Version}
	if kind == PageChanged && seen.Outcome == crawl.OutcomeReturned {
		data.ReturnedTo = seen.Version
	}
	return kind, data
}

func (b Before) kindOf(seen Seen) Kind {
	text := b.text(seen)
	if !seen.State.Lives() {
		return b.stopped(seen, text)
	}
	was := b.settled()
	switch seen.State {
	case crawl.Active:
		switch {
		case text == PageNew:
			return PageNew
		case away(was):
			return PageBack
		}
	case crawl.Failing:
		if text == 0 && b.State != crawl.Failing {
			return PageFailing
		}
		return text
	case crawl.Redirect:
		if was == crawl.Redirect && seen.moved() && b.Location != "" && seen.Location != b.Location {
			return PageMoved
		}
	}
	if was != seen.State {
		if kind := becomes[seen.State]; kind != 0 {
			return kind
		}
	}
	if text == 0 && b.State == crawl.Failing {
		return PageRecovered
	}
	return text
}

// becomes maps states in which a page has no content of its own to the change by which it
// gets there.
var becomes = map[crawl.PageState]Kind{
	crawl.Gone: PageGone, crawl.Redirect: PageMoved, crawl.Excluded: PageExcluded, crawl.Duplicate: PageDuplicate,
}

// away reports whether a page in the state has no content of its own.
func away(s crawl.PageState) bool { return becomes[s] != 0 }

// text returns the change of the page's text by a visit. A version that differs only in
// boilerplate or links is none.
func (b Before) text(seen Seen) Kind {
	switch {
	case seen.Version == 0 || seen.Version == b.Version:
		return 0
	case b.Version == 0:
		return PageNew
	case seen.Outcome == crawl.OutcomeCosmetic:
		return 0
	}
	return PageChanged
}

// settled returns the page's state before it failed.
func (b Before) settled() crawl.PageState {
	switch {
	case b.State != crawl.Failing:
		return b.State
	case b.Settled.Lives():
		return b.Settled
	}
	return crawl.Active
}

// stopped returns the change by a visit whose page was stopped by a person, or gave its
// place to another, while the visit was under way: that change is already recorded, and
// what the visit found still counts.
func (b Before) stopped(seen Seen, text Kind) Kind {
	switch {
	case text != 0 || !b.State.Lives():
		return text
	case seen.State == crawl.Stopped:
		return PageStopped
	case seen.State == crawl.Evicted:
		return PageEvicted
	}
	return 0
}
