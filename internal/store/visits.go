package store

import (
	"context"
	"encoding/json"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// PageRecord is a page as stored.
type PageRecord struct {
	crawl.PageRef
	HostID    int64
	Level     int
	Hops      int // links since the seeds' hosts were left
	Kind      crawl.PageKind
	State     crawl.PageState
	Visits    int // number of the last recorded visit
	Changes   int // visits with outcome changed; a return is none
	Failures  int // failed visits since the last success
	LastAt    time.Time
	NextAt    time.Time
	Backlinks int
	// Weight is the page's importance in the last ranking, of mean 1; 0 if it was in none.
	// As of that ranking, Rank is its PageRank, LinkingHosts counts other hosts with a page
	// that links to it, and InnerLinks counts its Backlinks on its own host.
	Weight       float64
	Rank         float64
	LinkingHosts int
	InnerLinks   int
	// TextAt is when a visit last brought another text; see crawl.Outcome.BringsText. It
	// outlives the records of that visit, which retention may remove.
	TextAt time.Time
	// HintedBy is the source whose hint moved the next visit, 0 for none.
	HintedBy int64
	// ETag and LastModified are the validators of the last content.
	ETag, LastModified string
	// Respelling is how the page is asked for; see Respelling.
	Respelling Respelling
	// Suspect is a content that a visit found, and that does not count before a second
	// look.
	Suspect Suspect
	// Last is the version that the last recorded visit left, zero if there is none. It is
	// never a version of a visit that is not recorded yet.
	Last VersionRecord
	// Belief is the revisit policy's memory of the page, as the policy stored it.
	Belief json.RawMessage
	// The page shares these with the others of its crawl and its host; see Schedules.
	Steering     schedule.Steering
	HostSteering schedule.HostSteering
	// Generation is that of the page's crawl at this reading, and CrawlTrapped reports whether
	// any trap of the crawl was known then, also a released one.
	Generation   int64
	CrawlTrapped bool
}

// Suspect is a content that a visit found, and that does not count before a second look;
// zero if there is none.
type Suspect struct {
	Visit  int    // number of the visit
	Digest string // of the body, "" if there was none, or none that may be kept
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
	Language    string // of the text, as a BCP 47 tag, "" if it is not known
	// Reserved is the site's statement about uses of the version when it was fetched, nil if
	// it made none. PageRecord.Last has none.
	Reserved []crawl.Reservation
	// Timeless is the second of change.CoreDigests of the text. PageRecord.Last has none.
	Timeless string
	// Back is the visit by which the page last returned to the version, 0 if none did. The
	// store sets it.
	Back int
	// Heads is set only by Version and for SaveVersion.
	Heads Heads
}

// Respelling is how a page's server, or the first link to it, spells the path and query of
// its URL. See urlkey.URL.Spells.
type Respelling struct {
	// Spelling is empty if it is the URL's own.
	Spelling string
	// Times is how many visits in a row have ended with a redirect to another spelling.
	Times int
}

// Heads are the data around a version's body, each "" if it is not known: the request and
// the head of the response as text, and the address that answered.
type Heads struct {
	Request, Response, Remote string
}

// Visits keeps pages, their visits and their versions.
type Visits interface {
	// Page returns one page, or ErrNotFound.
	Page(ctx context.Context, pageID int64) (PageRecord, error)
	// FindPages returns the pages with this canonical URL, in all crawls or in one.
	FindPages(ctx context.Context, url, crawlName string) ([]PageRecord, error)
	// KnownURLs returns those canonical URLs that are pages of the crawl, in any state.
	KnownURLs(ctx context.Context, crawlID int64, urls []string) (map[string]bool, error)
	// Suspecting counts the other pages of a page's host, in any crawl and up to most, whose
	// Suspect has the digest.
	Suspecting(ctx context.Context, page PageRecord, digest string, most int) (int, error)
	// Visit returns one recorded visit, or ErrNotFound.
	Visit(ctx context.Context, pageID int64, visit int) (VisitRecord, error)
	// SaveVersion stores a version with its content and the links to be registered. Saving
	// the same content for the same page and visit again, or anything for a visit that is
	// recorded, returns the first version's id. Another content takes the place of what was
	// saved with a visit that is not recorded: it is that of a later fetch. The version's bytes
	// must already be in the archive, and the caller must check for them once more when it
	// returns: see Contents. It returns ErrUnavailable while they are claimed for deletion.
	SaveVersion(ctx context.Context, p SaveVersionParams) (int64, error)
	// EarlierVersions lists at most limit of the versions that the page had before its last
	// one, in the order in which it last had them, the latest first.
	EarlierVersions(ctx context.Context, pageID int64, limit int) ([]VersionRecord, error)
	// RecordVisit stores a visit with its decision, updates the page and frees its place in
	// the window. The visit must be the page's next. If it is already recorded, the stored
	// one is returned with Already set. What was saved with the visit becomes the page's last
	// version, or is dropped if the visit found no such content.
	RecordVisit(ctx context.Context, p RecordParams) (RecordResult, error)
}

// SaveVersionParams are the inputs of SaveVersion.
type SaveVersionParams struct {
	Version VersionRecord // the store sets ID and Seq
	// BackTo is the id of an earlier version that the visit found again. That becomes the
	// page's last version when the visit is recorded, and Version is only read for its page
	// and its visit. 0 is none.
	BackTo  int64
	Links   []Link
	Content change.Content // see Duplicates; zero if it is not known
	Said    change.Wording // the wording of the page itself; see Guard
	// Duplicate is the page of the crawl that has the same content and a better claim to be
	// the original, nil if there is none. It is dropped if that page is forgotten meanwhile.
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
	// Visit is the visit to be stored. If At is zero, the store's clock sets it. The store
	// sets NextAt and Version.
	Visit VisitRecord
	// Interval is the time from the visit to the next.
	Interval time.Duration
	Failures int // failed visits in a row after this one
	// Held is the length of the back-off that the visit caused at its host. The page's next
	// visit then stands behind the others in the host's line. See polite.Behind.
	Held time.Duration
	// Late is how long the page waited for the visit after it was due. See polite.Book.
	Late time.Duration
	// Foreseen is the chance of a change that the previous belief gave to a visit that
	// compared two copies; 0 if it gave none, or the visit was not made by its plan. It is
	// counted: see Foresight.
	Foreseen float64
	// ETag and LastModified replace the page's validators when Validators is set.
	Validators         bool
	ETag, LastModified string
	Respelling         *Respelling     // nil leaves it
	Belief             json.RawMessage // nil leaves it
	Suspect            *Suspect        // replaces the page's; nil leaves it
	// Touched are the hosts with pages that the visit's links have made known.
	Touched []int64
	// Retention is applied to the page in the same transaction, to at most RetentionStep of
	// its versions and visits.
	Retention Retention
}

// Retention says how much of a page's past is kept; zero fields keep all. Some records always
// stay: the last version, the one with the highest number, versions whose links wait to be
// registered, and visits that made a version which is kept.
type Retention struct {
	// Versions is how many versions are kept, those with the highest numbers and the last.
	Versions int
	// Age is how long a version is kept after another replaced it.
	Age time.Duration
	// Visits is how many visits are kept.
	Visits int
}

// RecordResult is the visit that RecordVisit stored, with its consequences.
type RecordResult struct {
	Visit   VisitRecord
	Already bool
	// Room: the caller that recorded this visit, the first one since the page was admitted or one
	// that made pages known, must refill its crawl: known pages wait, the windows and the bound on
	// admission have enough room to be worth it, and nobody else is refilling it.
	// Refilled ends the refill; after half a minute without admissions another page is
	// told.
	Room bool
	// InLineUntil is set if the place of the page's next visit is booked in its host's line:
	// a turn calls the page when it is due and its time comes. In case the turn is lost, it
	// comes by itself at InLineUntil.
	InLineUntil time.Time
	// Due is when the plan wanted the next visit, whose time is Visit.NextAt: later if Due
	// had passed when the visit was recorded. It is zero for a visit that was recorded
	// already.
	Due time.Time
	// Copied: the page may have duplicates that the visit frees (see
	// crawl.Outcome.FreesDuplicates). False means that it has none, or frees none.
	Copied bool
}
