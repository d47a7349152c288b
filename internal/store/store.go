// Package store is what recrawl remembers: crawls, pages, visits, versions,
// links, hosts and their lines. It holds the interface, its records and its
// errors; package sqlstore holds the one implementation of its logic, and
// packages sqlite and postgres the engines it runs on.
//
// All times are the store's own clock in UTC, in whole microseconds. All
// methods may be called from any goroutine. Errors wrap ErrNotFound,
// ErrUnavailable (try again later), or are bugs.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// Errors that callers decide on.
var (
	// ErrNotFound: the named crawl, page or host does not exist.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable: the database did not answer; trying again later may help.
	ErrUnavailable = errors.New("store unavailable")
	// ErrRefused: the permit gives no right to begin (already begun, revoked, or
	// its crawl was paused or stopped).
	ErrRefused = errors.New("permit refused")
	// ErrForeign: the database belongs to another program or to a newer recrawl.
	ErrForeign = errors.New("foreign database")
	// ErrFixed: the setting was fixed when the store was made.
	ErrFixed = errors.New("fixed when the store was made")
	// ErrGrouped: the host is a part of a unit of politeness that has another name.
	ErrGrouped = errors.New("grouped with other hosts")
	// ErrConflict: the record was written by somebody else in between.
	ErrConflict = errors.New("conflicting write")
)

// Store remembers. Its methods come in groups; see each group's interface.
type Store interface {
	Crawls
	Frontier
	Gate
	Visits
	Duplicates
	Schedules
	Ranks
	Reports
	Exchanges
	Rejections
	Guard
	Sources
	Takedown
	Contents
	// Now returns the store's clock.
	Now(ctx context.Context) (time.Time, error)
	// Close ends all use of the store and marks the close as clean.
	Close() error
}

// Crawls keeps the crawls' specs and states.
type Crawls interface {
	// OpenCrawl creates the crawl or, if it exists, replaces its spec. A changed
	// spec or state raises the generation. A stopped crawl runs again; a paused
	// one stays paused.
	OpenCrawl(ctx context.Context, spec crawl.Spec) (CrawlRecord, error)
	// SetCrawlState pauses, resumes or stops a crawl: one row, effective for every
	// later Acquire and Begin.
	SetCrawlState(ctx context.Context, name string, state crawl.CrawlState) (CrawlRecord, error)
	// Crawl returns one crawl by name, or ErrNotFound.
	Crawl(ctx context.Context, name string) (CrawlRecord, error)
	// ListCrawls returns all crawls by name.
	ListCrawls(ctx context.Context) ([]CrawlRecord, error)
}

// CrawlRecord is a crawl as stored.
type CrawlRecord struct {
	ID         int64
	Spec       crawl.Spec
	State      crawl.CrawlState
	Generation int64 // raised by each change of spec or state
	CreatedAt  time.Time
}

// Frontier keeps which URLs are known and which have a workflow.
type Frontier interface {
	// RegisterLinks adds URLs that the crawl has not seen as Known pages and, when
	// From is set, the links from that page, counting backlinks; when Version is
	// set it marks that version's links as done in the same transaction as the
	// last chunk. Running it again changes nothing. URLs that were forgotten (see
	// Takedown) are left out, seeds too. Seeds that are held become Known.
	RegisterLinks(ctx context.Context, p RegisterParams) (RegisterResult, error)
	// PendingLinks returns the links that a visit stored with its version, or nil
	// when it stored none or they have been registered already.
	PendingLinks(ctx context.Context, pageID int64, visit int) (*PendingLinks, error)
	// UnfinishedLinks lists versions older than Age whose links have not been
	// registered, at most Limit, without the links themselves.
	UnfinishedLinks(ctx context.Context, crawlID int64, age time.Duration, limit int) ([]PendingLinks, error)
	// Candidates lists the best Known pages of each host that has room in the
	// crawl's window, highest priority first, at most Limit in all. With no Hosts
	// it looks at all hosts of the crawl that have known pages and room.
	Candidates(ctx context.Context, p CandidateParams) ([]PageRecord, error)
	// Admit turns Known pages Active (due now) as far as the window of their host
	// and the crawl's max_pages leave room, and Exclude pages Excluded (due after
	// ExcludedFor). It returns the pages it admitted; run again with the same Key it
	// changes nothing while pages of the first time have not been attempted, and
	// returns those.
	Admit(ctx context.Context, p AdmitParams) ([]PageRecord, error)
	// Admitted returns the pages that an Admit with this key has admitted and that
	// have not been attempted yet: the answer that its caller may have lost.
	Admitted(ctx context.Context, crawlID int64, key string) ([]PageRecord, error)
	// DuePages lists pages that live (see PageState.Lives), are due before Before
	// and, unless InLine is set, stand in no line (a lapsed waiter does not), in
	// order of page id after After.
	DuePages(ctx context.Context, p DueParams) ([]PageRecord, error)
	// SetPageState moves a page to a state outside a visit (Stopped, Evicted,
	// Active again) and, unless the new state lives, leaves its line.
	SetPageState(ctx context.Context, pageID int64, state crawl.PageState) error
}

