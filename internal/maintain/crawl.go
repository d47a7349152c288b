package maintain

import (
	"context"

	"recrawl/internal/schedule"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// Crawl is a crawl as maintenance sees it.
type Crawl struct {
	store.CrawlRecord
	Revisit schedule.Rules // of the spec
	// URL returns the URL under which the crawl keeps an address.
	URL func(raw string) (urlkey.URL, error)
	// Scope returns the crawl's scope for judging these URLs, and no others; see
	// scope.Knowing.
	Scope func(ctx context.Context, urls ...urlkey.URL) (scope.Scope, error)
}

// Moves are pages whose next visits move to other times, and why. The store moves them
// first, and then their workflows are told.
type Moves struct {
	Pages []store.Move
	Why   string
	// Earlier are pages that were moved for the same reason before. They are told again,
	// before the others: the mover may have been cut off in between.
	Earlier []int64
}
