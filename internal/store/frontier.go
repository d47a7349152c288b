package store

import (
	"context"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/change"
	"recrawl/internal/crawl"
)

// Frontier records which URLs are known and which have a workflow.
type Frontier interface {
	// RegisterLinks adds URLs that the crawl has not seen, as Known pages. If From is set,
	// it also adds the links from that page and counts backlinks. If Version is set, it
	// marks that version's links as done, in the transaction of the last chunk. Running it
	// again changes nothing. Forgotten URLs (see Takedown) are left out, even seeds. Held
	// seeds become Known.
	RegisterLinks(ctx context.Context, p RegisterParams) (RegisterResult, error)
	// PendingLinks returns the links that a visit stored with its version, or nil if it
	// stored none or they have already been registered.
	PendingLinks(ctx context.Context, pageID int64, visit int) (*PendingLinks, error)
	// UnfinishedLinks lists at most limit versions older than age whose links have not
	// been registered, without the links themselves.
	UnfinishedLinks(ctx context.Context, crawlID int64, age time.Duration, limit int) ([]PendingLinks, error)
	// Candidates lists the best Known pages of each host that has room in the crawl's
	// window, highest priority first, at most Limit in all. Without Hosts it considers all
	// hosts of the crawl that have known pages and room. With Engine, the bound on
	// admission applies besides the windows: hosts get equal shares of the room that it
	// leaves, and take turns. If that room is not worth a refill, there are no candidates
	// except a few seeds. See package admission.
	Candidates(ctx context.Context, p CandidateParams) ([]PageRecord, error)
	// Admit makes Known pages Active (due now) up to the room that the window of their host
	// and the crawl's max_pages leave, and makes the pages of Exclude Excluded (due after
	// ExcludedFor). With Engine, the room under the bound on admission is a limit too; the
	// bound moves by what Engine shows. It returns the pages that it admitted. A second call
	// with the same Key changes nothing until pages of the first have been attempted, and
	// returns those: the answer that the caller may have lost.
	Admit(ctx context.Context, p AdmitParams) ([]PageRecord, error)
	// Refilled ends the refill that RecordResult.Room asked for. It reports whether the
	// next one must begin at once, in the same caller's hands.
	Refilled(ctx context.Context, crawlID int64, e admission.Engine) (again bool, err error)
	// Recount corrects how many pages of a crawl are on their way to their first visit,
	// which programs of the previous release do not count.
	Recount(ctx context.Context, crawlID int64) error
	// DuePages lists living pages (see PageState.Lives) that are due before Before, in the
	// order of page id after After. Unless InLine is set, it leaves out pages that stand
	// in a line; a lapsed waiter does not, nor does one whose permit is too old to begin.
	DuePages(ctx context.Context, p DueParams) ([]PageRecord, error)
	// SetPageState changes a page's state outside a visit (Stopped, Evicted, Active
	// again). If the new state does not live, the page leaves its line.
	SetPageState(ctx context.Context, pageID int64, state crawl.PageState) error
	// StopWithCrawl makes a living page of a stopped crawl Stopped. If the crawl is not
	// stopped (any more), it changes nothing and reports that the page lives on. A page that
	// does not live stays as it is.
	StopWithCrawl(ctx context.Context, pageID int64) (lives bool, err error)
}

// NewURL is a canonical URL to be registered.
type NewURL struct {
	URL   string `json:"url"`
	Host  string `json:"host"`  // urlkey.HostKey
	Level int    `json:"level"` // links from a seed
	Hops  int    `json:"hops"`  // links since the seeds' hosts were left
	// Spelling is how the link that was found spells path and query, empty if it spells
	// them as URL does. A new page is requested under it; a known one keeps its own.
	Spelling string `json:"-"`
	// Trap is a trap that the URL belongs to, 0 for none. If it holds, a new page is Held:
	// see Guard.
	Trap int64 `json:"-"`
	// Variant is the URL without its session id, or without other parts that choose nothing.
	// Trap then holds the page only if that URL, alone or with other such parts, is already a
	// page; see also Redirects.
	Variant string `json:"-"`
	// Kind is the kind under which the URL was found. A known page keeps its kind, unless
	// it was tried and gave no content. A known requisite that rests becomes Known again if
	// its time is over: see PageRecord.NextAt.
	Kind crawl.PageKind `json:"kind,omitempty"`
	// Looks is set if the address looks like a requisite's. It decides what a URL
	// without content is that was found both as a page and as a requisite: a requisite if
	// Looks is set, else a page.
	Looks bool `json:"-"`
	// Nesting and Place belong to a source that an index names: how many indexes lie above
	// it, and how many sources the index names before it.
	Nesting int `json:"nesting,omitempty"`
	Place   int `json:"place,omitempty"`
	// Foreign: the URL lies beyond the crawl's sites, and is registered only if its host
	// is, or becomes, one of the crawl's foreign hosts, or of its hosts for requisites if it
	// is one (see RegisterParams).
	Foreign bool `json:"-"`
}

