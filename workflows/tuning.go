package workflows

import (
	"cmp"
	"time"

	"recrawl/internal/contract"
)

// Bounds of one run. A run is replayed from its start whenever a worker does not have it in
// its cache, and old code must be kept as long as the oldest run. So runs are kept short, in
// events and in time.
const (
	visitsPerRun = 100
	eventsPerRun = 1000
	turnsPerRun  = 300
	looksPerRun  = 200
	// longSleep: before a sleep longer than this, the page continues as new, so that each of
	// the many pages that sleep for months costs only one short history.
	longSleep = 7 * 24 * time.Hour
	// pageRunAge, crawlRunAge and sinkRunAge bound how long old code must be kept.
	pageRunAge  = 30 * 24 * time.Hour
	crawlRunAge = 24 * time.Hour
	sinkRunAge  = 24 * time.Hour
)

// Bounds of fan-out.
const (
	admitBatch = 100 // pages admitted and started at once
	// startsPerRun keeps a Discover far below the 2 000 pending children at which Temporal
	// stops a workflow. An abandoned child counts until its parent's run ends.
	startsPerRun = 500
	// openDiscovers is the most Discovers that a Crawl runs at a time.
	openDiscovers = 50
)

// Waits.
const (
	// parkedFallback: a parked page asks again after this time, in case its turn was lost.
	parkedFallback = 24 * time.Hour
	// turnLead: a page comes this long before its turn and waits in the process, since a
	// Temporal timer may be a second late.
	turnLead = 2 * time.Second
	// minInterval and maxInterval bound the interval that people may set for a page.
	minInterval = time.Second
	maxInterval = 3650 * 24 * time.Hour
	// fruitlessTries is how many permits in a row may come to nothing (lost attempts, revoked
	// permits, robots.txt hops) before the page pauses between two attempts.
	fruitlessTries = 8
	// idleLook: a sink that has delivered everything looks again after this time, in case
	// the worker that was about to wake it was lost. An idle sink costs two Actions for
	// that.
	idleLook = 6 * time.Hour
	// finishingFor: a sink of a stopped crawl waits this long for the changes that the
	// crawl's pages still record when they complete.
	finishingFor = time.Minute
	// admitTries bounds a Discover's patience with the store to about an hour. Maintenance
	// takes over the rest.
	admitTries = 60
)

// tuned returns t with defaults for zero fields.
func tuned(t contract.Tuning) contract.Tuning {
	return contract.Tuning{
		VisitsPerRun: cmp.Or(t.VisitsPerRun, visitsPerRun),
		EventsPerRun: cmp.Or(t.EventsPerRun, eventsPerRun),
		TurnsPerRun:  cmp.Or(t.TurnsPerRun, turnsPerRun),
		LooksPerRun:  cmp.Or(t.LooksPerRun, looksPerRun),
	}
}
