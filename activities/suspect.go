package activities

import (
	"context"
	"errors"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/robots/directive"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// suspectSince is the number of the visit that found something suspect about a page, if
// no version has followed it, else 0.
func suspectSince(page store.PageRecord) int {
	if page.Suspect.Visit <= page.Last.Visit {
		return 0 // a worker of an older release took it for a version
	}
	return page.Suspect.Visit
}

// suspect judges a change: if it does not count yet, the verdict becomes
// OutcomeSuspect.
func (a *Activities) suspect(ctx context.Context, page store.PageRecord, in contract.DetectIn, last, next change.Digests, content extract.Page, out *contract.DetectOut) error {
	if !out.Outcome.Changed() || out.Returned {
		return nil
	}
	why, is, err := a.suspicion(ctx, page, last, next, content)
	if err != nil || !is {
		return err
	}
	since := suspectSince(page)
	outcome, reasons := change.Suspicion(out.Outcome, why, since)
	shared, err := a.shared(ctx, page, in)
	if err != nil {
		return err
	}
	if shared.Doubts() {
		outcome, reasons = shared.Doubted(why, since)
	}
	out.Outcome, out.Reasons = outcome, slices.Concat(out.Reasons, reasons)
	return nil
}

// shared looks whether other pages of the host show a suspect content that a page shows again.
func (a *Activities) shared(ctx context.Context, page store.PageRecord, in contract.DetectIn) (change.Shared, error) {
	since := suspectSince(page)
	if since == 0 || page.Suspect.Digest == "" || page.Suspect.Digest != in.Fetch.Digest {
		return change.Shared{}, nil
	}
	pages, err := a.stores.Pages.Suspecting(ctx, page, in.Fetch.Digest, change.SharedBy)
	return change.Shared{Looks: in.Visit - since, Pages: pages}, err
}

func (a *Activities) suspicion(ctx context.Context, page store.PageRecord, last, next change.Digests, content extract.Page) (why crawl.Reason, is bool, err error) {
	if !change.LittleInCommon(last, next) {
		return why, false, nil
	}
	if why, is = change.SuspectText(content.Title, content.Main); is {
		return why, true, nil
	}
	if why, is = change.SuspectShort(last, next); is {
		return why, true, nil
	}
	front, err := a.frontPage(ctx, page)
	if err != nil {
		return why, false, err
	}
	why, is = change.SuspectFront(next, front)
	return why, is, nil
}

// frontPage returns what the crawl knows about the front page of the page's host, or about
// the page of the same site to which that redirects. It is zero if the crawl knows nothing,
// or if the page is itself the front page.
func (a *Activities) frontPage(ctx context.Context, page store.PageRecord) (change.FrontPage, error) {
	const mostRedirects = 3
	at, err := urlkey.Canonical(page.URL)
	if err != nil || at.Target() == "/" {
		return change.FrontPage{}, nil
	}
	of := at
	if at, err = urlkey.Canonical(at.Origin() + "/"); err != nil {
		return change.FrontPage{}, nil
	}
	for range 1 + mostRedirects {
		found, err := a.stores.Pages.FindPages(ctx, at.String(), page.Crawl)
		if err != nil || len(found) == 0 || found[0].PageID == page.PageID {
			return change.FrontPage{}, err
		}
		front := found[0]
		if front.State != crawl.Redirect {
			return a.frontPageOf(ctx, front)
		}
		visit, err := a.stores.Pages.Visit(ctx, front.PageID, front.Visits)
		if errors.Is(err, store.ErrNotFound) {
			return change.FrontPage{}, nil
		}
		if err != nil {
			return change.FrontPage{}, err
		}
		to, err := urlkey.Canonical(visit.Location)
		if err != nil || !urlkey.SameSite(of, to) {
			return change.FrontPage{}, nil
		}
		at = to
	}
	return change.FrontPage{}, nil
}

// frontPageOf describes the last version of a front page, zero if it has none.
func (a *Activities) frontPageOf(ctx context.Context, front store.PageRecord) (change.FrontPage, error) {
	if front.Last.ID == 0 {
		return change.FrontPage{}, nil
	}
	known, err := a.stores.Pages.Content(ctx, front.Last.ID)
	return change.FrontPage{URL: front.URL, Text: front.Last.TextDigest, Sketch: known.Sketch}, err
}

// suspectRedirect completes a visit that was redirected: to the site's front page, or to a
// wall, it counts only if a second look finds that, too.
func suspectRedirect(page store.PageRecord, in contract.PlanIn) contract.PlanIn {
	f := &in.Fetch
	if f.Outcome != crawl.OutcomeRedirected || page.Last.ID == 0 || page.State == crawl.Redirect || page.Kind != crawl.KindPage {
		return in
	}
	from, err := urlkey.Canonical(page.URL)
	if err != nil {
		return in
	}
	to, err := urlkey.Canonical(f.Location)
	if err != nil {
		return in
	}
	if why, is := change.SuspectRedirect(from, to); is {
		outcome, reasons := change.Suspicion(f.Outcome, why, suspectSince(page))
		f.Outcome, in.Reasons = outcome, slices.Concat(in.Reasons, reasons)
	}
	return in
}

// afterSuspect returns what is suspect about a page after a visit, nil if that stays as it
// was, and the reasons for it.
func afterSuspect(page store.PageRecord, in contract.PlanIn) (*store.Suspect, []crawl.Reason) {
	if in.Fetch.Outcome == crawl.OutcomeSuspect {
		found := store.Suspect{Visit: in.Visit, Digest: in.Fetch.Digest}
		if since := suspectSince(page); since != 0 {
			found.Visit = since // the doubt began there
		}
		if len(directive.AgainstKeeping(in.Reasons)) > 0 {
			found.Digest = ""
		}
		return &found, nil
	}
	settled, why := change.AfterSuspect(in.Fetch.Outcome, suspectSince(page))
	if !settled {
		return nil, nil
	}
	return &store.Suspect{}, why
}

// discardSuspect deletes the bytes of a page's suspect content, if a visit with this
// outcome settles it. Bytes that now belong to a version stay.
func (a *Activities) discardSuspect(ctx context.Context, page store.PageRecord, outcome crawl.Outcome) error {
	if settled, _ := change.AfterSuspect(outcome, suspectSince(page)); !settled || page.Suspect.Digest == "" {
		return nil
	}
	return a.stores.Contents.Discard(ctx, []string{page.Suspect.Digest})
}
