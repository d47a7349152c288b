package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
)

// Sources keeps what sitemaps and feeds said, and what their word was worth. A
// source is a page (crawl.PageKind) that is visited as any other; it becomes one
// when RegisterLinks registers it as one. A hint is a Move with HintedBy: when the
// page's visit is recorded, a change that it found is a hit of the source, and that
// it found none a miss; visits that could not compare count as neither.
type Sources interface {
	// SaveReading keeps what reading a source came to.
	SaveReading(ctx context.Context, pageID int64, r Reading) error
	// SaveSkipped keeps why dates of a source moved no visit, by reason.
	SaveSkipped(ctx context.Context, pageID int64, skipped map[string]int) error
	// BecomePage makes a source a page like others: its content showed that it is
	// none.
	BecomePage(ctx context.Context, pageID int64) error
	// Outdated lists the active pages among the URLs that were visited, but not since
	// the date given, and are not due, or only by the word of a source.
	Outdated(ctx context.Context, crawlID int64, dates []URLDate) ([]OutdatedPage, error)
	// ListSources lists sources by page id after After.
	ListSources(ctx context.Context, f SourceFilter) ([]SourceRecord, error)
	// ClaimForeignHost reports whether the host, to which a robots.txt redirects, is one
	// of the crawl's foreign hosts, and makes it one if there are fewer than most; see
	// RegisterParams.ForeignHosts.
	ClaimForeignHost(ctx context.Context, crawlID int64, host string, most int) (bool, error)
}

// HintMemory is how many hints a source's record remembers: when there are more,
// half of them are forgotten.
const HintMemory = 200

// Reading is what reading a source came to.
type Reading struct {
	Format  string         // "" if it is no list
	Entries int            // URLs
	Dated   int            // of them with a date that is believed
	Dropped map[string]int // what was left out, by reason
	Problem string         // why it, or the rest of it, could not be read
}

// URLDate is when a page changed, by the word of a source.
type URLDate struct {
	URL      string
	Modified time.Time
}

// OutdatedPage is a page that was last visited before a source says that it changed.
type OutdatedPage struct {
	PageID         int64
	URL            string
	Visit          int
	LastAt, NextAt time.Time
	Modified       time.Time
	HintedBy       int64 // the source whose word moved the next visit, 0 for none
}

// SourceFilter chooses sources; zero fields choose all.
type SourceFilter struct {
	CrawlID int64
	PageID  int64 // that one alone
	Host    string
	Kind    crawl.PageKind
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
	Visits  int
	LastAt  time.Time
	Hinted  int // visits that it moved
	// Hits and Misses are how many of these found a change or none; see HintMemory.
	Hits, Misses int
	// Skipped are the dates of the last reading that moved no visit, by reason.
	Skipped map[string]int
}
