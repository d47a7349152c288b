package contract

import (
	"cmp"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/sink"
)

// PageIn is the Page workflow's input and its whole state: it goes into each
// run and, changed, into the next by continue-as-new. All of it can be made
// from the store (activities.NewPageIn), so that losing Temporal's database loses
// only waiting places.
type PageIn struct {
	Page  crawl.PageRef   `json:"page"`
	State crawl.PageState `json:"state,omitempty"`
	Level int             `json:"level"`
	// Visit is the number of the last recorded visit.
	Visit int `json:"visit"`
	// Due is when the policy wants the next visit; zero is now. Asked, Interval
	// and Snoozed overlay it and never change it.
	Due time.Time `json:"due,omitzero"`
	// StoreAhead is that of the last request's FetchOut. All times of the state are by the
	// store's clock.
	StoreAhead time.Duration `json:"store_ahead,omitempty"`
	// Why explains the time of the next visit, for the timer's summary.
	Why string `json:"why,omitempty"`
	// Asked: a person asked for one more visit (visit-now).
	Asked bool `json:"asked,omitempty"`
	// Ahead: a person's command may have given the page's tasks AskedPriority, which ends when a
	// visit is recorded.
	Ahead bool `json:"ahead,omitempty"`
	// InLine: the page has asked for its next visit's permit; Wake is when it asks
	// again.
	InLine bool      `json:"in_line,omitempty"`
	Wake   time.Time `json:"wake,omitzero"`
	// Booked is the due time of the next visit for which the page has a place in line
	// already. It asks when a turn calls it, or else at Wake. Zero if none is booked.
	Booked time.Time `json:"booked,omitzero"`
	// Waiting says in words what Wake or Hold waits for.
	Waiting string `json:"waiting,omitempty"`
	// Hold: a service that the page needs does not answer (usually the store); nothing
	// is tried before then.
	Hold time.Time `json:"hold,omitzero"`
	// Tries counts the tries for the next visit that came to nothing. Of these, Fruitless
	// counts the permits that came to nothing through nobody's fault, and Faults the errors
	// other than that a service did not answer or was full.
	Tries     int `json:"tries,omitempty"`
	Fruitless int `json:"fruitless,omitempty"`
	Faults    int `json:"faults,omitempty"`
	// Unrecorded is a visit that was made and is not in the store yet.
	Unrecorded *Unrecorded `json:"unrecorded,omitempty"`
	// Stopping: a person, or the crawl's stop, asked the page to complete.
	Stopping bool `json:"stopping,omitempty"`
	// Closing: only the crawl's stop asked. If the crawl is started again before the page has
	// completed, the page lives on.
	Closing bool `json:"closing,omitempty"`
	// Evicting: the page gave its place in the collection to another.
	Evicting bool `json:"evicting,omitempty"`
	// Interval, when set, replaces the policy's interval (set-interval).
	Interval time.Duration `json:"interval,omitempty"`
	// Snoozed, when in the future, is the earliest next visit (snooze).
	Snoozed time.Time `json:"snoozed,omitzero"`
	// Recent are the last visits, newest first, at most RecentVisits.
	Recent []VisitLine `json:"recent,omitempty"`
	// Runs counts the continue-as-news so far.
	Runs int `json:"runs,omitempty"`
	// Tuning bounds a run; zero is the default. Tests force short runs with it.
	Tuning Tuning `json:"tuning,omitzero"`
}

// Unrecorded is a visit between its request and its record. It is part of the
// state so that neither a store outage nor a continue-as-new costs the site a
// second request.
type Unrecorded struct {
	Fetch FetchOut `json:"fetch"`
	// Settled: Fetch.Outcome is final, DetectChange is done or not needed.
	Settled    bool           `json:"settled,omitempty"`
	Links      int            `json:"links,omitempty"`      // of DetectChange
	Registered *RegisterOut   `json:"registered,omitempty"` // of DetectChange
	Reasons    []crawl.Reason `json:"reasons,omitempty"`
	HostID     int64          `json:"host_id,omitempty"` // of the permit, 0 without one
}

