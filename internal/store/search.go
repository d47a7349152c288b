package store

import (
	"context"

	"recrawl/internal/crawl"
)

// Search finds pages and hosts by a part of their names, which no index has. Each call
// reads only some thousands, so that it takes no longer in a crawl of a million pages
// than in a small one: it may return few, or none, though there are more. Go on from
// Through while More is set.
type Search interface {
	// SearchPages lists pages by id after After.
	SearchPages(ctx context.Context, q PageSearch) (PagesFound, error)
	// SearchHosts lists hosts on which the crawl has pages in the order of their keys.
	SearchHosts(ctx context.Context, q HostSearch) (HostsFound, error)
}

// SearchStep is how many pages of each state, or hosts, one call of a search reads.
const SearchStep = 10_000

// PageSearch chooses pages of a crawl; zero fields choose all.
type PageSearch struct {
	CrawlID int64
	States  []crawl.PageState
	Host    string
	// Prefix is how the URL begins. Text stands somewhere in it; in ASCII, case does not
	// matter.
	Prefix, Text string
	After        int64 // page id, exclusive
	Limit        int
}

// PagesFound is a part of the results of a search.
type PagesFound struct {
	Pages []PageRecord
	// Through is how far the call read: After of the next call, if there may be More.
	Through int64
	More    bool
}

// HostSearch chooses hosts of a crawl; zero fields choose all.
type HostSearch struct {
	CrawlID int64
	Host    string // only this one
	Text    string // stands somewhere in the name
	After   string // host key, exclusive
	Limit   int
}

// HostsFound is a part of the results of a search.
type HostsFound struct {
	Hosts   []HostRecord
	Through string
	More    bool
}
