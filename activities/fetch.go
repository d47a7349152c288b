package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/polite"
	"recrawl/internal/robots/directive"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// addressPatience is the part of contract.BeginPatience that a Fetch spends waiting for a
	// place among the requests in flight to the host's address. Acquire lets only those come
	// that should find one within two seconds.
	addressPatience = 10 * time.Second
	// briefBody is the size, in bytes, up to which a body is compared within tens of
	// milliseconds, so that it needs no separate task.
	briefBody = 256 << 10
	// tellLimit bounds one try to tell the store how a request ended.
	tellLimit = 5 * time.Second
	// tellPause is the pause between the first two tries. It doubles up to
	// tellPauseMax.
	tellPause    = 100 * time.Millisecond
	tellPauseMax = 2 * time.Second
)

// Fetch makes the one request of a page permit. It calls Begin unless Acquire has, makes
// the request, puts the body into the archive, and calls Release, which also records a
// visit that leaves nothing to compare. For a visit that is already recorded it makes no
// request. A fetch that failed is an error with the FetchOut in its details, so that it
// shows as failed.
func (a *Activities) Fetch(ctx context.Context, in contract.FetchIn) (contract.FetchOut, error) {
	s, out, err := a.start(ctx, in)
	if s == nil || err != nil {
		return out, translate(err)
	}
	view, page := s.view, s.page
	defer s.req.Place.Release()
	result, err := a.request(ctx, view, page, s.req)
	if err != nil {
		a.release(ctx, s.begun, releaseOf(in.Permit, result))
		return contract.FetchOut{}, err
	}
	if err := a.forgetTarget(ctx, &result); err != nil {
		a.release(ctx, s.begun, releaseOf(in.Permit, result))
		return contract.FetchOut{}, translate(err)
	}
	out = fetchOut(page, s.begun, result)
	out.StoreAhead = storeAhead(s.begun.At, activity.GetInfo(ctx).StartedTime)
	selfRedirect(&out, page, view.rules, result)
	heedTags(&out, result, view.Spec.Identity.Agent)
	if finished, ok := a.finish(ctx, view, page, in, s.begun, result, out); ok {
		return asActivityResult(finished)
	}
	if out.Held, err = a.releaseKept(ctx, in.Permit, s.begun, page, result); err != nil {
		return contract.FetchOut{}, translate(err)
	}
	if result.Content {
		if err := a.compareDigests(ctx, page, &out); err != nil {
			return contract.FetchOut{}, translate(err)
		}
	}
	if out.Differs {
		out.Reserved = reservedByAnswer(result, view.Spec.Identity.Agent)
		out.Brief = in.Plans && out.Size <= briefBody
		out.Heads = &contract.Heads{Request: result.Heads.Request, Response: result.Heads.Response, Remote: result.Heads.Remote}
	}
	return asActivityResult(out)
}

// started is a request that has begun and is to be made.
type started struct {
	view  *crawlView
	page  store.PageRecord
	req   fetch.Request
	begun store.BeginResult
}

// start begins a page permit's request, unless Acquire has. If there is no request to
// make, it answers why.
func (a *Activities) start(ctx context.Context, in contract.FetchIn) (*started, contract.FetchOut, error) {
	handed := a.handed.take(in)
	if handed != nil && !a.use(ctx, handed) {
		return nil, contract.FetchOut{NotBegun: true}, nil
	}
	s, out, err := a.prepare(ctx, in, handed)
	switch {
	case handed == nil:
	case s == nil || err != nil:
		a.giveBack(handed)
	default:
		s.begun, s.req.Place = handed.begun, handed.place
		s.req.Deadline = deadline(s.view, in.Permit, s.begun)
		return s, out, nil
	}
	if s == nil || err != nil {
		return nil, out, err
	}
	begun, ok, err := a.begin(ctx, s.view, &s.req, in.Permit, in.Page, in.Visit)
	if err != nil || !ok {
		return nil, contract.FetchOut{NotBegun: !ok}, err
	}
	s.begun = begun
	return s, out, nil
}

// prepare reads the data that a request depends on. It returns nil for a visit that is
// already recorded.
func (a *Activities) prepare(ctx context.Context, in contract.FetchIn, handed *handover) (*started, contract.FetchOut, error) {
	var s started
	var err error
	if s.view, err = a.crawlOf(ctx, in.Page, in.Permit.Generation); err != nil {
		return nil, contract.FetchOut{}, err
	}
	if handed != nil {
		s.page = handed.page // nobody records the visit while its permit is begun
	} else if s.page, err = a.stores.Pages.Page(ctx, in.Page.PageID); err != nil {
		return nil, contract.FetchOut{}, err
	}
	if s.page.Visits >= in.Visit {
		return nil, contract.FetchOut{Recorded: true}, nil
	}
	s.req, err = a.newRequest(ctx, s.view, in.Permit)
	s.req.Spelling = s.page.Respelling.Spelling
	return &s, contract.FetchOut{}, err
}