// RecentVisits is how many visits a page's current details show.
const RecentVisits = 8

// Tuning bounds one run of an entity workflow.
type Tuning struct {
	VisitsPerRun int `json:"visits_per_run,omitempty"` // default 100
	EventsPerRun int `json:"events_per_run,omitempty"` // default 1000
	TurnsPerRun  int `json:"turns_per_run,omitempty"`  // of Crawl's maintenance, default 300
	LooksPerRun  int `json:"looks_per_run,omitempty"`  // of Sink, default 200
}

// VisitLine is one visit in a page's current details.
type VisitLine struct {
	Visit   int           `json:"visit"`
	At      time.Time     `json:"at"`
	Outcome crawl.Outcome `json:"outcome,omitempty"`
	// Word is the outcome if programs of release 0.2.0 have no name for it, and so could
	// not read the line: Outcome is then one that they know.
	Word     string `json:"word,omitempty"`
	Returned bool   `json:"returned,omitempty"` // see Marked
	Status   int    `json:"status,omitempty"`
	Note     string `json:"note,omitempty"`
}

// OutcomeWord is the outcome's name.
func (l VisitLine) OutcomeWord() string {
	return cmp.Or(l.Word, Unmarked(l.Outcome, l.Returned).String())
}

// DiscoverIn registers a version's links and admits known pages.
type DiscoverIn struct {
	Store   string        `json:"store,omitempty"`
	CrawlID int64         `json:"crawl_id"`
	Crawl   string        `json:"crawl"`
	Page    crawl.PageRef `json:"page,omitzero"` // zero PageID: admission only
	Visit   int           `json:"visit"`         // of the page, or a serial number
	// Register: the page's visit stored links.
	Register bool `json:"register,omitempty"`
	// Hosts to admit pages of; empty with Register unset is all hosts.
	Hosts []int64 `json:"hosts,omitempty"`
	// Refill: the page was told to refill the crawl, so that pages of all hosts are admitted.
	Refill bool `json:"refill,omitempty"`
	// Registered: links are done, only admission is left (after continue-as-new).
	Registered bool `json:"registered,omitempty"`
	Started    int  `json:"started,omitempty"`
	// New, Seen and Rejected are the counts of earlier runs.
	New      int            `json:"new,omitempty"`
	Seen     int            `json:"seen,omitempty"`
	Rejected map[string]int `json:"rejected,omitempty"`
}

// DiscoverOut reports what was discovered.
type DiscoverOut struct {
	New      int            `json:"new"`
	Seen     int            `json:"seen"`
	Rejected map[string]int `json:"rejected,omitempty"`
	Started  int            `json:"started"`
}

// CrawlProgress is the Crawl workflow's state besides its spec: its second
// argument, nil in the first run.
type CrawlProgress struct {
	// Store is the identity of the store that owns the crawl; "" before one has opened
	// it, unless it was given at the start.
	Store      string           `json:"store,omitempty"`
	CrawlID    int64            `json:"crawl_id"`
	Name       string           `json:"name"`
	State      crawl.CrawlState `json:"state,omitempty"` // none before it is open
	Generation int64            `json:"generation"`
	Every      time.Duration    `json:"every"`
	NextTurn   time.Time        `json:"next_turn,omitzero"` // of maintenance
	LastTurn   time.Time        `json:"last_turn,omitzero"`
	Repair     bool             `json:"repair,omitempty"`  // of the pass that is due
	After      int64            `json:"after,omitempty"`   // cursor within the pass
	Waking     bool             `json:"waking,omitempty"`  // parked pages are being woken
	Admit      bool             `json:"admit,omitempty"`   // an admission Discover is wanted
	Problem    string           `json:"problem,omitempty"` // of the last maintenance pass, as a whole
	// Problems are those of the steps of the last pass that failed, by step.
	Problems    map[string]string `json:"problems,omitempty"`
	Rank        *crawl.Reason     `json:"rank,omitempty"`    // the pages are to be ranked, and why
	Replace     bool              `json:"replace,omitempty"` // pages are to be exchanged
	Ranked      *RankOut          `json:"ranked,omitempty"`  // the last ranking
	Evicted     int               `json:"evicted,omitempty"`
	Runs        int               `json:"runs,omitempty"`
	Tuning      Tuning            `json:"tuning,omitzero"`
	Serial      int               `json:"serial"` // of admission Discovers
	Restarted   int               `json:"restarted"`
	Turns       int               `json:"turns"`
	Counts      CrawlCounts       `json:"counts"`
	Closing     int64             `json:"closing,omitempty"` // page id cursor of a stop
	ClosedPages int               `json:"closed_pages,omitempty"`
}