// NewURL is a canonical URL to be registered.
type NewURL struct {
	URL   string `json:"url"`
	Host  string `json:"host"`  // urlkey.HostKey
	Level int    `json:"level"` // links from a seed
	Hops  int    `json:"hops"`  // links since the seeds' hosts were left
	// Trap, if it is one that holds, holds the page if it is new: see Guard.
	Trap int64 `json:"-"`
	// Variant is the URL without a session id. Trap then holds the page only if that
	// URL, or it with another id, is a page already.
	Variant string `json:"-"`
	// Kind is what the URL is found as. A page that is known stays what it is, unless it
	// was tried and gave no content.
	Kind crawl.PageKind `json:"kind,omitempty"`
	// Nesting and Place are of a source that an index names: how many indexes lie above
	// it, and how many sources the index names before it.
	Nesting int `json:"nesting,omitempty"`
	Place   int `json:"place,omitempty"`
}

// RegisterParams are the inputs of RegisterLinks.
type RegisterParams struct {
	CrawlID int64
	From    int64 // page that links, 0 for seeds
	Version int64 // version whose links these are, 0 for none
	// Listed: From is a list, whose entries are no links: they say nothing about the
	// importance of a page. Nor does a link to a source.
	Listed bool
	URLs   []NewURL
	// Rejected are links that are not registered: counted, when Version is set, only
	// by the call that ends the wait of that version's links.
	Rejected []Rejection
}

// RegisterResult counts what RegisterLinks found.
type RegisterResult struct {
	New       int     // URLs seen for the first time
	Seen      int     // URLs known before
	Forgotten int     // URLs left out because they, or their hosts, were forgotten
	Hosts     []int64 // hosts of all the URLs
}

// PendingLinks are a version's links before they are registered.
type PendingLinks struct {
	Version int64
	Page    crawl.PageRef
	Level   int
	Hops    int
	// Kind is that of the page, Nesting that of a source.
	Kind    crawl.PageKind
	Nesting int
	// Language is that of the version, "" if it is not known.
	Language string
	Visit    int
	Links    []Link
}

// Link is one link of a page as extracted: absolute and canonical.
type Link struct {
	URL      string `json:"u"`
	NoFollow bool   `json:"n,omitempty"`
	// Kind is not that of a page where the link leads to a source.
	Kind crawl.PageKind `json:"k,omitempty"`
	// Modified is when a list says that the page has changed, in milliseconds since 1970; 0
	// if it does not say.
	Modified int64 `json:"m,omitempty"`
}

// CandidateParams are the inputs of Candidates.
type CandidateParams struct {
	CrawlID int64
	Hosts   []int64
	Limit   int
}

// AdmitParams are the inputs of Admit.
type AdmitParams struct {
	CrawlID     int64
	Admit       []int64 // page ids
	Exclude     []int64 // page ids
	ExcludedFor time.Duration
	Key         string // names the call for Admitted; "" for none
}

// DueParams are the inputs of DuePages.
type DueParams struct {
	CrawlID int64
	Before  time.Time
	After   int64 // page id, exclusive
	Limit   int
	InLine  bool // include pages that stand in a line
	Untried bool // only pages that were admitted and have never been attempted
}

