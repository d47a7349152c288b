package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/maintain"
	"recrawl/internal/schedule"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// crawlView is a crawl with what activities derive from its spec.
type crawlView struct {
	store.CrawlRecord
	scope   scope.Scope // judges URLs that the view is seeing
	rules   urlkey.Rules
	content extract.Rules
	revisit schedule.Rules
	allow   []netip.Prefix // networks that may be fetched besides the public ones
	// loopback is where on this machine the hosts of seeds lie, by host key; of imported
	// ones, those that the view is seeing.
	loopback map[string][]netip.AddrPort
}

// crawlCache keeps one view per crawl; a newer generation replaces it.
type crawlCache struct {
	mu    sync.Mutex
	views map[string]*crawlView
}

// crawl returns the view of a crawl that is at least of the generation.
func (a *Activities) crawl(ctx context.Context, name string, generation int64) (*crawlView, error) {
	a.crawls.mu.Lock()
	view := a.crawls.views[name]
	a.crawls.mu.Unlock()
	if view != nil && generation > 0 && view.Generation >= generation {
		return view, nil
	}
	rec, err := a.store.Crawl(ctx, name)
	if err != nil {
		return nil, err
	}
	if view != nil && view.Generation == rec.Generation {
		return view, nil
	}
	view, err = a.newCrawlView(rec)
	if err != nil {
		return nil, err
	}
	a.crawls.mu.Lock()
	defer a.crawls.mu.Unlock()
	if a.crawls.views == nil {
		a.crawls.views = map[string]*crawlView{}
	}
	a.crawls.views[name] = view
	return view, nil
}

func (a *Activities) newCrawlView(rec store.CrawlRecord) (*crawlView, error) {
	sc, err := scope.New(rec.Spec, a.settings.Filters)
	if err != nil {
		return nil, err
	}
	content, err := extract.NewRules(rec.Spec.Content)
	if err != nil {
		return nil, err
	}
	revisit, err := schedule.NewRules(rec.Spec.Revisit)
	if err != nil {
		return nil, err
	}
	return &crawlView{
		CrawlRecord: rec, scope: sc, rules: urlkey.NewRules(rec.Spec.URLs), content: content, revisit: revisit,
		allow: allowedNetworks(rec.Spec), loopback: loopbackSeeds(rec.Spec),
	}, nil
}

// url returns the URL under which the crawl keeps what an address leads to.
func (v *crawlView) url(raw string) (urlkey.URL, error) {
	u, err := urlkey.Canonical(raw)
	if err != nil {
		return urlkey.URL{}, err
	}
	u, _ = v.rules.Apply(u)
	return u, nil
}

// maintained is the crawl as package maintain looks at it.
func (a *Activities) maintained(view *crawlView) maintain.Crawl {
	return maintain.Crawl{
		CrawlRecord: view.CrawlRecord, Revisit: view.revisit, URL: view.url,
		Scope: func(ctx context.Context, urls ...urlkey.URL) (scope.Scope, error) {
			seen, err := a.seeing(ctx, view, urls...)
			if err != nil {
				return scope.Scope{}, err
			}
			return seen.scope, nil
		},
	}
}

func allowedNetworks(spec crawl.Spec) []netip.Prefix {
	var allow []netip.Prefix
	for _, cidr := range spec.Fetch.AllowNetworks {
		if p, err := netip.ParsePrefix(cidr); err == nil {
			allow = append(allow, p)
		}
	}
	return allow
}

// loopbackSeeds are the hosts of seeds that name this machine, with where they
// lie: whoever asks for http://localhost:8000/ means that service, and no other
// that happens to run beside it.
func loopbackSeeds(spec crawl.Spec) map[string][]netip.AddrPort {
	hosts := map[string][]netip.AddrPort{}
	for _, seed := range spec.Seeds {
		if u, err := urlkey.Canonical(seed); err == nil && u.IsLoopback() {
			hosts[u.HostKey()] = append(hosts[u.HostKey()], u.Loopback()...)
		}
	}
	return hosts
}

// reachesLoopback reports whether a URL that names this machine leads to a service
// that the crawl may ask: a seed's, or one in a network that its spec allows.
func (v *crawlView) reachesLoopback(u urlkey.URL) bool {
	return slices.ContainsFunc(u.Loopback(), func(at netip.AddrPort) bool {
		allowed := func(p netip.Prefix) bool { return p.Contains(at.Addr()) }
		return slices.Contains(v.loopback[u.HostKey()], at) || slices.ContainsFunc(v.allow, allowed)
	})
}

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

// checkScope says what is wrong with the scope of a spec: a program that it names
// must be one of this worker's, and so of all.
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

// seedsToAdd are the seeds to be added and, as adding takes none away, those that
// the crawl has already: the caller's spec may lack where its seeds redirect to.
func (a *Activities) seedsToAdd(ctx context.Context, name string, add []string) ([]string, error) {
	if len(add) == 0 {
		return nil, nil
	}
	rec, err := a.store.Crawl(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return add, nil
	}
	return slices.Concat(rec.Spec.Seeds, add), err
}