// forgetTarget removes the target of a redirect if it is forgotten: a history that named it would
// keep it for longer than the store does, which leaves it out anyway.
func (a *Activities) forgetTarget(ctx context.Context, r *fetch.Result) error {
	if r.Location.IsZero() {
		return nil
	}
	forgotten, err := a.stores.Pages.Forgotten(ctx, r.Location.String())
	if forgotten {
		r.Location, r.Spelling = urlkey.URL{}, ""
	}
	return err
}

// heedTags records the requests in the X-Robots-Tag headers of a page's answer. As
// long as they ask something, the page is requested without conditions: a 304 need
// not repeat the headers, nor show that they are gone.
func heedTags(out *contract.FetchOut, r fetch.Result, agent string) {
	if !out.Outcome.Observes() {
		return
	}
	if out.RobotsTag = directive.ParseTags(r.RobotsTags, agent).String(); out.RobotsTag != "" {
		out.Validators, out.ETag, out.LastModified = true, "", ""
	}
}

// compareDigests decides by the raw digest whether there is anything to compare.
// Headers are no part of it: as long as they ask something, and once when they no
// longer do, the body is compared whatever its digest.
func (a *Activities) compareDigests(ctx context.Context, page store.PageRecord, out *contract.FetchOut) error {
	if out.Differs = out.RobotsTag != "" || out.Digest != page.Last.Digest; out.Differs {
		return nil
	}
	left, err := a.versionVisit(ctx, page)
	if out.Differs = directive.NoFollowTag(left.Reasons); !out.Differs {
		out.Outcome = crawl.OutcomeUnchanged
	}
	return err
}

// releaseKept ends the permit's request, whose bytes are in the archive by now, and discards them
// if the page has been forgotten meanwhile. It returns how long the host is held.
func (a *Activities) releaseKept(ctx context.Context, permit crawl.Permit, begun store.BeginResult, page store.PageRecord, r fetch.Result) (held time.Duration, err error) {
	params := releaseOf(permit, r)
	if r.Content {
		params.Page, params.Digest = page.PageID, r.Digest
	}
	effects := a.release(ctx, begun, params)
	if r.Content && !effects.Known { // or the store has not answered
		err = a.stillKnown(ctx, page.PageID, r.Digest)
	}
	return effects.Held, err
}

// stillKnown discards the fetched bytes if the page has been forgotten meanwhile.
func (a *Activities) stillKnown(ctx context.Context, pageID int64, digest string) error {
	_, err := a.stores.Pages.Page(ctx, pageID)
	if errors.Is(err, store.ErrNotFound) {
		err = errors.Join(err, a.stores.Contents.Discard(ctx, []string{digest}))
	}
	return err
}

// ourFault is an error that says nothing about the page or its host (a disk that
// is full, a worker that stops): the workflow waits and asks for a permit again,
// as when the store does not answer.
func ourFault(err error) error {
	if errors.Is(err, fetch.ErrCrowded) {
		return temporal.NewApplicationErrorWithOptions(err.Error(), contract.ErrTypeCrowded, temporal.ApplicationErrorOptions{
			Cause: err, Category: temporal.ApplicationErrorCategoryBenign,
		})
	}
	return translate(fmt.Errorf("%w: %w", store.ErrUnavailable, err))
}

