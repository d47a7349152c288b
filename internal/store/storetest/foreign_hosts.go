package storetest

import (
	"fmt"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func foreignHostCases() []collectionCase {
	return []collectionCase{
		{"AreBounded", foreignHostsBounded},
		{"AreBoundedAtOnce", foreignHostsAtOnce},
		{"AreBoundedAcrossTransactions", foreignHostsMany},
		{"AreRejectedOnce", foreignHostsRejectedOnce},
		{"OfRobotsAreClaimed", robotsHostsClaimed},
		{"OfRobotsAreBoundedAtOnce", robotsHostsAtOnce},
		{"OfRobotsAreForgotten", robotsHostsForgotten},
		{"AreForgotten", foreignHostsForgotten},
		{"OfRequisitesAreBounded", requisiteHostsBounded},
		{"OfRequisitesAreBoundedAtOnce", requisiteHostsAtOnce},
		{"OfRequisitesAreForgotten", requisiteHostsForgotten},
	}
}

// foreign are sitemaps on n hosts from the first on, in their order.
func (c *collection) foreign(first, n int) []store.NewURL {
	var urls []store.NewURL
	for i := range n {
		host := fmt.Sprintf("n%d.%s.victim.test", first+i, c.name)
		urls = append(urls, store.NewURL{URL: "http://" + host + "/x", Host: host, Kind: crawl.KindSitemap, Foreign: true})
	}
	return urls
}

// reach registers URLs, of which at most the given number of foreign hosts are taken.
func (c *collection) reach(most int, urls ...store.NewURL) store.RegisterResult {
	c.Helper()
	res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: urls, ForeignHosts: most})
	c.check(err)
	return res
}

// reached lists the numbers of the foreign hosts that have pages.
func (c *collection) reached() string {
	c.Helper()
	pages, err := c.s.ListPages(c.ctx, store.PageFilter{CrawlID: c.id, Limit: 10_000})
	c.check(err)
	var numbers []string
	for _, p := range pages {
		if number, rest, _ := strings.Cut(strings.TrimPrefix(p.Host, "n"), "."); rest == c.name+".victim.test" {
			numbers = append(numbers, number)
		}
	}
	return strings.Join(numbers, " ")
}

func foreignHostsBounded(c *collection) {
	c.open()
	res := c.reach(3, append(c.foreign(0, 20), c.urls(1, 4, 0)...)...)
	want(c, "new", res.New, 3+4)
	want(c, "refused", res.Refused, 17)
	want(c, "hosts", len(res.Hosts), 3+1)
	want(c, "rejections", c.rejections(), "foreign host 17")
	for _, l := range c.listRejected(store.ReasonForeign) {
		if !strings.Contains(l.Detail, "3 foreign hosts (sources.foreign_hosts)") {
			c.Fatalf("%+v", l)
		}
	}
	// They stay, with all that is found on them, and no others come in.
	again := c.foreign(0, 3)
	again[2].URL += "/y"
	res = c.reach(3, append(again, c.foreign(20, 2)...)...)
	want(c, "new of known hosts", res.New, 1)
	want(c, "seen", res.Seen, 2)
	want(c, "refused", res.Refused, 2)
	want(c, "refused when there may be fewer", c.reach(0, c.foreign(0, 3)...).Refused, 0)
	want(c, "new when there may be more", c.reach(4, c.foreign(7, 2)...).New, 1)
	want(c, "foreign hosts of the crawl", len(strings.Fields(c.reached())), 3+1+1) // one has two pages
	// A host that the crawl visits anyway takes no place.
	own := c.url(2, 0, 0)
	known := own
	own.Foreign = true
	want(c, "new", c.reach(4, own, known).New, 1)
	// Each crawl has its own.
	c.spec.Name = c.name + "-2"
	c.open()
	want(c, "new of another crawl", c.reach(3, c.foreign(10, 5)...).New, 3)
}

func foreignHostsAtOnce(c *collection) {
	c.open()
	const workers, most = 8, 5
	c.together(workers, func(i int) error {
		for j := range 4 {
			if _, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: c.foreign(100*i+10*j, 3), ForeignHosts: most}); err != nil {
				return err
			}
		}
		return nil
	})
	want(c, "foreign hosts", len(strings.Fields(c.reached())), most)
}

