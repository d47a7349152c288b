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
	// the version that the page has since; 0 where there is none.
	PageID int64
	Visit  int
	Seq    int
	Data   Data
}

// Data is what a reader of a Change could not read from the page, the visit and the version
// later, because they move on. It is stored as JSON; fields are only ever added.
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
	// Crawl is the crawl's state, Generation the generation of its spec, of crawl.state and
	// crawl.spec.
	Crawl      crawl.CrawlState `json:"crawl,omitempty"`
	Generation int64            `json:"generation,omitempty"`
	// HostID is the host of host.blocked and trap.held, TrapID the trap, and Blocked whether
	// the host is blocked since.
	HostID  int64 `json:"host_id,omitempty"`
	TrapID  int64 `json:"trap_id,omitempty"`
	Blocked bool  `json:"blocked,omitempty"`
	// Sink is the name of the sink of sink.paused and feed.gap, Code why it was paused, and
	// Missed how many changes it never read.
	Sink   string `json:"sink,omitempty"`
	Code   string `json:"code,omitempty"`
	Missed int64  `json:"missed,omitempty"`
}
