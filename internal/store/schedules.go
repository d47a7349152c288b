package store

import (
	"context"
	"encoding/json"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// Schedules keeps the values that the pages of a crawl share for planning their
// visits, and the data that maintenance reads to adjust them.
type Schedules interface {
	// Steering returns the values that the pages of a crawl share. If hosts is set, it
	// also returns those that the pages of each host share, for hosts with their own
	// values. Before SetSteering it is empty.
	Steering(ctx context.Context, crawlID int64, hosts bool) (SteeringRecord, error)
	// SetSteering replaces the values that the pages of a crawl share, and those of the
	// given hosts; other hosts keep theirs.
	SetSteering(ctx context.Context, crawlID int64, rec SteeringRecord) error
	// Entries lists the living pages of a crawl that have been visited, as their last
	// visits left them, in the order of page id after After. It reads no further data
	// about them, since maintenance reads all pages.
	Entries(ctx context.Context, p EntryParams) ([]EntryRecord, error)
	// HostLoads returns how fast the given hosts can be asked, what other crawls plan
	// there, and how much of them is undiscovered. Unknown hosts are left out.
	HostLoads(ctx context.Context, crawlID int64, hosts []int64) ([]HostLoad, error)
	// Engine returns how many visits the engine makes, and how much of that other crawls ask
	// for.
	Engine(ctx context.Context, crawlID int64) (EngineRecord, error)
	// Reschedule moves the next visits of pages that sleep and have not been visited since
	// the move was decided, and returns the pages that it moved. A page that a source's hint
	// has moved is moved by another hint, or to an earlier time, only.
	Reschedule(ctx context.Context, moves []Move) ([]PageRecord, error)
	// Internal counts the pages of the same host that a page links to and that were compared
	// with an earlier copy since a time, and how many of these had changed. It considers the
	// first thousand. A first copy, and a visit without content, is no comparison.
	Internal(ctx context.Context, pageID int64, since time.Time) (schedule.Internal, error)
}

// SteeringRecord holds the values that the pages of a crawl and of its hosts share.
type SteeringRecord struct {
	schedule.Steering
	// Planned is how many visits a day were planned in the last maintenance pass, Budget
	// how many could be planned, Asked how many the crawl would like to make, At the time of
	// that pass, and Rounds the number of passes.
	Planned, Budget, Asked float64
	At                     time.Time
	Rounds                 int
	// Reasons say why the threshold is where the last pass put it.
	Reasons []crawl.Reason
	Hosts   map[int64]schedule.HostSteering
}

// EngineRecord says how many visits the engine makes.
type EngineRecord struct {
	// PerDay is how many visits a day all crawls may plan, 0 if there is no bound.
	PerDay float64
	// Others is how many visits a day the other crawls that run ask for.
	Others float64
}

// EntryParams are the inputs of Entries.
type EntryParams struct {
	CrawlID int64
	After   int64 // page id, exclusive
	Limit   int
	URLs    bool // give each page's URL too
}

// EntryLister is the part of Schedules that EachEntry needs.
type EntryLister interface {
	Entries(ctx context.Context, p EntryParams) ([]EntryRecord, error)
}

// EachEntry calls each for all entries after p.After. It reads p.Limit (> 0) entries while
// each handles the previous ones, which takes about as long.
func EachEntry(ctx context.Context, s EntryLister, p EntryParams, each func(EntryRecord)) error {
	read := make(chan []EntryRecord)
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		defer close(read)
		for {
			entries, err := s.Entries(ctx, p)
			if err != nil {
				return err
			}
			select {
			case read <- entries:
			case <-ctx.Done():
				return ctx.Err()
			}
			if len(entries) < p.Limit {
				return nil
			}
			p.After = entries[len(entries)-1].PageID
		}
	})
	both.Go(func() error {
		for entries := range read {
			for _, e := range entries {
				each(e)
			}
		}
		return nil
	})
	return both.Wait()
}

// EntryRecord is a page as maintenance reads it.
type EntryRecord struct {
	PageID, HostID int64
	URL            string // if requested
	State          crawl.PageState
	Visits         int
	LastAt, NextAt time.Time
	Belief         json.RawMessage
	Weight         float64 // importance; 0 is 1
	Hinted         bool    // a source's hint moved the next visit
}

// HostLoad is how fast a host can be asked, and what other work there is.
type HostLoad struct {
	ID     int64
	Gap    time.Duration // between two requests of this crawl, after an answer of mean length
	Mean   time.Duration // mean duration of a request
	Others float64       // visits a day that other crawls that run plan there
	// Undiscovered counts the pages of running crawls there that were never visited and for
	// which their crawls have room; Visited counts living pages that were visited.
	Undiscovered, Visited int64
}

// Move is a new time for a page's next visit.
type Move struct {
	PageID int64
	Visit  int // number of the last visit when the move was decided
	NextAt time.Time
	// HintedBy is the source whose date caused the move, 0 for none. See Sources.
	HintedBy int64
}
