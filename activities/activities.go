// Package activities holds what happens once: each step in the life of a crawl, a
// page or a discovery that touches the store, the archive or the web. Workflows
// call them by the contracts of package contract.
//
// Each file is of one of these kinds:
//
//   - An activity, in a file named after it: fetch.go has Fetch, plan.go PlanRevisit.
//   - A part of one long activity, whose name goes first: maintain_restart.go.
//   - A subject of several activities, such as links.go or terms.go, with what a process
//     keeps of it between two calls: crowd.go, handover.go, turns.go, origincache.go.
//   - The frame of all: activities.go, stores.go and identity.go for what they get and whom
//     they answer, view.go for the crawl, effects.go for signals to workflows, room.go for
//     the disks and pace.go for long tasks.
package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"golang.org/x/sync/semaphore"

	"recrawl/internal/admission"
	"recrawl/internal/archive"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/room"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// Fetcher makes one HTTP exchange.
type Fetcher interface {
	// Reserve waits for a place among the requests in flight to an address.
	Reserve(ctx context.Context, req fetch.Request, patience time.Duration) (*fetch.Place, error)
	// Queue waits until a request may come to its address, or says how long that will take.
	Queue(ctx context.Context, req fetch.Request, who fetch.Asker, patience time.Duration) (*fetch.Ticket, time.Duration, error)
	Do(ctx context.Context, req fetch.Request, sink io.Writer) fetch.Result
}

// Workflows starts and signals workflows from activities.
type Workflows interface {
	StartPage(ctx context.Context, in contract.PageIn) error
	// MendPage is StartPage, but also restarts a workflow that is stuck.
	MendPage(ctx context.Context, in contract.PageIn) (temporalkit.Mended, error)
	// EndStuckDiscover ends the Discover of a visit if it is stuck.
	EndStuckDiscover(ctx context.Context, page crawl.PageRef, visit int) (bool, error)
	Turn(ctx context.Context, page crawl.PageRef, in time.Duration) error
	// FallBack stops a page's tasks from overtaking those of others.
	FallBack(ctx context.Context, page crawl.PageRef)
	StopPage(ctx context.Context, page crawl.PageRef) error
	EvictPage(ctx context.Context, page crawl.PageRef) error
	Reschedule(ctx context.Context, page crawl.PageRef, arg contract.RescheduleArg) error
	// StartSink wakes a sink; if it is gone, StartSink first starts it. WakeSink does not
	// start it.
	StartSink(ctx context.Context, in contract.SinkIn, arg contract.SinkWakeArg) error
	WakeSink(ctx context.Context, crawlName, name string, arg contract.SinkWakeArg) error
	// MendSink starts a sink that is gone, and restarts one that is stuck.
	MendSink(ctx context.Context, in contract.SinkIn) (temporalkit.Mended, error)
}

// Filters asks the operator's filter programs.
type Filters interface {
	scope.Programs
	// Has reports whether there is a program with the name.
	Has(name string) bool
}

// Settings configure a worker.
type Settings struct {
	// Version of recrawl, for the user agent.
	Version string
	// Contact is the mail address or URL used by crawls whose spec has none.
	Contact string
	// Overdue is how late a living page that is in no line must be before maintenance
	// starts its workflow again. Default one hour.
	Overdue time.Duration
	// Running, unless nil, calls each with the ids of a crawl's pages whose workflows run.
	// If it is nil, maintenance looks up each page by id, however many there are.
	Running func(ctx context.Context, crawlName string, each func(id string)) error
	// Filters are the filter programs that specs may name; nil means none.
	Filters Filters
	// Room says whether there is room for what requests bring; nil means always.
	Room Room
	// Engine says what this worker sees of the engine, for the bound on admission; nil
	// means an engine that keeps nobody waiting.
	Engine func() admission.Engine
	// Ended reports whether a store that a workflow names no longer exists, so that
	// the workflow may end; nil means never.
	Ended func(store string) bool
	// AtOnce lets Acquire begin permits for the Fetch of the same process. The program
	// that sets it must call Close.
	AtOnce bool
	// Senders makes the senders of sinks, and Events reads the events that they send.
	Senders Senders
	Events  EventSource
	// Foreign, unless nil, is called for each activity that is meant for another store.
	Foreign func(store string)
	// Denied, unless nil, is called for each visit that robots.txt forbids.
	Denied func()
	// Maintained, unless nil, is called after each step of maintenance, and after a ranking
	// (step "ranking"), with how long it took.
	Maintained func(step string, took time.Duration)
}

