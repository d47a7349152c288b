package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
)

// Reports answers people's questions; nothing in it writes.
type Reports interface {
	// Status counts a crawl's pages by state and its recent visits by outcome.
	Status(ctx context.Context, crawlID int64) (StatusRecord, error)
	// ListPages lists pages by id after After that pass the filter.
	ListPages(ctx context.Context, f PageFilter) ([]PageRecord, error)
	// ListVisits lists a page's visits, newest first, below visit number Before
	// (0: from the newest).
	ListVisits(ctx context.Context, pageID int64, before, limit int) ([]VisitRecord, error)
	// ListVersions lists a page's versions, newest first, below number Before (0:
	// from the newest), without their heads. Versions of visits that are not
	// recorded yet are left out.
	ListVersions(ctx context.Context, pageID int64, before, limit int) ([]VersionRecord, error)
	// Version returns one version by its number, or ErrNotFound.
	Version(ctx context.Context, pageID int64, seq int) (VersionRecord, error)
	// ListHosts lists the hosts of a crawl by host key after After.
	ListHosts(ctx context.Context, crawlID int64, after string, limit int) ([]HostRecord, error)
}

// StatusRecord is a crawl in numbers.
type StatusRecord struct {
	Pages    map[crawl.PageState]int
	Outcomes map[crawl.Outcome]int // of all visits so far
	Visits   int
	Versions int
	Links    int
	Waiting  int           // in lines
	Overdue  int           // due, living, not in a line
	Lag      time.Duration // of the most overdue page
	Backoff  int           // hosts in back-off
	Hosts    int
	LastHour int // visits in the last hour
	NextDue  time.Time
}

// PageFilter chooses pages; zero fields choose all.
type PageFilter struct {
	CrawlID      int64
	States       []crawl.PageState
	Host         string
	ChangedSince time.Time
	After        int64
	Limit        int
}

// HostRecord is a host's politeness in numbers.
type HostRecord struct {
	ID           int64
	Host         string
	Delay        time.Duration // the gap that holds now
	NextFree     time.Time
	BackoffUntil time.Time
	BackoffLevel int
	Mean         time.Duration // mean duration of a request
	CrawlDelay   time.Duration
	// Capped: CrawlDelay is more than the crawl's max_crawl_delay, so that the host
	// is asked faster than it wants.
	Capped   bool
	Waiting  int
	InFlight bool
	Blocked  bool
	Robots   []RobotsRecord
}
