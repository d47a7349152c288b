package store

import "context"

// ScopeLooks records how far the pages of a crawl have been checked against its scope, and
// wakes those for which the verdict has changed.
type ScopeLooks interface {
	// ScopeLook returns how far the last check has come; zero if there was none, or if OpenCrawl
	// has since replaced the spec with one that judges pages otherwise (crawl.Judging).
	ScopeLook(ctx context.Context, crawlID int64) (ScopeLook, error)
	// SetScopeLook replaces it.
	SetScopeLook(ctx context.Context, crawlID int64, l ScopeLook) error
	// WakePages makes living pages that stand in no line due now, and returns them. Those that
	// were due already are among them, except before their first visit: whoever woke them may
	// not have come to tell them.
	WakePages(ctx context.Context, pages []int64) ([]PageRecord, error)
}

// ScopeLook is a check of all pages of a crawl.
type ScopeLook struct {
	Scope string // names the scope
	After int64  // the page id up to which pages have been checked
	Done  bool   // all pages have been checked
}
