package schedule

import (
	"time"

	"recrawl/internal/crawl"
)

// Modified has the Last-Modified dates of the two copies that a visit compared, zero
// where there is none. After a 304 both are the old copy's.
//
// A page's dates are trusted after they have moved with the content twice and stayed
// with it once, and until they are wrong: many servers send the time of the request,
// that of a deployment, or nothing.
type Modified struct {
	Before, Now time.Time
}

// proofs is how many times a date must have moved with the content to be trusted. No
// more are counted.
const proofs = 2

// dates returns the dates that the copies give themselves. A list's newest entry says better
// than a header when the list changed: many servers make up Last-Modified for lists that
// they put together on request.
func (b Belief) dates(seen Observation) Modified {
	if b.Newest == 0 && seen.Newest.IsZero() {
		return seen.Modified
	}
	m := Modified{Now: seen.Newest}
	if b.Newest != 0 {
		m.Before = time.UnixMilli(b.Newest)
	}
	if seen.Newest.IsZero() && !seen.Outcome.Changed() {
		m.Now = m.Before // a 304, or the same bytes: nobody read the list again
	}
	return m
}

// noteNewest remembers the date of the newest entry until the next visit.
func (b Belief) noteNewest(seen Observation) Belief {
	switch {
	case !seen.Newest.IsZero():
		b.Newest = seen.Newest.UnixMilli()
	case seen.Outcome.Changed():
		b.Newest = 0
	}
	return b
}

// witness counts whether the dates agreed with the comparison. For a return they may
// be right either way: the content is another, but not a new one.
func (b Belief) witness(seen Observation) Belief {
	m := b.dates(seen)
	if !compares(seen.Outcome) || seen.Outcome == crawl.OutcomeReturned || m.Before.IsZero() || m.Now.IsZero() {
		return b
	}
	changed, moved := seen.Outcome.Changed(), !m.Now.Equal(m.Before)
	switch {
	case changed != moved || m.Now.Before(m.Before):
		b.Moved, b.Stayed = 0, 0
	case changed:
		b.Moved = min(b.Moved+1, proofs)
	default:
		b.Stayed = min(b.Stayed+1, proofs)
	}
	return b
}

// changedAgo returns how long before the visit the page last changed, 0 if unknown. A
// date is not yet trusted on the visit that completes its proof.
func (b Belief) changedAgo(seen Observation) time.Duration {
	m := b.dates(seen)
	switch {
	case seen.ChangedAgo > 0:
		return seen.ChangedAgo
	case b.Moved < proofs || b.Stayed < 1 || m.Now.IsZero() || !m.Now.After(m.Before):
		return 0
	}
	return max(0, seen.At.Sub(m.Now))
}
