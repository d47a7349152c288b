package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/urlkey"
)

// Limits of the kept parts of an answer's header, in bytes.
const (
	maxValidator = 512
	maxHeaderRaw = 128
	maxProblem   = 300
)

// judge turns an answer into the result, reading its body if it is wanted. An
// error means that the answer did not come whole.
func (x *exchange) judge(ctx context.Context, resp *http.Response) error {
	x.res.Status = resp.StatusCode
	x.res.HostAnswer = HostOK
	x.keepHeader(resp.Header)
	switch code := resp.StatusCode; {
	case code == http.StatusNotModified:
		x.notModified()
	case code == http.StatusPartialContent:
		x.settle(crawl.OutcomeFailed, "the server sent a part of the page, which was not asked for")
	case code >= 200 && code <= 299:
		return x.readBody(ctx, resp)
	case code == http.StatusUseProxy: // its Location is that of a proxy
		x.settle(crawl.OutcomeFailed, statusWords(code))
	case code >= 300 && code <= 399:
		x.redirected(resp.Header.Get("Location"))
	case code == http.StatusNotFound, code == http.StatusGone:
		x.settle(crawl.OutcomeGone, statusWords(code))
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		x.res.HostAnswer = HostThrottled
		x.settle(crawl.OutcomeThrottled, statusWords(code))
	default:
		x.settle(crawl.OutcomeFailed, statusWords(code))
	}
	return nil
}

// settle sets the outcome. Problems quote errors and the web, so all of them are
// cleaned here.
func (x *exchange) settle(o crawl.Outcome, problem string) {
	x.res.Outcome, x.res.Problem = o, crawl.Clean(problem, maxProblem)
}

func statusWords(code int) string {
	return strings.TrimSpace(fmt.Sprintf("the server answered %d %s", code, http.StatusText(code)))
}

// keepHeader keeps the parts of the header that somebody needs later.
func (x *exchange) keepHeader(h http.Header) {
	x.res.ETag = entityTag(validator(h.Get("ETag")))
	x.res.LastModified = validator(h.Get("Last-Modified"))
	x.res.RetryAfter = crawl.Clean(h.Get("Retry-After"), maxHeaderRaw)
	x.res.Date = crawl.Clean(h.Get("Date"), maxHeaderRaw)
	x.res.MediaType = crawl.ParseContentType(crawl.Clean(strings.Join(h.Values("Content-Type"), ","), maxValidator))
	for _, tag := range h.Values("X-Robots-Tag") {
		// All of it, since the order that matters may be the last. Cleaning makes three
		// bytes of one at most.
		x.res.RobotsTags = append(x.res.RobotsTags, crawl.Clean(tag, 3*len(tag)))
	}
	for _, name := range reserve.Headers() {
		for _, value := range h.Values(name) {
			x.res.Stated = append(x.res.Stated, reserve.Header{Name: name, Value: crawl.Clean(value, 3*len(value))})
		}
	}
}

// validator returns a validator that can be sent back as it came, or "": a
// validator that had to be cleaned or cut would never match again.
func validator(value string) string {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) || crawl.Clean(value, maxValidator) != value {
		return ""
	}
	return value
}

// entityTag returns a tag that means one version when it is sent back, or "": the asterisk, alone
// or in a list, means whatever version there is. Other tags that are none by the letter
// (RFC 9110 8.8.3), such as those without quotes, are sent back as they came, since servers
// compare them so.
func entityTag(tag string) string {
	for item := range strings.SplitSeq(tag, ",") {
		if strings.TrimSpace(item) == "*" {
			return ""
		}
	}
	return tag
}

func (x *exchange) notModified() {
	if x.req.ETag == "" && x.req.LastModified == "" {
		x.settle(crawl.OutcomeFailed, "the server answered 304 Not Modified to a request without a condition")
		return
	}
	x.settle(crawl.OutcomeUnchanged, "")
}

