package store

import (
	"context"
	"time"

	"recrawl/internal/crawl"
)

// Seeds keeps imported seeds: pages like others, and the keys by which a scope recognises
// them. They are not part of the spec, so there may be millions.
type Seeds interface {
	// ImportSeeds registers a batch of at most ImportBatch seeds, and records the import's
	// progress in the same transaction. So the effects that a result reports happen once,
	// however often the import is cut off. A crawl's first import raises its generation.
	ImportSeeds(ctx context.Context, p ImportParams) (ImportResult, error)
	// Import returns the progress of an unfinished import of a source; zero if there is
	// none.
	Import(ctx context.Context, crawlID int64, source string) (Import, error)
	// Imports lists the crawl's unfinished imports that can be continued, the last one first.
	Imports(ctx context.Context, crawlID int64, limit int) ([]ImportRecord, error)
	// EndImport deletes the progress of an import that is complete, and raises the crawl's
	// generation: its scope may take more than before.
	EndImport(ctx context.Context, crawlID int64, source string) error
	// SeedKeys returns which of the keys belong to imported seeds of the crawl.
	SeedKeys(ctx context.Context, crawlID int64, keys []crawl.SeedKey) (map[crawl.SeedKey]bool, error)
}

// ImportBatch is the most seeds that one ImportSeeds takes: the other writers of an
// embedded store wait for its transaction.
const ImportBatch = 1000

// NewSeed is a seed to be imported.
type NewSeed struct {
	URL  string          // canonical
	Host string          // urlkey.HostKey
	Keys []crawl.SeedKey // see scope.SeedKeys
	// Spelling is how the list spells path and query, empty if it spells them as URL does.
	Spelling string
}

// ImportParams are the inputs of ImportSeeds.
type ImportParams struct {
	CrawlID int64
	// Source names the list, so that the import can be continued; "" if it cannot.
	Source string
	Seeds  []NewSeed
	// Import is the progress after this batch, without the batch's additions to New,
	// Known and Forgotten.
	Import Import
}

// Import is the progress of an import. Its JSON is stored.
type Import struct {
	// Entries counts the entries of the source that have been processed.
	Entries int `json:"entries"`
	// New, Known and Forgotten count seeds: new pages, pages that the crawl already had, and
	// those left out because they or their hosts were forgotten (see Takedown).
	New       int `json:"new"`
	Known     int `json:"known"`
	Forgotten int `json:"forgotten"`
	// Refused counts, by reason, the entries that are not seeds.
	Refused map[string]RefusedSeeds `json:"refused,omitempty"`
	// Listed is the length in bytes of the list of refused entries that was written.
	Listed int64 `json:"listed,omitempty"`
}

// ImportRecord is an import that is under way, or that was cut off.
type ImportRecord struct {
	Import
	Source string
	At     time.Time // of its last batch
}

// RefusedSeeds are entries that were refused for one reason.
type RefusedSeeds struct {
	Entries  int      `json:"entries"`
	Examples []string `json:"examples"`
}

// ImportResult is the result of importing a batch.
type ImportResult struct {
	Import    Import   // including this batch
	Forgotten []string // URLs of the batch that were left out
}
