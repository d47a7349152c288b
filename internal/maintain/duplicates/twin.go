package duplicates

import (
	"context"
	"errors"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// lookalikes is how many pages that may have a new content are compared with it.
const lookalikes = 32

// maxFreed bounds how many duplicates of a page that is another now are visited at once;
// the others find out at their next visit.
const maxFreed = 20

// TwinStore is what the search for one page's twin needs of a store.
type TwinStore interface {
	Lookalikes(ctx context.Context, p store.LookalikeParams) ([]store.ContentRecord, error)
	Page(ctx context.Context, pageID int64) (store.PageRecord, error)
}

// RecordStore is what is known of duplicates, in a store.
type RecordStore interface {
	Duplicate(ctx context.Context, pageID int64) (store.DuplicateRecord, error)
	ListDuplicates(ctx context.Context, f store.DuplicateFilter) ([]store.DuplicateRecord, error)
}

// Twin is the older page that has a new version's content, or nearly.
type Twin struct {
	change.Match
	Version int64 // of the older page
	Older   crawl.PageRef
}

// TwinOf looks for an older page of the crawl with the same content; nil if there
// is none.
func TwinOf(ctx context.Context, s TwinStore, page crawl.PageRef, content change.Content) (*Twin, error) {
	found, err := s.Lookalikes(ctx, store.LookalikeParams{CrawlID: page.CrawlID, Before: page.PageID, Content: content, Limit: lookalikes})
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
	older, err := s.Page(ctx, match.Page)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // forgotten meanwhile
	}
	if err != nil {
		return nil, err
	}
	return &Twin{Match: match, Version: older.Last.ID, Older: older.PageRef}, nil
}

// Record is what the store keeps of it, nil for none.
func (t *Twin) Record() *store.DuplicateOf {
	if t == nil {
		return nil
	}
	return &store.DuplicateOf{PageVersion: store.PageVersion{PageID: t.Page, Version: t.Version}, Exact: t.Exact, Resemblance: t.Resemblance}
}

// LinksOf are the links of a page that are to be followed: none if its twin on the
// same host has them. The links of a mirror lead to other pages than those of what it
// mirrors.
func (t *Twin) LinksOf(page crawl.PageRef, links []store.Link) []store.Link {
	if t != nil && sameHost(t.Older.URL, page.URL) {
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

// Reason says whose duplicate the page is.
func (t *Twin) Reason() crawl.Reason {
	code := change.CodeNearDuplicate
	if t.Exact {
		code = change.CodeDuplicate
	}
	return crawl.Reason{Code: code, Num: map[string]float64{"resemblance": t.Resemblance}, Text: t.Older.URL}
}

// Exact reports whether a page that was just visited, with an outcome and its reasons, has
// another's content, so that it is enough to visit that one. A near-duplicate is visited
// as any other page: what differs today may be what matters tomorrow.
func Exact(ctx context.Context, s RecordStore, page store.PageRecord, outcome crawl.Outcome, reasons []crawl.Reason) (bool, error) {
	says := slices.ContainsFunc(reasons, func(r crawl.Reason) bool { return r.Code == change.CodeDuplicate })
	if !outcome.Observes() || page.State != crawl.Duplicate && !says {
		return false, nil
	}
	known, err := s.Duplicate(ctx, page.PageID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	// A record of a version that this visit found does not hold yet.
	return err == nil && known.Exact && (known.Holds || says), err
}

// Freed are duplicates of a page that has changed, or is gone, with an outcome: they may
// stand for themselves now.
func Freed(ctx context.Context, s RecordStore, page crawl.PageRef, outcome crawl.Outcome) ([]crawl.PageRef, error) {
	switch outcome {
	case crawl.OutcomeChanged, crawl.OutcomeReturned, crawl.OutcomeGone, crawl.OutcomeRedirected, crawl.OutcomeExcluded:
	default:
		return nil, nil
	}
	known, err := s.ListDuplicates(ctx, store.DuplicateFilter{CrawlID: page.CrawlID, Of: page.PageID, Limit: maxFreed})
	if err != nil {
		return nil, err
	}
	var freed []crawl.PageRef
	for _, d := range known {
		if d.Exact && !d.Holds {
			freed = append(freed, d.Page)
		}
	}
	return freed, nil
}
