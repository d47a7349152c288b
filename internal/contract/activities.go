package contract

import (
	"encoding/json"
	"time"

	"recrawl/internal/crawl"
)

// OpenCrawlIn: the spec exactly as the Crawl workflow received it.
type OpenCrawlIn struct {
	Store string          `json:"store,omitempty"`
	Spec  json.RawMessage `json:"spec,omitempty"`
	// WorkflowID must be CrawlID of the spec's name.
	WorkflowID string `json:"workflow_id"`
	// AddSeeds are seeds to add to the spec (update add-seeds).
	AddSeeds []string `json:"add_seeds,omitempty"`
	// Base is the generation of the spec from which Spec was made. If the crawl has another by now,
	// nothing is changed. 0 replaces any.
	Base int64 `json:"base,omitempty"`
}

// OpenCrawlOut is the crawl as it stands in the store.
type OpenCrawlOut struct {
	Store         string           `json:"store,omitempty"` // the store that owns the crawl from now on
	CrawlID       int64            `json:"crawl_id"`
	Name          string           `json:"name"`
	State         crawl.CrawlState `json:"state,omitempty"`
	Generation    int64            `json:"generation"`
	MaintainEvery time.Duration    `json:"maintain_every"`
	NewSeeds      int              `json:"new_seeds"`
	// Revived seeds belong to pages that were stopped and come back.
	Revived int `json:"revived,omitempty"`
	// Spec is the crawl's whole spec after the change, as JSON.
	Spec json.RawMessage `json:"spec,omitempty"`
}

// SetCrawlStateIn pauses, resumes or stops a crawl.
type SetCrawlStateIn struct {
	Store string           `json:"store,omitempty"`
	Name  string           `json:"name"`
	State crawl.CrawlState `json:"state,omitempty"`
}

// SetCrawlStateOut holds the new generation.
type SetCrawlStateOut struct {
	Generation int64 `json:"generation"`
}

// MaintainIn asks for one maintenance pass, or a part of one.
type MaintainIn struct {
	Store   string `json:"store,omitempty"`
	CrawlID int64  `json:"crawl_id"`
	Name    string `json:"name"`
	// Repair makes this pass start every living page's workflow by id whatever its due
	// time: the first pass of a Crawl that is not a continuation, since Temporal may
	// have lost them.
	Repair bool `json:"repair,omitempty"`
	// After continues a pass at this page id.
	After int64 `json:"after,omitempty"`
}

// MaintainOut reports the work of the pass.
type MaintainOut struct {
	// Store is the store that owns the crawl, for one that does not know it.
	Store string `json:"store,omitempty"`
	// After is where the next part continues; 0 when the pass is complete.
	After int64 `json:"after,omitempty"`
	// Restarted pages had no workflow, or one that was stuck; Stuck counts the latter.
	Restarted int `json:"restarted"`
	Stuck     int `json:"stuck,omitempty"`
	// Unfinished are versions whose links wait for a Discover.
	Unfinished []DiscoverIn `json:"unfinished,omitempty"`
	// Room: known pages can be admitted, so the crawl should start a Discover that does so.
	Room   bool        `json:"room"`
	Turned int         `json:"turned"`
	Status CrawlCounts `json:"status"`
	// RankDue: the pages should be ranked, and why.
	RankDue *crawl.Reason `json:"rank_due,omitempty"`
	// Problems are those of the steps that failed, by step; the results of these steps
	// are missing here.
	Problems map[string]string `json:"problems,omitempty"`
	// Seconds says how long the steps took that took a second or longer, with their rests.
	Seconds map[string]float64 `json:"seconds,omitempty"`
	// State and Generation are the crawl's in the store.
	State      crawl.CrawlState `json:"state,omitempty"`
	Generation int64            `json:"generation,omitempty"`
}

// Steps of maintenance that workflows know.
const (
	StepRestart = "workflows" // of pages: those that are missing are started
	StepCounts  = "counts"
)

// CrawlCounts is a crawl in numbers, for its status query and details.
type CrawlCounts struct {
	Pages   map[string]int `json:"pages"`
	Visits  int            `json:"visits"`
	Waiting int            `json:"waiting"`
	Overdue int            `json:"overdue"`
	Backoff int            `json:"hosts_in_backoff"`
	Hosts   int            `json:"hosts"`
}

