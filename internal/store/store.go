// Package store defines recrawl's memory: crawls, pages, visits, versions, links, hosts
// and their lines. It holds the interface, its records and its errors. Package sqlstore
// implements the logic once; packages sqlite and postgres are the engines it runs on.
//
// All times are the store's own clock in UTC, in whole microseconds. All methods may be
// called from any goroutine. Errors wrap ErrNotFound or ErrUnavailable (try again later),
// or are bugs.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/crawl"
)

// Errors that callers decide on.
var (
	// ErrNotFound: the named crawl, page or host does not exist.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable: the database did not answer. Trying again later may help.
	ErrUnavailable = errors.New("store unavailable")
	// ErrFull is an ErrUnavailable: the database has no room to write.
	ErrFull = fmt.Errorf("no room: %w", ErrUnavailable)
	// ErrDenied is an ErrUnavailable: the database refuses the user, or does not exist.
	// Waiting does not help.
	ErrDenied = fmt.Errorf("no access: %w", ErrUnavailable)
	// ErrStandby is an ErrUnavailable: the database follows another server, and cannot answer this
	// question.
	ErrStandby = fmt.Errorf("the database is a standby: %w", ErrUnavailable)
	// ErrRefused: the permit does not allow a request (it has begun or was revoked, or its
	// crawl was paused or stopped).
	ErrRefused = errors.New("permit refused")
	// ErrForeign: the database belongs to another program or to a newer recrawl.
	ErrForeign = errors.New("foreign database")
	// ErrFixed: the setting was fixed when the store was created.
	ErrFixed = errors.New("fixed when the store was made")
	// ErrGrouped: the host is part of a unit of politeness that has another name.
	ErrGrouped = errors.New("grouped with other hosts")
	// ErrDeleting: the crawl is being deleted.
	ErrDeleting = errors.New("the crawl is being deleted: `starter delete` goes on with it, and then the name is free again")
	// ErrConflict: somebody else wrote the record in between.
	ErrConflict = errors.New("conflicting write")
)

// Store is everything that recrawl remembers. Its methods come in groups; see each group's
// interface.
type Store interface {
	Crawls
	Frontier
	Gate
	Visits
	Duplicates
	Schedules
	Ranks
	Reports
	Search
	Backlinks
	Exchanges
	Evidence
	Rejections
	Guard
	Sources
	Takedown
	Contents
	Workers
	Backlogs
	ScopeLooks
	Care
	Seeds
	Deletion
	Feed
	Sinks
	Identity
	FeedReader
	// Now returns the store's clock.
	Now(ctx context.Context) (time.Time, error)
	// Close ends all use of the store and marks the close as clean.
	Close() error
}

// Crawls keeps the crawls' specs and states.
type Crawls interface {
	// OpenCrawl creates the crawl, or replaces its spec if it exists. A changed spec or state
	// raises the generation. A stopped crawl runs again; a paused one stays paused.
	OpenCrawl(ctx context.Context, spec crawl.Spec) (CrawlRecord, error)
	// SetCrawlState pauses, resumes or stops a crawl. It writes one row, which takes effect
	// for every later Acquire and Begin.
	SetCrawlState(ctx context.Context, name string, state crawl.CrawlState) (CrawlRecord, error)
	// Crawl returns one crawl by name, or ErrNotFound.
	Crawl(ctx context.Context, name string) (CrawlRecord, error)
	// ListCrawls returns all crawls by name.
	ListCrawls(ctx context.Context) ([]CrawlRecord, error)
	// AddRedirectedSeed makes the target of a seed's redirect a seed too. Each seed brings at
	// most one, and a seed that was added this way brings none, however many redirects
	// follow each other or come later. Running it again changes nothing. It keeps other
	// changes of the spec that were made meanwhile.
	AddRedirectedSeed(ctx context.Context, p RedirectedSeed) (SeedVerdict, error)
}

// RedirectedSeed is a redirect of a seed. Its URLs are those under which the crawl
// keeps their pages.
type RedirectedSeed struct {
	Crawl    string // name
	From, To string
	Host     string // urlkey.HostKey of To
	// Imported: From is an imported seed, so To becomes one too, with these keys. If false,
	// To becomes an imported seed only if the spec has no room for another.
	Imported bool
	Keys     []crawl.SeedKey
}

// SeedVerdict says what became of a seed's redirect.
type SeedVerdict string

// What becomes of a seed's redirect.
const (
	SeedAdded      SeedVerdict = "added"            // To is a seed now
	SeedSpent      SeedVerdict = "spent"            // From has brought another seed
	SeedOfRedirect SeedVerdict = "of a redirect"    // From itself came by a redirect
	SeedClosed     SeedVerdict = "crawl or URL out" // the crawl is stopped, or To was forgotten
)

// CrawlRecord is a crawl as stored.
type CrawlRecord struct {
	ID         int64
	Spec       crawl.Spec
	State      crawl.CrawlState
	Generation int64 // raised by each change of spec or state
	CreatedAt  time.Time
	// StoppedAt is when the crawl was stopped, zero if it runs or an older program stopped
	// it. Rested is how long it was stopped before that, in all.
	StoppedAt time.Time
	Rested    time.Duration
	// Imported: it has seeds besides those of the spec; see Seeds.
	Imported bool
	// Deleting: the crawl can only be deleted; see Deletion.
	Deleting bool
}

// RetentionStep is the most versions, and the most visits, of a page that one RecordVisit
// removes. The next call removes more.
const RetentionStep = 100