func (x *exchange) redirected(location string) {
	if location == "" {
		x.settle(crawl.OutcomeFailed, statusWords(x.res.Status)+" without a place to go to")
		return
	}
	target, spelling, err := urlkey.Redirected(x.req.URL, location)
	switch {
	case err != nil:
		x.settle(crawl.OutcomeFailed, fmt.Sprintf("redirects to %q: %v", crawl.Clean(location, maxHeaderRaw), err))
	case target == x.req.URL && cmp.Or(spelling, target.Target()) != x.req.asked():
		x.res.Spelling = cmp.Or(spelling, target.Target())
		x.settle(crawl.OutcomeRedirected, "")
	case target == x.req.URL:
		// Usually a cookie is wanted. The page is not elsewhere.
		x.settle(crawl.OutcomeFailed, "redirects to itself")
	default:
		x.res.Location, x.res.Spelling = target, spelling
		x.settle(crawl.OutcomeRedirected, "")
	}
}

// wanted reports whether the media type is one of those asked for.
func (x *exchange) wanted(m crawl.MediaType) bool {
	return len(x.req.Accept) == 0 || m.Among(x.req.Accept)
}

// fail turns the error that ended the exchange into the result.
func (x *exchange) fail(ctx context.Context, err error) {
	x.res.Err = err
	x.res.Content = false
	x.res.HostAnswer = HostFailed
	cause := context.Cause(ctx)
	var local localError
	var limit limitError
	var corrupt *corruptError
	switch {
	case errors.As(err, &local):
		x.failLocal(err)
	case errors.As(err, &limit):
		// The host answered; we were the ones who stopped.
		x.res.HostAnswer = HostOK
		x.settle(crawl.OutcomeTooLarge, limit.Error())
	case errors.Is(cause, errFlood):
		x.res.Err = fmt.Errorf("%w: %w", cause, err)
		x.settle(crawl.OutcomeTooLarge, "the host sent far more than a page of the size allowed")
	case errors.Is(cause, errDeadline), errors.Is(cause, errSlow):
		x.res.Err = fmt.Errorf("%w: %w", cause, err)
		x.settle(crawl.OutcomeTimedOut, x.timeoutWords(cause))
	case cause != nil:
		x.failLocal(fmt.Errorf("%w: %w", cause, err))
	case errors.Is(err, errCoding), errors.As(err, &corrupt):
		// A whole answer came, which we cannot read. That is the page's fault.
		x.res.HostAnswer = HostOK
		x.settle(crawl.OutcomeFailed, Explain(err))
	case isHeaderLimit(err):
		if x.res.Sent { // else it is the header of a proxy
			x.res.HostAnswer = HostOK // as with a body that is too large
		}
		x.settle(crawl.OutcomeTooLarge, fmt.Sprintf("the answer's header is larger than %d bytes", x.client.options.MaxHeader))
	case wantsHTTP1(err):
		x.client.http1.note(x.req.URL.Origin())
		x.res.HostAnswer = HostOK
		x.settle(crawl.OutcomeFailed, "the server wants HTTP/1.1 for this page, and gets it the next time")
	case wantsCalm(err):
		x.res.HostAnswer = HostThrottled
		x.settle(crawl.OutcomeThrottled, Explain(err))
	case isTimeout(err):
		x.settle(crawl.OutcomeTimedOut, Explain(err))
	case IsRefused(err):
		x.res.HostAnswer = HostNone
		x.settle(crawl.OutcomeFailed, Explain(err))
	default:
		x.settle(crawl.OutcomeFailed, Explain(err))
	}
}

func (x *exchange) failLocal(err error) {
	x.res.Err, x.res.Local = err, true
	x.res.HostAnswer = HostNone
	if x.res.Status != 0 {
		x.res.HostAnswer = HostOK // it had begun to answer well
	}
	x.settle(crawl.OutcomeFailed, "stopped on our side: "+err.Error())
}

func (x *exchange) timeoutWords(cause error) string {
	if errors.Is(cause, errSlow) {
		return fmt.Sprintf("the body came slower than %d bytes a second over %s", x.client.options.MinRate, x.client.options.Window)
	}
	limit := x.req.Deadline.Sub(x.start).Round(time.Millisecond)
	switch {
	case x.res.Status != 0:
		return fmt.Sprintf("the answer was not complete within %s", limit)
	case x.res.Sent:
		return fmt.Sprintf("no answer within %s", limit)
	}
	return fmt.Sprintf("no connection within %s", limit)
}
