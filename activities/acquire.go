package activities

import (
	"context"
	"fmt"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/polite"
	"recrawl/internal/robots"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// acquirePatience is how long Acquire waits in the process before it answers
// "wait": Temporal timers under a second take a second, so short waits never
// become timers. It must end well within a workflow task (10 s).
const acquirePatience = 4 * time.Second

// acquireMost bounds all of an Acquire's waits, which must leave time for the rest of its
// eight seconds.
const acquireMost = 6 * time.Second

// Acquire asks for a visit's permit; see acquire. It also tells a page that does not know it
// which store it belongs to.
func (a *Activities) Acquire(ctx context.Context, in contract.AcquireIn) (contract.AcquireOut, error) {
	out, err := a.acquire(ctx, in)
	if in.Page.Store == "" && err == nil {
		out.Store = a.stores.Crawls.ID()
	}
	return out, err
}

// acquire asks the host gate for a visit's permit. The robots.txt in force at
// the grant decides whether the permit may be used; a page it forbids gives the
// permit back at no cost to the host. While this worker has no room for what a
// request brings, it asks nobody.
func (a *Activities) acquire(ctx context.Context, in contract.AcquireIn) (contract.AcquireOut, error) {
	start := time.Now()
	a.reclaim(ctx, in)
	a.crowds.wake(in.Page)
	if shortage, is := a.settings.Room.Shortage(); is {
		a.forRoom.add(in.Page)
		return contract.AcquireOut{Answer: contract.AnswerWait, Held: true, Wait: roomWait(shortage, in.Page.PageID, time.Now()), Reason: shortage.Reason}, nil
	}
	view, err := a.crawlOf(ctx, in.Page, 1)
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	page, err := a.stores.Pages.Page(ctx, in.Page.PageID)
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	if out, is, err := a.excluded(ctx, in, view, page); err != nil || is {
		return out, translate(err)
	}
	if in.Class == crawl.ClassRevisit && page.Kind != crawl.KindRequisite {
		skip, reasons, err := a.skips(ctx, in, view, page)
		if err != nil {
			return contract.AcquireOut{}, translate(err)
		}
		if skip {
			return contract.AcquireOut{Answer: contract.AnswerSkipped, Reasons: reasons}, nil
		}
	}
	if out, is, err := a.awaitsReach(ctx, in, view, page); err != nil || is {
		return out, translate(err)
	}
	if err := a.heed(ctx, func(w wish) bool { return w.concerns(page.Host) }); err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	defer a.giveWay(ctx, in)()
	handed, atOnce := a.atOnce(ctx, view, page, in.Visit)
	result, err := a.stores.Gate.Acquire(ctx, store.AcquireParams{Page: in.Page, Visit: in.Visit, Class: classOf(page, in.Class), Patience: acquirePatience, AtOnce: atOnce, Callable: true})
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	a.carryOut(ctx, result.Effects)
	switch result.Answer {
	case store.GateGranted:
		if result.Begun != nil {
			return a.handOver(handed, result), nil
		}
		out, err := a.granted(ctx, in, view, page, result)
		if err != nil {
			return contract.AcquireOut{}, err
		}
		return a.queue(ctx, in, view, out, acquireMost-time.Since(start))
	case store.GateRecorded:
		return a.alreadyRecorded(ctx, in, *result.Recorded)
	case store.GateParked:
		return contract.AcquireOut{Answer: contract.AnswerParked, Reason: "the crawl is paused"}, nil
	case store.GateStopped:
		return contract.AcquireOut{Answer: contract.AnswerStopped}, nil
	case store.GateEvicted:
		return contract.AcquireOut{Answer: contract.AnswerEvicted}, nil
	default:
		return contract.AcquireOut{Answer: contract.AnswerWait, Wait: result.Wait, Reason: polite.WaitWords(result.Reason, result.Position)}, nil
	}
}

// granted is the answer for a permit that the gate has granted.
func (a *Activities) granted(ctx context.Context, in contract.AcquireIn, view *crawlView, page store.PageRecord, result store.AcquireResult) (contract.AcquireOut, error) {
	if result.Permit.Kind == crawl.PermitRobots {
		return contract.AcquireOut{Answer: contract.AnswerRobots, Permit: result.Permit}, nil
	}
	return a.judge(ctx, in, view, page, result)
}

// excluded answers for a page that lies outside its crawl's scope now: the page
// leaves its line, and no request is made. The view may be older than a change: a
// page that it takes is judged again when a permit is granted, and a page that it
// refuses is judged again at once.
func (a *Activities) excluded(ctx context.Context, in contract.AcquireIn, view *crawlView, page store.PageRecord) (out contract.AcquireOut, is bool, err error) {
	if page.Visits >= in.Visit {
		return contract.AcquireOut{}, false, nil
	}
	if page.Kind == crawl.KindRequisite {
		return a.unwanted(ctx, in, view, page)
	}
	rules, err := maintain.Outside(ctx, a.maintained(view), []store.PageRecord{page})
	if err != nil || rules[page.PageID] == "" {
		return contract.AcquireOut{}, false, err
	}
	if view, err = a.crawl(ctx, in.Page.Crawl); err != nil {
		return contract.AcquireOut{}, false, err
	}
	if rules, err = maintain.Outside(ctx, a.maintained(view), []store.PageRecord{page}); err != nil || rules[page.PageID] == "" {
		return contract.AcquireOut{}, false, err
	}
	effects, err := a.stores.Gate.Leave(ctx, page.PageID)
	if err != nil {
		return contract.AcquireOut{}, false, err
	}
	a.carryOut(ctx, effects)
	return contract.AcquireOut{Answer: contract.AnswerExcluded, Rule: rules[page.PageID]}, true, nil
}

// skips decides whether the visit of a page that is due is skipped, and why. A visit
// that a person asked for never is, nor one that a sitemap or feed asked for, because the page
// has changed: it would not ask again by the same date. The view may be older than a change of the spec:
// no request depends on it.
func (a *Activities) skips(ctx context.Context, in contract.AcquireIn, view *crawlView, page store.PageRecord) (skip bool, why []crawl.Reason, err error) {
	rule, selective := view.selective(in.Page.URL)
	if !selective || page.Visits >= in.Visit || page.HintedBy != 0 {
		return false, nil, nil
	}
	internal, err := a.internal(ctx, view, page)
	if err != nil {
		return false, nil, err
	}
	visit, why := rule.Select(pageOf(page), internal)
	if visit {
		return false, nil, nil
	}
	effects, err := a.stores.Gate.Leave(ctx, in.Page.PageID)
	if err != nil {
		return false, nil, err
	}
	a.carryOut(ctx, effects)
	return true, why, nil
}

// alreadyRecorded answers for a visit that is done.
func (a *Activities) alreadyRecorded(ctx context.Context, in contract.AcquireIn, v store.VisitRecord) (contract.AcquireOut, error) {
	view, err := a.crawl(ctx, in.Page.Crawl)
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	page, err := a.stores.Pages.Page(ctx, in.Page.PageID)
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	plan, err := a.recordedBefore(ctx, view, page, v, false)
	return contract.AcquireOut{Answer: contract.AnswerRecorded, Recorded: &plan}, err
}

// judge asks robots.txt about the page of a granted permit, and asks the scope once
// more if it has changed since the page was judged.
func (a *Activities) judge(ctx context.Context, in contract.AcquireIn, judged *crawlView, page store.PageRecord, granted store.AcquireResult) (contract.AcquireOut, error) {
	view, err := a.crawlOf(ctx, in.Page, granted.Permit.Generation)
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	if view != judged {
		if out, is, err := a.excluded(ctx, in, view, page); err != nil || is {
			return out, translate(err)
		}
	}
	u, err := urlkey.Canonical(in.Page.URL)
	if err != nil {
		return contract.AcquireOut{}, fmt.Errorf("%s: %w", pageLabel(in.Page), err)
	}
	verdict, err := a.robotsVerdict(ctx, granted.Robots, view.Spec.Identity.Agent, view.purposeOf(page.Kind), u)
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	if verdict.Allowed {
		if err := a.heedDelay(ctx, granted.Robots, view.Spec.Identity.Agent); err != nil {
			return contract.AcquireOut{}, translate(err)
		}
		var first *contract.AcquireOut
		if verdict, first, err = a.judgeTerms(ctx, in, view, page.Kind, granted, u); err != nil {
			return contract.AcquireOut{}, translate(err)
		}
		if first != nil {
			return *first, nil
		}
	}
	if verdict.Allowed {
		return permitted(granted.Permit), nil
	}
	effects, err := a.stores.Gate.Leave(ctx, in.Page.PageID)
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	a.carryOut(ctx, effects)
	a.settings.Denied()
	return contract.AcquireOut{Answer: contract.AnswerExcluded, Rule: verdict.Reason}, nil
}

// robotsVerdict decides by a cached robots.txt for an agent with a purpose; rec may lack its
// text.
func (a *Activities) robotsVerdict(ctx context.Context, rec store.RobotsRecord, agent string, purpose []crawl.Use, u urlkey.URL) (robots.Verdict, error) {
	file, rec, err := a.robotsFile(ctx, rec)
	switch {
	case err != nil:
		return robots.Verdict{}, err
	case rec.State == store.RobotsParsed:
		return file.CheckFor(agent, purpose, u), nil
	case file != nil:
		return robots.Verdict{Allowed: true, Reason: "no robots.txt"}, nil
	}
	return robots.Verdict{Reason: "robots.txt cannot be had: " + rec.Problem}, nil
}

// robotsFile returns the parsed file of a cached robots.txt, with its record, which is newer
// if the file was replaced meanwhile. rec may lack its text. The file is nil if it cannot be
// had.
func (a *Activities) robotsFile(ctx context.Context, rec store.RobotsRecord) (*robots.File, store.RobotsRecord, error) {
	switch rec.State {
	case store.RobotsAllowAll, store.RobotsUnknown:
		return a.parsed(rec).File, rec, nil
	case store.RobotsParsed:
	default:
		return nil, rec, nil
	}
	known, ok := a.robots.get(rec.Origin, rec.TextDigest, rec.ExpiresAt)
	switch {
	case ok && known.answered:
		return known.File, rec, nil // not by parsed: it may be dropped from the cache by then, and rec lacks its text
	case !ok && rec.Text == "":
		full, err := a.stores.Gate.Robots(ctx, rec.Origin)
		if err != nil {
			return nil, rec, err
		}
		if full.State != store.RobotsParsed {
			return a.robotsFile(ctx, full) // it was replaced meanwhile
		}
		rec = full
	}
	return a.parsed(rec).File, rec, nil
}

// heedDelay raises the Crawl-delay that the gate keeps for a robots.txt to the one that the
// file asks of an agent. The gate knows that of the crawl that fetched the file; other crawls
// may have other agents. The permit that is granted keeps the new gap: it has not begun.
func (a *Activities) heedDelay(ctx context.Context, rec store.RobotsRecord, agent string) error {
	file, rec, err := a.robotsFile(ctx, rec)
	if err != nil || file == nil {
		return err
	}
	delay, longer := longerDelay(file, rec, agent)
	if !longer {
		return nil
	}
	return a.stores.Gate.RaiseCrawlDelay(ctx, rec.Origin, rec.TextDigest, delay)
}

// longerDelay returns the Crawl-delay that a file asks of an agent, and whether it is longer
// than the one of the file's record, which is stored in whole microseconds.
func longerDelay(file *robots.File, rec store.RobotsRecord, agent string) (delay time.Duration, longer bool) {
	delay = file.CrawlDelay(agent).Truncate(time.Microsecond)
	return delay, delay > rec.CrawlDelay
}

// parsed returns the robots.txt of a record, and keeps it at hand from now on. Where there
// is none, it is an empty one, which says nothing. If the record lacks its text, its file
// must be at hand already.
func (a *Activities) parsed(rec store.RobotsRecord) robotsFile {
	file, ok := a.robots.get(rec.Origin, rec.TextDigest, rec.ExpiresAt)
	if !ok {
		file.File = robots.ParseText(rec.Text)
	}
	if answered := isAnswer(rec.State); !ok || file.answered != answered {
		file.answered = answered
		a.robots.put(rec.Origin, rec.TextDigest, rec.ExpiresAt, len(rec.Text), file)
	}
	return file
}

// isAnswer reports whether an origin in the state has a robots.txt, or is known to have none.
func isAnswer(state store.RobotsState) bool {
	return state == store.RobotsParsed || state == store.RobotsAllowAll
}
