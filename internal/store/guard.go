package store

import (
	"context"
	"encoding/json"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
)

// Guard keeps the traps of crawls: sets of URLs whose known pages are held, which
// are pages that are not admitted until their trap is released. Which URLs belong
// to a trap its callers know; the store keeps which page is held by which.
type Guard interface {
	// SetTraps makes traps that the crawl does not have yet, by name, and returns
	// those of all the names as they are. A trap that was released stays so.
	SetTraps(ctx context.Context, crawlID int64, traps []NewTrap) ([]TrapRecord, error)
	// Traps lists traps by id.
	Traps(ctx context.Context, f TrapFilter) ([]TrapRecord, error)
	// HoldPages makes Known pages of the crawl Held, each by its trap; other pages, and
	// traps that are released, are left alone. It returns how many.
	HoldPages(ctx context.Context, crawlID int64, holds []Hold) (int, error)
	// TakeBack makes pages Held that were admitted and have never been attempted, unless
	// they have a permit. They leave their lines, and who asks for a permit for one is
	// answered GateEvicted. Others are left alone. It returns how many.
	TakeBack(ctx context.Context, crawlID int64, holds []Hold) (int, GateEffects, error)
	// SweptTrap notes that the pages up to an id have been looked at for a trap, or,
	// done, all of them.
	SweptTrap(ctx context.Context, trapID, through int64, done bool) error
	// ReleaseTrap makes up to limit pages of the trap Known again, and the trap
	// released from then on. More says that others are held still: it must be called
	// again, which maintenance does too.
	ReleaseTrap(ctx context.Context, trapID int64, limit int) (released int, more bool, err error)
	// GrownPages lists pages of the crawl by id that have been found since EndLook was
	// last told of.
	GrownPages(ctx context.Context, crawlID int64, limit int) (Growth, error)
	// EndLook counts grown pages by prefix, once, and returns the new counts; from then
	// on they have been looked at. ErrConflict if somebody else has counted them.
	EndLook(ctx context.Context, p EndLookParams) ([]PrefixRecord, error)
	// PagesAfter lists pages of the crawl by id after After: of a host all, else those
	// that are Known.
	PagesAfter(ctx context.Context, p PagesAfterParams) ([]GrownPage, error)
	// Evidence lists, by id, the newest pages of each host and the newest of it that
	// have been admitted, at most Each of both; with no Hosts the newest admitted pages
	// of the crawl, at most Each of each state.
	Evidence(ctx context.Context, p EvidenceParams) ([]EvidencePage, error)
	// LinksOf lists links from these pages, at most each of one page: those to the
	// newest pages.
	LinksOf(ctx context.Context, pages []int64, each int) ([]FoundLink, error)
	// FindersOf returns, for each of the pages that was found on another, that other.
	FindersOf(ctx context.Context, pages []int64) (map[int64]Finder, error)
	// Dominating lists the prefixes of which most pages have been found, hosts among
	// them.
	Dominating(ctx context.Context, crawlID int64, limit int) ([]PrefixRecord, error)
}

// TrapState says what happens with the pages of a trap. The numbers are stored.
type TrapState uint8

// States of a trap.
const (
	TrapSweeping  TrapState = 1 // its known pages are being looked for
	TrapHolding   TrapState = 2 // all are held, and new ones are when they are found
	TrapReleasing TrapState = 3 // its pages are becoming Known again
	TrapReleased  TrapState = 4 // all are, and new ones are not held
)

// Holds reports whether new pages of the trap are held.
func (s TrapState) Holds() bool { return s == TrapSweeping || s == TrapHolding }

// NewTrap is a trap as it is found.
type NewTrap struct {
	Site    string // registrable domain
	Host    string // host key, or the domain of several
	Name    string // one of the crawl's traps
	Pattern json.RawMessage
	Reason  string
	Detail  string
	// After is the page id after which its pages are looked for; negative if it only
	// has pages that are held as they are found.
	After int64
}

// TrapRecord is a trap as stored.
type TrapRecord struct {
	ID int64
	NewTrap
	State   TrapState
	Swept   int64 // the page id up to which it has been looked for
	FoundAt time.Time
	Held    int // pages; only from Traps
}

// TrapFilter chooses traps; zero fields choose all.
type TrapFilter struct {
	CrawlID int64
	Sites   []string
	// Open chooses those that are sweeping or releasing.
	Open  bool
	After int64
	Limit int
}

// Hold is a page to be held.
type Hold struct {
	PageID, TrapID int64
}

// GrownPage is a page as the guard sees it.
type GrownPage struct {
	PageID int64
	HostID int64
	URL    string
	State  crawl.PageState
	// Attempted: a first visit to it has been made.
	Attempted bool
}

// Growth is pages that have been found.
type Growth struct {
	From    int64 // the page id up to which they have been looked at; for EndLook
	Pages   []GrownPage
	Through int64 // the last page's id, or From
}

// EndLookParams are the inputs of EndLook.
type EndLookParams struct {
	CrawlID       int64
	From, Through int64 // of the Growth
	Found         []PrefixRecord
}

// PrefixRecord is how many pages have been found below a path of a host.
type PrefixRecord struct {
	HostID int64
	Host   string // only from Dominating
	Prefix string // "" is the whole host
	Pages  int
}

// MaxPrefix is how many bytes of a prefix count.
const MaxPrefix = 200

// PagesAfterParams are the inputs of PagesAfter.
type PagesAfterParams struct {
	CrawlID int64
	Host    string // host key, "" is all
	After   int64
	Limit   int
}

// EvidenceParams are the inputs of Evidence.
type EvidenceParams struct {
	CrawlID int64
	Hosts   []int64
	Each    int
	// Admitted leaves out the newest pages of each host as such.
	Admitted bool
}

// EvidencePage is a page with what was found there.
type EvidencePage struct {
	GrownPage
	Content bool // it has a content
	Copy    bool // which is that of an older page, or nearly
	// Pending: its last version's links wait to be registered.
	Pending bool
	// Finder is the page on which it was found, 0 for none, and Said what it says of its
	// own.
	Finder int64
	Said   change.Wording
}

// Finder is a page on which another was found.
type Finder struct {
	URL  string
	Said change.Wording
}

// FoundLink is a link with what is known of where it leads.
type FoundLink struct {
	From, To int64
	URL      string // of To
	Finder   int64  // the page on which To was found, 0 for none
}