func foreignHostsMany(c *collection) {
	c.open()
	res := c.reach(5, c.foreign(0, 2500)...)
	want(c, "new", res.New, 5)
	want(c, "refused", res.Refused, 2495)
	want(c, "rejections", c.rejections(), "foreign host 2495")
}

// Registering again after an interruption does not count again.
func foreignHostsRejectedOnce(c *collection) {
	c.open()
	page := c.known(1, 1)[0]
	version, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page.PageID, Visit: 1}, Links: []store.Link{{URL: "https://x.test/"}},
	})
	c.check(err)
	for range 3 {
		res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{
			CrawlID: c.id, From: page.PageID, Version: version, URLs: c.foreign(0, 4), ForeignHosts: 1, Rejected: []store.Rejection{c.rejection("host", 2, 2)},
		})
		c.check(err)
		want(c, "refused", res.Refused, 3)
	}
	want(c, "rejections", c.rejections(), "foreign host 3, host 2")
	for _, l := range c.listRejected(store.ReasonForeign) {
		want(c, "from", l.From, page.URL)
	}
}

// claims reports whether redirects of a site's robots.txt may lead to the n-th foreign host.
func (c *collection) claims(site string, n, most int) bool {
	c.Helper()
	ok, err := c.s.ClaimRobotsHost(c.ctx, c.id, site, c.foreign(n, 1)[0].Host, most)
	c.check(err)
	return ok
}

// Each site has its own, and so has each crawl. Those of lists are others.
func robotsHostsClaimed(c *collection) {
	c.open()
	want(c, "refused of lists", c.reach(1, c.foreign(1, 2)...).Refused, 1)
	for i, tc := range []struct {
		site    string
		n, most int
		want    bool
	}{
		{"a.test", 1, 0, false},
		{"a.test", 1, 2, true},
		{"a.test", 1, 2, true},
		{"a.test", 2, 2, true},
		{"a.test", 3, 2, false},
		{"b.test", 3, 2, true},
		{"b.test", 2, 2, true},
		{"b.test", 1, 2, false},
		{"a.test", 2, 0, true},
		{"a.test", 3, 3, true},
	} {
		want(c, fmt.Sprintf("claim %d, of host %d", i, tc.n), c.claims(tc.site, tc.n, tc.most), tc.want)
	}
	want(c, "refused of lists", c.reach(2, c.foreign(1, 3)...).Refused, 1)
	_, err := c.s.ClaimRobotsHost(c.ctx, 1<<40, "a.test", "x.test", 1)
	c.wantError(err, store.ErrNotFound)
	c.spec.Name = c.name + "-2"
	c.open()
	want(c, "of another crawl", c.claims("a.test", 9, 1), true)
}

func robotsHostsAtOnce(c *collection) {
	c.open()
	const workers, each, most = 8, 4, 5
	c.together(workers, func(i int) error {
		for j := range each {
			if _, err := c.s.ClaimRobotsHost(c.ctx, c.id, "a.test", c.foreign(10*i+j, 1)[0].Host, most); err != nil {
				return err
			}
		}
		return nil
	})
	claimed := 0
	for i := range workers {
		for j := range each {
			if c.claims("a.test", 10*i+j, 0) {
				claimed++
			}
		}
	}
	want(c, "hosts", claimed, most)
}

func robotsHostsForgotten(c *collection) {
	c.open()
	want(c, "the first", c.claims("a.test", 0, 1), true)
	_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{Host: c.foreign(0, 1)[0].Host}, Limit: 100})
	c.check(err)
	want(c, "another instead", c.claims("a.test", 1, 1), true)
	want(c, "a second", c.claims("a.test", 2, 1), false)
}

func foreignHostsForgotten(c *collection) {
	c.open()
	c.reach(1, c.foreign(0, 2)...)
	_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{Host: c.foreign(0, 1)[0].Host}, Limit: 100})
	c.check(err)
	res := c.reach(1, c.foreign(0, 3)...)
	want(c, "forgotten", res.Forgotten, 1)
	want(c, "reached instead", c.reached(), "1")
}
