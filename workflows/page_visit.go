package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// This file holds the parts of a visit. Each returns errClosed, the page's cancellation, or
// nil; then the state says what comes next.

// number is the number of the next visit.
func (p *page) number() int { return p.s.Visit + 1 }

// ask asks for the visit's permit and uses it.
func (p *page) ask() error {
	p.alarm.unset()
	takePlace(&p.s, p.now())
	p.s.InLine, p.s.Wake, p.s.Hold, p.s.Waiting = true, time.Time{}, time.Time{}, ""
	ctx, class := local(p.ctx, fmt.Sprintf("ask for visit %d", p.number())), classOf(&p.s)
	out, err := contract.Acquire.RunLocal(ctx, contract.AcquireIn{
		Page: p.s.Page, Visit: p.number(), Class: class,
	})
	if err != nil {
		return p.retry("asking for a permit", err)
	}
	if out.Store != "" {
		p.s.Page.Store = out.Store
	}
	switch {
	case out.Answer == contract.AnswerPermit:
		return p.fetch(out)
	case out.Answer == contract.AnswerRobots:
		return p.refreshRobots(out.Permit)
	case out.Answer == contract.AnswerWait && out.Held:
		p.wait(class, out.Wait, out.Reason) // the signal turn may bring it back sooner
	case out.Answer == contract.AnswerWait:
		p.wait(class, out.Wait, "in line: "+out.Reason)
	case out.Answer == contract.AnswerParked:
		p.wait(class, parkedFallback, "the crawl is paused; its resume wakes the page")
	case out.Answer == contract.AnswerStopped:
		askClose(&p.s) // of the crawl, or of a page that the store has stopped already
	case out.Answer == contract.AnswerEvicted:
		askEvict(&p.s)
	case out.Answer == contract.AnswerExcluded:
		p.s.Asked = false
		p.s.Unrecorded = excludedVisit(out.Rule, p.now())
	case out.Answer == contract.AnswerSkipped:
		p.s.Unrecorded = skippedVisit(out.Reasons, p.now())
	case out.Answer == contract.AnswerRecorded && out.Recorded != nil:
		return p.adopt(*out.Recorded, &contract.Unrecorded{})
	default:
		p.pauseAfter(troubleOther, fmt.Sprintf("asking for a permit was answered %q", out.Answer))
	}
	return nil
}

// wait follows the answer to wait that a page in this class got. The store may have taken so long
// that a person asked for the visit meanwhile; then the page asks again at once, in their name.
// Histories from before it did must replay.
func (p *page) wait(asked crawl.Class, wait time.Duration, reason string) {
	joinLine(&p.s, wait, reason, p.now())
	if classOf(&p.s) != asked && workflow.GetVersion(p.apart, "asks-again-for-a-person", workflow.DefaultVersion, 1) == 1 {
		p.s.Wake = time.Time{}
	}
}

// refreshRobots fetches the robots.txt that the permit names, or the tdmrep.json. Whatever the
// result, the page asks again.
func (p *page) refreshRobots(permit crawl.Permit) error {
	doing := "requesting robots.txt"
	if permit.URL == crawl.TermsPath {
		doing = "requesting tdmrep.json"
	}
	p.doing = doing
	p.show(p.doing)
	ctx := permitted(p.ctx, permit, "request "+permit.URL)
	_, err := contract.RefreshRobots.Run(ctx, contract.RefreshRobotsIn{Page: p.s.Page, Visit: p.number(), Permit: permit})
	if err != nil && troubleOf(err) != troubleLost {
		return p.retry(doing, err)
	}
	p.again("robots.txt")
	return nil
}

// fetch makes the request that the permit allows.
func (p *page) fetch(granted contract.AcquireOut) error {
	permit := granted.Permit
	p.doing = "requesting"
	p.show(p.doing)
	// Requests for a visit that came while the page asked for the permit join this visit.
	// From here on, a request is for the next one.
	p.drain()
	if pageNext(&p.s, p.now()).do != pageAsk {
		return nil // stopped or snoozed meanwhile: the loop returns the permit
	}
	asked := p.s.Asked
	p.s.Asked, p.fetching = false, true
	ctx := permitted(p.ctx, permit, fmt.Sprintf("visit %d: request %s", p.number(), p.s.Page.URL))
	if granted.Plans {
		// A worker of an older release, which adopts no plans, must not go on from here:
		// it fails at this id, and Temporal hands the task out again until a newer worker
		// has it.
		ctx = workflow.WithActivityOptions(ctx, withID(ctx, fmt.Sprintf("visit-%d-step-%d", p.number(), p.steps)))
	}
	out, err := contract.Fetch.Run(ctx, contract.FetchIn{Page: p.s.Page, Visit: p.number(), Permit: permit, Plans: granted.Plans, Ahead: p.s.Ahead})
	p.fetching = false
	out, made, err := judgeFetch(out, err)
	if !made || out.Recorded {
		// No fetch has served the person's request yet.
		p.s.Asked = p.s.Asked || asked
	}
	switch {
	case err != nil:
		return p.retry("the request", err)
	case !made:
		p.again("the permit")
	default:
		if !out.At.IsZero() {
			p.heedClocks(out.StoreAhead)
		}
		p.s.Unrecorded = &contract.Unrecorded{Fetch: out, Settled: !out.Differs, HostID: permit.HostID}
		if out.Plan != nil {
			// Before any signal that came meanwhile: a turn is for the place in the plan.
			return p.adopt(*out.Plan, p.s.Unrecorded)
		}
	}
	return nil
}

