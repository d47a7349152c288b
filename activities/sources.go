package activities

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/extract"
	"recrawl/internal/requisite"
	"recrawl/internal/robots/directive"
	"recrawl/internal/scope"
	"recrawl/internal/sitemap"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

const (
	// feedsPerHost is the most feeds of a host that a crawl reads: blogs have one for
	// the comments on each article.
	feedsPerHost = 16
	// sitemapsPerPage is the most sitemaps that one page brings; a page that requests
	// the robots.txt registers all of them.
	sitemapsPerPage = 100
	// wellKnownSitemap is the customary path of a sitemap.
	wellKnownSitemap = "/sitemap.xml"
)

// Reasons for not taking a source, besides those of package scope.
const (
	reasonManyFeeds = "too many feeds"
	reasonNesting   = "index in an index too often"
	reasonRenamed   = "renamed lists"
)

// sourceTypes are the media types of lists. Servers and object stores give the last two to files
// whose type they do not know.
var sourceTypes = []string{
	"application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json",
	"application/json", "text/plain", "application/gzip", "application/x-gzip", "application/octet-stream", "binary/octet-stream",
}

// wants returns the media types and the most bytes of a page's body. A source may
// be as large as a sitemap. It may also have a page's media type, since some are
// declared wrongly, and others turn out to be pages.
func (v *crawlView) wants(page store.PageRecord) (types []string, most int64) {
	types, most = v.Spec.Fetch.ContentTypes, int64(v.Spec.Fetch.MaxBody)
	if page.Kind == crawl.KindRequisite {
		return requisiteTypes(page), requisite.MaxBytes
	}
	if !page.Kind.IsSource() {
		return types, most
	}
	return slices.Concat(sourceTypes, types), max(most, sitemap.MaxBytes)
}

// sourcesOf returns the sources that a page brings: its feeds, and the sitemaps of
// its site.
func (a *Activities) sourcesOf(ctx context.Context, view *crawlView, page store.PageRecord, content extract.Page, asked directive.Verdict) ([]store.Link, error) {
	u, err := urlkey.Canonical(page.URL)
	if err != nil {
		return nil, err
	}
	links, err := a.unknownSitemaps(ctx, view, u)
	if view.Spec.Sources.Feeds && asked.Follow {
		for _, url := range content.Feeds {
			links = append(links, store.Link{URL: url, Kind: crawl.KindFeed})
		}
	}
	return links, err
}

// unknownSitemaps returns those sitemaps of a URL's origin that the crawl does not know:
// another crawl, or a source or requisite of this one, may have requested its robots.txt, or
// none of its pages has since the file names them. If some are on the site itself, only these
// are asked about: the others may not all be taken, and would be unknown for ever.
func (a *Activities) unknownSitemaps(ctx context.Context, view *crawlView, page urlkey.URL) ([]store.Link, error) {
	links, err := a.sitemapsOf(ctx, view, page)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	urls, own := make([]string, len(links)), map[string]bool{}
	for i, link := range links {
		u, err := view.url(link.URL)
		if err != nil {
			continue
		}
		if urls[i] = u.String(); urlkey.SameSite(u, page) {
			own[urls[i]] = true
		}
	}
	known, err := a.stores.Pages.KnownURLs(ctx, view.ID, urls)
	if err != nil {
		return nil, err
	}
	var unknown []store.Link
	register := false
	for i, link := range links {
		if url := urls[i]; url != "" && !known[url] {
			unknown = append(unknown, link)
			register = register || own[url] || len(own) == 0
		}
	}
	if !register {
		return nil, nil
	}
	return unknown[:min(len(unknown), sitemapsPerPage)], nil
}

// sitemapsOf returns the sitemaps that the robots.txt of a URL's origin names. If this process
// acquired the page, the file is at hand; the record has its text, which may be long.
func (a *Activities) sitemapsOf(ctx context.Context, view *crawlView, u urlkey.URL) ([]store.Link, error) {
	if file, ok := a.robots.fresh(u.Origin(), time.Now()); ok {
		return sitemapLinks(view, u, file.Sitemaps(u), file.answered), nil
	}
	return a.storedSitemaps(ctx, view, u)
}

// storedSitemaps is sitemapsOf for a robots.txt that may be newer than the one at hand.
func (a *Activities) storedSitemaps(ctx context.Context, view *crawlView, u urlkey.URL) ([]store.Link, error) {
	if !view.Spec.Sources.Sitemaps {
		return nil, nil
	}
	rec, err := a.stores.Gate.Robots(ctx, u.Origin())
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return sitemapLinks(view, u, rec.Sitemaps, isAnswer(rec.State)), err
}

