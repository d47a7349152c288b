package store

import "context"

// Deletion removes whole crawls.
type Deletion interface {
	// BeginDelete stops a crawl for good: from now on it is there only to be deleted, and
	// OpenCrawl, SetCrawlState and ImportSeeds answer ErrDeleting. Running it again changes
	// nothing.
	BeginDelete(ctx context.Context, name string) (CrawlRecord, error)
	// DeleteCrawl removes a part of what is only the crawl's own: at most Limit pages with
	// all that is known of them, and then, over many calls, the rest. Hosts with their
	// politeness, their robots.txt and tombstones are everybody's, and stay. Digests that no
	// version has any more wait for Unreferenced, unless KeepContents is set. Cut off, a new
	// call goes on.
	DeleteCrawl(ctx context.Context, p DeleteParams) (DeleteResult, error)
}

// DeleteParams are the inputs of DeleteCrawl.
type DeleteParams struct {
	CrawlID      int64
	Limit        int
	KeepContents bool // leave the bytes in the archive: forget that they were the crawl's
}

// DeleteResult is what DeleteCrawl did.
type DeleteResult struct {
	Pages int  // that were removed
	Done  bool // there is nothing left of the crawl
}
