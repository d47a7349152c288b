package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/maintain/duplicates"
	"recrawl/internal/polite"
	"recrawl/internal/robots/directive"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// linger is how long the visits of a page's run stay in Temporal while the page sleeps, times
// their number. A visit's history is 3 to 4 kB, and a new run costs about as much work as a
// visit: a page that is visited every hour keeps 36 visits, one that is visited every day
// or every few days keeps two.
const linger = 36 * time.Hour

// lingerAfter is the bound that goes with a visit's plan. Every second visit has one. If a
// run ended after each visit of a page that sleeps for days, each visit would cost the work
// of two, and save no bytes: an ended run stays for a day, and is larger than a visit. For
// the same reason a first visit costs no second run.
func lingerAfter(visit int) time.Duration {
	if visit%2 == 1 {
		return 0
	}
	return linger
}

// PlanRevisit records a visit and decides when the next one is. For a visit
// that is already recorded it returns the stored decision.
func (a *Activities) PlanRevisit(ctx context.Context, in contract.PlanIn) (contract.PlanOut, error) {
	plan, err := a.planRevisit(ctx, in)
	if err == nil && in.Ahead {
		a.workflows.FallBack(ctx, in.Page)
	}
	return plan, err
}

func (a *Activities) planRevisit(ctx context.Context, in contract.PlanIn) (contract.PlanOut, error) {
	in.Fetch.Outcome = contract.Unmarked(in.Fetch.Outcome, in.Fetch.Returned)
	page, err := a.stores.Pages.Page(ctx, in.Page.PageID)
	if err != nil {
		return contract.PlanOut{}, translate(err)
	}
	view, err := a.crawlOf(ctx, page.PageRef, page.Generation)
	if err != nil {
		return contract.PlanOut{}, translate(err)
	}
	if page.Visits >= in.Visit {
		record, err := a.stores.Pages.Visit(ctx, page.PageID, in.Visit)
		if err != nil {
			return contract.PlanOut{}, translate(err)
		}
		// The first answer may have been lost, and with it the news that there is room.
		result, err := a.stores.Pages.RecordVisit(ctx, store.RecordParams{Visit: record, Touched: in.Touched})
		if err != nil {
			return contract.PlanOut{}, translate(err)
		}
		return a.recordedBefore(ctx, view, page, record, result.Room)
	}
	in = reservedVisit(suspectRedirect(page, in))
	followed, err := a.followRedirect(ctx, view, page, in.Fetch)
	if err != nil {
		return contract.PlanOut{}, translate(err)
	}
	in.Reasons = slices.Concat(followed, in.Reasons)
	in, beside, err := a.beside(ctx, view, page, in)
	if err != nil {
		return contract.PlanOut{}, translate(err)
	}
	if err := errors.Join(a.discard(ctx, in), a.discardSuspect(ctx, page, in.Fetch.Outcome)); err != nil {
		return contract.PlanOut{}, translate(err)
	}
	plan := decide(view.revisit, page, in, beside)
	result, err := a.stores.Pages.RecordVisit(ctx, recordOf(page, in, plan, view.Spec.Retention))
	if err != nil {
		return contract.PlanOut{}, translate(visitLost(err))
	}
	a.afterwards(ctx, page, in.Fetch, result.Copied)
	return a.planned(ctx, view, result)
}

// visitLost is the error of a visit that was not recorded because the store does not know the one
// before it, which a failover took from it. No attempt can ever record it. So the page is taken for
// missing: its workflow ends, and maintenance starts the page as the store has it.
func visitLost(err error) error {
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	return err
}

// beside adds to a visit what the visit itself does not show.
func (a *Activities) beside(ctx context.Context, view *crawlView, page store.PageRecord, in contract.PlanIn) (contract.PlanIn, seenBeside, error) {
	var seen seenBeside
	in, err := a.stillWithheld(ctx, page, in)
	if err != nil || page.Kind == crawl.KindRequisite { // is no copy of a page, and in no trap
		return in, seen, err
	}
	if in.Reasons, err = a.hinted(ctx, page, in.Reasons); err != nil {
		return in, seen, err
	}
	seen.hostLost = a.losses.note(page, in.Visit, in.Fetch)
	if seen.lifted, seen.forbidden, err = a.stillExcluded(ctx, view, page, in.Fetch); err != nil {
		return in, seen, err
	}
	if seen.duplicate, err = duplicates.Exact(ctx, a.stores.Duplicates, page, in.Fetch.Outcome, in.Reasons); err != nil {
		return in, seen, err
	}
	if seen.internal, err = a.internal(ctx, view, page); err != nil {
		return in, seen, err
	}
	seen.trapped, err = a.guard(view).Trapped(ctx, page)
	return in, seen, err
}

