package store

import "context"

// Deletion removes whole crawls.
type Deletion interface {
	// BeginDelete stops a crawl for good. From then on the crawl can only be deleted:
	// OpenCrawl, SetCrawlState and ImportSeeds answer ErrDeleting. Running it again changes
	// nothing.
	BeginDelete(ctx context.Context, name string) (CrawlRecord, error)
	// DeleteCrawl removes a part of what belongs to the crawl alone: at most Limit pages
	// with everything known about them, and then, over many calls, the rest. Hosts, with
	// their politeness, robots.txt and tombstones, belong to all crawls, and stay.
	// Digests that no version has any more wait for Unreferenced, unless KeepContents is
	// set. If a call is cut off, the next one continues.
	DeleteCrawl(ctx context.Context, p DeleteParams) (DeleteResult, error)
}

// DeleteParams are the inputs of DeleteCrawl.
type DeleteParams struct {
	CrawlID      int64
	Limit        int
	KeepContents bool // leave the bytes in the archive, and forget that the crawl had them
	// KeepRow leaves the crawl's row, by which the same command finds what else there is to
	// remove; it is done when nothing else is left.
	KeepRow bool
}

// DeleteResult is the result of DeleteCrawl.
type DeleteResult struct {
	Pages int  // removed pages
	Done  bool // nothing is left of the crawl
}
