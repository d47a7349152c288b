package store

import "context"

// ScopeLooks keeps how far the pages of a crawl have been looked at under its scope,
// and wakes those whose place in it has changed.
type ScopeLooks interface {
	// ScopeLook returns how far the last look has come; zero if there was none.
	ScopeLook(ctx context.Context, crawlID int64) (ScopeLook, error)
	// SetScopeLook replaces it.
	SetScopeLook(ctx context.Context, crawlID int64, l ScopeLook) error
	// WakePages makes living pages due now that sleep, and returns those.
	WakePages(ctx context.Context, pages []int64) ([]PageRecord, error)
}

// ScopeLook is a look at all pages of a crawl.
type ScopeLook struct {
	Scope string // names the scope
	After int64  // the page id up to which pages have been looked at
	Done  bool   // all have been
}
