package store

import (
	"context"
	"encoding/json"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
)

// Guard keeps the traps of crawls. A trap is a set of URLs whose known pages are held: they
// are not admitted until the trap is released. The callers know which URLs belong to a
// trap; the store knows which page is held by which trap.
type Guard interface {
	// SetTraps creates the traps that the crawl does not have yet, by name, and returns the
	// current traps of all these names. A released trap stays released.
	SetTraps(ctx context.Context, crawlID int64, traps []NewTrap) ([]TrapRecord, error)
	// Traps lists traps by id.
	Traps(ctx context.Context, f TrapFilter) ([]TrapRecord, error)
	// HoldPages makes Known pages of the crawl Held, each by its trap, and returns how
	// many. It leaves other pages and released traps alone.
	HoldPages(ctx context.Context, crawlID int64, holds []Hold) (int, error)
	// TakeBack makes pages Held that were admitted and never attempted, unless they have a
	// permit or the version of a visit that is to be recorded, and returns how many. They
	// leave their lines; asking for a permit for one is answered GateEvicted. It leaves other
	// pages alone.
	TakeBack(ctx context.Context, crawlID int64, holds []Hold) (int, GateEffects, error)
	// SweptTrap records that the pages up to an id have been checked for a trap, or all of
	// them if done is set.
	SweptTrap(ctx context.Context, trapID, through int64, done bool) error
	// ReleaseTrap releases the trap and makes up to limit of its pages Known again. More
	// says that others are still held: call it again, as maintenance does too.
	ReleaseTrap(ctx context.Context, trapID int64, limit int) (released int, more bool, err error)
	// GrownPages lists, by id, the pages of the crawl that were found since the last
	// EndLook. It leaves out those with higher ids than a page whose registration may still be
	// under way: they come with a later look.
	GrownPages(ctx context.Context, crawlID int64, limit int) (Growth, error)
	// EndLook counts grown pages by prefix, once, and returns the new counts. From then on
	// the pages count as checked. It returns ErrConflict if somebody else counted them, or if
	// one of the Pages is not there any more. Forget takes its pages out of the counts.
	EndLook(ctx context.Context, p EndLookParams) ([]PrefixRecord, error)
	// PagesAfter lists pages of the crawl by id after After: all pages of one host, or,
	// without a host, those that are Known.
	PagesAfter(ctx context.Context, p PagesAfterParams) ([]GrownPage, error)
	// Evidence lists, by id, the newest pages of each host and its newest admitted ones,
	// at most Each of both. Without Hosts it lists the newest admitted pages of the crawl,
	// at most Each of each state.
	Evidence(ctx context.Context, p EvidenceParams) ([]EvidencePage, error)
	// LinksOf lists links from these pages, at most each per page: those to the newest
	// pages.
	LinksOf(ctx context.Context, pages []int64, each int) ([]FoundLink, error)
	// FindersOf returns, for each page that was found on another one, that other page.
	FindersOf(ctx context.Context, pages []int64) (map[int64]Finder, error)
	// Dominating lists the prefixes with the most pages found, including whole hosts.
	Dominating(ctx context.Context, crawlID int64, limit int) ([]PrefixRecord, error)
}

// TrapState says what happens to the pages of a trap. Its numbers are stored.
type TrapState uint8

// States of a trap.
const (
	TrapSweeping  TrapState = 1 // its known pages are being searched for
	TrapHolding   TrapState = 2 // all are held, and so are new ones when they are found
	TrapReleasing TrapState = 3 // its pages are becoming Known again
	TrapReleased  TrapState = 4 // all are, and new ones are not held
)

// Holds reports whether new pages of the trap are held.
func (s TrapState) Holds() bool { return s == TrapSweeping || s == TrapHolding }

// NewTrap is a newly found trap.
type NewTrap struct {
	Site    string // registrable domain
	Host    string // host key, or the domain of several
	Name    string // one of the crawl's traps
	Pattern json.RawMessage
	Reason  string
	Detail  string
	// After is the page id after which its pages are searched for; negative if it only has
	// pages that are held as they are found.
	After int64
}

// TrapRecord is a trap as stored.
type TrapRecord struct {
	ID int64
	NewTrap
	State   TrapState
	Swept   int64 // the page id up to which pages have been checked
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
	// Attempted: the page's first visit has been made.
	Attempted bool
	// Requisite: it is no page, and no part of a trap.
	Requisite bool
}

// Growth is a list of pages that were found since the last check.
type Growth struct {
	From    int64 // the page id up to which pages were checked before; for EndLook
	Pages   []GrownPage
	Through int64 // the last page's id, or From
}

// EndLookParams are the inputs of EndLook.
type EndLookParams struct {
	CrawlID       int64
	From, Through int64 // of the Growth
	Pages         []int64
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
	// Admitted asks for admitted pages only.
	Admitted bool
}

// EvidencePage is a page with the findings on it.
type EvidencePage struct {
	GrownPage
	Content bool // it has a content
	Copy    bool // its content is that of another page, its original, or nearly
	// Of is that page, 0 if it is no copy. Compared: maintenance has compared the content with
	// all others, so that Of is right.
	Of       int64
	Compared bool
	// Pending: the links of its last version wait to be registered.
	Pending bool
	// Finder is the page on which it was found, 0 for none. Said is the wording of the page
	// itself.
	Finder int64
	Said   change.Wording
}

// Finder is a page on which another was found.
type Finder struct {
	URL  string
	Said change.Wording
}

// FoundLink is a link with the known facts about its target.
type FoundLink struct {
	From, To int64
	URL      string // of To
	Finder   int64  // the page on which To was found, 0 for none
}