// sitemapLinks are links to the sitemaps that a robots.txt names, or to the customary one if an
// origin that answered names none.
func sitemapLinks(view *crawlView, u urlkey.URL, named []string, answered bool) []store.Link {
	if !view.Spec.Sources.Sitemaps {
		return nil
	}
	if len(named) == 0 && view.Spec.Sources.WellKnown && answered {
		named = []string{u.Origin() + wellKnownSitemap}
	}
	var links []store.Link
	for _, url := range named {
		links = append(links, store.Link{URL: url, Kind: crawl.KindSitemap})
	}
	return links
}

// registerSitemaps makes the sitemaps of a robots.txt sources of the crawl whose
// page asked for it. If only a source or a requisite asked for the robots.txt, its host may
// have nothing to do with the crawl.
func (a *Activities) registerSitemaps(ctx context.Context, view *crawlView, page store.PageRecord, u urlkey.URL) error {
	if page.Kind != crawl.KindPage {
		return nil
	}
	links, err := a.storedSitemaps(ctx, view, u)
	if err != nil || len(links) == 0 {
		return err
	}
	judged, err := a.filter(ctx, view, &store.PendingLinks{Page: page.PageRef, Level: page.Level, Hops: page.Hops, Links: links})
	if err != nil {
		return err
	}
	_, err = a.stores.Frontier.RegisterLinks(ctx, store.RegisterParams{
		CrawlID: page.CrawlID, From: page.PageID, URLs: judged.sources, ForeignHosts: view.Spec.Sources.ForeignHosts, Rejected: judged.rejected.list(),
	})
	return errors.Join(err, judged.undecided)
}

// sourceJudge decides which of the sources that a page or an index names are read.
type sourceJudge struct {
	a      *Activities
	view   *crawlView
	from   *store.PendingLinks
	origin urlkey.URL                 // of from
	moved  bool                       // from is a list that redirects to the source
	feeds  map[string]map[string]bool // known feeds, by host
	place  int

	renames map[string]bool // whether from renames its lists, by their host
	known   map[string]bool // those lists of from that the crawl knows, once it is asked
	proving bool            // the list by which from may prove itself is taken
	lists   *robotsLists    // of the origin's robots.txt, once they are asked for
}

func (a *Activities) newSourceJudge(view *crawlView, from *store.PendingLinks) (*sourceJudge, error) {
	origin, err := urlkey.Canonical(from.Page.URL)
	return &sourceJudge{a: a, view: view, from: from, origin: origin, feeds: map[string]map[string]bool{}, renames: map[string]bool{}}, err
}

// judge decides on a source. The crawl's limits and explicit rules apply. A source
// that only the scope's type leaves out is still read on the host that names it. A
// robots.txt may name sitemaps anywhere (sitemaps.org, "Sitemaps & Cross Submits"),
// and a list may have moved; on the same site they are read, and beyond it on as
// many hosts as the spec allows, which the store enforces. A source has the depth
// of the page that names it, and its hops.
func (j *sourceJudge) judge(ctx context.Context, link store.Link) (store.NewURL, scope.Verdict, error) {
	found, verdict := j.a.judgeLink(j.view, link.URL, scope.Link{Level: j.from.Level, Hops: scope.HopsBefore(j.from.Hops), Language: j.from.Language, Spelling: link.Spelling})
	source := newURL(found)
	source.Kind = link.Kind
	if j.from.Kind.IsSource() {
		j.place++
		source.Nesting, source.Place = j.from.Nesting+1, j.place
	}
	if outside(verdict) && j.exempt(link, found.URL) {
		source.Foreign = j.view.foreign(j.origin, found.URL)
		if verdict = j.a.offLimits(j.view, found.URL); verdict.Reason == "" {
			verdict = scope.Verdict{Accept: true, Reason: scope.ReasonInside}
		}
	}
	switch {
	case !verdict.Accept:
		return source, verdict, nil
	case source.Nesting > sitemap.MaxNesting:
		return source, scope.Verdict{Reason: reasonNesting}, nil
	case link.Kind == crawl.KindFeed:
		verdict, err := j.feed(ctx, source)
		return source, verdict, err
	case j.from.Kind.IsSource() && !j.moved:
		renamed, err := j.renamed(ctx, source)
		if err == nil && renamed {
			verdict = scope.Verdict{Reason: reasonRenamed, Detail: "the index gives its lists other names at each reading, and the last ones brought no new page"}
		}
		return source, verdict, err
	case !j.from.Kind.IsSource():
		renamed, err := j.renamedByRobots(ctx, source)
		if err == nil && renamed {
			verdict = scope.Verdict{Reason: reasonRenamed, Detail: "the robots.txt gives its sitemaps other names each time, and the last ones brought no new page"}
		}
		return source, verdict, err
	}
	return source, verdict, nil
}

