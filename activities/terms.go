package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/polite"
	"recrawl/internal/robots"
	"recrawl/internal/robots/directive"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// purposeOf returns the crawl's uses for pages of a kind: none for lists, since only their
// links are taken.
func (v *crawlView) purposeOf(kind crawl.PageKind) []crawl.Use {
	if kind.IsSource() {
		return nil
	}
	return v.Spec.Purpose
}

// judgeTerms asks the tdmrep.json of the page's origin about a permit that robots.txt allows
// to use. If it must be fetched first, the permit is used for that request instead: as a
// robots permit, after whose request the page asks again.
func (a *Activities) judgeTerms(ctx context.Context, in contract.AcquireIn, view *crawlView, kind crawl.PageKind, granted store.AcquireResult, u urlkey.URL) (v robots.Verdict, first *contract.AcquireOut, err error) {
	purpose := view.purposeOf(kind)
	if len(purpose) == 0 {
		return robots.Verdict{Allowed: true}, nil, nil
	}
	terms, known, err := a.termsOf(ctx, u)
	if err != nil {
		return v, nil, err
	}
	if !known {
		file, err := termsURL(u)
		if err != nil {
			return v, nil, fmt.Errorf("%s: %w", pageLabel(in.Page), err)
		}
		may, err := a.robotsVerdict(ctx, granted.Robots, view.Spec.Identity.Agent, nil, file)
		if err != nil {
			return v, nil, err
		}
		if may.Allowed {
			permit := granted.Permit
			// No URL: an older worker, which would take it for a robots.txt, cannot make the
			// request.
			permit.URL = crawl.TermsPath
			return v, &contract.AcquireOut{Answer: contract.AnswerRobots, Permit: permit}, nil
		}
		a.terms.put(u.Origin(), "", granted.Robots.ExpiresAt, 0, terms)
	}
	if r, refused := reserve.Against(terms.Reserved(u), purpose); refused {
		return robots.Verdict{Reason: reserve.Refusal(r)}, nil, nil
	}
	return robots.Verdict{Allowed: true}, nil, nil
}

// termsURL is the address of the tdmrep.json of a URL's origin.
func termsURL(u urlkey.URL) (urlkey.URL, error) {
	return urlkey.Canonical(u.Origin() + crawl.TermsPath)
}

// termsOf returns what the tdmrep.json of a URL's origin says, if it was requested, and
// reports whether it is still fresh.
func (a *Activities) termsOf(ctx context.Context, u urlkey.URL) (terms *robots.Terms, fresh bool, err error) {
	if terms, ok := a.terms.fresh(u.Origin(), time.Now()); ok {
		return terms, true, nil
	}
	rec, err := a.stores.Gate.Terms(ctx, u.Origin())
	if errors.Is(err, store.ErrNotFound) {
		return robots.ParseTerms(nil), false, nil
	}
	if err != nil {
		return nil, false, err
	}
	now, err := a.stores.Crawls.Now(ctx)
	if err != nil {
		return nil, false, err
	}
	terms = robots.ParseTerms([]byte(rec.Text))
	if left := rec.ExpiresAt.Sub(now); left > 0 {
		a.terms.put(u.Origin(), "", time.Now().Add(left), len(rec.Text), terms)
		return terms, true, nil
	}
	return terms, false, nil
}

// termsByCache reports whether a cached tdmrep.json lets a page be used.
func (a *Activities) termsByCache(view *crawlView, kind crawl.PageKind, u urlkey.URL) bool {
	purpose := view.purposeOf(kind)
	if len(purpose) == 0 {
		return true
	}
	terms, ok := a.terms.fresh(u.Origin(), time.Now())
	if !ok {
		return false
	}
	_, refused := reserve.Against(terms.Reserved(u), purpose)
	return !refused
}

