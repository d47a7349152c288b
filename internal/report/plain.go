package report

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// Page returns the explained page.
func (e Explained) Page() store.PageRecord { return e.page }

// Now returns the time on the store's clock when it was asked.
func (e Explained) Now() time.Time { return e.now }

// Reserved returns what the site said about uses of the page's present version.
func (e Explained) Reserved() []crawl.Reservation { return e.reserved }

// Next returns the page's next visit.
func (e Explained) Next() Next { return e.is.Next }

// Visits returns the page's last visits, newest first.
func (e Explained) Visits() []store.VisitRecord { return e.visits }

// BeliefAt is the belief about a page's rate of change from a time on: changes a day,
// between Low and High with a probability of 90 %.
type BeliefAt struct {
	At              time.Time
	Mean, Low, High float64
}

// Beliefs returns the beliefs after each of the page's last visits, in the order of time.
// The last is the present one. If policies did not note them, they are worked out anew from
// the visits, provided that all of them are kept.
func (e Explained) Beliefs() []BeliefAt {
	var all []BeliefAt
	for _, v := range slices.Backward(e.visits) {
		i := slices.IndexFunc(v.Reasons, func(r crawl.Reason) bool {
			return r.Code == schedule.CodeBelief || r.Code == schedule.CodePrior
		})
		if i >= 0 && v.Reasons[i].Num["mean"] > 0 {
			n := v.Reasons[i].Num
			all = append(all, BeliefAt{At: v.At, Mean: n["mean"], Low: n["low"], High: n["high"]})
		}
	}
	if len(all) == 0 {
		all = e.relearned()
	}
	if e.plan != nil && e.plan.Mean > 0 {
		at := e.now
		if len(all) == 0 {
			at = e.page.LastAt
		}
		all = append(all, BeliefAt{At: at, Mean: e.plan.Mean, Low: e.plan.Low, High: e.plan.High})
	}
	return all
}

// relearnedVisits is the number of a page's last visits for which beliefs are worked out:
// computing their bounds takes longer than the visit's own plan.
const relearnedVisits = 100

// relearned returns the beliefs that follow from the page's visits by its policy and the
// present values that pages of its crawl share.
func (e Explained) relearned() []BeliefAt {
	rules, err := schedule.NewRules(e.crawl.Spec.Revisit)
	if n := len(e.visits); err != nil || n == 0 || e.visits[n-1].Visit != 1 {
		return nil
	}
	group := rules.At(rules.Group(e.page.URL))
	p := group.Steer(e.page.Steering, e.page.HostSteering, e.page.Weight)
	known := schedule.Page{ID: e.page.PageID, State: crawl.Active}
	var all []BeliefAt
	for _, v := range slices.Backward(e.visits) {
		if !v.Outcome.Observes() {
			continue
		}
		known.Visit = v.Visit
		seen := schedule.Observation{Outcome: v.Outcome, At: v.At, Gap: known.Belief.Gap(v.At), NotModified: v.Status == http.StatusNotModified}
		d := group.Policy.Next(known, seen, p)
		known.Belief = d.Belief
		if e.page.Visits-v.Visit >= relearnedVisits {
			continue
		}
		at := BeliefAt{At: v.At}
		at.Mean, at.Low, at.High = schedule.Believed(d.Belief, p, d.Interval)
		all = append(all, at)
	}
	return all
}

// Found says in a plain sentence how the page changes, or why it shows nothing.
func (e Explained) Found() string {
	p := e.page
	switch {
	case p.Kind == crawl.KindRequisite && p.State == crawl.Known:
		return "Pages need it to look as they do, and it comes after them."
	case p.State == crawl.Kept && p.Last.ID != 0:
		return "Pages need it to look as they do: the copy from " + when(p.Last.At, e.now) + " is kept."
	case p.State == crawl.Kept && e.last != nil:
		return "Pages need it to look as they do, but there is no copy: " + cmp.Or(e.last.Problem, e.last.Outcome.String()) + "."
	case p.State == crawl.Held:
		return "It belongs to a part of its site that is held as a trap."
	case p.State == crawl.Known:
		return "Links lead to it, but it has no place in the collection yet."
	case p.State == crawl.Evicted:
		return "It gave its place in the collection to another page: it was " + evictedWords(e.is.standing) + "."
	case p.State == crawl.Stopped:
		return fmt.Sprintf("It was stopped after %s.", plural(p.Visits, "visit"))
	case e.last == nil:
		return "Nobody has looked at it yet."
	case suspectVisit(p) > 0:
		return "What its last visit found looks like an error or a wall instead of the page, and counts only if a second look finds such a thing again."
	case p.State == crawl.Active:
		return e.changes()
	}
	return e.without()
}

// without says why the last visit brought no content.
func (e Explained) without() string {
	last := fmt.Sprintf("its last visit, %s, ", when(e.last.At, e.now))
	switch e.page.State {
	case crawl.Gone:
		return fmt.Sprintf("It is gone: %swas answered with status %d.", last, e.last.Status)
	case crawl.Redirect:
		return "It leads elsewhere: " + last + "was sent on to " + cmp.Or(e.last.Location, "another address") + "."
	case crawl.Duplicate:
		return "It has the same content as another page, which is visited in its place."
	case crawl.Excluded:
		return "It may not be visited: " + cmp.Or(e.is.standing.Excluded, e.last.Problem, "robots.txt or the scope forbids it") + "."
	}
	text := "It fails: " + last + "came to nothing (" + cmp.Or(e.last.Problem, e.last.Outcome.String()) + ")"
	if e.page.Failures > 1 {
		text += fmt.Sprintf(", as %d in a row did", e.page.Failures)
	}
	if e.page.Last.ID != 0 {
		text += "; the copy from " + when(e.page.Last.At, e.now) + " is kept"
	}
	return text + "."
}