// outside reports whether only the scope's type excludes a link.
func outside(v scope.Verdict) bool {
	switch v.Reason {
	case scope.ReasonNotSeed, scope.ReasonPrefix, scope.ReasonHost, scope.ReasonDomain, scope.ReasonHops:
		return true
	}
	return false
}

// exempt reports whether a source may be read although the scope's type excludes it.
func (j *sourceJudge) exempt(link store.Link, found urlkey.URL) bool {
	byRobots := !j.from.Kind.IsSource() && link.Kind == crawl.KindSitemap
	return byRobots || j.moved || found.HostKey() == j.origin.HostKey()
}

// foreign reports whether a URL that the scope does not take lies beyond the site that
// names it and beyond the hosts of the seeds.
func (v *crawlView) foreign(from, to urlkey.URL) bool {
	return !urlkey.SameSite(from, to) && !v.scope.IsSeedHost(to.HostKey())
}

// feed stays within the number of feeds for a host.
func (j *sourceJudge) feed(ctx context.Context, source store.NewURL) (scope.Verdict, error) {
	known := j.feeds[source.Host]
	if known == nil {
		list, err := j.a.stores.Pages.ListSources(ctx, store.SourceFilter{CrawlID: j.view.ID, Host: source.Host, Kind: crawl.KindFeed, Limit: feedsPerHost})
		if err != nil {
			return scope.Verdict{}, err
		}
		known = map[string]bool{}
		for _, s := range list {
			known[s.URL] = true
		}
		j.feeds[source.Host] = known
	}
	if !known[source.URL] && len(known) >= feedsPerHost {
		return scope.Verdict{Reason: reasonManyFeeds}, nil
	}
	known[source.URL] = true
	return scope.Verdict{Accept: true, Reason: scope.ReasonInside}, nil
}

// childrenLooked is the most lists of an index that are looked at to see whether it renames them.
const childrenLooked = 5000

// renamed reports whether a list that an index names is not read, because the crawl does not
// know it and the index renames its lists.
func (j *sourceJudge) renamed(ctx context.Context, source store.NewURL) (bool, error) {
	renames, looked := j.renames[source.Host]
	if !looked {
		var err error
		if renames, err = j.renamesAt(ctx, source.Host); err != nil {
			return false, err
		}
		j.renames[source.Host] = renames
	}
	if !renames {
		return false, nil
	}
	if j.known == nil {
		known, err := j.a.stores.Pages.KnownURLs(ctx, j.view.ID, slices.Collect(maps.Keys(j.named())))
		if err != nil {
			return false, err
		}
		j.known = known
	}
	if j.known[source.URL] {
		return false, nil
	}
	if sitemap.Proves(j.from.Visit) && !j.proving {
		j.proving = true
		return false, nil
	}
	return true, nil
}

// renamesAt reports whether the index renames its lists on a host.
func (j *sourceJudge) renamesAt(ctx context.Context, host string) (bool, error) {
	lists, err := j.a.stores.Pages.ListSources(ctx, store.SourceFilter{
		CrawlID: j.view.ID, Host: host, Kind: crawl.KindSitemap, Finder: j.from.Page.PageID, Newest: true, Limit: childrenLooked,
	})
	if err != nil || len(lists) == 0 {
		return false, err
	}
	now, err := j.a.stores.Crawls.Now(ctx)
	if err != nil {
		return false, err
	}
	named := j.named()
	children := make([]sitemap.Child, len(lists))
	for i, l := range lists {
		children[i] = sitemap.Child{Found: l.FoundAt, Visited: l.Visits > 0, Brought: l.Brought, Named: named[l.URL]}
	}
	return sitemap.Renamed(children, now), nil
}

// named returns the lists that the index names.
func (j *sourceJudge) named() map[string]bool {
	named := make(map[string]bool, len(j.from.Links))
	for _, link := range j.from.Links {
		if u, err := j.view.url(link.URL); err == nil && link.Kind == crawl.KindSitemap {
			named[u.String()] = true
		}
	}
	return named
}
