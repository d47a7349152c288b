package activities

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/maintain"
	"recrawl/internal/schedule"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// crawlView is a crawl with the data that activities derive from its spec.
type crawlView struct {
	store.CrawlRecord
	scope   scope.Scope // judges URLs that the view is seeing
	rules   urlkey.Rules
	content extract.Rules
	revisit schedule.Rules
	allow   []netip.Prefix // networks that may be fetched besides the public ones
	// loopback is the place of the seeds' hosts on this machine, by host key; of
	// imported seeds, only those that the view is seeing.
	loopback map[string][]netip.AddrPort
}

// crawlCache keeps one view per crawl; a newer generation replaces it, and so does another
// crawl of the same name, after the first was deleted.
type crawlCache struct {
	mu    sync.Mutex
	views map[string]*crawlView
}

// maxViews bounds the cache: a view of many seeds and rules takes megabytes. Making one again
// costs little, so dropping everything at the bound is fine.
const maxViews = 200

func (c *crawlCache) get(name string) *crawlView {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.views[name]
}

func (c *crawlCache) put(name string, view *crawlView) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.views == nil || len(c.views) >= maxViews {
		c.views = map[string]*crawlView{}
	}
	c.views[name] = view
}

// crawlOf returns the view of a page's crawl, of at least the given generation. The page's
// row includes its crawl's generation, so a caller that has read the row need not read the
// spec, too.
func (a *Activities) crawlOf(ctx context.Context, page crawl.PageRef, generation int64) (*crawlView, error) {
	view := a.crawls.get(page.Crawl)
	if view != nil && view.ID == page.CrawlID && generation > 0 && view.Generation >= generation {
		return view, nil
	}
	return a.crawl(ctx, page.Crawl)
}

// crawl returns the view of a crawl as it is in the store now.
func (a *Activities) crawl(ctx context.Context, name string) (*crawlView, error) {
	rec, err := a.stores.Crawls.Crawl(ctx, name)
	if err != nil {
		return nil, err
	}
	view := a.crawls.get(name)
	if view != nil && view.ID == rec.ID && view.Generation == rec.Generation {
		return view, nil
	}
	if view, err = a.newCrawlView(rec); err != nil {
		return nil, err
	}
	a.crawls.put(name, view)
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

// url returns the URL under which the crawl keeps an address.
func (v *crawlView) url(raw string) (urlkey.URL, error) {
	u, err := urlkey.Canonical(raw)
	if err != nil {
		return urlkey.URL{}, err
	}
	u, _ = v.rules.Apply(u)
	return u, nil
}

// maintained is the crawl as package maintain sees it.
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

// loopbackSeeds are the hosts of seeds that name this machine, with their
// addresses: a person who asks for http://localhost:8000/ means that service, and
// no other that happens to run beside it.
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
// that the crawl may request: a seed's, or one in a network that its spec allows.
func (v *crawlView) reachesLoopback(u urlkey.URL) bool {
	return slices.ContainsFunc(u.Loopback(), func(at netip.AddrPort) bool {
		allowed := func(p netip.Prefix) bool { return p.Contains(at.Addr()) }
		return slices.Contains(v.loopback[u.HostKey()], at) || slices.ContainsFunc(v.allow, allowed)
	})
}

func (a *Activities) contact(spec crawl.Spec) string {
	if spec.Identity.Contact != "" {
		return spec.Identity.Contact
	}
	return a.settings.Contact
}

// userAgent is the crawl's User-Agent: TOKEN/VERSION (+CONTACT).
func (a *Activities) userAgent(spec crawl.Spec) string {
	agent := spec.Identity.Agent + "/" + a.settings.Version
	if c := a.contact(spec); c != "" {
		agent += " (+" + c + ")"
	}
	return agent
}

// keptAs reports whether the crawl keeps an address as u.
func (v *crawlView) keptAs(u urlkey.URL) func(string) bool {
	return func(raw string) bool {
		kept, err := v.url(raw)
		return err == nil && kept == u
	}
}
