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
	// Hosts returns those of these hosts, given by id, that the crawl has pages of, in
	// no order.
	Hosts(ctx context.Context, crawlID int64, ids []int64) ([]HostRecord, error)
	// TroubledHosts lists hosts of the crawl of which nothing can be fetched for now, at
	// most limit, and counts them all, up to MaxTroubled: those that are blocked or in
	// back-off, and those with a robots.txt that cannot be had or forbids everything.
	TroubledHosts(ctx context.Context, crawlID int64, limit int) (hosts []HostRecord, total int, err error)
	// Standings says of pages what they wait for besides their time, by page id; pages
	// that do not exist are left out.
	Standings(ctx context.Context, pages []int64) (map[int64]Standing, error)
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

// MaxTroubled is up to how many hosts in trouble TroubledHosts counts.
const MaxTroubled = 10_000

// Standing is what a page waits for besides its time; the zero Standing is nothing.
type Standing struct {
	// Promised is when the page's place in its host's line is to be served, zero if it
	// stands in none.
	Promised time.Time
	// Underway: its permit is granted or its request made.
	Underway bool
	// Excluded is what the last visit said of an Excluded page: the line of robots.txt,
	// or the rule of the scope.
	Excluded string
	// Trap is the name of the trap that holds it, "" for none.
	Trap string
	// Evicted is its last eviction; a zero At is none that is kept. By is the URL of
	// the page that took its place, if one did.
	Evicted struct {
		At     time.Time
		By     string
		Reason crawl.Reason
	}
}

// HostRecord is a host's politeness in numbers.
type HostRecord struct {
	ID           int64
	Host         string
	Delay        time.Duration // the gap that holds now
	GapReason    crawl.Reason  // why it is that long, see package polite
	NextFree     time.Time
	BackoffUntil time.Time
	BackoffLevel int
	// BackoffReason is why BackoffUntil was set, see package polite; zero if it never was.
	BackoffReason crawl.Reason
	// Failures are connections that failed in a row.
	Failures   int
	Mean       time.Duration // mean duration of a request
	CrawlDelay time.Duration
	// Capped: CrawlDelay is more than the crawl's max_crawl_delay, so that the host
	// is asked faster than it wants.
	Capped   bool
	Waiting  int
	InFlight bool
	Blocked  bool
	// Unvisited are the crawl's pages of the host that were never visited, and Visited
	// those that were and live.
	Unvisited, Visited int64
	Robots             []RobotsRecord
	Ranked             *HostRank // nil before the first ranking that knows it
}
