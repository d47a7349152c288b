package activities

import (
	"context"
	"errors"

	"recrawl/internal/crawl"
	"recrawl/internal/sitemap"
	"recrawl/internal/store"
)

// robotsProves is how long a robots.txt that renames its sitemaps has named none that is read,
// until one is read all the same, in case that it is worth it by now.
const robotsProves = 10 * robotsFresh

// robotsLists are the sitemaps on its own host that a robots.txt names, now and before.
type robotsLists struct {
	renames bool
	known   map[string]bool // to the crawl
	proving bool            // one that the crawl did not know was taken lately
}

// renamedByRobots reports whether a sitemap that the robots.txt of its host names is not read,
// because the crawl does not know it and the file gives its sitemaps other names each time that
// it is fetched. Sitemaps on another host may be named by many files.
func (j *sourceJudge) renamedByRobots(ctx context.Context, source store.NewURL) (bool, error) {
	if source.Host != j.origin.HostKey() {
		return false, nil
	}
	if j.lists == nil {
		lists, err := j.listsOfRobots(ctx)
		if err != nil {
			return false, err
		}
		j.lists = &lists
	}
	switch {
	case !j.lists.renames, j.lists.known[source.URL]:
		return false, nil
	case j.lists.proving:
		return true, nil
	}
	j.lists.proving = true
	return false, nil
}

// listsOfRobots looks at what the sitemaps of a robots.txt have brought.
func (j *sourceJudge) listsOfRobots(ctx context.Context) (lists robotsLists, err error) {
	file, err := j.a.stores.Gate.Robots(ctx, j.origin.Origin())
	if errors.Is(err, store.ErrNotFound) {
		return lists, nil
	}
	if err != nil {
		return lists, err
	}
	found, err := j.a.stores.Pages.ListSources(ctx, store.SourceFilter{
		CrawlID: j.view.ID, Host: j.origin.HostKey(), Kind: crawl.KindSitemap, Newest: true, Limit: childrenLooked,
	})
	if err != nil || len(found) == 0 {
		return lists, err
	}
	named := map[string]bool{}
	for _, url := range file.Sitemaps {
		if u, err := j.view.url(url); err == nil {
			named[u.String()] = true
		}
	}
	lists.known = map[string]bool{}
	var children []sitemap.Child
	for _, l := range found {
		lists.known[l.URL] = true
		age := file.FetchedAt.Sub(l.FoundAt)
		if l.Nesting > 0 { // an index names it
			continue
		}
		lists.proving = lists.proving || age < robotsProves
		if age > 0 {
			// Pages register what a file names until the next one is fetched.
			fetched := file.FetchedAt.Add(-(age + robotsFresh - 1).Truncate(robotsFresh))
			children = append(children, sitemap.Child{Found: fetched, Visited: l.Visits > 0, Brought: l.Brought, Named: named[l.URL]})
		}
	}
	lists.renames = sitemap.Renamed(children, file.FetchedAt)
	return lists, nil
}
