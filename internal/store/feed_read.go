package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
)

// FeedReader reads the data that events add to changes.
type FeedReader interface {
	// ChangeFacts returns the present data of the pages, visits, versions, hosts and traps
	// of changes, in the order of the changes. Facts that were forgotten or are no longer
	// kept are zero.
	ChangeFacts(ctx context.Context, changes []feed.Change) ([]ChangeFacts, error)
}

// ChangeFacts holds the facts about a change besides the change itself.
type ChangeFacts struct {
	Crawl string // name
	// URL, Title, Kind and State are the page's current ones. Host is the page's host, or
	// that of the change.
	URL, Title, Host string
	Kind             crawl.PageKind
	State            crawl.PageState
	// Last has the number and the visits of the page's last version, and TextAt is the
	// page's.
	Last   VersionRecord
	TextAt time.Time
	// Status, Location and Problem are those of the visit.
	Status            int
	Location, Problem string
	// Version is the page's version since the change, and Before the one before it,
	// without links' digest, heads and Back.
	Version, Before VersionRecord
	Trap            string // its name
}