// refreshTerms makes the one request for a tdmrep.json, with the permit of the page that
// needs it, and stores what it found.
func (a *Activities) refreshTerms(ctx context.Context, in contract.RefreshRobotsIn) (contract.RefreshRobotsOut, error) {
	view, err := a.crawlOf(ctx, in.Page, in.Permit.Generation)
	if err != nil {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	page, err := urlkey.Canonical(in.Page.URL)
	if err != nil {
		return contract.RefreshRobotsOut{}, fmt.Errorf("%s: %w", pageLabel(in.Page), err)
	}
	_, known, err := a.termsOf(ctx, page)
	if err != nil {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	if known { // another page came first; this one still has its permit
		return contract.RefreshRobotsOut{Summary: "known meanwhile"}, nil
	}
	permit := in.Permit
	permit.URL = page.Origin() + crawl.TermsPath
	req, err := a.newRequest(ctx, view, permit)
	if err != nil {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	begun, ok, err := a.begin(ctx, view, &req, permit, in.Page, in.Visit)
	if err != nil || !ok {
		return contract.RefreshRobotsOut{Summary: "not begun"}, translate(err)
	}
	result, body, err := a.requestRobots(ctx, req)
	if err != nil {
		a.release(ctx, begun, releaseOf(permit, result))
		return contract.RefreshRobotsOut{}, err
	}
	var params store.SaveTermsParams
	// It must be stored before the permit is given back; if it cannot be, the permit is
	// kept: the page asks again, and would ask the site again.
	err = tell(ctx, permit, begun, func(ctx context.Context) error {
		before, err := a.stores.Gate.Terms(ctx, page.Origin())
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		params = termsAfter(page.Origin(), before, result, body)
		return a.stores.Gate.SaveTerms(ctx, params)
	})
	if isPassing(err) {
		a.keepWish(releaseOf(permit, result))
	}
	if err != nil {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	a.release(ctx, begun, releaseOf(permit, result))
	a.settings.Room.Spared()
	return contract.RefreshRobotsOut{Summary: termsSummary(params)}, nil
}

// termsAfter turns a response into a record for the store. It follows no redirect: a page
// that is redirected is judged where it lands. A failed request leaves the earlier
// statement in force, and forbids nothing: unlike a robots.txt, few sites have the file.
func termsAfter(origin string, before store.TermsRecord, r fetch.Result, body []byte) store.SaveTermsParams {
	p := store.SaveTermsParams{Origin: origin, Expires: robotsFresh}
	switch robots.Classify(r.Status, r.Err, r.Location.String(), robots.MaxHops) {
	case robots.Parsed:
		p.Text = robots.Text(body)
	case robots.AllowAll:
	default:
		p.Text, p.Failures, p.Problem = before.Text, before.Failures+1, robotsProblem(r)
		if fetch.IsRefused(r.Err) { // another crawl may reach the host
			p.Failures, p.Expires = before.Failures, ownRefusalRest
			break
		}
		p.Expires = polite.RobotsBackoff(p.Failures, seedOf(origin+crawl.TermsPath, p.Failures))
		if wait, ok := retryAfter(r); ok {
			p.Expires = max(p.Expires, min(wait, robotsFresh))
		}
	}
	return p
}

func termsSummary(p store.SaveTermsParams) string {
	switch {
	case p.Failures > 0:
		return fmt.Sprintf("tdmrep.json of %s cannot be had (%s); tried again in %s", p.Origin, p.Problem, crawl.FormatDuration(p.Expires.Round(time.Second)))
	case p.Text == "":
		return "no tdmrep.json at " + p.Origin
	}
	return fmt.Sprintf("tdmrep.json of %s: %d bytes", p.Origin, len(p.Text))
}

// reservedBySite returns the site's reservations for a page in its robots.txt and, for a
// crawl with a purpose, in its tdmrep.json. If this process acquired the page, the files
// are cached.
func (a *Activities) reservedBySite(ctx context.Context, view *crawlView, page store.PageRecord) ([]crawl.Reservation, error) {
	agent := view.Spec.Identity.Agent
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pageLabel(page.PageRef), err)
	}
	file, ok := a.robots.fresh(u.Origin(), time.Now())
	if !ok {
		rec, err := a.stores.Gate.Robots(ctx, u.Origin())
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		file = a.parsed(rec)
	}
	said := file.Reserved(agent, u)
	if len(view.purposeOf(page.Kind)) == 0 {
		return said, nil
	}
	terms, _, err := a.termsOf(ctx, u)
	if err != nil {
		return nil, err
	}
	return reserve.Join(said, terms.Reserved(u)), nil
}

// reservedByAnswer returns the reservations in the headers of an answer.
func reservedByAnswer(r fetch.Result, agent string) []crawl.Reservation {
	return reserve.FromHeaders(r.Stated, directive.ParseTags(r.RobotsTags, agent), strings.HasPrefix(r.MediaType.Type, "image/"))
}

// refuse removes the content of an answer whose headers reserve the crawl's purpose, and
// reports whether they do.
func refuse(view *crawlView, page store.PageRecord, r *fetch.Result) bool {
	if !r.Content && r.Outcome != crawl.OutcomeUnchanged {
		return false
	}
	reserved, refused := reserve.Against(reservedByAnswer(*r, view.Spec.Identity.Agent), view.purposeOf(page.Kind))
	if refused {
		r.Outcome, r.Problem = crawl.OutcomeExcluded, reserve.Refusal(reserved)
		r.Content, r.Digest = false, ""
	}
	return refused
}

// reservedVisit completes a visit that excluded its page because the page reserves itself.
// Its validators are dropped: a 304 would not show that the page says something else.
func reservedVisit(in contract.PlanIn) contract.PlanIn {
	if in.Fetch.Outcome != crawl.OutcomeExcluded {
		return in
	}
	var others []crawl.Reason
	for _, r := range in.Reasons {
		if r.Code != reserve.CodeReserved {
			others = append(others, r)
			continue
		}
		in.Fetch.Problem = r.Text
		in.Fetch.Validators, in.Fetch.ETag, in.Fetch.LastModified = true, "", ""
	}
	in.Reasons = others
	return in
}
