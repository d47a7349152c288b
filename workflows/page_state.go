package workflows

import (
	"slices"
	"strings"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// This file says what a page does next, and how requests and answers change its state, in
// pure functions of the state and the time.

// pageDo is a page's next step.
type pageDo int

const (
	pageSleep  pageDo = iota // until pageStep.until, because of pageStep.why
	pageAsk                  // ask for a permit, and use it
	pageRecord               // store a visit that was made
	pageLeave                // give up the place in line: the visit is no longer due
	pageStop                 // leave the line and complete
	pageEvict                // complete as evicted, unless the page is back
)

// pageStep is one step of a page's loop.
type pageStep struct {
	do    pageDo
	until time.Time
	doing string // in words, for the page's details
	why   string // the timer's summary
}

// pageNext says what a page in this state does at this time.
func pageNext(s *contract.PageIn, now time.Time) pageStep {
	if s.Hold.After(now) {
		return pageStep{pageSleep, s.Hold, "waiting", s.Waiting}
	}
	// A visit that was made is recorded before anything else, even before a stop: the site
	// has paid for it.
	if s.Unrecorded != nil {
		return pageStep{do: pageRecord, doing: "recording"}
	}
	if s.Stopping {
		return pageStep{do: pageStop, doing: "stopping"}
	}
	if s.Evicting {
		return pageStep{do: pageEvict, doing: "giving its place to another page"}
	}
	due, _ := dueAt(s)
	switch {
	case booked(s) && s.Wake.After(now) && due.After(now):
		return pageStep{pageSleep, s.Wake, "sleeping", sleepSummary(s, now) + "; " + inItsPlace}
	case booked(s) && s.Wake.After(now):
		return pageStep{pageSleep, s.Wake, "waiting in line", s.Waiting}
	case booked(s):
		return pageStep{do: pageAsk, doing: "asking for a permit"}
	case due.After(now) && s.InLine:
		return pageStep{do: pageLeave, doing: "leaving the line"}
	case due.After(now):
		return pageStep{pageSleep, due, "sleeping", sleepSummary(s, now)}
	case s.InLine && s.Booked.IsZero() && s.Wake.After(now):
		return pageStep{pageSleep, s.Wake, "waiting in line", s.Waiting}
	}
	return pageStep{do: pageAsk, doing: "asking for a permit"}
}

// inItsPlace says what a page with a booked place waits for.
const inItsPlace = "then its turn in the host's line wakes it"

// booked reports whether the page has a place in line for its next visit, without having
// asked for it. Moving the visit to another time makes the booking void.
func booked(s *contract.PageIn) bool {
	due, _ := dueAt(s)
	return s.InLine && !s.Booked.IsZero() && s.Booked.Equal(due)
}

// takePlace makes a page that has a booked place due: its turn may be a moment early by
// the workflow's clock.
func takePlace(s *contract.PageIn, now time.Time) {
	if booked(s) && s.Due.After(now) {
		s.Due = now
	}
	s.Booked = time.Time{}
}

// dueAt is when the next visit is due, and why. A requested visit, an interval and a snooze
// override the policy's time without changing it, so taking them back restores it.
func dueAt(s *contract.PageIn) (time.Time, string) {
	if s.Asked {
		return time.Time{}, "asked for by a person"
	}
	due, why := s.Due, s.Why
	if s.Interval > 0 && len(s.Recent) > 0 {
		due = s.Recent[0].At.Add(max(s.Interval, minInterval))
		why = "every " + crawl.FormatDuration(s.Interval) + ", as a person set"
	}
	if s.Snoozed.After(due) {
		due, why = s.Snoozed, "snoozed by a person"
	}
	return due, why
}

func sleepSummary(s *contract.PageIn, now time.Time) string {
	due, why := dueAt(s)
	text := "revisit in "
	if s.Visit == 0 {
		text = "first visit in "
	}
	text += roughly(due.Sub(now))
	if why != "" {
		text += ": " + why
	}
	return text
}

// classOf is the priority of the page's next visit in its host's line.
func classOf(s *contract.PageIn) crawl.Class {
	switch {
	case s.Asked:
		return crawl.ClassManual
	case s.Visit == 0:
		return crawl.ClassFirst
	}
	return s.State.RevisitClass()
}

// askVisit is visit-now. Requests that no visit has served yet count as one. A page that waits
// in line asks again at once, now with a person's priority.
func askVisit(s *contract.PageIn) {
	s.Hold = time.Time{}
	if !s.Asked {
		s.Asked = true
		s.Wake = time.Time{}
	}
}

// askStop is stop; it takes effect at once.
func askStop(s *contract.PageIn) {
	s.Stopping, s.Closing = true, false
	s.Hold = time.Time{}
}

// askClose is the stop of the page's crawl. A person's stop of the page outlasts it.
func askClose(s *contract.PageIn) {
	s.Stopping, s.Closing = true, s.Closing || !s.Stopping
	s.Hold = time.Time{}
}

// askEvict is evict: the store has already removed the page from the collection.
func askEvict(s *contract.PageIn) {
	s.Evicting = true
	s.Hold = time.Time{}
}

// stay takes back an eviction: the page came back before its workflow ended. It is due now.
func stay(s *contract.PageIn) {
	s.Evicting = false
	s.Due, s.Why = time.Time{}, "back in the collection"
}

// reopen takes back the stop of the page's crawl, which was started again before the page had
// completed. A stop by a person that came meanwhile stands. The page has left its
// line, and goes on with what it was doing.
func reopen(s *contract.PageIn) {
	s.Stopping, s.Closing = s.Stopping && !s.Closing, false
	s.InLine, s.Wake, s.Booked, s.Waiting = false, time.Time{}, time.Time{}, ""
}

// takeTurn moves a waiting page's next request for a permit forward to its turn; it never
// delays it.
func takeTurn(s *contract.PageIn, turn contract.TurnArg, now time.Time) {
	wake := now.Add(max(turn.In-turnLead, 0))
	if due, _ := dueAt(s); booked(s) && wake.Before(due.Add(-turnLead)) {
		wake = due // it was for the visit before, which did not wait for it
	}
	if s.InLine && wake.Before(s.Wake) {
		s.Wake, s.Waiting = wake, "the host is free for it soon"
	}
}

// reschedule moves a sleeping page's due time. A page that is being visited ignores it,
// because the visit's own plan is newer. One that knows the time keeps its reason.
func reschedule(s *contract.PageIn, arg contract.RescheduleArg) {
	overtaken := arg.Visit != 0 && arg.Visit != s.Visit
	visiting := s.InLine && !booked(s)
	if visiting || s.Unrecorded != nil || overtaken || arg.Due.IsZero() || arg.Due.Equal(s.Due) {
		return
	}
	s.Due, s.Why = arg.Due, clip(arg.Why, maxWords)
}

// joinLine follows Acquire's answer to wait: the page keeps its place and asks again later.
func joinLine(s *contract.PageIn, wait time.Duration, reason string, now time.Time) {
	s.InLine = true
	s.Wake = now.Add(max(wait, 0))
	s.Waiting = clip(reason, maxWords)
}

// pauseAfter pauses the page after an attempt that failed. With each failure of its kind the pause
// grows: an hour without the store does not make the next fault a grave one. In
// histories from before the kinds were told apart (whole), all tries count for each.
func pauseAfter(s *contract.PageIn, tr trouble, what string, now time.Time, whole bool) {
	tries := s.Tries
	if s.Tries++; !tr.passes() {
		if !whole {
			tries = s.Faults
		}
		s.Faults++
	}
	pause := pauseFor(tr, s.Page.PageID, tries)
	s.Hold = now.Add(pause)
	s.Waiting = clip(what, maxWords) + "; asking again in " + roughly(pause)
}

// forgive forgets the tries that came to nothing.
func forgive(s *contract.PageIn) { s.Tries, s.Fruitless, s.Faults = 0, 0, 0 }

// adopt makes a recorded visit the page's last one.
func adopt(s *contract.PageIn, plan contract.PlanOut, note string) {
	// If the visit number did not grow, the page would be visited without end.
	s.Visit = max(plan.Visit, s.Visit+1)
	if plan.State != 0 {
		s.State = contract.UnmarkedState(plan.State, plan.Kept)
	}
	s.Due, s.Why = plan.NextAt, clip(withoutTime(plan.Reason), maxWords)
	s.InLine, s.Wake, s.Booked, s.Waiting = false, time.Time{}, time.Time{}, ""
	if !plan.InLineUntil.IsZero() {
		s.InLine, s.Wake, s.Booked, s.Waiting = true, plan.InLineUntil, plan.NextAt, "in line: its turn wakes it"
	}
	s.Hold, s.Unrecorded, s.Ahead = time.Time{}, nil, s.Ahead && s.Asked
	forgive(s)
	if !s.Snoozed.After(plan.At) {
		s.Snoozed = time.Time{}
	}
	line := contract.VisitLine{
		Visit: s.Visit, At: plan.At, Outcome: plan.Outcome, Returned: plan.Returned, Status: plan.Status, Note: clip(note, maxWords),
	}
	if plan.Outcome > crawl.OutcomeSkipped {
		line.Word, line.Outcome = plan.Outcome.String(), crawl.OutcomeCosmetic
	}
	recent := append([]contract.VisitLine{line}, s.Recent...)
	s.Recent = recent[:min(len(recent), contract.RecentVisits)]
}

// readable is a page's state in a form that workers of release 0.2.0, which may get the
// next run, can read. They have no name for suspect content: the next run compares again.
// It does not say where the page redirected to: if that is taken down, each run that knew it
// would tell the next, for as long as eight visits take.
func readable(s contract.PageIn) contract.PageIn {
	s.Recent = slices.Clone(s.Recent)
	for i, line := range s.Recent {
		if strings.HasPrefix(line.Note, noteTo) {
			s.Recent[i].Note = noteElsewhere
		}
	}
	if s.Unrecorded != nil && s.Unrecorded.Fetch.Outcome == crawl.OutcomeSuspect {
		again := *s.Unrecorded
		again.Settled, again.Fetch.Outcome, again.Reasons = false, crawl.OutcomeChanged, nil
		s.Unrecorded = &again
	}
	return s
}

// withoutTime reads a plan's reason as older histories have it, with the time before it
// ("revisit in 3d 4h: changed often"). Newer ones have the reason alone.
func withoutTime(reason string) string {
	if strings.HasPrefix(reason, "revisit in ") {
		if _, alone, ok := strings.Cut(reason, ": "); ok {
			return alone
		}
	}
	return reason
}

// excludedVisit is a visit that a robots.txt or the scope forbade. It is recorded like any
// other, but no request was made.
func excludedVisit(rule string, now time.Time) *contract.Unrecorded {
	return &contract.Unrecorded{
		Settled: true,
		Fetch:   contract.FetchOut{Outcome: crawl.OutcomeExcluded, At: now, Problem: clip(rule, maxWords)},
	}
}

// skippedVisit is a visit that the policy skipped: it is recorded without a request.
func skippedVisit(why []crawl.Reason, now time.Time) *contract.Unrecorded {
	return &contract.Unrecorded{Settled: true, Fetch: contract.FetchOut{Outcome: crawl.OutcomeSkipped, At: now}, Reasons: why}
}

// incomparable turns a visit whose content could not be compared into a failed one. It drops
// what identifies the content. Otherwise the next visit would find the page unchanged since a
// content that nobody has compared. The bytes are given up, since nobody knows whether the page
// lets them be kept.
func incomparable(u *contract.Unrecorded, problem string) {
	u.Settled = true
	u.Fetch.Outcome = crawl.OutcomeFailed
	u.Fetch.Problem = clip("comparing failed: "+problem, maxWords)
	u.Fetch.Dropped = u.Fetch.Digest
	u.Fetch.Digest, u.Fetch.Validators, u.Fetch.ETag, u.Fetch.LastModified = "", false, "", ""
}
