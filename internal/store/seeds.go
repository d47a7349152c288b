package store

import (
	"context"

	"recrawl/internal/crawl"
)

// Seeds keeps the seeds that are imported: pages like others, and the keys by which a
// scope knows them. They are no part of the spec, so there may be millions.
type Seeds interface {
	// ImportSeeds registers a batch of seeds, at most ImportBatch, in one transaction
	// with how far the import has come: what a result says happens once, however often
	// the import is cut off. The first one of a crawl raises its generation.
	ImportSeeds(ctx context.Context, p ImportParams) (ImportResult, error)
	// Import returns how far an import of a source has come that has not ended; zero if
	// there is none.
	Import(ctx context.Context, crawlID int64, source string) (Import, error)
	// EndImport forgets how far an import has come, as it is complete, and raises the
	// crawl's generation: its scope may take more than before.
	EndImport(ctx context.Context, crawlID int64, source string) error
	// SeedKeys returns which of the keys imported seeds of the crawl have.
	SeedKeys(ctx context.Context, crawlID int64, keys []crawl.SeedKey) (map[crawl.SeedKey]bool, error)
}

// ImportBatch is the most seeds that one ImportSeeds takes: an embedded store's other
// writers wait for its transaction.
const ImportBatch = 1000

// NewSeed is a seed to be imported.
type NewSeed struct {
	URL  string          // canonical
	Host string          // urlkey.HostKey
	Keys []crawl.SeedKey // see scope.SeedKeys
}

// ImportParams are the inputs of ImportSeeds.
type ImportParams struct {
	CrawlID int64
	// Source names what is imported, so that the import can go on; "" if it cannot.
	Source string
	Seeds  []NewSeed
	// Import is how far the import will have come, without what this batch adds to New,
	// Known and Forgotten.
	Import Import
}

// Import is how far an import has come. Its JSON is stored.
type Import struct {
	// Entries are those of the source that have been dealt with.
	Entries int `json:"entries"`
	// New, Known and Forgotten count seeds: pages that are new, that the crawl had, and
	// that were left out because they, or their hosts, were forgotten (see Takedown).
	New       int `json:"new"`
	Known     int `json:"known"`
	Forgotten int `json:"forgotten"`
	// Refused counts by reason the entries that are no seeds.
	Refused map[string]RefusedSeeds `json:"refused,omitempty"`
	// Listed is the length in bytes of the list of refused entries that was written.
	Listed int64 `json:"listed,omitempty"`
}

// RefusedSeeds are entries that were refused for one reason.
type RefusedSeeds struct {
	Entries  int      `json:"entries"`
	Examples []string `json:"examples"`
}

// ImportResult is what became of a batch.
type ImportResult struct {
	Import    Import   // with this batch
	Forgotten []string // URLs of the batch that were left out
}