// PageRecord is a page as stored.
type PageRecord struct {
	crawl.PageRef
	HostID    int64
	Level     int
	Hops      int // links since the seeds' hosts were left
	Kind      crawl.PageKind
	State     crawl.PageState
	Visits    int // number of the last recorded visit
	Changes   int // visits with outcome changed
	Failures  int // failed visits since the last success
	LastAt    time.Time
	NextAt    time.Time
	Backlinks int
	// Weight is the page's importance by the last ranking, of mean 1; 0 if it was in
	// none. Rank is its PageRank, LinkingHosts counts other hosts with a page that links
	// to it, and InnerLinks those of its Backlinks that are on its own host, all as of
	// that ranking.
	Weight       float64
	Rank         float64
	LinkingHosts int
	InnerLinks   int
	// HintedBy is the source whose word moved the next visit, 0 for none.
	HintedBy int64
	// ETag and LastModified are the validators of the last content.
	ETag, LastModified string
	// Last is the version that the last recorded visit left, zero if there is none.
	// A version saved for a visit that is not recorded yet does not show.
	Last VersionRecord
	// Belief is the revisit policy's memory of the page, as it stored it.
	Belief json.RawMessage
	// Crawl and host share these with their other pages; see Schedules.
	Steering     schedule.Steering
	HostSteering schedule.HostSteering
}

// VersionRecord is a distinct content of a page.
type VersionRecord struct {
	ID          int64
	PageID      int64
	Seq         int // 1 for the page's first version
	Visit       int
	At          time.Time
	Digest      string // SHA-256 of the body in hex: the archive's key; "" if no body may be kept
	TextDigest  string // SHA-256 of the normalised text in hex
	LinkDigest  string // SHA-256 of the set of links in hex
	Bytes       int64
	TextBytes   int64
	ContentType string
	Title       string
	Canonical   string // rel=canonical, "" if none
	Language    string // of the text, as BCP 47 writes it, "" if it is not known
	// Heads are only from Version and to SaveVersion.
	Heads Heads
}

// Heads are what was said around a version's body, each "" if it is not known:
// the request and the head of the response as text, and the address that gave
// it.
type Heads struct {
	Request, Response, Remote string
}

// Gate is the host's line: who may make the next request to a host, and when.
// Its guarantees are those of design §4; package storetest states each as a
// case.
type Gate interface {
	// Acquire asks for the right to make this visit's request. It is re-entrant:
	// asking again for the same page and visit returns the same place in the line
	// or the same un-begun permit. It waits up to Patience in the process before it
	// answers GateWait.
	Acquire(ctx context.Context, p AcquireParams) (AcquireResult, error)
	// Begin starts the permit's request; it succeeds exactly once. It waits in the
	// process, up to Patience, until the host is free. ErrRefused when the permit
	// gives no right any more; a BeginResult with Wait set when Patience ran out.
	Begin(ctx context.Context, p BeginParams) (BeginResult, error)
	// Release ends the permit's request and says how the host answered. Releasing a
	// permit that has expired or was released changes no gap.
	Release(ctx context.Context, p ReleaseParams) (GateEffects, error)
	// Leave gives up the page's place or un-begun permit, at no cost to the host.
	Leave(ctx context.Context, pageID int64) (GateEffects, error)
	// Nudge looks after lines whose head is promised later than its host is free,
	// and forgets waiters that did not come. Maintenance calls it.
	Nudge(ctx context.Context) (GateEffects, error)
	// SetBlocked blocks a host, given by its host key, for all crawls, or unblocks
	// it. Nothing is asked of a blocked host: Acquire answers WaitBlocked, permits
	// that were not begun are refused, a request in flight may end. Its waiters keep
	// their places. Unblocking returns the first of them as turns; each request and
	// Nudge turn the next. A host that nobody knows yet can be blocked too;
	// unblocking one is ErrNotFound.
	SetBlocked(ctx context.Context, host string, blocked bool) (GateEffects, error)
	// Unpark takes up to limit parked pages of a resumed crawl back into their
	// lines and returns them as turns to be signalled; none when all are back.
	Unpark(ctx context.Context, crawlID int64, limit int) (GateEffects, error)
	// Robots returns the cached robots.txt of an origin (scheme://host[:port]), or
	// ErrNotFound.
	Robots(ctx context.Context, origin string) (RobotsRecord, error)
	// SaveRobots stores what a robots permit's request found. Times are relative to
	// the store's clock. Nothing is stored of a forgotten host.
	SaveRobots(ctx context.Context, p SaveRobotsParams) error
}

