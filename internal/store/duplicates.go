package store

import (
	"context"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
)

// Duplicates keeps the data for comparing the contents of pages, and records which pages of
// a crawl have the same, or nearly the same, content as another one, the original.
//
// A page has the content of its last version (see PageRecord.Last). SaveVersion stores
// it; RecordVisit makes it the page's and removes the previous one. Only pages that
// represent their content are compared with others: those that are Active, Failing or
// Duplicate.
type Duplicates interface {
	// Content returns the content of a page's last version, given by its id, or the zero
	// Content if it is not known.
	Content(ctx context.Context, version int64) (change.Content, error)
	// Contents lists the contents of a crawl's pages in order of page id after After,
	// at most limit.
	Contents(ctx context.Context, crawlID, after int64, limit int) ([]ContentRecord, error)
	// Lookalikes returns pages that may have the given content, the likeliest first: they
	// share one of its keys (see change.Content.Keys). Of the pages that share a key it
	// checks only the LookalikeDepth oldest. So the answer takes no longer when a key is
	// everywhere, and large clusters are found by their oldest page.
	Lookalikes(ctx context.Context, p LookalikeParams) ([]ContentRecord, error)
	// KeySharers returns, in order, the ids of those of the contents' pages that share a key
	// with another page of the crawl. Those that it leaves out have no lookalikes. It may name
	// a page that has none either, as long as the other one's visit is not recorded.
	KeySharers(ctx context.Context, crawlID int64, contents []ContentRecord) ([]int64, error)
	// ContentsOf returns the contents of some pages, of those that represent theirs, in no
	// order.
	ContentsOf(ctx context.Context, pages []int64) ([]ContentRecord, error)
	// Unlooked lists pages of a crawl, in order of page id after After, whose content is
	// newer than the last MarkLooked of them, at most limit. A version counts once its
	// visit is recorded.
	Unlooked(ctx context.Context, crawlID, after int64, limit int) ([]int64, error)
	// Unsettled lists pages of a crawl, in order of page id after After, whose records need
	// a check, at most limit: the record no longer holds, or says that an active page has
	// the same content as another. Records of versions whose visit is not recorded are left
	// out.
	Unsettled(ctx context.Context, crawlID, after int64, limit int) ([]int64, error)
	// MarkLooked notes that contents have been compared with all others, and that those of
	// some other pages are to be compared again.
	MarkLooked(ctx context.Context, looked []PageVersion, again []int64) error
	// SettleDuplicates makes pages of a crawl Duplicate, and others Active again, unless
	// they have other versions by now or other states than Active and Duplicate. It moves
	// the next visits of those that it changes, if they sleep. It returns the pages that
	// now have these states, including those that had them before.
	SettleDuplicates(ctx context.Context, crawlID int64, settled []Settlement) ([]PageRecord, error)
	// Duplicate returns the page that a page is known to duplicate, or ErrNotFound if
	// there is none.
	Duplicate(ctx context.Context, pageID int64) (DuplicateRecord, error)
	// ListDuplicates lists a crawl's duplicates cluster by cluster: in the order of the
	// pages that they duplicate, then of their own ids.
	ListDuplicates(ctx context.Context, f DuplicateFilter) ([]DuplicateRecord, error)
	// UpdateDuplicates replaces the records of some pages of a crawl. It does not touch
	// records of a later version of a page, and keeps nothing about pages that do not
	// exist.
	UpdateDuplicates(ctx context.Context, p UpdateDuplicatesParams) error
	// Mirrors lists pairs of a crawl's hosts with the same contents, those that share the
	// most first.
	Mirrors(ctx context.Context, crawlID int64, limit int) ([]MirrorRecord, error)
	// SetMirrors replaces a crawl's pairs of hosts with these, at most MaxMirrors. They
	// name hosts by id.
	SetMirrors(ctx context.Context, crawlID int64, mirrors []change.Mirror) error
}

const (
	// LookalikeDepth is how many of the pages that share a key are checked.
	LookalikeDepth = 64
	// MaxMirrors is the most pairs of hosts that are kept for a crawl.
	MaxMirrors = 1000
)

// ContentRecord is a page with its content.
type ContentRecord struct {
	PageID  int64
	HostID  int64
	Version int64 // id of the version that has the content
	State   crawl.PageState
	NextAt  time.Time
	// URL is the page's, Canonical the canonical page that the version names.
	URL, Canonical string
	// Of is the record of the page with this version, zero if there is none.
	Of DuplicateOf
	change.Content
}

// Member reports whether the page is recorded as the near-duplicate of another.
func (c ContentRecord) Member() bool { return c.Of.PageID != 0 && !c.Of.Exact }

// Copies reports whether the page is recorded as having the same content as another.
func (c ContentRecord) Copies() bool { return c.Of.PageID != 0 && c.Of.Exact }

// Settlement is a finding about a page: it is a duplicate, or no longer one.
type Settlement struct {
	PageVersion
	Duplicate bool
	NextAt    time.Time // of its next visit
}

// LookalikeParams are the inputs of Lookalikes.
type LookalikeParams struct {
	CrawlID int64
	// Page has the content. It is not among the answers.
	Page int64
	change.Content
	// Limit is how many pages are compared. Of these, the answer has the ones with the same
	// content, or one that resembles it by Least or more; 0 leaves none out.
	Limit int
	Least float64
}

// DuplicateOf is the page that a page duplicates.
type DuplicateOf struct {
	PageVersion
	// Exact: the contents are the same, not only nearly.
	Exact bool
	// Resemblance, in (0, 1], is that of the two contents.
	Resemblance float64
}

// PageVersion is a page with the id of its version that was compared.
type PageVersion struct{ PageID, Version int64 }

// DuplicateRecord is a page that is a duplicate, as stored.
type DuplicateRecord struct {
	Page        crawl.PageRef
	Version     int64 // id of the page's version that was compared
	Of          crawl.PageRef
	OfVersion   int64
	Exact       bool // see DuplicateOf
	Resemblance float64
	At          time.Time
	// Holds: both pages still have the contents that were compared, and the other one is
	// visited as usual. If false, the page should be visited.
	Holds bool
	// Pending: the visit that found the page's version is not recorded yet.
	Pending bool
}

// DuplicateFilter chooses duplicates of a crawl; zero fields choose all.
type DuplicateFilter struct {
	CrawlID int64
	Of      int64 // only duplicates of this page
	// AfterOf and After are the ids of Of and of Page in the last record that was listed.
	AfterOf, After int64
	Limit          int
}

// UpdateDuplicatesParams are the inputs of UpdateDuplicates.
type UpdateDuplicatesParams struct {
	CrawlID int64
	Set     []NewDuplicate
	Unset   []PageVersion // no longer duplicates
}

// NewDuplicate is a page that was found to be a duplicate.
type NewDuplicate struct {
	PageVersion
	Of DuplicateOf
}

// MirrorRecord is a pair of hosts with the same contents.
type MirrorRecord struct {
	A, B   string // host keys
	Shared int    // contents that both have
	OfA    int    // contents that A has
	OfB    int
}
