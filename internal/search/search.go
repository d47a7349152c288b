// Package search finds documents by their words. It holds what both drivers of Index share:
// how words are made of texts, what a hit is worth, and what of a text is shown.
package search

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Document is what an index holds of a page.
type Document struct {
	Crawl    int64
	Page     int64
	Version  int
	URL      string
	Host     string
	Title    string
	Headings []string
	Text     string // main text
	// Digest is that of the text: pages with the same one are folded into one hit. "" is
	// folded with none.
	Digest     string
	Importance float64 // relative to the average page, 1 if it is not known
	At         time.Time
	// Mark names the content and how it was read. The index only gives it back; see Held.
	Mark string
}

// Held is what an index knows of a page besides its words.
type Held struct {
	Mark       string
	Importance float64
}

// Query is a question to an index.
type Query struct {
	Crawl  int64
	Words  string // as a person types them
	Host   string // "" for all
	Prefix string // of the URL, "" for all
	Limit  int    // 0 is ten
	Offset int
	// Ranked is how many of the pages that have the words are ranked; 0 is RankedMost.
	Ranked int
}

// Hit is a page that a query found.
type Hit struct {
	Page    int64
	Version int
	URL     string
	Title   string
	Score   float64 // higher is better; only comparable within one answer
	// Copies are how many more pages have the same text.
	Copies int
}

// Result is an answer, best first.
type Result struct {
	Hits []Hit
	// More: there are further hits behind these.
	More bool
	// Some: no page has all of the words, and these have some of them.
	Some bool
}

// Target is what a takedown removes: a page by its URL, or all of a host.
type Target struct{ URL, Host string }

// Errors of indexes.
var (
	// ErrNone: there is no index yet.
	ErrNone = errors.New("there is no search index")
	// ErrOlder: there is one that an earlier release made. The next worker makes it anew.
	ErrOlder = fmt.Errorf("%w of this release, only an older one", ErrNone)
	// ErrForeign: what is there is no index of this store, or of a newer release.
	ErrForeign = errors.New("not a search index of this store")
	// ErrBusy: another process writes to the index.
	ErrBusy = errors.New("another process writes to the search index")
)

// Index finds documents. All methods may be called at the same time, but for those of an
// Index that Together passes.
type Index interface {
	// Put adds documents, or replaces what is held of their pages.
	Put(ctx context.Context, docs []Document) error
	// Delete removes pages, as if they had never been there. Unknown ones are no error.
	Delete(ctx context.Context, crawl int64, pages []int64) error
	// Query answers with hits, best first.
	Query(ctx context.Context, q Query) (Result, error)
	// Cursor is how far the index of a crawl has followed the crawl's changes, as its sink
	// has set it last: "" if it must be filled first.
	Cursor(ctx context.Context, crawl int64) (string, error)
	// SetCursor sets it.
	SetCursor(ctx context.Context, crawl int64, cursor string) error
	// Held returns what is held of the pages of a crawl after one number and up to another.
	Held(ctx context.Context, crawl, after, through int64) (map[int64]Held, error)
	// Weigh sets the importance of pages whose content stays as it is.
	Weigh(ctx context.Context, crawl int64, importance map[int64]float64) error
	// Together lets do change the index of a crawl at once, all or nothing, while nobody
	// else changes it.
	Together(ctx context.Context, crawl int64, do func(Index) error) error
	// Drop removes all that is held of a crawl, its cursor included.
	Drop(ctx context.Context, crawl int64) error
	// Forget removes what a takedown names, of all crawls, and tells of how many pages.
	Forget(ctx context.Context, t Target) (int, error)
	// Purge overwrites what was removed, as far as the engine has not done so by itself.
	Purge(ctx context.Context) error
	// Crawls are those of which the index holds something.
	Crawls(ctx context.Context) ([]int64, error)
	Close() error
}