// changes says how an active page changes.
func (e Explained) changes() string {
	if e.plan == nil {
		return fmt.Sprintf("It has changed at %d of %s so far.", e.page.Changes, plural(e.page.Visits, "visit"))
	}
	plan := *e.plan
	if i := slices.IndexFunc(plan.Reasons, isTimetable); i >= 0 {
		return "It " + schedule.Word(plan.Reasons[i]) + "."
	}
	believed := fmt.Sprintf("about every %s (with a probability of 90 %%, every %s to %s)",
		schedule.Every(plan.Mean), schedule.Every(plan.High), schedule.Every(plan.Low))
	switch {
	case plan.Noisy:
		return fmt.Sprintf("Each of its last %s found it changed, however soon it came: it changes faster than it may be visited, or what changes is noise.", plural(plan.Looks, "look"))
	case plan.Looks == 0:
		return "It was seen once, so that how often it changes is still to be learned; pages like it change " + believed + "."
	case plan.Changes == 0:
		return fmt.Sprintf("None of its last %s found a change; it is believed to change %s.", plural(plan.Looks, "comparison"), believed)
	}
	last := ""
	if e.page.Last.Back == 0 { // a version that came back is older than the last change
		last = ", the last one " + when(e.page.Last.At, e.now)
	}
	return fmt.Sprintf("%d of its last %s found a change%s; it is believed to change %s.",
		plan.Changes, plural(plan.Looks, "comparison"), last, believed)
}

func isTimetable(r crawl.Reason) bool {
	return r.Code == schedule.CodeHourly || r.Code == schedule.CodeDaily || r.Code == schedule.CodeWeekdays
}

// Plan says in a plain sentence when and why the next visit comes.
func (e Explained) Plan() string {
	n := e.is.Next
	switch {
	case n.By == PartAdmission:
		return "Its first visit comes once the collection has a place for it."
	case n.At.IsZero():
		return "No visit is planned: " + cmp.Or(n.Why, "it waits for somebody") + "."
	case n.By == PartUnderway:
		return "It is being visited now."
	case n.By == PartSnooze, n.At.After(e.now) && !n.At.After(e.live.Snoozed):
		return "Somebody has put its visits off: the next one is " + when(n.At, e.now) + "."
	case !n.At.After(e.now.Add(time.Second)):
		return "The next visit is due, and comes as soon as its host allows."
	case n.By == PartGap:
		return fmt.Sprintf("It is due, and its turn comes when its host has rested, %s: %s.", when(n.At, e.now), cmp.Or(n.Why, "a gap between two requests"))
	case n.By != PartDue:
		return fmt.Sprintf("The next visit can be made %s: %s.", when(n.At, e.now), cmp.Or(n.Why, "until then it waits"))
	}
	text := "The next visit is " + when(n.At, e.now)
	if ago := n.At.Sub(e.page.LastAt); e.page.Visits > 0 {
		text += ", " + schedule.Rough(ago) + " after the last"
	}
	return text + ": " + e.cause() + "."
}

// cause names the reason for the interval, for people who do not know the policies.
func (e Explained) cause() string {
	switch {
	case e.live.Interval != "" && e.live.Interval != "0":
		return "somebody has asked for a visit every " + e.live.Interval
	case e.hint != nil:
		return "its sitemap or feed says that it has changed"
	case e.plan == nil && e.last != nil:
		return schedule.Words(e.last.Reasons)
	case e.plan == nil:
		return "that is when its first visit was planned"
	}
	for _, c := range causes {
		if slices.ContainsFunc(e.plan.Reasons, func(r crawl.Reason) bool { return r.Code == c.code }) {
			return c.words
		}
	}
	return strings.Join(words(e.plan.Reasons), ", ")
}

// causes are reasons of plans, the most informative first.
var causes = []struct{ code, words string }{
	{schedule.CodeHourly, "that is right after its usual time"},
	{schedule.CodeDaily, "that is right after its usual time"},
	{schedule.CodeWeekdays, "that is right after its usual time"},
	{schedule.CodeMin, "the crawl's min_interval allows no earlier one"},
	{schedule.CodeMax, "the crawl's max_interval allows no later one"},
	{schedule.CodeExplore, "a look by then teaches how often it changes"},
	{schedule.CodeEarly, "a change by its turn would be sure, and teach nothing"},
	{schedule.CodeNever, "it changes so often that more visits would hardly keep its copy up to date"},
	{schedule.CodePrice, "its host has more pages that are due than it may be asked for, and they share its time"},
	{schedule.CodeSqrt, "by then a change is likely enough to be worth one of the crawl's visits"},
	{schedule.CodeFresh, "by then a change is likely enough to be worth one of the crawl's visits"},
	{schedule.CodeAge, "by then its copy may be old enough to be worth one of the crawl's visits"},
	{schedule.CodeHarmonic, "by then a change is likely enough to be worth one of the crawl's visits"},
	{schedule.CodeEvery, "the crawl visits every page that often"},
}
