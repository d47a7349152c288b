package store

import (
	"context"
	"fmt"
	"time"
)

// TroubleKept is how long a trouble is still reported after it was mended.
const TroubleKept = time.Hour

// Parts of a crawl that have troubles, besides the steps of its maintenance.
const (
	TroubleWorkflow = "workflow" // the crawl's own
	TroublePages    = "pages"    // the workflows of its pages that are overdue
	// Troubles found before they were overdue:
	TroubleEnded = "pages_ended" // workflows of pages that somebody has ended
	TroubleStuck = "pages_stuck" // workflows of pages that do nothing
	// TroubleWorkers: which workers make requests, and which do not.
	TroubleWorkers = "workers"
)

// Care knows which crawls a worker looks after, and their troubles.
type Care interface {
	// ClaimCare returns at most limit crawls, whatever their state, that no worker has
	// looked after for at least the time every, and notes that the caller now does. Each
	// crawl goes to one worker. Crawls that are being deleted are left out.
	ClaimCare(ctx context.Context, every time.Duration, limit int) ([]CrawlRecord, error)
	// NoteTroubles records what is wrong with parts of a crawl now. Parts that are not
	// named keep their troubles.
	NoteTroubles(ctx context.Context, crawlID int64, troubles []Trouble) error
	// Care returns how a crawl is looked after, and its troubles.
	Care(ctx context.Context, crawlID int64) (CareRecord, error)
}

// Backlogs records what waits in Temporal's task queue, so that a command need not ask
// a server that is too busy to answer. Care returns it.
type Backlogs interface {
	// NoteBacklog records how many tasks wait, and for how long the oldest has waited. While
	// they wait, it measures how many visits the engine makes; see admission.Capacity.
	NoteBacklog(ctx context.Context, tasks int, age time.Duration) error
}

// Trouble is a problem with a part of a crawl.
type Trouble struct {
	Part    string // one of the constants, or a step of maintenance
	Problem string // in words; "" means that an earlier trouble is over
	Pages   int    // how many pages it affects, 0 where that has no meaning
	// Mended: it is over. It is reported for another TroubleKept.
	Mended bool
}

// StuckMended is the trouble of pages whose workflows were stuck and have been started anew.
// why is how one of them failed.
func StuckMended(pages int, why string) Trouble {
	return Trouble{
		Part: TroubleStuck, Pages: pages, Mended: true,
		Problem: fmt.Sprintf("%s stuck (%s) and started anew", were(pages), why),
	}
}

// StuckAgain is the trouble of pages whose workflows are stuck although they were started
// anew. why is how one of them fails.
func StuckAgain(pages int, why string) Trouble {
	return Trouble{
		Part: TroubleStuck, Pages: pages,
		Problem: fmt.Sprintf("%s started anew and stuck again (%s); the log of a worker names each", were(pages), why),
	}
}

// StuckWithoutKey is the trouble of pages whose workers lack a key. why names it.
func StuckWithoutKey(pages int, why string) Trouble {
	wait := "wait"
	if pages == 1 {
		wait = "waits"
	}
	return Trouble{
		Part: TroubleStuck, Pages: pages,
		Problem: fmt.Sprintf("%d %s for a worker with the key (%s); `starter repair` starts such pages anew without", pages, wait, why),
	}
}

func were(n int) string {
	if n == 1 {
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}

// CareRecord is how a crawl is looked after.
type CareRecord struct {
	LookedAt time.Time // zero: by nobody yet
	Troubles []TroubleRecord
	// Backlog is that of the store's task queue, the same for all crawls. It is zero if none
	// was noted within the last BacklogSeen.
	Backlog BacklogRecord
}

// BacklogSeen is how long a note of the backlog is valid. Workers repeat it more often.
const BacklogSeen = 2 * time.Minute

// BacklogRecord describes the task queue's backlog at a time.
type BacklogRecord struct {
	Tasks int
	Age   time.Duration // of the oldest task
	At    time.Time
}

// TroubleRecord is a trouble as stored. Since is when it began; it has lasted without a
// break.
type TroubleRecord struct {
	Trouble
	Since, Seen, MendedAt time.Time
}
