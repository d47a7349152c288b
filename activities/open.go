package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

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
	had, err := a.stores.Crawls.Crawl(ctx, spec.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return contract.OpenCrawlOut{}, translate(err)
	}
	if in.Base != 0 && had.Generation != in.Base && activity.GetInfo(ctx).Attempt <= 1 {
		return contract.OpenCrawlOut{}, specChanged(spec.Name)
	}
	if len(in.AddSeeds) > 0 {
		spec = withSeeds(spec, had, in.AddSeeds)
	}
	if err := crawl.CheckSeedCount(len(spec.Seeds), len(had.Spec.Seeds)); err != nil {
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
	if had.Deleting {
		return contract.OpenCrawlOut{}, beingDeleted(spec.Name)
	}
	// Before the spec is stored: then the next attempt, too, sees what is new in it.
	revived, err := a.reviveNamed(ctx, had, named(spec.Seeds, seeds, had.Spec.Seeds, in.AddSeeds))
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	out, err := a.open(ctx, spec, seeds)
	out.Revived = revived
	return out, err
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

// withSeeds adds seeds to the spec of a crawl that is in the store, or else to the caller's. The
// caller's may be older: it may lack the targets of redirects, or a change whose answer was lost.
func withSeeds(callers crawl.Spec, had store.CrawlRecord, add []string) crawl.Spec {
	spec := callers
	if had.ID != 0 {
		spec = had.Spec
	}
	spec.Seeds = slices.Clone(spec.Seeds)
	for _, seed := range add {
		if !slices.Contains(spec.Seeds, seed) {
			spec.Seeds = append(spec.Seeds, seed)
		}
	}
	return spec
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

// reviveNamed brings back the stopped pages of the seeds that a person names, and returns how
// many. Those that the crawl does not know wait until its spec names them, too.
func (a *Activities) reviveNamed(ctx context.Context, had store.CrawlRecord, named []store.NewURL) (int, error) {
	if had.ID == 0 || had.State == crawl.CrawlStopped || len(named) == 0 {
		return 0, nil // those of a stopped crawl come back with it
	}
	urls := make([]string, len(named))
	for i, u := range named {
		urls[i] = u.URL
	}
	known, err := a.stores.Pages.KnownURLs(ctx, had.ID, urls)
	if err != nil {
		return 0, err
	}
	named = slices.DeleteFunc(named, func(u store.NewURL) bool { return !known[u.URL] })
	if len(named) == 0 {
		return 0, nil
	}
	out, err := a.stores.Frontier.RegisterLinks(ctx, store.RegisterParams{CrawlID: had.ID, URLs: named, Revive: true})
	return out.Revived, err
}

// specChanged refuses a spec that would take back a change of which its author did not know.
func specChanged(name string) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf("crawl %s was changed meanwhile: read its spec again", name), contract.ErrTypeSpecChanged, nil)
}

func beingDeleted(name string) error {
	return badSpec(&crawl.SpecError{Field: "name", Problem: fmt.Sprintf("%q: %v", name, store.ErrDeleting)})
}

// open brings the spec into the store, and its seeds.
func (a *Activities) open(ctx context.Context, spec crawl.Spec, seeds []store.NewURL) (contract.OpenCrawlOut, error) {
	rec, err := a.stores.Crawls.OpenCrawl(ctx, spec)
	if errors.Is(err, store.ErrDeleting) {
		return contract.OpenCrawlOut{}, beingDeleted(spec.Name)
	}
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	registered, err := a.stores.Frontier.RegisterLinks(ctx, store.RegisterParams{CrawlID: rec.ID, URLs: seeds})
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
		MaintainEvery: rec.Spec.MaintainEvery.Std(), NewSeeds: registered.New, Spec: stored,
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
