package store

import (
	"context"
	"time"
)

// TroubleKept is for how long a trouble that was mended is still told.
const TroubleKept = time.Hour

// Parts of a crawl that have troubles, besides the steps of its maintenance.
const (
	TroubleWorkflow = "workflow" // the crawl's own
	TroublePages    = "pages"    // the workflows of its pages that are overdue
	// What was found before they were overdue:
	TroubleEnded = "pages_ended" // workflows of pages that somebody has ended
	TroubleStuck = "pages_stuck" // workflows of pages that do nothing
	// TroubleWorkers: who works, or does not.
	TroubleWorkers = "workers"
)

// Care knows which crawls somebody looks after, and what is wrong with them.
type Care interface {
	// ClaimCare returns crawls, whatever their state, that no worker has looked after in
	// the last every, at most limit, and notes that the caller does: of all workers, one
	// gets each crawl. A crawl that is being deleted is nobody's care.
	ClaimCare(ctx context.Context, every time.Duration, limit int) ([]CrawlRecord, error)
	// NoteTroubles notes what is wrong with parts of a crawl now; parts that are not
	// named keep their troubles.
	NoteTroubles(ctx context.Context, crawlID int64, troubles []Trouble) error
	// Care returns what is known of the care for a crawl.
	Care(ctx context.Context, crawlID int64) (CareRecord, error)
}

// Trouble is what is wrong with a part of a crawl.
type Trouble struct {
	Part    string // one of the constants, or a step of maintenance
	Problem string // in words; "" is none: what was noted before is over
	Pages   int    // how many it concerns, 0 where that means nothing
	// Mended: it is over already. It is told for TroubleKept more.
	Mended bool
}

// CareRecord is how a crawl is looked after.
type CareRecord struct {
	LookedAt time.Time // zero: by nobody yet
	Troubles []TroubleRecord
}

// TroubleRecord is a trouble as stored. Since is when it was first seen without a break.
type TroubleRecord struct {
	Trouble
	Since, Seen, MendedAt time.Time
}