// judgeFetch says whether a visit was made, and with what result. A failed fetch is an
// outcome. A lost attempt is not: nobody knows whether the site was asked, so it is no
// evidence about the page. An error is a fault of our own.
func judgeFetch(out contract.FetchOut, err error) (result contract.FetchOut, made bool, trouble error) {
	if err == nil {
		return out, !out.NotBegun, nil
	}
	switch troubleOf(err) {
	case troubleLost:
		return contract.FetchOut{}, false, nil
	case troubleFailed:
		var failed contract.FetchOut
		if app := applicationError(err); !app.HasDetails() || app.Details(&failed) != nil {
			failed = contract.FetchOut{Problem: words(err)}
		}
		if failed.Outcome == 0 {
			failed.Outcome = crawl.OutcomeFailed
		}
		return failed, !failed.NotBegun, nil
	}
	return contract.FetchOut{}, false, err
}

// record stores a visit that was made, and adopts its plan.
func (p *page) record() error {
	u := p.s.Unrecorded
	if !u.Settled {
		if err := p.compare(u); err != nil || !u.Settled {
			return err
		}
	}
	ctx := local(p.ctx, fmt.Sprintf("record visit %d: %s", p.number(), contract.Unmarked(u.Fetch.Outcome, u.Fetch.Returned)))
	plan, err := contract.PlanRevisit.RunLocal(ctx, contract.PlanIn{
		Page: p.s.Page, Visit: p.number(), Fetch: u.Fetch, Reasons: u.Reasons, Touched: touched(u),
		Ahead: p.s.Ahead && !p.s.Asked, // unless a person has asked again meanwhile
	})
	if err != nil {
		return p.retry("recording the visit", err)
	}
	return p.adopt(plan, u)
}

// compare decides whether a body that differs is a new version.
func (p *page) compare(u *contract.Unrecorded) error {
	p.doing = "comparing"
	summary := fmt.Sprintf("visit %d: compare with the last version", p.number())
	out, err := p.detect(summary, contract.DetectIn{Page: p.s.Page, Visit: p.number(), Fetch: u.Fetch, Register: true, Returns: true, Suspects: true})
	if err == nil {
		u.Fetch.Heads = nil // stored with the version, or no longer needed
	}
	switch {
	case err == nil:
		u.Settled, u.Fetch.Outcome, u.Fetch.Returned, u.Fetch.Newest = true, out.Outcome, out.Returned, out.Newest
		u.Links, u.Registered, u.Reasons = out.Links, out.Registered, out.Reasons
		return nil
	case p.ctx.Err() == nil && (troubleOf(err) == troubleOther || troubleOf(err) == troubleLost):
		p.log.Warn("comparing failed", "page", p.s.Page.PageID, "visit", p.number(), "error", err)
		incomparable(u, words(err))
		return nil
	}
	return p.retry("comparing", err)
}

// detect runs DetectChange: a brief one inside this workflow task, which saves another task
// and five events. Anything that fails there is tried again with more patience.
func (p *page) detect(summary string, in contract.DetectIn) (contract.DetectOut, error) {
	if in.Fetch.Brief {
		if out, err := contract.DetectChange.RunLocal(local(p.ctx, summary), in); err == nil {
			return out, nil
		}
	}
	return contract.DetectChange.Run(comparing(p.ctx, summary), in)
}

// adopt updates the page from the recorded visit.
func (p *page) adopt(plan contract.PlanOut, made *contract.Unrecorded) error {
	adopt(&p.s, plan, noteOf(made))
	p.visits++
	p.linger = plan.Linger
	p.publishState()
	if fansOut(p.s.Visit, plan, made) {
		p.discover(made, plan)
	}
	if !p.s.State.Lives() {
		return errClosed
	}
	return nil
}

// fansOut reports whether a recorded visit starts a Discover: for links that DetectChange has
// not registered, for known pages that nobody else is about to admit, or for the page to which
// it redirected. Histories from before one of these existed must replay: they have neither
// Registered nor Refill nor RedirectHost, and their Room counts after the first visit only.
func fansOut(visit int, plan contract.PlanOut, made *contract.Unrecorded) bool {
	return unregistered(made) || refills(visit, plan) || plan.RedirectHost != 0
}

func refills(visit int, plan contract.PlanOut) bool { return plan.Refill || plan.Room && visit == 1 }

// unregistered reports whether a visit stored links that still wait to be registered.
func unregistered(u *contract.Unrecorded) bool { return u.Links > 0 && u.Registered == nil }