// GateAnswer is what Acquire came to.
type GateAnswer string

// The answers of Acquire.
const (
	GateGranted  GateAnswer = "granted"  // Permit holds
	GateWait     GateAnswer = "wait"     // come again after Wait, at the latest
	GateParked   GateAnswer = "parked"   // the crawl is paused; a turn will come
	GateStopped  GateAnswer = "stopped"  // the crawl or the page is stopped
	GateEvicted  GateAnswer = "evicted"  // the page gave its place to a better one
	GateRecorded GateAnswer = "recorded" // this visit is done; Recorded holds
)

// Reasons of a wait.
const (
	WaitLine    = "line"    // others come first
	WaitDelay   = "delay"   // the host rests between two requests
	WaitBackoff = "backoff" // the host asked for quiet, or fails
	WaitRobots  = "robots"  // robots.txt cannot be had; everything is disallowed
	WaitBlocked = "blocked" // the operator blocked the host
)

// AcquireParams are the inputs of Acquire.
type AcquireParams struct {
	Page  crawl.PageRef
	Visit int // number of the visit, ≥ 1
	Class crawl.Class
	// Rank: higher comes first within a crawl and class. Of first visits the page's
	// priority (see rank.Priority) is added.
	Rank float64
	// Patience is how long to wait in the process; 0 answers at once.
	Patience time.Duration
}

// AcquireResult is the answer of Acquire.
type AcquireResult struct {
	Answer   GateAnswer
	Permit   crawl.Permit
	Wait     time.Duration
	Reason   string // one of the Wait constants
	Position int    // places ahead in the line, an estimate beyond 64
	Recorded *VisitRecord
	// Robots is the origin's cached robots.txt without its text; it decides at the
	// grant of a page permit. TextDigest names the text for Robots().
	Robots  RobotsRecord
	Effects GateEffects
}

// Turn is a page whose workflow should ask again at At, because the host is
// free earlier than the page was promised.
type Turn struct {
	Page crawl.PageRef
	In   time.Duration // from now
}

// GateEffects are workflows to be signalled after a gate transaction.
type GateEffects struct {
	Turns []Turn
}

// BeginParams are the inputs of Begin.
type BeginParams struct {
	Permit   crawl.Permit
	Page     crawl.PageRef
	Visit    int
	Patience time.Duration
}

// BeginResult says that the request may start, or how long the host is busy.
type BeginResult struct {
	At time.Time // the store's clock at the begin
	// Sent is this process's clock (with its monotonic reading) just before the
	// transaction that began was sent: the request's deadline counts from it.
	Sent time.Time
	Wait time.Duration // > 0: not begun, Patience ran out; the permit still holds
}

// HostAnswer is how a host answered a request, for its back-off.
type HostAnswer string

// How a host answered.
const (
	HostOK        HostAnswer = "ok"        // any answer but the next two
	HostThrottled HostAnswer = "throttled" // 429 or 503
	HostFailed    HostAnswer = "failed"    // no HTTP answer: connection, TLS or time-out
)

// ReleaseParams are the inputs of Release.
type ReleaseParams struct {
	Permit   crawl.Permit
	Answer   HostAnswer
	Duration time.Duration // of the request, by the worker's monotonic clock
	// Cut: the request was given up before the host's answer ended. It counts as ended
	// polite.CutGrace later, when the host will have noticed.
	Cut bool
	// RetryAfter holds the host for that long when Answer is HostThrottled and
	// HasRetryAfter is set.
	RetryAfter    time.Duration
	HasRetryAfter bool
}

// RobotsRecord is an origin's robots.txt as cached.
type RobotsRecord struct {
	Origin     string
	State      RobotsState
	Status     int    // HTTP status, 0 when there was no answer
	Text       string // only from Robots()
	TextDigest string
	FetchedAt  time.Time
	ExpiresAt  time.Time // for unreachable: when to try again
	Failures   int       // in a row
	CrawlDelay time.Duration
	Sitemaps   []string
	Problem    string // why it is unreachable, in words
	Hops       int    // redirects followed so far, while State is RobotsRedirected
}

// RobotsState says how a robots.txt decides. The numbers are stored.
type RobotsState uint8