// Activities carries what activities need.
type Activities struct {
	stores    Stores
	archive   archive.Store
	fetcher   Fetcher
	workflows Workflows
	settings  Settings
	log       *slog.Logger
	crawls    crawlCache
	robots    robotsCache
	terms     termsCache
	// comparing is the room for the bodies that are being compared.
	comparing *semaphore.Weighted
	// ranking is held by the one crawl that is being ranked: its links are in memory.
	ranking *semaphore.Weighted
	forRoom roomWaiters
	kept    keptTurns
	// censuses belong to maintenance passes that are under way.
	censuses censuses
	reminded reminders
	handed   handovers
	refused  ownRefusals
	crowds   crowds
	wishes   wishes
	losses   hostLosses
}

// New returns the activities of one worker.
func New(s Stores, a archive.Store, f Fetcher, w Workflows, settings Settings, log *slog.Logger) *Activities {
	if settings.Overdue <= 0 {
		settings.Overdue = time.Hour
	}
	if settings.Room == nil {
		settings.Room = room.New(room.Options{})
	}
	if settings.Denied == nil {
		settings.Denied = func() {}
	}
	if settings.Maintained == nil {
		settings.Maintained = func(string, time.Duration) {}
	}
	if settings.Engine == nil {
		settings.Engine = func() admission.Engine { return admission.Engine{} }
	}
	return &Activities{
		stores: s, archive: a, fetcher: f, workflows: w, settings: settings, log: log, comparing: semaphore.NewWeighted(comparedAtOnce),
		ranking: semaphore.NewWeighted(1), wishes: wishes{closed: make(chan struct{})},
	}
}

// Register makes every activity known to a worker.
func (a *Activities) Register(w worker.ActivityRegistry) {
	register(w, a, contract.OpenCrawl, a.OpenCrawl)
	register(w, a, contract.SetCrawlState, a.SetCrawlState)
	register(w, a, contract.Maintain, a.Maintain)
	register(w, a, contract.ClosePages, a.ClosePages)
	register(w, a, contract.WakeParked, a.WakeParked)
	register(w, a, contract.Rank, a.Rank)
	register(w, a, contract.Replace, a.Replace)
	register(w, a, contract.Acquire, a.Acquire)
	register(w, a, contract.RefreshRobots, a.RefreshRobots)
	register(w, a, contract.Fetch, a.Fetch)
	register(w, a, contract.DetectChange, a.DetectChange)
	register(w, a, contract.PlanRevisit, a.PlanRevisit)
	register(w, a, contract.LeaveLine, a.LeaveLine)
	register(w, a, contract.RegisterLinks, a.RegisterLinks)
	register(w, a, contract.Admit, a.Admit)
	register(w, a, contract.Deliver, a.Deliver)
	register(w, a, contract.CommandSink, a.CommandSink)
}

// translate turns a store error into one that workflows decide on. "Unavailable" is
// retried durably, and "not found" ends the asker. Anything else is a bug and is
// retried as such.
func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return temporal.NewNonRetryableApplicationError(err.Error(), contract.ErrTypeNotFound, err)
	case errors.Is(err, store.ErrUnavailable), fullness(err) != "":
		return temporal.NewApplicationErrorWithOptions(err.Error(), contract.ErrTypeStoreUnavailable, temporal.ApplicationErrorOptions{
			Cause: err, Category: temporal.ApplicationErrorCategoryBenign, Details: archiveFault(err),
		})
	default:
		return err
	}
}

// archiveFault is the detail of an error that is the archive's, and not the store's.
func archiveFault(err error) []any {
	if !errors.Is(err, archive.ErrUnavailable) {
		return nil
	}
	text := err.Error()
	return []any{text[max(strings.Index(text, archive.ErrUnavailable.Error()), 0):]}
}

// NewPageIn makes a Page workflow's state from the page's row.
func NewPageIn(p store.PageRecord) contract.PageIn {
	in := contract.PageIn{Page: p.PageRef, State: p.State, Level: p.Level, Visit: p.Visits, Due: p.NextAt}
	if p.Visits == 0 {
		in.Why = "first visit"
	}
	return in
}

// badSpec is the non-retryable error that fails a Crawl at once.
func badSpec(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), contract.ErrTypeBadSpec, err)
}

// pageLabel names a page in errors.
func pageLabel(p crawl.PageRef) string { return fmt.Sprintf("page %d (%s)", p.PageID, p.URL) }
