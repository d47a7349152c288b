package store

import (
	"context"
	"fmt"
	"time"
)

// RejectedKept is how many rejected URLs a crawl keeps as examples for each reason.
const RejectedKept = 32

// ReasonForeign is why RegisterLinks rejects URLs of foreign hosts that the crawl has no
// room for.
const ReasonForeign = "foreign host"

// ForeignDetail explains such a rejection; most is how many foreign hosts the crawl may have.
func ForeignDetail(most int) string {
	return fmt.Sprintf("beyond this site, and the crawl has its %d foreign hosts (sources.foreign_hosts)", most)
}

// RobotsHostDetail explains a redirect of a robots.txt that is not followed, as ForeignDetail
// does; most is how many foreign hosts the files of one site may lead the crawl to.
func RobotsHostDetail(most int) string {
	return fmt.Sprintf("beyond this site, whose robots.txt files have led the crawl to %d foreign hosts (sources.foreign_hosts)", most)
}

// Rejections records the links that a crawl did not take, as numbers and examples.
type Rejections interface {
	// Rejections counts the crawl's rejected links by reason, most first.
	Rejections(ctx context.Context, crawlID int64) ([]RejectionCount, error)
	// ListRejected lists the rejected URLs that are kept as examples, by reason, newest
	// first. Forgotten URLs (see Takedown) are not among them.
	ListRejected(ctx context.Context, f RejectedFilter) ([]RejectedLink, error)
}

// RejectionCount is the number of links that were rejected for one reason. A link counts
// again with each new version of its page, a redirect with each visit.
type RejectionCount struct {
	Reason string
	Links  int
}

// Rejection tells RegisterLinks about the links that were rejected for one reason.
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
	Detail string // more detail than the reason gives, or ""
}

// RejectedFilter chooses examples.
type RejectedFilter struct {
	CrawlID int64
	Reason  string // "" is all
	// After is the place of the last example that was listed, zero for none.
	After RejectedPlace
	Limit int
}

// RejectedPlace is where an example stands in the list. It holds also when the example is
// replaced by a newer one.
type RejectedPlace struct {
	Reason string
	At     time.Time
	Slot   int // among those of its reason, below RejectedKept
}

// RejectedLink is an example as stored.
type RejectedLink struct {
	RejectedPlace
	RejectedURL
	From string // the page on which it stood, "" for none
}
