package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
)

// Sources keeps what sitemaps and feeds said, and how reliable they were. A source is a
// page (crawl.PageKind) that is visited like any other; RegisterLinks registers it as a
// source. A hint is a Move with HintedBy. When the page's visit is recorded, a change is a
// hit of the source, and no change a miss. Visits that could not compare count as neither.
type Sources interface {
	// SaveReading stores the result of reading a source.
	SaveReading(ctx context.Context, pageID int64, r Reading) error
	// SaveSkipped stores, by reason, how many dates of a source moved no visit, and how many
	// lists that it names are not read.
	SaveSkipped(ctx context.Context, pageID int64, skipped map[string]int) error
	// BecomePage makes a source an ordinary page, because its content showed that it is not
	// a list.
	BecomePage(ctx context.Context, pageID int64) error
	// Outdated lists the active pages among the URLs that were visited, but not since the
	// given date, and that are not due, or due only because of a source's hint.
	Outdated(ctx context.Context, crawlID int64, dates []URLDate) ([]OutdatedPage, error)
	// ListSources lists sources by page id after After, or the newest first.
	ListSources(ctx context.Context, f SourceFilter) ([]SourceRecord, error)
	// ClaimRobotsHost reports whether a host to which a robots.txt of the site redirects is
	// one of those to which the site may lead the crawl, and makes it one if there are fewer
	// than most. The site is a urlkey.URL.Site. These hosts do not count towards
	// RegisterParams.ForeignHosts.
	ClaimRobotsHost(ctx context.Context, crawlID int64, site, host string, most int) (bool, error)
}

// HintMemory is how many hints a source's record remembers. When there are more, half of
// them are forgotten.
const HintMemory = 200

// Reading is the result of reading a source.
type Reading struct {
	Format  string         // "" if it is not a list
	Entries int            // URLs
	Dated   int            // those with a date that is believed
	Dropped map[string]int // the entries left out, by reason
	Problem string         // why all or the rest of it could not be read
}

// URLDate is when a page changed according to a source.
type URLDate struct {
	URL      string
	Modified time.Time
}

// OutdatedPage is a page whose last visit was before the change that a source reports.
type OutdatedPage struct {
	PageID         int64
	URL            string
	Visit          int
	LastAt, NextAt time.Time
	Modified       time.Time
	HintedBy       int64 // the source whose hint moved the next visit, 0 for none
}

// SourceFilter chooses sources; zero fields choose all.
type SourceFilter struct {
	CrawlID int64
	PageID  int64 // only this one
	Host    string
	Kind    crawl.PageKind
	Finder  int64 // found from this page first
	Newest  bool  // the newest first; After does not count
	After   int64 // page id, exclusive
	Limit   int
}

// SourceRecord is a source as stored.
type SourceRecord struct {
	crawl.PageRef
	Kind    crawl.PageKind
	State   crawl.PageState
	Nesting int
	Reading           // the last
	ReadAt  time.Time // zero before the first
	FoundAt time.Time
	Visits  int
	LastAt  time.Time
	Brought int // pages that it listed and the crawl did not know
	Hinted  int // visits that it moved
	// Hits and Misses count those that found a change and those that did not; see
	// HintMemory.
	Hits, Misses int
	// Skipped counts, by reason, what was left out of the last reading: dates that moved no
	// visit, and lists that are not read.
	Skipped map[string]int
}
