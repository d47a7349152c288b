// Package search finds documents by their words. It holds what both drivers of Index share:
// how words are made from texts, what a hit is worth, and which part of a text is shown.
package search

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Document is a page as an index holds it.
type Document struct {
	Crawl    int64
	Page     int64
	Version  int
	URL      string
	Host     string
	Title    string
	Headings []string
	Text     string // main text
	// Digest is the text's digest: pages with the same one are folded into one hit, except
	// for "".
	Digest     string
	Importance float64 // relative to the average page, 1 if it is not known
	At         time.Time
	// Mark names the content and how it was read. The index only gives it back; see Held.
	Mark string
}

// Held is an index's record of a page besides its words.
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
	Limit  int    // 0 means ten
	Offset int
	// Ranked bounds the pages with the words that are ranked; 0 means RankedMost.
	Ranked int
}

// Hit is a page that a query found.
type Hit struct {
	Page    int64
	Version int
	URL     string
	Title   string
	Score   float64 // higher is better; only comparable within one answer
	// Copies is the number of further pages with the same text.
	Copies int
}

// Result is an answer, best first.
type Result struct {
	Hits []Hit
	// More: there are further hits after these.
	More bool
	// Some: no page has all of the words; these have some of them.
	Some bool
}

// Target names what a takedown removes: a page by its URL, or all of a host.
type Target struct{ URL, Host string }

// Errors of indexes.
var (
	// ErrNone: there is no index yet.
	ErrNone = errors.New("there is no search index")
	// ErrOlder: there is one that an earlier release made. The next worker makes it anew.
	ErrOlder = fmt.Errorf("%w of this release, only an older one", ErrNone)
	// ErrForeign: the index that is there belongs to another store or to a newer release.
	ErrForeign = errors.New("not a search index of this store")
	// ErrBusy: another process writes to the index.
	ErrBusy = errors.New("another process writes to the search index")
)

// Index finds documents. All methods may be called at the same time, except those of an
// Index that Together passes.
type Index interface {
	// Put adds documents, or replaces those of their pages.
	Put(ctx context.Context, docs []Document) error
	// Delete removes pages, as if they had never been there. Unknown ones are no error.
	Delete(ctx context.Context, crawl int64, pages []int64) error
	// Query answers with hits, best first.
	Query(ctx context.Context, q Query) (Result, error)
	// Cursor returns how far the index of a crawl has followed the crawl's changes, as last
	// set by its sink: "" if it must be filled first.
	Cursor(ctx context.Context, crawl int64) (string, error)
	// SetCursor sets it.
	SetCursor(ctx context.Context, crawl int64, cursor string) error
	// Held returns the records of the pages of a crawl after one number and up to another.
	Held(ctx context.Context, crawl, after, through int64) (map[int64]Held, error)
	// Weigh sets the importance of pages whose content does not change.
	Weigh(ctx context.Context, crawl int64, importance map[int64]float64) error
	// Together lets do change the index of a crawl at once, all or nothing, while nobody
	// else changes it.
	Together(ctx context.Context, crawl int64, do func(Index) error) error
	// Drop removes everything of a crawl, including its cursor.
	Drop(ctx context.Context, crawl int64) error
	// Forget removes the target of a takedown from all crawls, and returns the number of
	// pages.
	Forget(ctx context.Context, t Target) (int, error)
	// Purge overwrites removed contents that the engine has not overwritten by itself.
	Purge(ctx context.Context) error
	// Crawls returns the crawls that have anything in the index.
	Crawls(ctx context.Context) ([]int64, error)
	Close() error
}