// stillExcluded looks again at a page that was excluded without a request: whether it would not
// be now, since the scope or the robots.txt has changed, or whether a file of its site still
// forbids it. Maintenance may have looked at the page in between, when it was not excluded yet,
// and would not look at it again.
func (a *Activities) stillExcluded(ctx context.Context, view *crawlView, page store.PageRecord, f contract.FetchOut) (lifted, forbidden bool, err error) {
	if f.Outcome != crawl.OutcomeExcluded || f.Status != 0 {
		return false, false, nil
	}
	inside, err := maintain.Inside(ctx, a.maintained(view), page)
	if err != nil || !inside {
		return false, false, err
	}
	now, err := a.stores.Crawls.Now(ctx)
	if err != nil {
		return false, false, err
	}
	forbidden, err = a.forbidden(ctx, view, page.PageRef, page.Kind, now)
	return !forbidden && err == nil, forbidden, err
}

// afterwards does what follows once a visit is recorded; copied is its Copied.
func (a *Activities) afterwards(ctx context.Context, page store.PageRecord, f contract.FetchOut, copied bool) {
	if f.Size > 0 {
		a.settings.Room.Kept()
	} else {
		a.settings.Room.Spared()
	}
	if f.Respelled || !copied {
		return // the visit says nothing new about the page, or to nobody
	}
	if err := a.wakeDuplicates(ctx, page.PageRef, f.Outcome); err != nil {
		a.log.Warn("the duplicates of a page could not be looked up", "page", page.URL, "error", err)
	}
}

// planned is the answer for a visit that was just recorded.
func (a *Activities) planned(ctx context.Context, view *crawlView, r store.RecordResult) (contract.PlanOut, error) {
	out, err := a.recorded(ctx, view, r.Visit, r.Room)
	out.InLineUntil = r.InLineUntil
	if !r.Due.IsZero() && r.InLineUntil.IsZero() {
		// For an overdue page NextAt is the store's present. A workflow's clock stands still
		// within its task: it would start a timer of some milliseconds, and need a task more.
		out.NextAt = r.Due
	}
	return out, err
}

// recordedBefore is the answer for a visit that an earlier attempt recorded. The workflow has not
// heard of that visit, and so has ignored any move of the next one that was made since. The answer
// has the page's due time as it is now.
func (a *Activities) recordedBefore(ctx context.Context, view *crawlView, page store.PageRecord, v store.VisitRecord, room bool) (contract.PlanOut, error) {
	out, err := a.recorded(ctx, view, v, room)
	if page.Visits == v.Visit && !page.NextAt.IsZero() {
		out.NextAt = page.NextAt
	}
	return out, err
}

// recorded is the answer for a visit that is already recorded. It is the same each
// time, except for the room, since the first answer may have been lost.
func (a *Activities) recorded(ctx context.Context, view *crawlView, v store.VisitRecord, room bool) (contract.PlanOut, error) {
	host, err := a.redirectHost(ctx, view, v)
	if err != nil {
		return contract.PlanOut{}, translate(err)
	}
	outcome, returned := contract.Marked(v.Outcome)
	state, kept := contract.MarkedState(v.State)
	return contract.PlanOut{
		Visit: v.Visit, At: v.At, Outcome: outcome, Returned: returned, Status: v.Status, State: state, Kept: kept, NextAt: v.NextAt, Refill: room, Room: room,
		Reason: summaryOf(v), RedirectHost: host, Linger: lingerAfter(v.Visit),
	}, nil
}