// Updates and signals of Page. visit-now and stop are both; turn and
// reschedule are signals only.
const (
	VisitNow    = "visit-now"
	StopName    = "stop"
	SetInterval = "set-interval" // update, DurationArg; "0" returns to the policy
	Snooze      = "snooze"       // update, DurationArg from now
	TurnSignal  = "turn"         // TurnArg
	Reschedule  = "reschedule"   // RescheduleArg
)

// SpecBase tells which spec a new one was made from. It is an optional second argument, and workers
// of earlier releases ignore it.
type SpecBase struct {
	// Generation is that of the spec that was read; see OpenCrawlIn.Base.
	Generation int64 `json:"generation,omitempty"`
}

// Updates of Crawl (besides stop).
const (
	AddSeeds = "add-seeds" // AddSeedsArg
	SetSpec  = "set-spec"  // the whole spec as plain JSON, and perhaps SpecBase
	Pause    = "pause"
	Resume   = "resume"
	// AwaitOpen changes nothing: it answers when the crawl is in the store, or with
	// the error in its spec.
	AwaitOpen = "await-open"
	// SeedsImported admits the seeds that were added to the store.
	SeedsImported = "seeds-imported"
)

// Queries.
const (
	StateQuery   = "state"   // Page: PageView
	ExplainQuery = "explain" // Page: ExplainView
	StatusQuery  = "status"  // Crawl: CrawlProgress
)

// TurnArg says when the host is free for the page: In from the sending.
type TurnArg struct {
	In time.Duration `json:"in"`
}

// StopArg is the argument of a page's signal stop. People leave it out.
type StopArg struct {
	// Closing: the crawl was stopped.
	Closing bool `json:"closing,omitempty"`
}

// RescheduleArg moves a sleeping page's due time.
type RescheduleArg struct {
	Due time.Time `json:"due"`
	Why string    `json:"why"`
	// Visit is the last recorded visit that the new time was computed from; the
	// page ignores a time that a newer visit has overtaken. 0 is any.
	Visit int `json:"visit,omitempty"`
}

// Ack answers an update: what was understood, in words.
type Ack struct {
	Message string    `json:"message"`
	Visit   int       `json:"visit,omitempty"` // number of the visit that will answer it
	Due     time.Time `json:"due,omitzero"`
	// Failed: the requested action was tried and did not work, as Message says.
	Failed bool `json:"failed,omitempty"`
	// Replayed says how far a replay of undelivered changes has come.
	Replayed *sink.Replayed `json:"replayed,omitempty"`
}

// PageView is the answer of the state query.
type PageView struct {
	URL     string          `json:"url"`
	Crawl   string          `json:"crawl"`
	Host    string          `json:"host"`
	State   crawl.PageState `json:"state,omitempty"`
	Doing   string          `json:"doing"` // sleeping, waiting, fetching, …
	Visits  int             `json:"visits"`
	Due     time.Time       `json:"due,omitzero"`
	Why     string          `json:"why"`
	Snoozed time.Time       `json:"snoozed,omitzero"`
	Recent  []VisitLine     `json:"recent,omitempty"`
}

// ExplainView is the answer of the explain query.
type ExplainView struct {
	PageView
	Interval string   `json:"interval,omitempty"` // set by a person
	Reasons  []string `json:"reasons"`
}
