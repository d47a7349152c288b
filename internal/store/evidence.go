package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
)

// Evidence answers the questions of a site's owner about a host: which requests were made,
// and what the host's robots.txt said at the time.
type Evidence interface {
	// CrawlsAt lists the crawls that have pages at a host, by name; ErrNotFound if the host
	// is not known.
	CrawlsAt(ctx context.Context, host string) ([]CrawlAt, error)
	// RobotsHistory lists the robots.txt files of a host's origins, by origin and time. The
	// last entry of an origin is the current one. At most MaxRobotsKept entries before it
	// are kept, and fewer of long files.
	RobotsHistory(ctx context.Context, host string) ([]RobotsEpoch, error)
	// HostRequests lists the recorded visits, where still kept, that made a request for a
	// page of a host. One call covers a bounded part of its pages.
	HostRequests(ctx context.Context, p HostRequestParams) (HostRequestsPage, error)
}

// CrawlAt is a crawl that has pages at a host.
type CrawlAt struct {
	CrawlRecord
	HostID int64
	Pages  int64 // of the crawl at the host
}

// Bounds of the history of an origin's robots.txt.
const (
	MaxRobotsKept     = 20
	MaxRobotsTextKept = 1 << 20 // characters of their texts together; the newest stays in any case
)

// RobotsEpoch is the content of an origin's robots.txt during a time.
type RobotsEpoch struct {
	Origin string
	// Since is when it was first found so, and Until when it was found otherwise: zero if
	// it still holds.
	Since, Until time.Time
	State        RobotsState
	Status       int    // HTTP status, 0 if there was no answer
	Text         string // if State is RobotsParsed
	TextDigest   string
	CrawlDelay   time.Duration
	Problem      string // why it was unreachable, in words
}

// HostRequestParams are the inputs of HostRequests.
type HostRequestParams struct {
	HostID int64
	Since  time.Time // visits that began at or after it
	// After is where the list begins: the Next of the previous part.
	After PageCursor
	Pages int // the most pages to look at
}

// PageCursor is a place in a host's pages.
type PageCursor struct {
	CrawlID, PageID int64
}

// HostRequestsPage is a part of a host's requests.
type HostRequestsPage struct {
	// Pages is how many pages were read.
	Pages    int
	Requests []HostRequest // by page and visit
	Next     *PageCursor   // nil at the end
}

// HostRequest is one request for a page of a host.
type HostRequest struct {
	CrawlID  int64
	URL      string
	At       time.Time // its begin
	Duration time.Duration
	Outcome  crawl.Outcome
	Status   int
	Reasons  []crawl.Reason // only of a request that was throttled
}