// RegisterParams are the inputs of RegisterLinks.
type RegisterParams struct {
	CrawlID int64
	From    int64 // page that links, 0 for seeds
	// Redirects: From redirects to the URLs, so that its content is there. It is then no
	// reason to hold a Variant of its own URL, and one that is held becomes Known.
	Redirects bool
	Version   int64 // version whose links these are, 0 for none
	// Listed: From is a list. Its entries are not links: they say nothing about the
	// importance of a page. Neither does a link to a source.
	Listed bool
	URLs   []NewURL
	// Revive makes stopped pages of the list Known again, with their history.
	Revive bool
	// ForeignHosts is the most hosts beyond its sites that the crawl may have, including
	// those of other calls. The first that are found are taken, and stay if the number
	// changes later. The rest are counted as rejected, for ReasonForeign.
	ForeignHosts int
	// RequisiteHosts is likewise the most hosts beyond its sites on which requisites may lie.
	// They are counted separately, and the rest is rejected for requisite.ReasonCrawlHosts.
	RequisiteHosts int
	// Rejected are links that are not registered. If Version is set, only the call that
	// ends the wait of that version's links counts them.
	Rejected []Rejection
}

// RegisterResult counts what RegisterLinks found.
type RegisterResult struct {
	New       int     // URLs seen for the first time
	Seen      int     // URLs known before
	Forgotten int     // URLs left out because they or their hosts were forgotten
	Refused   int     // URLs left out because the crawl has no room for another foreign host
	Revived   int     // URLs of pages that were stopped, which Revive made Known
	Hosts     []int64 // hosts of all URLs except the refused and the forgotten ones, in order
	NewHosts  []int64 // those of URLs seen for the first time that no trap holds, in order
	// Again: Version's links had been registered before, by a call whose answer may have
	// been lost.
	Again bool
	// RefusedRequisites are those of Refused that are requisites, for whose hosts there is no
	// room.
	RefusedRequisites int
}

// PendingLinks are a version's links before they are registered.
type PendingLinks struct {
	Version int64
	Page    crawl.PageRef
	Level   int
	Hops    int
	// Kind is the page's, Nesting a source's.
	Kind    crawl.PageKind
	Nesting int
	// Language is the version's, "" if it is not known.
	Language string
	// Said is the wording of the page itself.
	Said  change.Wording
	Visit int
	Links []Link
}

// Link is one link of a page as extracted: absolute and canonical.
type Link struct {
	URL      string `json:"u"`
	NoFollow bool   `json:"n,omitempty"`
	// Spelling is how the link spells path and query, empty if it spells them as URL does.
	Spelling string `json:"s,omitempty"`
	// Kind is the kind of the link's target: a page, or a source.
	Kind crawl.PageKind `json:"k,omitempty"`
	// Modified is when the page changed according to a list, in milliseconds since 1970;
	// 0 if the list does not say.
	Modified int64 `json:"m,omitempty"`
	// Refused is why the link is not taken, or "" if that is still to be decided. If it is
	// set, URL is as the page has it. Times is how many such links this one represents, 0
	// for itself only.
	Refused string `json:"x,omitempty"`
	Times   int    `json:"t,omitempty"`
}

// CandidateParams are the inputs of Candidates.
type CandidateParams struct {
	CrawlID int64
	Hosts   []int64
	Limit   int
	Engine  *admission.Engine // the caller's view of the engine; nil means no bound
}

// AdmitParams are the inputs of Admit.
type AdmitParams struct {
	CrawlID     int64
	Admit       []int64 // page ids
	Exclude     []int64 // page ids
	ExcludedFor time.Duration
	// Generation is that of the spec by which Exclude was judged. If the crawl has another by
	// now, nothing is excluded: the pages stay Known, to be judged again. 0 means any.
	Generation int64
	Key        string            // names the call, so that it can be repeated; "" for none
	Engine     *admission.Engine // the caller's view of the engine; nil means no bound
}

// DueParams are the inputs of DuePages.
type DueParams struct {
	CrawlID int64
	Before  time.Time
	After   int64 // page id, exclusive
	Limit   int
	InLine  bool // include pages that stand in a line
	Untried bool // only pages that were admitted and have never been attempted
	Longest bool // those that have been due longest, instead of those with the lowest ids; without After
}
