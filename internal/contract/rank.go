package contract

import (
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
)

// Activities that rank the pages of a crawl, and exchange pages by that.
var (
	Rank    = Activity[RankIn, RankOut]{"Rank"}          // regular
	Replace = Activity[ReplaceIn, ReplaceOut]{"Replace"} // regular
)

// RankName is an update of Crawl: rank the pages now.
const RankName = "rank"

// RankAsked is the code of the reason for a Rank that a person asked for.
const RankAsked = rank.CodeAsked

// Evict is a signal of Page: it has given its place in the collection to another.
const Evict = "evict"

// RankIn ranks all pages of a crawl.
type RankIn struct {
	Store   string       `json:"store,omitempty"`
	CrawlID int64        `json:"crawl_id"`
	Name    string       `json:"name"`
	Reason  crawl.Reason `json:"reason"`
}

// RankOut is a ranking in numbers; see store.RankingRecord.
type RankOut struct {
	At       time.Time     `json:"at"`
	Pages    int           `json:"pages"`
	Links    int           `json:"links"`
	Rounds   int           `json:"rounds"`
	Residual float64       `json:"residual"`
	Took     time.Duration `json:"took"`
}

// ReplaceIn exchanges a batch of pages of a full collection for better ones.
type ReplaceIn struct {
	Store   string `json:"store,omitempty"`
	CrawlID int64  `json:"crawl_id"`
	Name    string `json:"name"`
}

// ReplaceOut: More says that another batch may follow.
type ReplaceOut struct {
	Evicted  int  `json:"evicted"`
	Admitted int  `json:"admitted"`
	More     bool `json:"more,omitempty"`
}