// States of a robots.txt.
const (
	RobotsUnknown     RobotsState = 0 // never fetched, or expired: a robots permit is due
	RobotsParsed      RobotsState = 1 // Text decides
	RobotsAllowAll    RobotsState = 2 // 4xx: everything is allowed
	RobotsUnreachable RobotsState = 3 // everything is disallowed until ExpiresAt, then tried again
	RobotsRedirected  RobotsState = 4 // Next is to be fetched, under its own host's permit
)

// SaveRobotsParams are the inputs of SaveRobots.
type SaveRobotsParams struct {
	Origin     string
	State      RobotsState
	Status     int
	Text       string
	Expires    time.Duration // from now
	Failures   int
	CrawlDelay time.Duration
	Sitemaps   []string
	Problem    string
	Next       string // URL of the next redirect hop
	NextHost   string // its host key
	Hops       int    // hops made so far
}

// Visits keeps pages, what their visits saw, and their versions.
type Visits interface {
	// Page returns one page, or ErrNotFound.
	Page(ctx context.Context, pageID int64) (PageRecord, error)
	// FindPages returns the pages of this canonical URL in all crawls, or in one.
	FindPages(ctx context.Context, url, crawlName string) ([]PageRecord, error)
	// Visit returns one recorded visit, or ErrNotFound.
	Visit(ctx context.Context, pageID int64, visit int) (VisitRecord, error)
	// SaveVersion stores a version with its links to be registered and what it is
	// compared by. Saving the same page and visit again returns the first one's id. The
	// version's bytes must be in the archive already, and be looked for once more when
	// it returns: see Contents. ErrUnavailable while they are claimed for deletion.
	SaveVersion(ctx context.Context, p SaveVersionParams) (int64, error)
	// RecordVisit stores a visit with its decision, moves the page on and frees its
	// place in the window. The visit must be the page's next; if it is recorded
	// already the stored one is returned with Already set.
	RecordVisit(ctx context.Context, p RecordParams) (RecordResult, error)
}

// SaveVersionParams are the inputs of SaveVersion.
type SaveVersionParams struct {
	Version VersionRecord // ID and Seq are set by the store
	Links   []Link
	Content change.Content // see Duplicates; zero if it is not known
	// Duplicate is the older page of the crawl that has the same content, nil if there
	// is none. It is left out if that page is forgotten meanwhile.
	Duplicate *DuplicateOf
}

// VisitRecord is one visit as stored.
type VisitRecord struct {
	PageID   int64
	Visit    int
	At       time.Time
	Outcome  crawl.Outcome
	Status   int // HTTP status, 0 when there was none
	Version  int // Seq of the version that the page had after the visit, 0 for none
	Digest   string
	Bytes    int64 // body bytes received
	Duration time.Duration
	NextAt   time.Time
	State    crawl.PageState // of the page after the visit
	Problem  string          // what went wrong, in plain words
	Location string          // redirect target
	Reasons  []crawl.Reason
}

// RecordParams are the inputs of RecordVisit.
type RecordParams struct {
	// Visit is the visit to be stored. A zero At is taken from the store's clock;
	// NextAt and Version are set by the store.
	Visit VisitRecord
	// Interval is the time from the visit to the next.
	Interval time.Duration
	Failures int // failed visits in a row after this one
	// ETag and LastModified replace the page's validators when Validators is set.
	Validators         bool
	ETag, LastModified string
	Belief             json.RawMessage // nil leaves it
	// Retention is applied to the page in the same transaction, to at most
	// RetentionStep versions and visits of it.
	Retention Retention
}

// RetentionStep is how many versions, and how many visits, of a page one
// RecordVisit removes: the next removes more.
const RetentionStep = 100

// Retention says how much is kept of a page's past; zero fields keep all. The
// last version stays whatever its age, and so do a version whose links wait to be
// registered and the visit that made a version which is kept.
type Retention struct {
	// Versions is how many versions are kept, the last included.
	Versions int
	// Age is how long a version is kept after another took its place.
	Age time.Duration
	// Visits is how many visits are kept.
	Visits int
}

// RecordResult is what RecordVisit stored.
type RecordResult struct {
	Visit   VisitRecord
	Already bool
	// Room: the page's host has known pages and a free place in the window.
	Room bool
}

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
