package store

import (
	"context"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/crawl"
)

// Reports answers people's questions. It only reads.
type Reports interface {
	// Status counts a crawl's pages by state and its recent visits by outcome.
	Status(ctx context.Context, crawlID int64) (StatusRecord, error)
	// ListPages lists the pages that pass the filter, by id after After.
	ListPages(ctx context.Context, f PageFilter) ([]PageRecord, error)
	// ListVisits lists a page's visits, newest first, below visit number before (0: from
	// the newest).
	ListVisits(ctx context.Context, pageID int64, before, limit int) ([]VisitRecord, error)
	// RecentVisits lists the last visits of pages, at most each of a page, in the order of
	// page and visit. It reads only the columns of VisitLook.
	RecentVisits(ctx context.Context, pages []int64, each int) ([]VisitLook, error)
	// ListVersions lists a page's versions, newest first, below number before (0: from the
	// newest), without their heads. It leaves out versions of visits that are not recorded
	// yet.
	ListVersions(ctx context.Context, pageID int64, before, limit int) ([]VersionRecord, error)
	// Version returns one version by its number, or ErrNotFound.
	Version(ctx context.Context, pageID int64, seq int) (VersionRecord, error)
	// ListHosts lists hosts on which the crawl has pages, in the order of their keys; if
	// IDs is set, it lists those in no order.
	ListHosts(ctx context.Context, f HostFilter) ([]HostRecord, error)
	// HostsNamed returns the keys of the hosts that a person may mean by host, out of those
	// at which some crawl has pages or sources: host itself first, then others of that name,
	// with and without "www.", at any port. It returns at most limit.
	HostsNamed(ctx context.Context, host string, limit int) ([]string, error)
	// TroubledHosts lists at most limit hosts of the crawl from which nothing can be fetched
	// for now, and counts them all, up to MaxTroubled: hosts that are blocked or in
	// back-off, and hosts whose robots.txt is unreachable or forbids everything.
	TroubledHosts(ctx context.Context, crawlID int64, limit int) (hosts []HostRecord, total int, err error)
	// Standings returns, by page id, what pages wait for besides their due time. It leaves
	// out pages that do not exist.
	Standings(ctx context.Context, pages []int64) (map[int64]Standing, error)
}

// VisitLook is a short form of a visit.
type VisitLook struct {
	PageID  int64
	Visit   int
	At      time.Time
	Outcome crawl.Outcome
	State   crawl.PageState // of the page after the visit
}

// StatusRecord is a crawl in numbers.
type StatusRecord struct {
	Pages    map[crawl.PageState]int
	Outcomes map[crawl.Outcome]int // of all visits so far
	Visits   int
	Versions int
	Links    int
	Waiting  int // in lines
	Overdue  int // due, living, not in a line
	// OverdueMore says that there may be overdue pages that were not counted.
	OverdueMore bool
	Lag         time.Duration // of the most overdue page
	Backoff     int           // hosts in back-off
	Blocked     int           // hosts that an operator has blocked
	Hosts       int
	LastHour    int // visits in the last hour
	Evicted     int // evictions of the last EvictionsKept
	NextDue     time.Time
	// Foresight counts the visits whose outcome was foreseen, by the chance of a change:
	// the first from 0 to 0.1, the last from 0.9 to 1.
	Foresight [ForesightBins]Foresight
	// Days are the last DaysKept days (UTC) with visits, in their order, today included.
	Days []Day
	// Bound is the most pages of all crawls that may be on their way to their first visit
	// at a time; Demand is how many are.
	Bound  admission.Bound
	Demand admission.Demand
	// Delays are the automatic delays of the crawl's hosts; zero if it has a fixed delay.
	Delays Delays
}

// Delays are the current automatic delays of those of a crawl's hosts that have been asked.
type Delays struct {
	Hosts int
	Sum   time.Duration
	// UpTo counts the hosts whose delay is at most that of DelayBounds; nil without hosts.
	UpTo []int
}

