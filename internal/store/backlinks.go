package store

import "context"

// Backlinks says where pages are linked from.
type Backlinks interface {
	// Backlinks lists at most limit pages that link to a page, or have done so, in the order
	// of their ids after after. Of a page with more than BacklinksInOrder of them, it may
	// leave some out.
	Backlinks(ctx context.Context, pageID, after int64, limit int) ([]PageRecord, error)
}

// BacklinksInOrder is how many back-links of a page are sorted for one answer, so that
// the answer takes no longer for a home page to which many pages link.
const BacklinksInOrder = 5000