// touched are the hosts with pages that a visit's links have made known.
func touched(u *contract.Unrecorded) []int64 {
	if u.Registered == nil {
		return nil
	}
	return u.Registered.Hosts
}

// noteTo begins the note about a redirect, and noteElsewhere is what later runs know of it.
const (
	noteTo        = "to "
	noteElsewhere = "elsewhere"
)

func noteOf(u *contract.Unrecorded) string {
	switch {
	case u.Fetch.Problem != "":
		return u.Fetch.Problem
	case u.Fetch.Location != "":
		return noteTo + u.Fetch.Location
	case u.Registered != nil && u.Registered.New > 0:
		return fmt.Sprintf("%d links, %d of them new", u.Links, u.Registered.New)
	case u.Links > 0:
		return fmt.Sprintf("%d links", u.Links)
	}
	return ""
}

// discover starts the Discover of the last visit. It admits pages of the visit's host, and of
// the host that the visit redirected to, if any; if it refills the crawl, of all. The page does
// not wait for it; settle waits for its start before the run ends.
func (p *page) discover(made *contract.Unrecorded, plan contract.PlanOut) {
	in := contract.DiscoverIn{
		Store: p.s.Page.Store, CrawlID: p.s.Page.CrawlID, Crawl: p.s.Page.Crawl, Page: p.s.Page, Visit: p.s.Visit,
		Register: unregistered(made), Refill: refills(p.s.Visit, plan),
	}
	for _, host := range []int64{made.HostID, plan.RedirectHost} {
		if host != 0 && !slices.Contains(in.Hosts, host) {
			in.Hosts = append(in.Hosts, host)
		}
	}
	for _, start := range p.discovers {
		if start.IsReady() {
			p.noteStart(start)
		}
	}
	p.discovers = append(pending(p.discovers), startDiscover(p.apart, in).GetChildWorkflowExecution())
}

// startDiscover starts a Discover that outlives its parent.
func startDiscover(ctx workflow.Context, in contract.DiscoverIn) workflow.ChildWorkflowFuture {
	ctx = workflow.WithChildOptions(ctx, childDiscoverOptions(in))
	return workflow.ExecuteChildWorkflow(ctx, contract.DiscoverWorkflow, in)
}

// noteStart logs a child that could not be started. Maintenance will find its
// unfinished work.
func (p *page) noteStart(start workflow.Future) {
	if err := startError(p.apart, start); err != nil {
		p.log.Warn("Discover not started", "page", p.s.Page.PageID, "error", err)
	}
}

// leave gives up the page's place in line. With a state, it is the page's last step.
func (p *page) leave(state crawl.PageState) error {
	ctx := local(p.ctx, "leave the line")
	out, err := contract.LeaveLine.RunLocal(ctx, contract.LeaveIn{Page: p.s.Page, State: state, Closing: p.s.Closing && state == crawl.Stopped})
	if err != nil {
		return p.retry("leaving the line", err)
	}
	switch {
	case out.Returned && state == crawl.Stopped:
		reopen(&p.s)
		return nil
	case out.Returned:
		stay(&p.s)
		return nil
	}
	p.s.InLine, p.s.Wake, p.s.Booked, p.s.Waiting = false, time.Time{}, time.Time{}, ""
	forgive(&p.s)
	if state == 0 {
		return nil
	}
	p.s.State = state
	p.publishState()
	return errClosed
}

// again counts an attempt that failed through nobody's fault, and pauses after too many in a
// row.
func (p *page) again(what string) {
	if p.s.Tries < fruitlessTries || p.s.Fruitless < fruitlessTries && p.tellsApart() {
		p.s.Tries++
		p.s.Fruitless++
		return
	}
	p.pauseAfter(troubleOther, what+" came to nothing again")
}

// pauseAfter pauses the page after an attempt that failed.
func (p *page) pauseAfter(tr trouble, what string) {
	mixed := !tr.passes() && p.s.Faults != p.s.Tries
	pauseAfter(&p.s, tr, what, p.now(), mixed && !p.tellsApart())
}

// tellsApart reports whether the page counts its tries by what came of them. For histories
// from before it did, it is false.
func (p *page) tellsApart() bool {
	return workflow.GetVersion(p.apart, "tries-told-apart", workflow.DefaultVersion, 1) == 1
}

// retry turns trouble into a pause, so that no error ends a page, unless the page was
// cancelled or the store no longer knows it.
func (p *page) retry(what string, err error) error {
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	tr := troubleOf(err)
	if tr == troubleMissing {
		p.log.Info("page closed: not in the store", "page", p.s.Page.PageID)
		return errClosed
	}
	text := what + ": " + words(err)
	if tr == troubleStore || tr == troubleLost {
		// A store that hangs is as unavailable as one that refuses connections.
		tr, text = troubleStore, cmp.Or(archiveTrouble(err), "store unavailable")
	}
	p.pauseAfter(tr, text)
	p.log.Warn(what+" failed", "page", p.s.Page.PageID, "visit", p.number(), "error", err, "until", p.s.Hold)
	return nil
}
