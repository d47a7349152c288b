package activities

import (
	"context"
	"errors"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
	"recrawl/internal/urlkey"
)

const (
	// lookalikes is how many pages that may have a new content are compared with it.
	lookalikes = 32
	// maxWoken bounds how many duplicates of a page that is another now are visited at
	// once; the others find out at their next visit.
	maxWoken = 20
)

// twin is the older page that has a new version's content, or nearly.
type twin struct {
	change.Match
	version int64 // of the older page
	older   crawl.PageRef
}

// twinOf looks for an older page of the crawl with the same content; nil if there
// is none.
func (a *Activities) twinOf(ctx context.Context, page crawl.PageRef, content change.Content) (*twin, error) {
	found, err := a.store.Lookalikes(ctx, store.LookalikeParams{CrawlID: page.CrawlID, Before: page.PageID, Content: content, Limit: lookalikes})
	if err != nil {
		return nil, err
	}
	candidates := make([]change.Candidate, len(found))
	for i, f := range found {
		candidates[i] = change.Candidate{Page: f.PageID, Content: f.Content, Member: f.Member}
	}
	match, ok := content.Match(candidates, change.DefaultThreshold)
	if !ok {
		return nil, nil
	}
	older, err := a.store.Page(ctx, match.Page)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // forgotten meanwhile
	}
	if err != nil {
		return nil, err
	}
	return &twin{Match: match, version: older.Last.ID, older: older.PageRef}, nil
}

// record is what the store keeps of it, nil for none.
func (t *twin) record() *store.DuplicateOf {
	if t == nil {
		return nil
	}
	return &store.DuplicateOf{PageVersion: store.PageVersion{PageID: t.Page, Version: t.version}, Exact: t.Exact, Resemblance: t.Resemblance}
}

// linksOf are the links of a page that are to be followed: none if its twin on the
// same host has them. The links of a mirror lead to other pages than those of what it
// mirrors.
func (t *twin) linksOf(page crawl.PageRef, links []store.Link) []store.Link {
	if t != nil && sameHost(t.older.URL, page.URL) {
		return nil
	}
	return links
}

// sameHost compares the URLs themselves: the pages' Host may be a whole domain.
func sameHost(a, b string) bool {
	x, errX := urlkey.Canonical(a)
	y, errY := urlkey.Canonical(b)
	return errX == nil && errY == nil && x.HostKey() == y.HostKey()
}

// reason says whose duplicate the page is.
func (t *twin) reason() crawl.Reason {
	code := change.CodeNearDuplicate
	if t.Exact {
		code = change.CodeDuplicate
	}
	return crawl.Reason{Code: code, Num: map[string]float64{"resemblance": t.Resemblance}, Text: t.older.URL}
}

// isDuplicate reports whether a page that was just visited has another's content,
// so that it is enough to visit that one. A near-duplicate is visited as any other
// page: what differs today may be what matters tomorrow.
func (a *Activities) isDuplicate(ctx context.Context, page store.PageRecord, in contract.PlanIn) (bool, error) {
	if !in.Fetch.Outcome.Observes() || page.State != crawl.Duplicate && !saysDuplicate(in.Reasons) {
		return false, nil
	}
	known, err := a.store.Duplicate(ctx, page.PageID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	// A record of a version that this visit found does not hold yet.
	return err == nil && known.Exact && (known.Holds || saysDuplicate(in.Reasons)), err
}

func saysDuplicate(reasons []crawl.Reason) bool {
	for _, r := range reasons {
		if r.Code == change.CodeDuplicate {
			return true
		}
	}
	return false
}

// wakeDuplicates has the duplicates of a page visited that has changed, or is
// gone: they may stand for themselves now.
func (a *Activities) wakeDuplicates(ctx context.Context, page crawl.PageRef, outcome crawl.Outcome) error {
	switch outcome {
	case crawl.OutcomeChanged, crawl.OutcomeGone, crawl.OutcomeRedirected, crawl.OutcomeExcluded:
	default:
		return nil
	}
	duplicates, err := a.store.ListDuplicates(ctx, store.DuplicateFilter{CrawlID: page.CrawlID, Of: page.PageID, Limit: maxWoken})
	if err != nil {
		return err
	}
	for _, d := range duplicates {
		if !d.Exact || d.Holds {
			continue
		}
		err := a.workflows.Reschedule(ctx, d.Page, contract.RescheduleArg{Due: time.Now(), Why: "the page that has its content, " + page.URL + ", is another now"})
		if err != nil && !errors.Is(err, temporalkit.ErrNoWorkflow) {
			// The visit is recorded; the duplicate finds out at its next one.
			a.log.Warn("a duplicate could not be told that its other page changed", "page", d.Page.URL, "error", err)
		}
	}
	return nil
}
