package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
)

// FeedReader reads what events say of changes.
type FeedReader interface {
	// ChangeFacts returns what is known now of the pages, visits, versions, hosts and traps
	// of changes, in the order of the changes. What was forgotten or is no longer kept is
	// zero.
	ChangeFacts(ctx context.Context, changes []feed.Change) ([]ChangeFacts, error)
}

// ChangeFacts is what is known of a change besides the change itself.
type ChangeFacts struct {
	Crawl string // name
	// URL, Title, Kind and State are those of the page as it is now, Host is its host, or
	// that of the change.
	URL, Title, Host string
	Kind             crawl.PageKind
	State            crawl.PageState
	// Last has the number and the visits of the page's last version, and TextAt is that of
	// the page.
	Last   VersionRecord
	TextAt time.Time
	// Status, Location and Problem are those of the visit.
	Status            int
	Location, Problem string
	// Version is what the page has since the change, Before what it had, without links'
	// digest, heads and Back.
	Version, Before VersionRecord
	Trap            string // its name
}
