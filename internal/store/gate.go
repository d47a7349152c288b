package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
)

// Gate is the host's line: who may make the next request to a host, and when.
// docs/architecture.md says what it guarantees, under "The host gate"; package storetest
// states each guarantee as a case.
type Gate interface {
	// Acquire asks for the right to make this visit's request. It is re-entrant: asking
	// again for the same page and visit returns the same place in the line, or the same
	// permit that has not begun. It waits in the process, up to Patience, before it
	// answers GateWait.
	Acquire(ctx context.Context, p AcquireParams) (AcquireResult, error)
	// Begin starts the permit's request; it succeeds exactly once. It waits in the
	// process, up to Patience, until the host is free. It returns ErrRefused if the permit
	// is no longer valid, and a BeginResult with Wait set if Patience ran out.
	Begin(ctx context.Context, p BeginParams) (BeginResult, error)
	// Release ends the permit's request and reports how the host answered. Releasing a
	// permit that has expired or was already released changes no gap.
	Release(ctx context.Context, p ReleaseParams) (GateEffects, error)
	// Finish is Release of a visit's permit and RecordVisit of that visit in one
	// transaction: both happen, or neither. Like these it may be called again.
	Finish(ctx context.Context, p FinishParams) (FinishResult, error)
	// GiveBack takes back the begin of a permit whose request was not made: it is granted
	// again and may begin once more. Its page is returned as a turn. A permit that is not in
	// flight stays as it is.
	GiveBack(ctx context.Context, permit crawl.Permit) (GateEffects, error)
	// Leave gives up the page's place, or its permit if it has not begun, at no cost to
	// the host.
	Leave(ctx context.Context, pageID int64) (GateEffects, error)
	// Nudge corrects lines whose head was promised a later time than that at which its host
	// is free, forgets waiters that did not come, and does what Unpark does for pages that are still
	// parked although their crawl runs. Maintenance calls it.
	Nudge(ctx context.Context) (GateEffects, error)
	// Recall turns the lines of up to limit hosts at which a called page has not come: turns
	// are lost with the process that was to signal them. Every worker calls it every ten
	// seconds.
	Recall(ctx context.Context, limit int) (GateEffects, error)
	// SetBlocked blocks a host, given by its host key, for all crawls, or unblocks it. No
	// request is made to a blocked host: Acquire answers WaitBlocked or WaitRobotsBlocked,
	// permits that have not begun are refused, and a request in flight may end. Its waiters
	// keep their places. Unblocking returns the first of them as turns; each request, and
	// Nudge, gives the next ones their turn. An unknown host can be blocked too; unblocking one is
	// ErrNotFound.
	SetBlocked(ctx context.Context, host string, blocked bool) (GateEffects, error)
	// Unpark returns up to limit parked pages of a resumed crawl to their lines, and
	// returns them as turns to be signalled; none when all are back.
	Unpark(ctx context.Context, crawlID int64, limit int) (GateEffects, error)
	// Robots returns the cached robots.txt of an origin (scheme://host[:port]), or
	// ErrNotFound.
	Robots(ctx context.Context, origin string) (RobotsRecord, error)
	// SaveRobots stores the result of a robots permit's request. Times are relative to
	// the store's clock. For a forgotten host it stores nothing.
	SaveRobots(ctx context.Context, p SaveRobotsParams) error
	// RaiseCrawlDelay makes the Crawl-delay of an origin's robots.txt at least this long, and
	// its host's with it: the file asks more of another crawl's agent than of the one that
	// fetched it. The next SaveRobots sets it anew. It changes nothing if the stored text has
	// another digest by now.
	RaiseCrawlDelay(ctx context.Context, origin, textDigest string, delay time.Duration) error
	// Terms returns what an origin is known to reserve by its tdmrep.json, or ErrNotFound if
	// it was never asked.
	Terms(ctx context.Context, origin string) (TermsRecord, error)
	// SaveTerms stores the result of asking for it. For a forgotten host it stores
	// nothing.
	SaveTerms(ctx context.Context, p SaveTermsParams) error
}

// TermsRecord is an origin's tdmrep.json as cached.
type TermsRecord struct {
	Origin    string
	Text      string // "" if there is no such file
	FetchedAt time.Time
	ExpiresAt time.Time // when it is requested again
	Failures  int       // in a row, without a usable answer; Text is from before
	Problem   string    // of the last of them
}

// SaveTermsParams are the inputs of SaveTerms.
type SaveTermsParams struct {
	Origin   string
	Text     string
	Expires  time.Duration // from now
	Failures int
	Problem  string
}

// GateAnswer is the answer of Acquire.
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
	WaitRobots  = "robots"  // robots.txt is unreachable; everything is disallowed
	WaitBlocked = "blocked" // the operator blocked the host
	// WaitRobotsBlocked: the operator blocked the host to which the robots.txt redirects.
	WaitRobotsBlocked = "robots_blocked"
)