// ClosePagesIn asks a batch of a stopped crawl's pages to complete.
type ClosePagesIn struct {
	Store   string `json:"store,omitempty"`
	CrawlID int64  `json:"crawl_id"`
	Name    string `json:"name"`
	After   int64  `json:"after"`
}

// ClosePagesOut: After is 0 when all pages have been asked.
type ClosePagesOut struct {
	After  int64 `json:"after"`
	Closed int   `json:"closed"`
}

// WakeParkedIn wakes pages that came due while the crawl was paused.
type WakeParkedIn struct {
	Store   string `json:"store,omitempty"`
	CrawlID int64  `json:"crawl_id"`
}

// WakeParkedOut: More says that another batch is waiting.
type WakeParkedOut struct {
	Woken int  `json:"woken"`
	More  bool `json:"more"`
}

// AcquireIn asks for a visit's permit.
type AcquireIn struct {
	Page  crawl.PageRef `json:"page"`
	Visit int           `json:"visit"`
	Class crawl.Class   `json:"class"`
}

// AcquireAnswer is the result of Acquire.
type AcquireAnswer string

// The answers of Acquire.
const (
	AnswerPermit   AcquireAnswer = "permit"   // Permit is for the page
	AnswerRobots   AcquireAnswer = "robots"   // Permit is for a robots.txt or tdmrep.json
	AnswerWait     AcquireAnswer = "wait"     // come again after Wait
	AnswerParked   AcquireAnswer = "parked"   // the crawl is paused; a turn will come
	AnswerStopped  AcquireAnswer = "stopped"  // the crawl or page is stopped
	AnswerEvicted  AcquireAnswer = "evicted"  // the page gave its place to another
	AnswerExcluded AcquireAnswer = "excluded" // robots.txt, the terms or the scope forbid the page; Rule says why
	AnswerRecorded AcquireAnswer = "recorded" // the visit is done already; Recorded holds it
	AnswerSkipped  AcquireAnswer = "skipped"  // the policy skips this turn; Reasons say why
)

// AcquireOut is the answer.
type AcquireOut struct {
	// Store is the store that owns the page, for one that does not know it.
	Store    string        `json:"store,omitempty"`
	Answer   AcquireAnswer `json:"answer"`
	Permit   crawl.Permit  `json:"permit,omitzero"`
	Wait     time.Duration `json:"wait,omitempty"`
	Reason   string        `json:"reason,omitempty"` // in words, for the timer's summary
	Held     bool          `json:"held,omitempty"`   // the wait is for room on a disk, and the page stands in no line
	Rule     string        `json:"rule,omitempty"`   // of an exclusion, in words
	Recorded *PlanOut      `json:"recorded,omitempty"`
	// Reasons of a skip.
	Reasons []crawl.Reason `json:"reasons,omitempty"`
	// Plans: the workflow adopts the plan in an answer of Fetch. Acquire runs where its
	// workflow does, so a worker of release 0.2.0 or older, which does not, never says so.
	Plans bool `json:"plans,omitempty"`
}

// RefreshRobotsIn fetches a robots.txt under a robots permit.
type RefreshRobotsIn struct {
	Page   crawl.PageRef `json:"page"`
	Visit  int           `json:"visit"`
	Permit crawl.Permit  `json:"permit"`
}

// RefreshRobotsOut describes the result, in words.
type RefreshRobotsOut struct {
	Summary string `json:"summary"`
}

// BeginPatience is how long Fetch and RefreshRobots wait for their host to be free before
// they begin. A permit is granted at most about a second ahead; longer than that the
// host is held by a slow request. The permit's lifetime starts after the wait, so the
// workflow allows for both.
const BeginPatience = 15 * time.Second

// ComparePatience is how long DetectChange waits until its worker has room for the body, beside
// others, and CompareLimit how long it may then take to read and compare it. That a worker has
// much to do says nothing about a body.
const (
	ComparePatience = 8 * time.Minute
	CompareLimit    = time.Minute
)

// FetchIn makes one request under a permit.
type FetchIn struct {
	Page   crawl.PageRef `json:"page"`
	Visit  int           `json:"visit"`
	Permit crawl.Permit  `json:"permit"`
	// Plans: see AcquireOut.
	Plans bool `json:"plans,omitempty"`
	// Ahead: see PlanIn. A visit that is recorded with its request ends it.
	Ahead bool `json:"ahead,omitempty"`
}

