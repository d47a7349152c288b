package store

import "context"

// Backlinks says where pages are linked from.
type Backlinks interface {
	// Backlinks lists, by id, at most limit of the pages that link to a page or once did, and
	// whose ids are greater than after. If they are more than BacklinksInOrder, it may leave
	// some out.
	Backlinks(ctx context.Context, pageID, after int64, limit int) ([]PageRecord, error)
}

// BacklinksInOrder is how many back-links of a page are sorted for one answer, so that
// the answer takes no longer for a home page to which many pages link.
const BacklinksInOrder = 5000