// seedsOf are the seeds in the spec of a crawl, none if there is no such crawl.
func (a *Activities) seedsOf(ctx context.Context, name string) ([]string, error) {
	rec, err := a.store.Crawl(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return rec.Spec.Seeds, err
}

// named are the URLs of the seeds that somebody names now: that are to be added, or that
// the spec did not have before. Pages that were stopped come back by it.
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
	rec, err := a.store.OpenCrawl(ctx, spec)
	if errors.Is(err, store.ErrDeleting) {
		return contract.OpenCrawlOut{}, badSpec(&crawl.SpecError{Field: "name", Problem: fmt.Sprintf("%q: %v", spec.Name, store.ErrDeleting)})
	}
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	registered, err := a.store.RegisterLinks(ctx, store.RegisterParams{CrawlID: rec.ID, URLs: seeds})
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	revived, err := a.store.RegisterLinks(ctx, store.RegisterParams{CrawlID: rec.ID, URLs: named, Revive: true})
	if err != nil {
		return contract.OpenCrawlOut{}, translate(err)
	}
	stored, err := json.Marshal(rec.Spec)
	if err != nil {
		return contract.OpenCrawlOut{}, fmt.Errorf("encode spec: %w", err)
	}
	return contract.OpenCrawlOut{
		Store: a.store.ID(), CrawlID: rec.ID, Name: rec.Spec.Name, State: rec.State, Generation: rec.Generation,
		MaintainEvery: rec.Spec.MaintainEvery.Std(), NewSeeds: registered.New, Revived: revived.Revived, Spec: stored,
	}, nil
}

// seeds brings the spec's seeds into the form under which the crawl keeps them
// and checks that whoever crawls beyond this machine says who they are.
func (a *Activities) seeds(spec crawl.Spec) ([]store.NewURL, error) {
	var urls []store.NewURL
	rules := urlkey.NewRules(spec.URLs)
	for i, seed := range spec.Seeds {
		u, err := urlkey.Canonical(seed)
		if err != nil {
			return nil, &crawl.SpecError{Field: fmt.Sprintf("seeds[%d]", i), Problem: err.Error()}
		}
		if !u.IsLoopback() && a.contact(spec) == "" {
			return nil, &crawl.SpecError{Field: "identity.contact", Problem: fmt.Sprintf("is empty: to crawl %s give a URL or mail address that its owner can reach you at (or set RECRAWL_CONTACT of the worker)", u.HostKey())}
		}
		u, _ = rules.Apply(u)
		urls = append(urls, store.NewURL{URL: u.String(), Host: u.HostKey()})
	}
	return urls, nil
}

func (a *Activities) contact(spec crawl.Spec) string {
	if spec.Identity.Contact != "" {
		return spec.Identity.Contact
	}
	return a.settings.Contact
}

// userAgent is how a crawl introduces itself: TOKEN/VERSION (+CONTACT).
func (a *Activities) userAgent(spec crawl.Spec) string {
	agent := spec.Identity.Agent + "/" + a.settings.Version
	if c := a.contact(spec); c != "" {
		agent += " (+" + c + ")"
	}
	return agent
}

// SetCrawlState pauses, resumes or stops a crawl: one row, effective at once.
func (a *Activities) SetCrawlState(ctx context.Context, in contract.SetCrawlStateIn) (contract.SetCrawlStateOut, error) {
	rec, err := a.store.SetCrawlState(ctx, in.Name, in.State)
	if err != nil {
		return contract.SetCrawlStateOut{}, translate(err)
	}
	return contract.SetCrawlStateOut{Generation: rec.Generation}, nil
}

// addRedirectedSeed makes the target of a seed's redirect a seed too when it
// stays on the site (example.com to www.example.com): who names the one means
// the other, and the scope must say so. Where it does already there is nothing to
// add. A seed brings one such seed, and that one none, or else a chain of redirects
// would fill the spec without end; why a target was not added is returned.
func (a *Activities) addRedirectedSeed(ctx context.Context, view *crawlView, from, to urlkey.URL) ([]crawl.Reason, error) {
	if !urlkey.SameSite(from, to) || to.BadPort() || view.scope.Check(scope.Link{URL: to}).Accept {
		return nil, nil
	}
	if !view.scope.IsSeed(from) {
		return nil, nil
	}
	verdict, err := a.store.AddRedirectedSeed(ctx, store.RedirectedSeed{
		Crawl: view.Spec.Name, From: from.String(), To: to.String(), Host: to.HostKey(),
		Imported: !slices.ContainsFunc(view.Spec.Seeds, view.keptAs(from)), Keys: scope.SeedKeys(to),
	})
	switch verdict {
	case store.SeedSpent:
		return notASeed("this seed has brought another by an earlier redirect"), err
	case store.SeedOfRedirect:
		return notASeed("this seed came by a redirect itself"), err
	}
	return nil, err
}

// codeNotASeed is the code of the reason why a seed's redirect brought no seed.
const codeNotASeed = "redirect_no_seed"

func notASeed(why string) []crawl.Reason {
	return []crawl.Reason{{Code: codeNotASeed, Text: "where it redirects to is not made a seed: " + why}}
}

// keptAs reports of an address whether the crawl keeps it as u.
func (v *crawlView) keptAs(u urlkey.URL) func(string) bool {
	return func(raw string) bool {
		kept, err := v.url(raw)
		return err == nil && kept == u
	}
}
