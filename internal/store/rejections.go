package store

import (
	"context"
	"fmt"
	"time"
)

// RejectedKept is how many rejected URLs are kept of each reason of a crawl, for
// people to look at.
const RejectedKept = 32

// ReasonForeign is the reason for which RegisterLinks rejects URLs of foreign hosts
// that the crawl has no room for.
const ReasonForeign = "foreign host"

// ForeignDetail says what a crawl with so many foreign hosts may do about it.
func ForeignDetail(most int) string {
	return fmt.Sprintf("beyond this site, and the crawl has its %d foreign hosts (sources.foreign_hosts)", most)
}

// Rejections keeps which links a crawl did not take, in numbers and examples.
type Rejections interface {
	// Rejections counts the crawl's rejected links by reason, most first.
	Rejections(ctx context.Context, crawlID int64) ([]RejectionCount, error)
	// ListRejected lists rejected URLs that are kept as examples, by reason, newest
	// first. What was forgotten (see Takedown) is not among them.
	ListRejected(ctx context.Context, f RejectedFilter) ([]RejectedLink, error)
}

// RejectionCount is how many links were rejected for a reason. A link of a page
// counts again with each new version of the page, a redirect with each visit.
type RejectionCount struct {
	Reason string
	Links  int
}

// Rejection is what RegisterLinks is told of the links that were rejected for one
// reason.
type Rejection struct {
	Reason string
	Links  int
	// Examples are some of them, see RejectedKept.
	Examples []RejectedURL
}

// RejectedURL is an example of a rejected link.
type RejectedURL struct {
	URL    string // as found, if it is malformed
	Host   string // urlkey.HostKey, "" if it is malformed
	Detail string // more words than the reason's, or ""
}

// RejectedFilter chooses examples.
type RejectedFilter struct {
	CrawlID int64
	Reason  string // "" is all
	Limit   int
}

// RejectedLink is an example as stored.
type RejectedLink struct {
	Reason string
	RejectedURL
	From string // the page on which it stood, "" for none
	At   time.Time
}