// DelayBounds are the bounds by which Delays counts.
var DelayBounds = [...]time.Duration{
	1250 * time.Millisecond, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second, 7500 * time.Millisecond,
	10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute,
}

// DaysKept is the number of days for which StatusRecord.Days has counts.
const DaysKept = 30

// Day sums up the visits of one day.
type Day struct {
	Start   time.Time // midnight, UTC
	Visits  int
	Changes int // visits that found a change
	// Due counts the visits that were due at a time: all except the first visits of pages.
	// Late is the sum of the times by which they came after it.
	Due  int
	Late time.Duration
}

// ForesightBins is the number of classes of foreseen chances.
const ForesightBins = 10

// Foresight is how well changes were foreseen: of a number of visits, Chance is the sum of
// the chances of a change that were given before, and Found is how many found one.
type Foresight struct {
	Visits, Found int
	Chance        float64
}

// PageFilter chooses pages; zero fields choose all.
type PageFilter struct {
	CrawlID      int64
	States       []crawl.PageState
	Host         string
	ChangedSince time.Time
	After        int64
	Limit        int
	// Sample, unless 0, chooses about that many pages instead, evenly spread over the ids
	// of those in States, or all of them if they are few; of the other fields only CrawlID
	// counts then. Their records have the address, host, state, visits, times, weight and
	// belief, the values that they share, and the id of the last version.
	Sample int
}

// HostFilter chooses hosts of a crawl.
type HostFilter struct {
	CrawlID int64
	After   string  // host key
	Limit   int     // 0 is all
	IDs     []int64 // unless nil: these hosts, and then After and Limit do not count
	// Slowest lists first the hosts that will be busy longest with the pages that it
	// names, judged by their Crawl-delay and mean duration. After is then ignored.
	Slowest HostWork
}

// HostWork is the work that a host has to serve once.
type HostWork uint8

// The kinds of work. The zero HostWork orders hosts by their names.
const (
	WorkPass  HostWork = iota + 1 // its pages that live, or wait for their first visit
	WorkFirst                     // those that wait for it; hosts with none are left out
)

// MaxTroubled is the number up to which TroubledHosts counts hosts.
const MaxTroubled = 10_000

// Standing holds the reasons for a page's wait besides its due time; the zero
// Standing means none.
type Standing struct {
	// Promised is when the page's place in its host's line should be served; zero if it is
	// in no line.
	Promised time.Time
	// Underway: its permit has been granted, or its request is under way.
	Underway bool
	// Excluded is why the last visit excluded an Excluded page: the line of robots.txt, or
	// the rule of the scope.
	Excluded string
	// Trap is the name of the trap that holds it, "" for none.
	Trap string
	// Evicted is the page's last eviction; At is zero if no record of it is kept. By is the
	// URL of the page that took its place, if any.
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
	Delay        time.Duration // the current gap
	GapReason    crawl.Reason  // why it is that long, see package polite
	NextFree     time.Time
	BackoffUntil time.Time
	BackoffLevel int
	// BackoffReason is why BackoffUntil was set (see package polite); zero if it never was.
	BackoffReason crawl.Reason
	// Failures is how many connections failed in a row.
	Failures   int
	Mean       time.Duration // mean duration of a request
	CrawlDelay time.Duration
	// Capped: CrawlDelay exceeds the crawl's max_crawl_delay, so the host is asked more
	// often than it wants.
	Capped   bool
	Waiting  int
	InFlight bool
	Blocked  bool
	// Unvisited counts the crawl's pages of the host that were never visited; Visited
	// counts those that were visited and live.
	Unvisited, Visited int64
	// Known counts those of the unvisited that have no place in the crawl yet. A full crawl
	// has none for them.
	Known  int64
	Robots []RobotsRecord
	Ranked *HostRank // nil before the first ranking that knows it
}
