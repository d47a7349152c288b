package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
)

// Ranks keeps how important the pages of a crawl are, and changes the collection
// accordingly. Package rank defines the numbers; package maintain computes them.
type Ranks interface {
	// RankedPages lists, by id, at most limit of a crawl's pages whose ids are greater than
	// after, with the data for a ranking. It leaves out pages that a trap holds: a site can
	// make any number of those.
	RankedPages(ctx context.Context, crawlID, after int64, limit int) ([]RankedPage, error)
	// PageLinks lists at most limit links from one page to another, of all crawls, in the
	// order of From and To: those that come after the given one.
	PageLinks(ctx context.Context, after PageLink, limit int) ([]PageLink, error)
	// SaveRanks stores the ranks of pages, in many transactions. They determine the order
	// of admission and of the hosts' lines. Differences smaller than RankSlack are not
	// written. Pages that no longer exist, or belong to another crawl, are left out.
	SaveRanks(ctx context.Context, crawlID int64, ranks []PageRank) error
	// SaveRanking records a ranking whose ranks are saved, with the ranks of all hosts,
	// which replace the previous ones. The store sets At.
	SaveRanking(ctx context.Context, crawlID int64, r RankingRecord, hosts []HostRank) error
	// Ranking returns the last ranking of a crawl, zero if there was none, and the number of
	// links that the crawl has now.
	Ranking(ctx context.Context, crawlID int64) (last RankingRecord, links int, err error)
	// Collection returns how full a crawl's collection is.
	Collection(ctx context.Context, crawlID int64) (CollectionRecord, error)
	// Swap evicts a page and admits another in its place, atomically. It does nothing, and
	// reports false, if that is no longer possible: if Out does not live or is a seed, if In
	// is neither Known nor Evicted or its host's window is full, or if max_pages would be
	// exceeded. Without In, the collection must have more pages than it may; without Out, it
	// must have room. The evicted page leaves its line; asking for a permit for it is
	// answered GateEvicted.
	Swap(ctx context.Context, p SwapParams) (Eviction, bool, error)
	// Evictions lists at most limit evictions of the last EvictionsKept, newest first; with
	// untold, only those for which SetTold has not been called.
	Evictions(ctx context.Context, crawlID int64, untold bool, limit int) ([]Eviction, error)
	// SetTold records that the workflows of these evicted pages, and of the pages that took
	// their places, have been told.
	SetTold(ctx context.Context, crawlID int64, pages []int64) error
}

const (
	// RankSlack is how much a rank or a weight must change, as a share of itself, to be
	// written again. Those of most pages hardly change from one day to the next.
	RankSlack = 0.01
	// EvictionsKept is how long evictions are listed.
	EvictionsKept = 30 * 24 * time.Hour
)

// RankedPage is a page as a ranking reads it.
type RankedPage struct {
	ID     int64
	HostID int64
	State  crawl.PageState
	// EvictedAs is the state of an Evicted page before its eviction; 0 for other pages.
	EvictedAs crawl.PageState
	Seed      bool    // at level 0
	Source    bool    // a sitemap or feed: pages link to none, so it has no rank
	Rank      float64 // see PageRank; 0 of a page that was in no ranking
	Weight    float64
	// Placed is when it was last admitted or evicted; zero if never, or if that was before
	// stores recorded it.
	Placed time.Time
}

// PageLink is a link from one page to another, by id.
type PageLink struct{ From, To int64 }

// PageRank is how important a page is.
type PageRank struct {
	ID     int64   `json:"id"`
	Rank   float64 `json:"rank"`   // PageRank, of mean 1
	Weight float64 `json:"weight"` // importance, see rank.Importance
	// Backlinks as of the ranking. Pages is not written, since PageRecord.Backlinks counts
	// them as they are found.
	rank.Backlinks `json:"-"`
}

// HostRank is how important a host is, by the last ranking: the sum of its pages' ranks.
type HostRank struct {
	Rank float64
	rank.HostLinks
}

// RankingRecord is a ranking in numbers.
type RankingRecord struct {
	At           time.Time
	Pages        int
	Links        int // from one page to another
	Known        int // links that the crawl had then, about, with those of pages that are not ranked
	Hosts        int
	Rounds       int           // of PageRank
	Residual     float64       // mean change of a rank in the last round
	Damping      float64       // as it was computed
	Personalised bool          // by the crawl's seeds
	Took         time.Duration // all of it
	Reason       crawl.Reason  // why it was made; zero if a person asked for it
	// Top are the most important pages, highest weight first, at most RankedTop.
	Top []PageRank
}

// RankedTop is the number of most important pages in a RankingRecord.
const RankedTop = 100

// CollectionRecord is how full a collection is.
type CollectionRecord struct {
	MaxPages int // 0 is unlimited
	Living   int // pages with a workflow
	Evicted  int // pages that were evicted in the last 24 hours
	Out      int // pages that are Evicted now
}

// SwapParams are the inputs of Swap.
type SwapParams struct {
	CrawlID int64
	rank.Swap
}

// Eviction is a page that lost its place to another.
type Eviction struct {
	Page   PageRecord // zero if only a page came in
	By     PageRecord // zero if only a page left
	At     time.Time
	Reason crawl.Reason // see rank.Words
}
