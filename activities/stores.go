package activities

import (
	"context"
	"time"

	"recrawl/internal/admission"
	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/maintain"
	"recrawl/internal/maintain/duplicates"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// Stores are the parts of a store that activities need, by subject. One store is all of
// them.
type Stores struct {
	Crawls   CrawlStore
	Gate     store.Gate
	Pages    PageStore
	Frontier FrontierStore
	Contents store.Contents

	// Maintenance's derived data has its own interface.
	Allocation  maintain.AllocationStore
	Duplicates  DuplicateStore
	Feed        maintain.FeedStore
	Hints       maintain.HintStore
	Ranks       maintain.RankStore
	Replacement maintain.ReplacementStore
	Scope       maintain.ScopeStore
	Traps       maintain.TrapStore

	// What goes out.
	Sinks SinkStore
}

// CrawlStore has the crawls themselves.
type CrawlStore interface {
	ID() string
	Now(ctx context.Context) (time.Time, error)
	OpenCrawl(ctx context.Context, spec crawl.Spec) (store.CrawlRecord, error)
	SetCrawlState(ctx context.Context, name string, state crawl.CrawlState) (store.CrawlRecord, error)
	Crawl(ctx context.Context, name string) (store.CrawlRecord, error)
	Status(ctx context.Context, crawlID int64) (store.StatusRecord, error)
	AddRedirectedSeed(ctx context.Context, p store.RedirectedSeed) (store.SeedVerdict, error)
	NoteTroubles(ctx context.Context, crawlID int64, troubles []store.Trouble) error
}

// PageStore has pages with their visits and versions.
type PageStore interface {
	Page(ctx context.Context, pageID int64) (store.PageRecord, error)
	FindPages(ctx context.Context, url, crawlName string) ([]store.PageRecord, error)
	Forgotten(ctx context.Context, url string) (bool, error)
	KnownURLs(ctx context.Context, crawlID int64, urls []string) (map[string]bool, error)
	ListPages(ctx context.Context, f store.PageFilter) ([]store.PageRecord, error)
	DuePages(ctx context.Context, p store.DueParams) ([]store.PageRecord, error)
	SetPageState(ctx context.Context, pageID int64, state crawl.PageState) error
	StopWithCrawl(ctx context.Context, pageID int64) (lives bool, err error)
	BecomePage(ctx context.Context, pageID int64) error
	Reschedule(ctx context.Context, moves []store.Move) ([]store.PageRecord, error)
	Internal(ctx context.Context, pageID int64, since time.Time) (schedule.Internal, error)

	Suspecting(ctx context.Context, page store.PageRecord, digest string, most int) (int, error)
	Visit(ctx context.Context, pageID int64, visit int) (store.VisitRecord, error)
	RecordVisit(ctx context.Context, p store.RecordParams) (store.RecordResult, error)
	SaveVersion(ctx context.Context, p store.SaveVersionParams) (int64, error)
	EarlierVersions(ctx context.Context, pageID int64, limit int) ([]store.VersionRecord, error)
	Content(ctx context.Context, version int64) (change.Content, error)
	SaveReading(ctx context.Context, pageID int64, r store.Reading) error
	ListSources(ctx context.Context, f store.SourceFilter) ([]store.SourceRecord, error)
}

// FrontierStore has the URLs that were found and are not visited yet.
type FrontierStore interface {
	RegisterLinks(ctx context.Context, p store.RegisterParams) (store.RegisterResult, error)
	PendingLinks(ctx context.Context, pageID int64, visit int) (*store.PendingLinks, error)
	UnfinishedLinks(ctx context.Context, crawlID int64, age time.Duration, limit int) ([]store.PendingLinks, error)
	Candidates(ctx context.Context, p store.CandidateParams) ([]store.PageRecord, error)
	Admit(ctx context.Context, p store.AdmitParams) ([]store.PageRecord, error)
	Refilled(ctx context.Context, crawlID int64, e admission.Engine) (again bool, err error)
	Recount(ctx context.Context, crawlID int64) error
	ClaimRobotsHost(ctx context.Context, crawlID int64, site, host string, most int) (bool, error)
	SeedKeys(ctx context.Context, crawlID int64, keys []crawl.SeedKey) (map[crawl.SeedKey]bool, error)
}

// DuplicateStore has the known duplicates.
type DuplicateStore interface {
	duplicates.TwinStore
	duplicates.LookStore
	duplicates.RecordStore
}