// discard deletes the bytes of a visit that made no version, or a version without a body,
// or could not be compared. It runs before the visit is recorded: an interrupted attempt is
// repeated only for a visit that is not recorded.
func (a *Activities) discard(ctx context.Context, in contract.PlanIn) error {
	if in.Fetch.Dropped != "" {
		return a.stores.Contents.Discard(ctx, []string{in.Fetch.Dropped})
	}
	unkept := in.Fetch.Outcome == crawl.OutcomeCosmetic || in.Fetch.Outcome == crawl.OutcomeReturned || len(directive.AgainstKeeping(in.Reasons)) > 0
	unkept = unkept || in.Fetch.Outcome == crawl.OutcomeUnsupported // no list, though fetched as one
	unkept = unkept || in.Fetch.Outcome == crawl.OutcomeExcluded    // by what the body says
	if !in.Fetch.Differs || !unkept {
		return nil
	}
	return a.stores.Contents.Discard(ctx, []string{in.Fetch.Digest})
}

// stillWithheld completes a visit that a 304 answered while the last version's
// body may not be kept: the page's request not to keep it is in the unchanged body.
func (a *Activities) stillWithheld(ctx context.Context, page store.PageRecord, in contract.PlanIn) (contract.PlanIn, error) {
	if in.Fetch.Outcome != crawl.OutcomeUnchanged || in.Fetch.Differs || !withheld(page.Last) {
		return in, nil
	}
	left, err := a.versionVisit(ctx, page)
	in.Fetch.Digest = left.Digest
	in.Reasons = slices.Concat(directive.AgainstKeeping(left.Reasons), in.Reasons)
	return in, err
}

// codeHinted is the code of the reason that names the source whose hint made a
// visit early.
const codeHinted = "hinted"

// hinted adds the source of the hint to the reasons of a visit that was made early.
func (a *Activities) hinted(ctx context.Context, page store.PageRecord, reasons []crawl.Reason) ([]crawl.Reason, error) {
	if page.HintedBy == 0 {
		return reasons, nil
	}
	source, err := a.stores.Pages.Page(ctx, page.HintedBy)
	if errors.Is(err, store.ErrNotFound) {
		return reasons, nil // forgotten meanwhile
	}
	text := fmt.Sprintf("visited early because the %s %s said that it had changed", source.Kind, source.URL)
	return append([]crawl.Reason{{Code: codeHinted, Text: text}}, reasons...), err
}

// internal returns what is known about the pages to which a page under the selective rule
// links.
func (a *Activities) internal(ctx context.Context, view *crawlView, page store.PageRecord) (schedule.Internal, error) {
	if _, selective := view.selective(page.URL); !selective {
		return schedule.Internal{}, nil
	}
	since := schedule.DecodeBelief(page.Belief).ComparedAt()
	if since.IsZero() {
		return schedule.Internal{}, nil
	}
	return a.stores.Pages.Internal(ctx, page.PageID, since)
}

// selective returns the rule that may skip a page's visit, if there is one.
func (v *crawlView) selective(url string) (schedule.FRMax, bool) {
	if !v.Spec.Revisit.Selective {
		return schedule.FRMax{}, false
	}
	rule, is := v.revisit.At(v.revisit.Group(url)).Policy.(schedule.FRMax)
	return rule, is
}

// seenBeside is the evidence about the page that does not come from the visit itself.
type seenBeside struct {
	duplicate, trapped, lifted, forbidden bool
	hostLost                              bool // the host's page before was lost in the same way
	internal                              schedule.Internal
}

// decide asks the policy of the page; it only gathers what the policy needs.
func decide(rules schedule.Rules, page store.PageRecord, in contract.PlanIn, beside seenBeside) schedule.Plan {
	group := rules.At(rules.Group(page.URL))
	known := pageOf(page)
	known.Visit = in.Visit
	f := in.Fetch
	with := group.Steer(page.Steering, page.HostSteering, page.Weight)
	seen := schedule.Observation{
		Outcome: f.Outcome, RetryAfter: f.RetryAfter, Rest: polite.LeftAlone(f.Held, page.Failures+1), At: f.At, Gap: known.Belief.Gap(f.At), NotModified: f.Status == http.StatusNotModified,
		Modified: modified(page, f), Newest: f.Newest, Late: late(page, f.At), Hinted: page.HintedBy != 0, Duplicate: beside.duplicate, Respelled: f.Respelled, Trapped: beside.trapped, Lifted: beside.lifted, Forbidden: beside.forbidden, HostLost: beside.hostLost, Internal: beside.internal,
		Seed: page.Level == 0 && page.Kind == crawl.KindPage, Permanent: permanent(f.Status), Since: since(page, f.At),
	}
	if first := suspectSince(page); first != 0 {
		seen.Looks = in.Visit - first
	}
	if page.Kind == crawl.KindRequisite {
		return schedule.AfterRequisite(known, seen, with)
	}
	plan := schedule.AfterVisit(group.Policy, known, seen, with)
	if chance, is := schedule.Foresee(known.Belief, seen, with); is && page.HintedBy == 0 {
		plan.Foreseen = chance // a hinted visit is made because of something that the belief does not know
	}
	return plan
}

