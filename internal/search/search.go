// Package search finds documents by their words. It holds what both drivers of Index share:
// how words are made of texts, what a hit is worth, and what of a text is shown.
package search

import (
	"context"
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
	// Digest is that of the text: pages with the same one are folded into one hit.
	Digest     string
	Importance float64 // relative to the average page, 1 if it is not known
	At         time.Time
}

// Query is a question to an index.
type Query struct {
	Crawl  int64
	Words  string // as a person types them
	Host   string // "" for all
	Prefix string // of the URL, "" for all
	Limit  int    // 0 is ten
	Offset int
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
}

// Index finds documents. All methods may be called at the same time.
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
}
