package activities

import (
	"context"
	"slices"
	"strings"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/trap"
	"recrawl/internal/urlkey"
)

// followRedirect makes the target of a redirect a page of its own, if the crawl
// takes it. The target has the same depth as the page that redirects, and is as far off
// the seeds' hosts: a redirect is no link. It returns the reasons that the visit gives for it.
func (a *Activities) followRedirect(ctx context.Context, view *crawlView, page store.PageRecord, f contract.FetchOut) ([]crawl.Reason, error) {
	if f.Outcome != crawl.OutcomeRedirected || f.Location == "" || f.Respelled {
		return nil, nil
	}
	from, err := view.url(page.URL)
	if err != nil {
		return nil, err
	}
	to, err := view.url(f.Location)
	if err != nil {
		return nil, nil // nowhere to go; the visit itself is recorded unchanged
	}
	if page.Kind.IsSource() {
		return nil, a.followSource(ctx, view, page, f)
	}
	if page.Kind == crawl.KindRequisite {
		return nil, a.followRequisite(ctx, view, page, f)
	}
	if view, err = a.seeing(ctx, view, from, to); err != nil {
		return nil, err
	}
	reasons, err := a.addRedirectedSeed(ctx, view, from, to)
	if err != nil {
		return nil, err
	}
	if view, err = a.crawl(ctx, page.Crawl); err != nil {
		return nil, err
	}
	if view, err = a.seeing(ctx, view, to); err != nil {
		return nil, err
	}
	found, verdict := a.judgeLink(view, f.Location, scope.Link{Level: page.Level, Hops: scope.HopsBefore(page.Hops), Spelling: f.Spelling})
	params := store.RegisterParams{CrawlID: page.CrawlID, From: page.PageID, Redirects: true}
	switch {
	case verdict.Undecided:
		return nil, undecided(verdict)
	case !verdict.Accept:
		r := rejections{}
		r.add(verdict, example(f.Location, newURL(found)))
		params.Rejected = r.list()
	default:
		if params.URLs, err = a.holdBack(ctx, view, trap.Page{URL: from}, []scope.Link{found}); err != nil {
			return nil, err
		}
	}
	registered, err := a.stores.Frontier.RegisterLinks(ctx, params)
	if view.Spec.Traps.Guard && registered.New > 0 {
		a.watch(ctx, view, &store.PendingLinks{Page: page.PageRef}, []scope.Link{found})
	}
	return reasons, err
}

// addRedirectedSeed makes the target of a seed's redirect a seed too if it stays on
// the site (example.com to www.example.com): a person who names the one means the
// other, and the scope must include it. If it already does, there is nothing to
// add. Each seed brings one such seed, and that one brings none, so that a chain of
// redirects cannot fill the spec without end. Sites that send http to https first, and then to
// www, are one hop further from their seed. It returns the reason if a target was not added.
func (a *Activities) addRedirectedSeed(ctx context.Context, view *crawlView, from, to urlkey.URL) ([]crawl.Reason, error) {
	if !urlkey.SameSite(from, to) || to.BadPort() || view.scope.Check(scope.Link{URL: to}).Accept {
		return nil, nil
	}
	seed, is, err := a.seedOf(ctx, view, from)
	if err != nil || !is {
		return nil, err
	}
	verdict, err := a.stores.Crawls.AddRedirectedSeed(ctx, store.RedirectedSeed{
		Crawl: view.Spec.Name, From: seed.String(), To: to.String(), Host: to.HostKey(),
		Imported: !slices.ContainsFunc(view.Spec.Seeds, view.keptAs(seed)), Keys: scope.SeedKeys(to),
	})
	switch verdict {
	case store.SeedSpent:
		return notASeed("this seed has brought another by an earlier redirect"), err
	case store.SeedOfRedirect:
		return notASeed("this seed came by a redirect itself"), err
	}
	return nil, err
}

// seedOf returns the seed that an address is, or whose address with https instead of http it is.
func (a *Activities) seedOf(ctx context.Context, view *crawlView, u urlkey.URL) (seed urlkey.URL, is bool, err error) {
	if view.scope.IsSeed(u) {
		return u, true, nil
	}
	rest, secure := strings.CutPrefix(u.String(), "https://")
	if !secure {
		return u, false, nil
	}
	if seed, err = urlkey.Canonical("http://" + rest); err != nil {
		return u, false, nil // the port is that of https, and odd for http
	}
	view, err = a.seeing(ctx, view, seed)
	return seed, err == nil && view.scope.IsSeed(seed), err
}

// codeNotASeed is the code of the reason why a seed's redirect brought no seed.
const codeNotASeed = "redirect_no_seed"

func notASeed(why string) []crawl.Reason {
	return []crawl.Reason{{Code: codeNotASeed, Text: "where it redirects to is not made a seed: " + why}}
}

// followSource makes the target of a list's redirect a list of the crawl, as if an
// index had named it, so that a chain of redirects ends. It may leave the list's
// host as a sitemap of a robots.txt may.
func (a *Activities) followSource(ctx context.Context, view *crawlView, page store.PageRecord, f contract.FetchOut) error {
	location := f.Location
	known, err := a.stores.Pages.ListSources(ctx, store.SourceFilter{CrawlID: page.CrawlID, PageID: page.PageID, Limit: 1})
	if err != nil || len(known) == 0 {
		return err
	}
	if view, err = a.seeingRaw(ctx, view, location); err != nil {
		return err
	}
	judge, err := a.newSourceJudge(view, &store.PendingLinks{
		Page: page.PageRef, Level: page.Level, Hops: page.Hops, Kind: page.Kind, Nesting: known[0].Nesting,
	})
	if err != nil {
		return err
	}
	judge.moved = true
	found, verdict, err := judge.judge(ctx, store.Link{URL: location, Kind: page.Kind, Spelling: f.Spelling})
	params := store.RegisterParams{CrawlID: page.CrawlID, From: page.PageID, ForeignHosts: view.Spec.Sources.ForeignHosts}
	switch {
	case err != nil:
		return err
	case verdict.Undecided:
		return undecided(verdict)
	case verdict.Accept:
		params.URLs = []store.NewURL{found}
	default:
		r := rejections{}
		r.add(verdict, example(location, found))
		params.Rejected = r.list()
	}
	_, err = a.stores.Frontier.RegisterLinks(ctx, params)
	return err
}

// redirectHost is the host of the page to which a visit redirected, if that page
// waits to be admitted, else 0. It may differ from the visited page's host.
func (a *Activities) redirectHost(ctx context.Context, view *crawlView, v store.VisitRecord) (int64, error) {
	if v.Outcome != crawl.OutcomeRedirected || v.Location == "" {
		return 0, nil
	}
	to, err := view.url(v.Location)
	if err != nil {
		return 0, nil
	}
	pages, err := a.stores.Pages.FindPages(ctx, to.String(), view.Spec.Name)
	if err != nil || len(pages) == 0 || pages[0].State != crawl.Known {
		return 0, err
	}
	return pages[0].HostID, nil
}
