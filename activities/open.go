package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// OpenCrawl creates or extends the crawl of a spec and registers its seeds. A
// wrong spec is a non-retryable error that names the field.
func (a *Activities) OpenCrawl(ctx context.Context, in contract.OpenCrawlIn) (contract.OpenCrawlOut, error) {
	spec, err := crawl.ParseSpec(in.Spec)
	if err != nil {
		return contract.OpenCrawlOut{}, badSpec(err)
	}
	add, err := a.seedsToAdd(ctx, spec.Name, in.AddSeeds)
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	for _, seed := range add {
		if !slices.Contains(spec.Seeds, seed) {
			spec.Seeds = append(spec.Seeds, seed)
		}
	}
	before, err := a.seedsOf(ctx, spec.Name)
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	if err := crawl.CheckSeedCount(len(spec.Seeds), len(before)); err != nil {
		return contract.OpenCrawlOut{}, badSpec(err)
	}
	if err := spec.Validate(); err != nil {
		return contract.OpenCrawlOut{}, badSpec(err)
	}
	if want := contract.CrawlID(spec.Name); in.WorkflowID != want {
		return contract.OpenCrawlOut{}, badSpec(&crawl.SpecError{Field: "name", Problem: fmt.Sprintf("%q needs workflow id %q, not %q", spec.Name, want, in.WorkflowID)})
	}
	if _, err := extract.NewRules(spec.Content); err != nil {
		return contract.OpenCrawlOut{}, badSpec(err)
	}
	if err := a.checkScope(spec); err != nil {
		return contract.OpenCrawlOut{}, badSpec(err)
	}
	seeds, err := a.seeds(spec)
	if err != nil {
		return contract.OpenCrawlOut{}, badSpec(err)
	}
	return a.open(ctx, spec, seeds, named(spec.Seeds, seeds, before, in.AddSeeds))
}

// checkScope reports what is wrong with a spec's scope: this worker, and so every
// worker, must have each program that it names.
func (a *Activities) checkScope(spec crawl.Spec) error {
	sc, err := scope.New(spec, nil)
	if err != nil {
		return err
	}
	for _, name := range sc.Programs() {
		if a.settings.Filters == nil || !a.settings.Filters.Has(name) {
			return &crawl.SpecError{Field: "scope.rules", Problem: fmt.Sprintf("there is no filter program %q: whoever runs the workers names it in RECRAWL_FILTERS", name)}
		}
	}
	return nil
}

// seedsToAdd returns the seeds to be added and those that the crawl already has,
// since adding removes none: the caller's spec may lack the redirect targets of its
// seeds.
func (a *Activities) seedsToAdd(ctx context.Context, name string, add []string) ([]string, error) {
	if len(add) == 0 {
		return nil, nil
	}
	rec, err := a.stores.Crawls.Crawl(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return add, nil
	}
	return slices.Concat(rec.Spec.Seeds, add), err
}

// seedsOf returns the seeds in the spec of a crawl, none if there is no such crawl.
func (a *Activities) seedsOf(ctx context.Context, name string) ([]string, error) {
	rec, err := a.stores.Crawls.Crawl(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return rec.Spec.Seeds, err
}

// named returns the URLs of the seeds that a person names now: those to be added, and
// those that are new in the spec. This brings stopped pages back.
func named(seeds []string, urls []store.NewURL, before, add []string) []store.NewURL {
	old := make(map[string]bool, len(before))
	for _, seed := range before {
		old[seed] = true
	}
	for _, seed := range add {
		delete(old, seed)
	}
	var now []store.NewURL
	for i, seed := range seeds {
		if !old[seed] {
			now = append(now, urls[i])
		}
	}
	return now
}

func (a *Activities) open(ctx context.Context, spec crawl.Spec, seeds, named []store.NewURL) (contract.OpenCrawlOut, error) {
	rec, err := a.stores.Crawls.OpenCrawl(ctx, spec)
	if errors.Is(err, store.ErrDeleting) {
		return contract.OpenCrawlOut{}, badSpec(&crawl.SpecError{Field: "name", Problem: fmt.Sprintf("%q: %v", spec.Name, store.ErrDeleting)})
	}
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	registered, err := a.stores.Frontier.RegisterLinks(ctx, store.RegisterParams{CrawlID: rec.ID, URLs: seeds})
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	revived, err := a.stores.Frontier.RegisterLinks(ctx, store.RegisterParams{CrawlID: rec.ID, URLs: named, Revive: true})
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	if err := a.openSinks(ctx, rec); err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	stored, err := json.Marshal(rec.Spec)
	if err != nil {
		return contract.OpenCrawlOut{}, fmt.Errorf("encode spec: %w", err)
	}
	return contract.OpenCrawlOut{
		Store: a.stores.Crawls.ID(), CrawlID: rec.ID, Name: rec.Spec.Name, State: rec.State, Generation: rec.Generation,
		MaintainEvery: rec.Spec.MaintainEvery.Std(), NewSeeds: registered.New, Revived: revived.Revived, Spec: stored,
	}, nil
}

// seeds brings the spec's seeds into their canonical form, and checks that a crawl
// beyond this machine names its operator.
func (a *Activities) seeds(spec crawl.Spec) ([]store.NewURL, error) {
	var urls []store.NewURL
	rules := urlkey.NewRules(spec.URLs)
	for i, seed := range spec.Seeds {
		u, spelling, err := urlkey.Spelled(seed)
		if err != nil {
			return nil, &crawl.SpecError{Field: fmt.Sprintf("seeds[%d]", i), Problem: err.Error()}
		}
		if !u.IsLoopback() && a.contact(spec) == "" {
			return nil, &crawl.SpecError{Field: "identity.contact", Problem: fmt.Sprintf("is empty: to crawl %s give a URL or mail address that its owner can reach you at (or set RECRAWL_CONTACT of the worker)", u.HostKey())}
		}
		u, _ = rules.Apply(u)
		urls = append(urls, store.NewURL{URL: u.String(), Host: u.HostKey(), Spelling: u.Spelling(spelling)})
	}
	return urls, nil
}