// pageOf returns a page as policies see it after its last visit.
func pageOf(p store.PageRecord) schedule.Page {
	return schedule.Page{ID: p.PageID, State: p.State, Visit: p.Visits, Failures: p.Failures, Belief: schedule.DecodeBelief(p.Belief)}
}

// late is how long after its due time a visit was made. A visit that somebody asked
// for comes before it.
func late(page store.PageRecord, at time.Time) time.Duration {
	if page.Visits == 0 || page.NextAt.IsZero() {
		return 0
	}
	return max(0, at.Sub(page.NextAt))
}

// since is the time from the visit before to this one.
func since(page store.PageRecord, at time.Time) time.Duration {
	if page.Visits == 0 || page.LastAt.IsZero() {
		return 0
	}
	return max(0, at.Sub(page.LastAt))
}

// permanent reports whether an answer without content says that it is for good.
func permanent(status int) bool {
	return status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect || status == http.StatusGone
}

// modified returns the dates of the old copy and the new one.
func modified(page store.PageRecord, f contract.FetchOut) schedule.Modified {
	now := page.LastModified // unless the answer brought its own
	if f.Validators {
		now = f.LastModified
	}
	return schedule.Modified{Before: httpTime(page.LastModified), Now: httpTime(now)}
}

// httpTime parses a date in a header; it returns zero if there is none.
func httpTime(text string) time.Time {
	t, err := http.ParseTime(text)
	if err != nil {
		return time.Time{}
	}
	return t
}

func recordOf(page store.PageRecord, in contract.PlanIn, plan schedule.Plan, keep crawl.RetentionSpec) store.RecordParams {
	f := in.Fetch
	suspect, settled := afterSuspect(page, in)
	var doubted []crawl.Reason
	if f.Doubted {
		doubted = []crawl.Reason{{Code: schedule.CodeDoubted}}
	}
	return store.RecordParams{
		Visit: store.VisitRecord{
			PageID: page.PageID, Visit: in.Visit, At: f.At, Outcome: f.Outcome, Status: f.Status, Digest: f.Digest, Bytes: f.Bytes,
			Duration: f.Duration, State: plan.State, Problem: f.Problem, Location: f.Location,
			Reasons: slices.Concat(in.Reasons, settled, doubted, plan.Reasons()),
		},
		Interval: plan.Interval, Failures: plan.Failures, Held: f.Held, Late: late(page, f.At), Foreseen: plan.Foreseen,
		Validators: f.Validators && answersForCopy(f.Outcome), ETag: f.ETag, LastModified: f.LastModified, Respelling: respelling(page, f), Belief: plan.Belief.Encode(),
		Suspect:   suspect,
		Touched:   in.Touched,
		Retention: store.Retention{Versions: keep.MaxVersions, Age: keep.MaxAge.Std(), Visits: keep.MaxVisits},
	}
}

// answersForCopy reports whether a visit's validators are those of the page's copy from now on:
// not before a suspect content counts, nor if what was fetched as a list is none. A 304 for that
// would say that the copy still stands.
func answersForCopy(o crawl.Outcome) bool {
	return o != crawl.OutcomeSuspect && o != crawl.OutcomeUnsupported
}

func summaryOf(v store.VisitRecord) string {
	why := schedule.Words(v.Reasons)
	if v.Problem != "" {
		why = fmt.Sprintf("%s (%s)", why, v.Problem)
	}
	return why
}
