package store

import (
	"context"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
)

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
	// ExcludedFor). It returns the pages it admitted. Run again with the same Key it
	// changes nothing while pages of the first time have not been attempted, and
	// returns those: the answer that its caller may have lost.
	Admit(ctx context.Context, p AdmitParams) ([]PageRecord, error)
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
	// Foreign: the URL lies beyond the crawl's sites, and is registered only if its host
	// is, or becomes, one of the crawl's foreign hosts (see RegisterParams).
	Foreign bool `json:"-"`
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
	// Revive makes pages of the list that are stopped Known again, with their history.
	Revive bool
	// ForeignHosts is the most hosts beyond its sites that the crawl may have, those of
	// other calls and of ClaimForeignHost included. The first that are found are taken, and stay
	// whatever the number is later; the rest is counted as rejected, for ReasonForeign.
	ForeignHosts int
	// Rejected are links that are not registered: counted, when Version is set, only
	// by the call that ends the wait of that version's links.
	Rejected []Rejection
}

// RegisterResult counts what RegisterLinks found.
type RegisterResult struct {
	New       int     // URLs seen for the first time
	Seen      int     // URLs known before
	Forgotten int     // URLs left out because they, or their hosts, were forgotten
	Refused   int     // URLs left out because the crawl has all its foreign hosts
	Revived   int     // URLs of pages that were stopped, which Revive made Known
	Hosts     []int64 // hosts of all the URLs, in order, but for those left out as refused
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
	// Said is what the page says of its own.
	Said  change.Wording
	Visit int
	Links []Link
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
	// Refused is the reason for which the link is not taken, "" if that is to be decided;
	// URL is then as the page has it. Times is for how many such links it stands, 0 for
	// itself.
	Refused string `json:"x,omitempty"`
	Times   int    `json:"t,omitempty"`
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
	Key         string // names the call, so that it can be made again; "" for none
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
