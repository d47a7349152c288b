package store

import (
	"context"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
)

// Duplicates keeps what the pages' contents are compared by, and which pages of a
// crawl have the same content as an older one, or nearly.
//
// A page has the content of its last version (see PageRecord.Last): SaveVersion
// brings it, RecordVisit makes it the page's and removes the one before. Only
// pages that stand for their content are compared with others: those that are
// Active, Failing or Duplicate.
type Duplicates interface {
	// Content returns what a page's last version, given by its id, is compared by;
	// the zero Content if that is not known.
	Content(ctx context.Context, version int64) (change.Content, error)
	// Contents lists the contents of a crawl's pages in order of page id after After,
	// at most limit.
	Contents(ctx context.Context, crawlID, after int64, limit int) ([]ContentRecord, error)
	// Lookalikes returns pages that may have the content that was looked for, those
	// that most likely have it first: they share one of its keys (see
	// change.Content.Keys). Of the pages that share a key only the LookalikeDepth
	// oldest are looked at, so that the answer takes the same time when a key is
	// everywhere, and large clusters are found by their oldest.
	Lookalikes(ctx context.Context, p LookalikeParams) ([]ContentRecord, error)
	// Duplicate says whose duplicate a page is known to be; ErrNotFound if it is
	// nobody's.
	Duplicate(ctx context.Context, pageID int64) (DuplicateRecord, error)
	// ListDuplicates lists a crawl's duplicates cluster by cluster: in the order of
	// the pages they are duplicates of, and then of their own ids.
	ListDuplicates(ctx context.Context, f DuplicateFilter) ([]DuplicateRecord, error)
	// UpdateDuplicates replaces what is known of some pages of a crawl. It leaves
	// what was written about a later version of a page, and nothing is kept of pages
	// that do not exist.
	UpdateDuplicates(ctx context.Context, p UpdateDuplicatesParams) error
	// Mirrors lists pairs of a crawl's hosts with the same contents, those that share
	// most first.
	Mirrors(ctx context.Context, crawlID int64, limit int) ([]MirrorRecord, error)
	// SetMirrors replaces a crawl's pairs of hosts, at most MaxMirrors, by these,
	// which name hosts by id.
	SetMirrors(ctx context.Context, crawlID int64, mirrors []change.Mirror) error
}

const (
	// LookalikeDepth is how many of the pages that share a key are looked at.
	LookalikeDepth = 64
	// MaxMirrors is how many pairs of hosts are kept of a crawl.
	MaxMirrors = 1000
)

// ContentRecord is a page with what its content is compared by.
type ContentRecord struct {
	PageID  int64
	HostID  int64
	Version int64 // id of the version that has the content
	// Member: the page is recorded as the near-duplicate of another.
	Member bool
	change.Content
}

// LookalikeParams are the inputs of Lookalikes.
type LookalikeParams struct {
	CrawlID int64
	// Before is the page whose content it is: only older pages, of lower ids, are
	// looked for, since the oldest stands for a cluster.
	Before int64
	change.Content
	Limit int
}

// DuplicateOf is the older page that a page is a duplicate of.
type DuplicateOf struct {
	PageVersion
	// Exact: the contents are the same, not only nearly.
	Exact bool
	// Resemblance is in (0, 1]: of the two contents, or of the page's and the one of
	// its cluster that is nearest to it.
	Resemblance float64
}

// PageVersion is a page with the id of the version of it that was compared.
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
	// Holds: both pages still have the contents that were compared, and the older
	// one is visited as usual. When it does not hold the page should be visited.
	Holds bool
}

// DuplicateFilter chooses duplicates of a crawl; zero fields choose all.
type DuplicateFilter struct {
	CrawlID int64
	Of      int64 // only those of this page
	// AfterOf and After are the ids of Of and of Page of the last one that was
	// listed.
	AfterOf, After int64
	Limit          int
}

// UpdateDuplicatesParams are the inputs of UpdateDuplicates.
type UpdateDuplicatesParams struct {
	CrawlID int64
	Set     []NewDuplicate
	Unset   []PageVersion // duplicates no more
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
