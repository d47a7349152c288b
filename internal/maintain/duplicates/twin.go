package duplicates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// lookalikes is how many pages that may have a new content are compared with it.
const lookalikes = 32

// maxFreed bounds how many duplicates of a changed page are visited at once; the others
// find out at their next visit.
const maxFreed = 20

// Of the twins on a page's host, ledBy are asked where they lead, each about ledMore links more
// than the page has.
const (
	ledBy   = 4
	ledMore = 1000
)

// TwinStore is the part of a store that the search for one page's twins uses.
type TwinStore interface {
	Lookalikes(ctx context.Context, p store.LookalikeParams) ([]store.ContentRecord, error)
	LinksOf(ctx context.Context, pages []int64, each int) ([]store.FoundLink, error)
}

// RecordStore has a store's records of duplicates.
type RecordStore interface {
	Duplicate(ctx context.Context, pageID int64) (store.DuplicateRecord, error)
	ListDuplicates(ctx context.Context, f store.DuplicateFilter) ([]store.DuplicateRecord, error)
}

// Fetched is a new version of a page, to be compared with other pages.
type Fetched struct {
	Page      crawl.PageRef
	Canonical string // the canonical page that it names
	change.Content
}

// Twins are a visit's findings about pages with a new version's content, or nearly the
// same. It sees only pages whose visits are recorded; maintenance checks again.
type Twins struct {
	// Original is the page that the visited one duplicates. It is nil if there is none,
	// and if the visited page has the best claim itself: maintenance then makes the
	// others its duplicates.
	Original *Twin

	page string                // the visited page's URL
	near []store.ContentRecord // its twins on the same host
}

// Twin is a page with a new version's content, or nearly.
type Twin struct {
	change.Match
	Version int64
	URL     string
}

// TwinsOf looks for other pages of the crawl with the same content, or one that resembles
// it by at least the threshold.
func TwinsOf(ctx context.Context, s TwinStore, f Fetched, threshold float64) (Twins, error) {
	t := Twins{page: f.Page.URL}
	found, err := s.Lookalikes(ctx, store.LookalikeParams{
		CrawlID: f.Page.CrawlID, Page: f.Page.PageID, Content: f.Content, Limit: lookalikes, Least: cmp.Or(threshold, change.DefaultThreshold),
	})
	if err != nil {
		return t, err
	}
	candidates := make([]change.Candidate, len(found))
	for i, other := range found {
		candidates[i] = candidateOf(other)
		if f.Compare(candidates[i]).Exact {
			t.add(other)
		}
	}
	match, ok := f.Match(candidates, threshold)
	if !ok {
		return t, nil
	}
	other := found[slices.IndexFunc(found, func(c store.ContentRecord) bool { return c.PageID == match.Page })]
	if match.Resemblance >= change.DefaultThreshold && !match.Exact {
		t.add(other)
	}
	if match.Claim.Compare(change.NewClaim(f.Page.URL, f.Canonical)) < 0 {
		t.Original = &Twin{Match: match, Version: other.Version, URL: other.URL}
	}
	return t, nil
}

func candidateOf(c store.ContentRecord) change.Candidate {
	return change.Candidate{Page: c.PageID, Content: c.Content, Member: c.Member(), Claim: change.NewClaim(c.URL, c.Canonical)}
}

// Record is the store's record of it, nil for none.
func (t Twins) Record() *store.DuplicateOf {
	o := t.Original
	if o == nil {
		return nil
	}
	return &store.DuplicateOf{PageVersion: store.PageVersion{PageID: o.Page, Version: o.Version}, Exact: o.Exact, Resemblance: o.Resemblance}
}

// add notes a twin that is on the same host.
func (t *Twins) add(other store.ContentRecord) {
	if sameHost(other.URL, t.page) && len(t.near) < ledBy {
		t.near = append(t.near, other)
	}
}

// LinksOf returns the links of the page that should be followed. If it has a twin on the same
// host, whether or not that is the original, these are the links that lead to pages of their
// own: see trap.Leads. The links of a mirror lead to other pages than those of its original,
// and a near version has its own links.
func (t Twins) LinksOf(ctx context.Context, s TwinStore, links []store.Link) ([]store.Link, error) {
	if len(t.near) == 0 || len(links) == 0 {
		return links, nil
	}
	ids, urls := make([]int64, len(t.near)), map[int64]urlkey.URL{}
	for i, other := range t.near {
		ids[i] = other.PageID
		urls[other.PageID], _ = urlkey.Canonical(other.URL) // sameHost has parsed it
	}
	found, err := s.LinksOf(ctx, ids, len(links)+ledMore)
	if err != nil {
		return nil, err
	}
	page, err := urlkey.Canonical(t.page)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", t.page, err)
	}
	leads := trap.NewLeads(page)
	for _, l := range found {
		if to, err := urlkey.Canonical(l.URL); err == nil {
			leads.Add(urls[l.From], to)
		}
	}
	return slices.DeleteFunc(slices.Clone(links), func(l store.Link) bool {
		to, err := urlkey.Canonical(l.URL)
		return err != nil || l.Refused != "" || l.NoFollow || leads.Has(to)
	}), nil
}

// sameHost compares the URLs themselves: the pages' Host may be a whole domain.
func sameHost(a, b string) bool {
	x, errX := urlkey.Canonical(a)
	y, errY := urlkey.Canonical(b)
	return errX == nil && errY == nil && x.HostKey() == y.HostKey()
}

// Reasons say whose duplicate the page is, if it is one.
func (t Twins) Reasons() []crawl.Reason {
	if t.Original == nil {
		return nil
	}
	code := change.CodeNearDuplicate
	if t.Original.Exact {
		code = change.CodeDuplicate
	}
	return []crawl.Reason{{Code: code, Num: map[string]float64{"resemblance": t.Original.Resemblance}, Text: t.Original.URL}}
}

// Exact reports whether a page that was just visited, with an outcome and its reasons, has
// another's content, so that visiting that one is enough. A near-duplicate is visited like
// any other page: today's differences may matter tomorrow.
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
	if !outcome.FreesDuplicates() {
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