// FetchOut is the result of one request. Bytes are in the archive.
type FetchOut struct {
	// NotBegun: no request was made (the host was busy for long, or the permit was
	// refused); ask for a permit again.
	NotBegun bool `json:"not_begun,omitempty"`
	// Recorded: the visit had been recorded before; no request was made.
	Recorded bool `json:"recorded,omitempty"`

	// Outcome is final, except for OutcomeNew and OutcomeChanged, which DetectChange
	// settles when Differs is set.
	Outcome  crawl.Outcome `json:"outcome,omitempty"`
	Returned bool          `json:"returned,omitempty"` // see Marked
	Differs  bool          `json:"differs,omitempty"`  // raw digest differs from the last version's
	Brief    bool          `json:"brief,omitempty"`    // it differs, and comparing it is so quick that a workflow task can wait for it
	At       time.Time     `json:"at,omitzero"`
	// StoreAhead is by how much At's clock, the store's, is ahead of that of Temporal's server,
	// negative if it is behind; 0 if they agree within half a minute.
	StoreAhead   time.Duration `json:"store_ahead,omitempty"`
	Status       int           `json:"status,omitempty"`
	Duration     time.Duration `json:"duration,omitempty"`
	Bytes        int64         `json:"bytes,omitempty"` // of the body as received
	Size         int64         `json:"size,omitempty"`  // of the decoded body
	Digest       string        `json:"digest,omitempty"`
	Dropped      string        `json:"dropped,omitempty"` // instead of Digest: of bytes that could not be compared, to be deleted
	ContentType  string        `json:"content_type,omitempty"`
	Validators   bool          `json:"validators,omitempty"` // ETag and LastModified replace the stored ones
	ETag         string        `json:"etag,omitempty"`
	LastModified string        `json:"last_modified,omitempty"`
	// Doubted: the 304 named another version than the stored one. Answers in older histories
	// do not say.
	Doubted bool `json:"doubted,omitempty"`
	// Newest is the date of the newest entry of a list that was read, from DetectChange; zero
	// if it has no time of day.
	Newest   time.Time `json:"newest,omitzero"`
	Location string    `json:"location,omitempty"` // canonical redirect target
	// Spelling is how the redirect spells path and query of its target, empty if it
	// spells them as Location does. Respelled: its target is the page itself, to be
	// requested under that spelling.
	Spelling   string        `json:"spelling,omitempty"`
	Respelled  bool          `json:"respelled,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Held       time.Duration `json:"held,omitempty"`       // the back-off that the answer, or the lack of one, caused at the host
	RobotsTag  string        `json:"robots_tag,omitempty"` // what X-Robots-Tag asks of us, as package directive writes it
	Problem    string        `json:"problem,omitempty"`    // in plain words
	// Reserved are the headers' statements about uses of the content, for DetectChange.
	Reserved []crawl.Reservation `json:"reserved,omitempty"`
	// Heads are for DetectChange, which stores them with a new version; nil if there
	// is nothing to compare.
	Heads *Heads `json:"heads,omitempty"`
	// Plan is set when the visit is recorded already, in the transaction that gave the
	// permit back: there was nothing to compare, and the answer left no other work.
	Plan *PlanOut `json:"plan,omitempty"`
}

// Heads are the text around a body; see fetch.Heads.
type Heads struct {
	Request  string `json:"request"`
	Response string `json:"response"`
	Remote   string `json:"remote,omitempty"`
}

// DetectIn compares a fetched body with the last version.
type DetectIn struct {
	Page  crawl.PageRef `json:"page"`
	Visit int           `json:"visit"`
	Fetch FetchOut      `json:"fetch"`
	// Register: the links of a new version should be registered too. Workflows of earlier
	// releases leave that to a Discover, and would not know of it.
	Register bool `json:"register,omitempty"`
	// Returns: the workflow knows of pages that return to an earlier version.
	// Workflows of earlier releases get a new version as the answer.
	Returns bool `json:"returns,omitempty"`
	// Suspects: the answer may be OutcomeSuspect. Workflows of release 0.2.0 and older do
	// not know that outcome.
	Suspects bool `json:"suspects,omitempty"`
}

// DetectOut is the verdict.
type DetectOut struct {
	Outcome  crawl.Outcome `json:"outcome,omitempty"`
	Returned bool          `json:"returned,omitempty"` // see Marked
	Links    int           `json:"links"`              // stored with a new version
	// Registered reports what became of the links; nil if they wait for a Discover. Its
	// Hosts are those with newly discovered pages. Answers in older histories have none.
	Registered *RegisterOut   `json:"registered,omitempty"`
	Newest     time.Time      `json:"newest,omitzero"` // see FetchOut
	Reasons    []crawl.Reason `json:"reasons,omitempty"`
}

// PlanIn records a visit and asks for the next.
type PlanIn struct {
	Page    crawl.PageRef  `json:"page"`
	Visit   int            `json:"visit"`
	Fetch   FetchOut       `json:"fetch"`
	Reasons []crawl.Reason `json:"reasons,omitempty"` // from DetectChange or an exclusion
	// Touched are the hosts with newly discovered pages, from DetectChange.
	Touched []int64 `json:"touched,omitempty"`
	// Ahead: a person asked for this visit, and the page's tasks get PagePriority again.
	Ahead bool `json:"ahead,omitempty"`
}

// PlanOut is the recorded visit and its decision.
type PlanOut struct {
	Visit    int             `json:"visit"`
	At       time.Time       `json:"at"`
	Outcome  crawl.Outcome   `json:"outcome,omitempty"`
	Returned bool            `json:"returned,omitempty"` // see Marked
	Status   int             `json:"status,omitempty"`
	State    crawl.PageState `json:"state,omitempty"`
	Kept     bool            `json:"kept,omitempty"` // see MarkedState
	NextAt   time.Time       `json:"next_at"`
	// Reason says why the next visit is at NextAt: "changed in 10 of the last 20 visits".
	// Answers in older histories begin with the time: "revisit in 3d 4h: changed in …".
	Reason string `json:"summary"`
	// Refill: the page should start a Discover, for there are known pages to be admitted
	// and nobody else is about to admit them. Room says the same to workflows of earlier
	// releases, which heed it after a first visit only, as older histories show.
	Refill bool `json:"refill,omitempty"`
	Room   bool `json:"room,omitempty"`
	// RedirectHost is the host of the page to which the visit redirected, if that page
	// waits to be admitted; else 0.
	RedirectHost int64 `json:"redirect_host,omitempty"`
	// InLineUntil is set if the place of the next visit is booked in the host's line. A turn
	// calls the page after NextAt; in case the turn is lost, the page asks at InLineUntil.
	InLineUntil time.Time `json:"in_line_until,omitzero"`
	// Linger bounds how long a run's visits stay in Temporal while the page sleeps: their
	// number times the sleep. Beyond that the next run starts before the sleep, with a new
	// history. 0, as in older histories, is no bound.
	Linger time.Duration `json:"linger,omitempty"`
}

// LeaveIn gives up a page's place; State, when set, is the page's new state.
type LeaveIn struct {
	Page  crawl.PageRef   `json:"page"`
	State crawl.PageState `json:"state,omitempty"`
	// Closing: the page is to be Stopped because its crawl is.
	Closing bool `json:"closing,omitempty"`
}

// LeaveOut answers a page that leaves.
type LeaveOut struct {
	// Returned: the store left the page's state alone. The page was to be evicted, or stopped
	// with its crawl, and has been admitted again, or its crawl started.
	Returned bool `json:"returned,omitempty"`
}

// RegisterIn registers the links that a visit stored with its version.
type RegisterIn struct {
	Page  crawl.PageRef `json:"page"`
	Visit int           `json:"visit"`
}

// RegisterOut counts the results for the links.
type RegisterOut struct {
	New      int            `json:"new"`
	Seen     int            `json:"seen"`
	Rejected map[string]int `json:"rejected,omitempty"` // by reason
	Hosts    []int64        `json:"hosts,omitempty"`    // touched, at most 1000
}

// AdmitIn admits the best known pages of some hosts, or of all.
type AdmitIn struct {
	Store   string  `json:"store,omitempty"`
	CrawlID int64   `json:"crawl_id"`
	Hosts   []int64 `json:"hosts,omitempty"`
	Limit   int     `json:"limit"`
	// Key names this call: if it is run again with the same key, Admit answers with
	// the pages of the first time, in case that answer was lost.
	Key string `json:"key,omitempty"`
	// Refill: the caller has been told to refill the crawl, and is done when nothing is
	// left to admit.
	Refill bool `json:"refill,omitempty"`
}

// AdmitOut lists pages to be started.
type AdmitOut struct {
	Pages    []PageIn `json:"pages,omitempty"`
	Excluded int      `json:"excluded,omitempty"`
	More     bool     `json:"more,omitempty"` // ask again
}
