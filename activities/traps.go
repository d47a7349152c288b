package activities

import (
	"context"

	"recrawl/internal/maintain"
	"recrawl/internal/requisite"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// guard watches the traps of a crawl.
func (a *Activities) guard(view *crawlView) maintain.Guard {
	return maintain.Guard{
		Store: a.stores.Traps, Crawl: a.maintained(view), Effects: a.carryOut,
		Found: func(t store.NewTrap) {
			a.log.Info("a trap was found", "crawl", view.Spec.Name, "trap", t.Name, "reason", t.Reason, "detail", t.Detail)
		},
	}
}

// holdBack prepares the accepted links of a page for registration, with those of traps
// held.
func (a *Activities) holdBack(ctx context.Context, view *crawlView, on trap.Page, links []scope.Link) ([]store.NewURL, error) {
	caught, err := a.guard(view).HoldBack(ctx, on, urlsOf(links))
	if err != nil {
		return nil, err
	}
	urls := make([]store.NewURL, len(links))
	for i, l := range links {
		urls[i] = newURL(l)
		urls[i].Looks = view.Spec.Documents.Requisites && requisite.Looks(l.URL)
		urls[i].Trap, urls[i].Variant = caught[i].Trap, caught[i].Variant
	}
	return urls, nil
}

// watch checks the host of a page whose links have been registered. If that fails,
// it is checked again later.
func (a *Activities) watch(ctx context.Context, view *crawlView, from *store.PendingLinks, links []scope.Link) {
	if err := a.guard(view).Watch(ctx, from, urlsOf(links)); err != nil {
		a.log.Warn("the guard could not look at a host", "crawl", view.Spec.Name, "host", from.Page.Host, "error", err)
	}
}

func urlsOf(links []scope.Link) []urlkey.URL {
	urls := make([]urlkey.URL, len(links))
	for i, l := range links {
		urls[i] = l.URL
	}
	return urls
}