// begin waits until the permit's request may start, and gives it its place at the
// host's address and its deadline. The deadline counts from before Begin was sent, by
// this process's monotonic clock, and comes before the permit ends. begin reports
// false if the request may not start: there is no room for what it brings, the host
// stayed busy, the permit was refused, or the worker is stopping. A request that
// waits for a place has not begun, so it does not hold up the host; a request that
// waits for the host holds no place.
func (a *Activities) begin(ctx context.Context, view *crawlView, req *fetch.Request, permit crawl.Permit, page crawl.PageRef, visit int) (store.BeginResult, bool, error) {
	req.Ticket = a.crowds.take(page)
	req.Ticket.Arrive()
	if !a.hasRoom(ctx, page) {
		return store.BeginResult{}, false, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if stopping := activity.GetWorkerStopChannel(ctx); stopping != nil {
		go func() {
			select {
			case <-stopping:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	if err := a.heed(ctx, func(w wish) bool { return w.Permit.HostID == permit.HostID }); err != nil {
		return store.BeginResult{}, false, err
	}
	start := time.Now()
	begun, err := a.stores.Gate.Begin(ctx, store.BeginParams{
		Permit: permit, Page: page, Visit: visit, Patience: contract.BeginPatience,
		Take: func(ctx context.Context) (giveUp func(), err error) {
			req.Place, err = a.fetcher.Reserve(ctx, *req, min(addressPatience, contract.BeginPatience-time.Since(start)))
			return req.Place.Release, err
		},
	})
	if err != nil || begun.Wait > 0 {
		a.settings.Room.Spared()
	}
	switch {
	case errors.Is(err, store.ErrRefused), errors.Is(err, context.Canceled):
		return begun, false, nil
	case errors.Is(err, fetch.ErrCrowded):
		return begun, false, ourFault(err)
	case err != nil:
		return begun, false, err
	}
	req.Deadline = deadline(view, permit, begun)
	return begun, begun.Wait == 0, nil
}

// deadline is when a request must be over, by this process's monotonic clock.
func deadline(view *crawlView, permit crawl.Permit, begun store.BeginResult) time.Time {
	return begun.Sent.Add(min(view.Spec.Fetch.TimeLimit.Std(), permit.Lifetime))
}

// request makes the request.
func (a *Activities) request(ctx context.Context, view *crawlView, page store.PageRecord, req fetch.Request) (fetch.Result, error) {
	body, err := a.archive.Create(ctx)
	if err != nil {
		return noRequest(), ourFault(err)
	}
	defer body.Abort()
	req.ETag, req.LastModified = conditions(page, time.Now())
	req.Accept, req.MaxBody = view.wants(page)
	result := a.fetcher.Do(ctx, req, body)
	if result.Local {
		return result, ourFault(result.Err)
	}
	if refuse(view, page, &result) {
		return result, nil
	}
	if result.Content {
		if _, _, err := body.Commit(); err != nil {
			return result, ourFault(err)
		}
	}
	return result, nil
}

// noRequest is the result of an exchange that did not take place.
func noRequest() fetch.Result { return fetch.Result{HostAnswer: fetch.HostNone} }

// newRequest makes the request that a permit allows; begin gives it its deadline.
func (a *Activities) newRequest(ctx context.Context, view *crawlView, permit crawl.Permit) (fetch.Request, error) {
	u, err := urlkey.Canonical(permit.URL)
	if err != nil {
		return fetch.Request{}, fmt.Errorf("permit for %s: %w", permit.URL, err)
	}
	if u.IsLoopback() {
		if view, err = a.seeing(ctx, view, u); err != nil {
			return fetch.Request{}, err
		}
	}
	req := fetch.Request{
		URL: u, UserAgent: a.userAgent(view.Spec), PerAddress: view.Spec.Politeness.PerAddress,
		AllowNetworks: view.allow, AllowAddresses: view.loopback[u.HostKey()],
	}
	if contact := a.contact(view.Spec); strings.Contains(contact, "@") && !strings.Contains(contact, "://") {
		req.From = contact
	}
	return req, nil
}

// release ends the permit's request. If the store does not answer before the permit
// expires, the request counts until then, it returns no effects, and the site's wish for a pause
// is kept here.
func (a *Activities) release(ctx context.Context, begun store.BeginResult, p store.ReleaseParams) (effects store.GateEffects) {
	err := tell(ctx, p.Permit, begun, func(ctx context.Context) (err error) {
		if effects, err = a.stores.Gate.Release(ctx, p); err == nil {
			a.carryOut(ctx, effects)
		}
		return err
	})
	if err != nil {
		a.log.Warn("a permit could not be released; its host rests until it expires", "url", p.Permit.URL, "error", err)
	}
	if isPassing(err) {
		a.keepWish(p)
	}
	return effects
}

// releaseOf returns what to tell the gate about a result.
func releaseOf(permit crawl.Permit, r fetch.Result) store.ReleaseParams {
	p := store.ReleaseParams{Permit: permit, Answer: store.HostAnswer(r.HostAnswer), Duration: r.Duration, Cut: r.Cut}
	p.RetryAfter, p.HasRetryAfter = retryAfter(r)
	if p.Answer == store.HostOK && asksForQuiet(r) {
		p.Answer = store.HostThrottled
	}
	return p
}

// asksForQuiet reports whether an error names a time after which to come again, as some sites
// do with 403, and gateways with 502, or a redirect does (RFC 9110 10.2.3). That a page is not
// found says nothing about its host.
func asksForQuiet(r fetch.Result) bool {
	wait, ok := retryAfter(r)
	failed := r.Outcome == crawl.OutcomeFailed && r.Status >= http.StatusBadRequest
	return ok && wait > 0 && (failed || r.Outcome == crawl.OutcomeRedirected)
}

// tell tells the store how a begun permit's request ended, even when the activity
// is cancelled. If the store does not answer, tell tries again for as long as the
// permit lives: until then nobody else is granted the host, and there is nothing to
// do without the store.
func tell(ctx context.Context, permit crawl.Permit, begun store.BeginResult, say func(context.Context) error) error {
	ctx = context.WithoutCancel(ctx)
	expires := begun.Sent.Add(permit.Lifetime)
	for pause := tellPause; ; pause = min(2*pause, tellPauseMax) {
		limited, cancel := context.WithTimeout(ctx, tellLimit)
		err := say(limited)
		cancel()
		if err == nil || !isPassing(err) || time.Until(expires) < pause {
			return err
		}
		<-time.After(pause)
	}
}

// clocksAgree is a difference that clocks may have: a request begins within about fifteen seconds
// before or after its activity starts.
const clocksAgree = 30 * time.Second

// storeAhead is FetchOut.StoreAhead of a request that began by the store's clock, and whose
// activity started by the clock of Temporal's server.
func storeAhead(begun, started time.Time) time.Duration {
	ahead := begun.Sub(started).Round(time.Second)
	if begun.IsZero() || started.IsZero() || ahead.Abs() < clocksAgree {
		return 0
	}
	return ahead
}

// clockError is by how much a site's clock may differ from ours before a date of it is doubted.
const clockError = 24 * time.Hour

// retryAfter reads the header against the site's own clock, if the site gives its time. By a clock
// that is far off, a date that a person wrote may be years ahead, or over: then ours counts.
func retryAfter(r fetch.Result) (time.Duration, bool) {
	now := time.Now()
	ours, ahead := polite.ParseRetryAfter(r.RetryAfter, now)
	date, err := http.ParseTime(r.Date)
	if err != nil {
		return ours, ahead
	}
	theirs, ok := polite.ParseRetryAfter(r.RetryAfter, date)
	switch {
	case !ok:
		return ours, ahead
	case ahead && date.Sub(now).Abs() > clockError:
		return min(ours, theirs), true
	}
	return theirs, true
}

// fetchOut makes the workflow's view of a result. Comparing the body decides its
// outcome.
func fetchOut(page store.PageRecord, begun store.BeginResult, r fetch.Result) contract.FetchOut {
	out := contract.FetchOut{
		Outcome: r.Outcome, At: begun.At, Status: r.Status, Duration: r.Duration, Bytes: r.Bytes, Size: r.Size,
		Digest: r.Digest, Location: r.Location.String(), Problem: r.Problem,
	}
	asked, _ := retryAfter(r)
	out.RetryAfter = min(asked, polite.LongestAsked)
	respell(&out, page, r)
	switch {
	case r.Content:
		out.ContentType = r.MediaType.String()
		out.Validators, out.ETag, out.LastModified = true, r.ETag, r.LastModified
	case r.Outcome == crawl.OutcomeUnchanged: // 304: the last version still stands
		out.Digest = page.Last.Digest
		refresh(&out, page, r)
	case r.Outcome == crawl.OutcomeExcluded: // by its headers: a 304 need not repeat them
		out.Validators = true
	}
	return out
}

// asActivityResult makes failures fail, so that the Temporal UI shows them; the
// workflow reads the same FetchOut from the error.
func asActivityResult(out contract.FetchOut) (contract.FetchOut, error) {
	switch out.Outcome {
	case crawl.OutcomeFailed, crawl.OutcomeTimedOut, crawl.OutcomeThrottled:
		message := out.Problem
		if message == "" {
			message = fmt.Sprintf("%s: HTTP %d %s", out.Outcome, out.Status, http.StatusText(out.Status))
		}
		return out, temporal.NewApplicationErrorWithOptions(message, contract.ErrTypeFetchFailed, temporal.ApplicationErrorOptions{
			NonRetryable: true, Details: []any{out}, Category: temporal.ApplicationErrorCategoryBenign,
		})
	}
	return out, nil
}