// AcquireParams are the inputs of Acquire.
type AcquireParams struct {
	Page  crawl.PageRef
	Visit int // number of the visit, ≥ 1
	Class crawl.Class
	// Rank: higher comes first within a crawl and class. For first visits the page's
	// priority (see rank.Priority) is added.
	Rank float64
	// Patience is how long to wait in the process; 0 answers at once.
	Patience time.Duration
	// Callable: a turn can wake the asker. Far back in a line, the answer is then a
	// wait that is much longer than the line will take, and a turn calls it in time.
	Callable bool
	// AtOnce, unless nil, lets a page permit begin in the transaction that grants it.
	AtOnce *AtOnce
}

// AtOnce says when Acquire may also begin a page permit: if the host is free, nobody else
// waits there, and the asker is ready. The asker then owns the request: it makes the
// request or calls GiveBack.
type AtOnce struct {
	// Take takes what the request needs, without waiting for it. An error only means that the
	// permit does not begin. It is called last, within the transaction, and again if the
	// transaction is repeated: those who wait for the host hold nothing. giveUp is called
	// unless the permit has begun.
	Take func(context.Context) (giveUp func(), err error)
	// Ready judges the permit and the robots.txt of the answer. It is called within the
	// transaction, and again if the transaction is repeated, so it must only compute.
	Ready func(AcquireResult) bool
}

// AcquireResult is the answer of Acquire.
type AcquireResult struct {
	Answer   GateAnswer
	Permit   crawl.Permit
	Begun    *BeginResult // set if the permit has begun, see AtOnce
	Wait     time.Duration
	Reason   string // one of the Wait constants
	Position int    // places ahead in the line, an estimate beyond 64
	Recorded *VisitRecord
	// Robots is the origin's cached robots.txt, without its text and its sitemaps. It decides
	// when a page permit is granted. TextDigest names the text for Robots().
	Robots  RobotsRecord
	Effects GateEffects
}

// Turn is a page whose workflow should ask again after In, because the host is free
// earlier than the page was promised.
type Turn struct {
	Page crawl.PageRef
	In   time.Duration // from now
}

// GateEffects are the consequences of a gate transaction for others: workflows to
// be signalled.
type GateEffects struct {
	Turns []Turn
	// Held is the length of the back-off that the released request caused at its host, 0 for none.
	Held time.Duration
	// Known: the page that ReleaseParams asks for was there.
	Known bool
}

// BeginParams are the inputs of Begin.
type BeginParams struct {
	Permit   crawl.Permit
	Page     crawl.PageRef
	Visit    int
	Patience time.Duration
	// Take, if set, is called before each attempt to begin, while no request is in flight. It
	// reserves what the request needs besides the permit and must not keep while the host is
	// busy. Begin calls the function that it returns if the attempt did not begin. Its error
	// becomes Begin's.
	Take func(context.Context) (giveUp func(), err error)
}

// BeginResult says that the request may start, or how long the host is busy.
type BeginResult struct {
	At time.Time // the store's clock at the begin
	// Sent is this process's clock (with its monotonic reading) just before it sent the
	// transaction that began. The request's deadline counts from it.
	Sent time.Time
	Wait time.Duration // > 0: not begun, Patience ran out; the permit is still valid
}

// HostAnswer is how a host answered a request, for its back-off.
type HostAnswer string

// How a host answered.
const (
	HostOK        HostAnswer = "ok"        // any other answer
	HostThrottled HostAnswer = "throttled" // 429 or 503, or another error with a Retry-After
	HostFailed    HostAnswer = "failed"    // no HTTP answer: connection, TLS or time-out
	HostNone      HostAnswer = "none"      // it was not asked, or we broke off, so this says nothing about it
)

// ReleaseParams are the inputs of Release.
type ReleaseParams struct {
	Permit   crawl.Permit
	Answer   HostAnswer
	Duration time.Duration // of the request, by the worker's monotonic clock
	// Cut: the request was given up before the host's answer ended. It counts as ended
	// polite.CutGrace later, when the host will have noticed.
	Cut bool
	// RetryAfter is the length of the host's back-off if Answer is HostThrottled and
	// HasRetryAfter is set.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// Page, unless 0, is the page that got bytes with this digest, which are in the archive by
	// now. They are noted with it until its visit is recorded, so that whoever forgets the page
	// discards them. If it has been forgotten already, GateEffects.Known is false.
	Page   int64
	Digest string
}

// FinishParams are the inputs of Finish.
type FinishParams struct {
	Release ReleaseParams
	Page    int64
	// Generation is that of the spec on which Plan is based. If the crawl has another
	// by now, nothing is done, and the error is ErrConflict.
	Generation int64
	// Plan returns the visit to record, given the length of the back-off that the release caused. It
	// is called within the transaction, and again if the transaction is repeated, so it
	// must only compute.
	Plan func(held time.Duration) RecordParams
}

// FinishResult is the result of Finish.
type FinishResult struct {
	RecordResult
	Effects GateEffects
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
	// ForbidsAll: the file forbids everything to the crawl that asked for it.
	ForbidsAll bool
}

// RobotsState says how a robots.txt decides. Its numbers are stored.
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
	ForbidsAll bool   // forbids everything to the crawl that asked for it
}
