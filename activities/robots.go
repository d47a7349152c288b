package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/polite"
	"recrawl/internal/robots"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// robotsFresh is how long a robots.txt is believed (RFC 9309 2.4: at most 24 h).
	robotsFresh = 24 * time.Hour
	// robotsHopWait is how long a redirect hop may wait for its own host's permit.
	robotsHopWait = time.Hour
)

// RefreshRobots makes the one request of a robots permit and stores the result: a
// robots.txt, a redirect hop to be fetched under its own host's permit, or the fact that
// there is none to be had. A permit for crawl.TermsPath is for the tdmrep.json of its
// page's origin.
func (a *Activities) RefreshRobots(ctx context.Context, in contract.RefreshRobotsIn) (contract.RefreshRobotsOut, error) {
	if in.Permit.URL == crawl.TermsPath {
		return a.refreshTerms(ctx, in)
	}
	view, err := a.crawlOf(ctx, in.Page, in.Permit.Generation)
	if err != nil {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	asker, err := a.stores.Pages.Page(ctx, in.Page.PageID)
	if err != nil {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	page, err := urlkey.Canonical(in.Page.URL)
	if err != nil {
		return contract.RefreshRobotsOut{}, fmt.Errorf("%s: %w", pageLabel(in.Page), err)
	}
	known, err := a.stores.Gate.Robots(ctx, page.Origin())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	req, err := a.newRequest(ctx, view, in.Permit)
	if err != nil {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	begun, ok, err := a.begin(ctx, view, &req, in.Permit, in.Page, in.Visit)
	if err != nil || !ok {
		return contract.RefreshRobotsOut{Summary: "not begun"}, translate(err)
	}
	if !known.ExpiresAt.After(begun.At) {
		known.Hops = 0 // the chain of redirects begins anew
	}
	result, body, err := a.requestRobots(ctx, req)
	if err != nil {
		a.release(ctx, begun, releaseOf(in.Permit, result))
		return contract.RefreshRobotsOut{}, err
	}
	answer := judgeRobots(page, known, result, body, view.Spec.Identity.Agent)
	a.noteReach(view, page, result, answer.State)
	params, off := answer, scope.Verdict{}
	// It must be stored before the permit is given back; if it cannot be, the permit
	// is kept: the next grant must see it.
	err = tell(ctx, in.Permit, begun, func(ctx context.Context) (err error) {
		if off, err = a.judgeHop(ctx, view, asker, page, answer, result.Location); err != nil {
			return err
		}
		if off.Reason != "" {
			params = refusedHop(answer, off, result.Location)
		}
		return a.stores.Gate.SaveRobots(ctx, params)
	})
	if isPassing(err) {
		a.keepWish(releaseOf(in.Permit, result))
	}
	if err != nil {
		return contract.RefreshRobotsOut{}, translate(err)
	}
	a.release(ctx, begun, releaseOf(in.Permit, result))
	a.settings.Room.Spared()
	if off.Reason != "" {
		a.rejectHop(ctx, in.Page, off, result.Location)
	}
	if err := a.registerSitemaps(ctx, view, asker, page); err != nil {
		// The next new version of a page there names them again.
		a.log.Warn("the sitemaps of a robots.txt could not be registered", "origin", params.Origin, "error", err)
	}
	return contract.RefreshRobotsOut{Summary: robotsSummary(params)}, nil
}

func (a *Activities) requestRobots(ctx context.Context, req fetch.Request) (fetch.Result, []byte, error) {
	// The limit is one byte more, so that package robots sees that there is more and
	// drops the line that is cut.
	req.MaxBody, req.Truncate = robots.MaxBytes+1, true
	var body bytes.Buffer
	result := a.fetcher.Do(ctx, req, &body)
	if result.Local {
		return result, nil, ourFault(result.Err)
	}
	return result, body.Bytes(), nil
}

// judgeRobots turns a response into a record for the store, by the status policy of
// package robots. It is for the origin of a URL.
func judgeRobots(of urlkey.URL, known store.RobotsRecord, r fetch.Result, body []byte, agent string) store.SaveRobotsParams {
	p := store.SaveRobotsParams{Origin: of.Origin(), Status: r.Status, Expires: robotsFresh}
	switch robots.Classify(r.Status, r.Err, r.Location.String(), known.Hops) {
	case robots.Parsed:
		p.Text = robots.Text(body)
		if r.Truncated { // perhaps by what it took on the wire, when body has less than robots.MaxBytes
			p.Text = robots.TextCut(body)
		}
		file := robots.ParseText(p.Text)
		p.State, p.Sitemaps = store.RobotsParsed, file.Sitemaps(of)
		p.CrawlDelay, p.ForbidsAll = file.CrawlDelay(agent), file.ForbidsAll(agent)
	case robots.AllowAll:
		p.State = store.RobotsAllowAll
	case robots.Redirected:
		p.State, p.Next, p.NextHost = store.RobotsRedirected, r.Location.String(), r.Location.HostKey()
		p.Hops, p.Expires, p.Failures = known.Hops+1, robotsHopWait, known.Failures
		p.Problem = "it redirects to " + p.Next
		if wait, ok := retryAfter(r); ok { // its host is left alone so long
			p.Expires += min(wait, robotsFresh)
		}
	default:
		if fetch.IsRefused(r.Err) { // another crawl may reach the host
			p.State, p.Failures, p.Problem, p.Expires = store.RobotsUnreachable, known.Failures, robotsProblem(r), ownRefusalRest
			break
		}
		p.State, p.Failures, p.Problem = store.RobotsUnreachable, known.Failures+1, robotsProblem(r)
		p.Expires = polite.RobotsBackoff(p.Failures, seedOf(p.Origin, p.Failures))
		if wait, ok := retryAfter(r); ok {
			p.Expires = max(p.Expires, min(wait, robotsFresh))
		}
	}
	return p
}

// judgeHop says why a redirect of a robots.txt is not followed; its reason is "" if
// it is. A redirect beyond the page's site and the crawl's scope counts against that
// site in the crawl whose page asks, even though the result serves all crawls. By site,
// because redirects across authorities are to be followed (RFC 9309 section 2.3.1.2), and
// no site must take that from another.
func (a *Activities) judgeHop(ctx context.Context, view *crawlView, asker store.PageRecord, from urlkey.URL, p store.SaveRobotsParams, to urlkey.URL) (scope.Verdict, error) {
	if p.State != store.RobotsRedirected {
		return scope.Verdict{}, nil
	}
	view, err := a.seeing(ctx, view, to)
	if err != nil {
		return scope.Verdict{}, err
	}
	if off := a.offLimits(view, to); off.Reason != "" {
		return off, nil
	}
	link := scope.Link{URL: to, Level: asker.Level, Hops: view.scope.Hops(to, scope.HopsBefore(asker.Hops))}
	if !view.foreign(from, to) || view.scope.Check(link).Accept {
		return scope.Verdict{}, nil
	}
	most := view.Spec.Sources.ForeignHosts
	claimed, err := a.stores.Frontier.ClaimRobotsHost(ctx, asker.CrawlID, from.Site(), to.HostKey(), most)
	if err != nil || claimed {
		return scope.Verdict{}, err
	}
	return scope.Verdict{Reason: store.ReasonForeign, Detail: store.RobotsHostDetail(most)}, nil
}

// rejectHop counts a robots.txt redirect that is not followed, as rejected links are
// counted.
func (a *Activities) rejectHop(ctx context.Context, ref crawl.PageRef, off scope.Verdict, to urlkey.URL) {
	r := rejections{}
	r.add(off, store.RejectedURL{URL: to.String(), Host: to.HostKey()})
	_, err := a.stores.Frontier.RegisterLinks(ctx, store.RegisterParams{CrawlID: ref.CrawlID, From: ref.PageID, Rejected: r.list()})
	if err != nil {
		// The robots.txt is recorded all the same.
		a.log.Warn("a redirect that was refused could not be counted", "url", to.String(), "error", err)
	}
}

// refusedHop turns a redirect that is not followed into a robots.txt that cannot be
// had. It is shared with other crawls, which may follow the redirect: so it is
// tried again.
func refusedHop(p store.SaveRobotsParams, off scope.Verdict, to urlkey.URL) store.SaveRobotsParams {
	p.State, p.Next, p.NextHost, p.Hops = store.RobotsUnreachable, "", "", 0
	p.Failures++
	p.Expires = polite.RobotsBackoff(p.Failures, seedOf(p.Origin, p.Failures))
	p.Problem = fmt.Sprintf("it redirects to %s, which is not asked: %s", to, off.Reason)
	if off.Detail != "" {
		p.Problem += " (" + off.Detail + ")"
	}
	return p
}

func robotsProblem(r fetch.Result) string {
	if r.Problem != "" {
		return r.Problem
	}
	return fmt.Sprintf("HTTP %d", r.Status)
}

func robotsSummary(p store.SaveRobotsParams) string {
	switch p.State {
	case store.RobotsParsed:
		return fmt.Sprintf("robots.txt of %s: %d bytes", p.Origin, len(p.Text))
	case store.RobotsAllowAll:
		return fmt.Sprintf("no robots.txt at %s (HTTP %d): everything is allowed", p.Origin, p.Status)
	case store.RobotsRedirected:
		return fmt.Sprintf("robots.txt of %s is at %s", p.Origin, p.Next)
	default:
		return fmt.Sprintf("robots.txt of %s cannot be had (%s): nothing is fetched; tried again in %s", p.Origin, p.Problem, crawl.FormatDuration(p.Expires.Round(time.Second)))
	}
}

// seedOf is the seed for the jitter of an origin's n-th failure.
func seedOf(origin string, n int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s#%d", origin, n)
	return h.Sum64()
}
