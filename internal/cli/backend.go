package cli

import (
	"context"
	"io"
	"time"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// Backend is what the commands need done; package app does it.
//
// Its errors are one line for a person, with what to do about it. An error that
// wraps store.ErrNotFound exits with 3, a *crawl.SpecError with 2, all others
// with 1.
type Backend interface {
	// Dev runs everything on this machine until ctx ends, which is no error.
	Dev(ctx context.Context, o DevOptions) error
	// OpenStore opens a store for reading. It gives up within seconds.
	OpenStore(ctx context.Context, dsn string) (store.Store, error)
	// DialTemporal connects to Temporal. It gives up within seconds.
	DialTemporal(ctx context.Context, o TemporalOptions) (Client, error)
}

// TemporalOptions say where Temporal is. What is empty is left to Temporal's
// own settings (TEMPORAL_* variables, configuration file, localhost:7233).
type TemporalOptions struct {
	Address, Namespace string
}

// Client speaks to the workflows. The texts that it returns say what was
// understood, in words. Except for Running and StartCrawl, a crawl or page
// without a running workflow is store.ErrNotFound.
type Client interface {
	// Running reports whether the crawl's workflow runs.
	Running(ctx context.Context, name string) (bool, error)
	// StartCrawl starts the crawl's workflow, unless it runs already, and waits until
	// it has opened the crawl in the store.
	StartCrawl(ctx context.Context, spec crawl.Spec) error
	// AddSeeds gives a running crawl more seeds.
	AddSeeds(ctx context.Context, name string, seeds []string) (string, error)
	// SetSpec replaces the spec of a running crawl.
	SetSpec(ctx context.Context, spec crawl.Spec) (string, error)
	// ChangeCrawl stops, pauses or resumes a running crawl.
	ChangeCrawl(ctx context.Context, name string, change Change) (string, error)
	// VisitNow asks for a visit of the page as soon as its host allows.
	VisitNow(ctx context.Context, page store.PageRecord) (string, error)
	// Close ends the connection.
	Close()
}

// Change is what ChangeCrawl does. The values are the names of the crawl's
// updates.
type Change string

// The changes.
const (
	Stop   Change = "stop"
	Pause  Change = "pause"
	Resume Change = "resume"
)

// DevOptions say what `starter dev` runs.
type DevOptions struct {
	// Data is the data folder; it is made if it does not exist.
	Data string
	// TemporalPort and UIPort must be these when not 0; else free ones are found.
	TemporalPort, UIPort int
	// For ends it by itself after this time; 0 runs until the context ends.
	For    time.Duration
	Config config.Config
	Getenv func(string) string
	Out    io.Writer
	Err    io.Writer
	// Ready, unless nil, is called once when everything runs. It starts or extends
	// the crawl that was asked for; its error ends Dev and is returned.
	Ready func(ctx context.Context, s store.Crawls, c Client) error
}
