package feed

import (
	"time"

	"recrawl/internal/crawl"
)

// Change is a row of the feed.
type Change struct {
	ID      int64
	CrawlID int64 // 0 for a change of a host
	Kind    Kind
	At      time.Time
	// PageID, Visit and Seq are the page, the visit that found the change and the number of
	// the version that the page has since; 0 for none.
	PageID int64
	Visit  int
	Seq    int
	Data   Data
}

// Data holds what readers of a Change cannot read later from the page, the visit and the
// version, because these move on. It is stored as JSON; fields are only ever added.
type Data struct {
	// Was and State are the page's states before and after.
	Was   crawl.PageState `json:"was,omitempty"`
	State crawl.PageState `json:"state,omitempty"`
	// From is the number of the version before, 0 for none.
	From int `json:"from,omitempty"`
	// ReturnedTo is set if the page has an earlier version again: its number.
	ReturnedTo int `json:"returned_to,omitempty"`
	// URLHash is the SHA-256, in hex, of the URL of a forgotten page.
	URLHash string `json:"url_sha256,omitempty"`
	// For crawl.state and crawl.spec, Crawl is the crawl's state and Generation the
	// generation of its spec.
	Crawl      crawl.CrawlState `json:"crawl,omitempty"`
	Generation int64            `json:"generation,omitempty"`
	// HostID is the host of host.blocked and trap.held, TrapID the trap, and Blocked
	// whether the host is now blocked.
	HostID  int64 `json:"host_id,omitempty"`
	TrapID  int64 `json:"trap_id,omitempty"`
	Blocked bool  `json:"blocked,omitempty"`
	// For sink.paused and feed.gap, Sink is the name of the sink, Code says why it was
	// paused, and Missed is the number of changes that it never read.
	Sink   string `json:"sink,omitempty"`
	Code   string `json:"code,omitempty"`
	Missed int64  `json:"missed,omitempty"`
}
