package contract

import "recrawl/internal/crawl"

// Workers of release 0.2.0 cannot read the outcome returned. So an outcome in a history
// is replaced, with a mark beside it: to such a worker the page has changed.

// Marked returns an outcome in the form used in histories.
func Marked(o crawl.Outcome) (outcome crawl.Outcome, returned bool) {
	if o == crawl.OutcomeReturned {
		return crawl.OutcomeChanged, true
	}
	return o, false
}

// MarkedState returns the state after a visit in the form used in histories: workers of
// release 0.2.0 have no name for kept, and end the workflow of a page that was stopped,
// too.
func MarkedState(s crawl.PageState) (state crawl.PageState, kept bool) {
	if s == crawl.Kept {
		return crawl.Stopped, true
	}
	return s, false
}

// UnmarkedState is the inverse of MarkedState.
func UnmarkedState(s crawl.PageState, kept bool) crawl.PageState {
	if kept {
		return crawl.Kept
	}
	return s
}

// Unmarked is the inverse of Marked.
func Unmarked(outcome crawl.Outcome, returned bool) crawl.Outcome {
	if returned && outcome == crawl.OutcomeChanged {
		return crawl.OutcomeReturned
	}
	return outcome
}
