package storetest

import (
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/requisite"
	"recrawl/internal/store"
)

// pictures are requisites on n hosts from the first on, in their order.
func (c *collection) pictures(first, n int) []store.NewURL {
	urls := c.foreign(first, n)
	for i := range urls {
		urls[i].Kind = crawl.KindRequisite
	}
	return urls
}

// show registers URLs, of which requisites may lie on at most the given number of foreign
// hosts, and lists on one.
func (c *collection) show(most int, urls ...store.NewURL) store.RegisterResult {
	c.Helper()
	res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: urls, ForeignHosts: 1, RequisiteHosts: most})
	c.check(err)
	return res
}

func requisiteHostsBounded(c *collection) {
	c.open()
	// They are counted apart from those of lists, and each refusal under its own reason.
	res := c.show(3, append(c.pictures(0, 10), c.foreign(20, 4)...)...)
	want(c, "new", res.New, 3+1)
	want(c, "refused", res.Refused, 7+3)
	want(c, "refused requisites", res.RefusedRequisites, 7)
	want(c, "rejections", c.rejections(), requisite.ReasonCrawlHosts+" 7, foreign host 3")
	for _, l := range c.listRejected(requisite.ReasonCrawlHosts) {
		if !strings.Contains(l.Detail, "3 hosts for requisites (documents.requisite_hosts)") {
			c.Fatalf("%+v", l)
		}
	}
	reached := strings.Fields(c.reached())
	slices.Sort(reached)
	want(c, "hosts", strings.Join(reached, " "), "0 1 2 20")
	// Hosts that have a place keep it, with everything found on them.
	again := c.pictures(0, 3)
	again[1].URL += "/y"
	want(c, "new of known hosts", c.show(0, again...).New, 1)
	want(c, "new beyond", c.show(3, c.pictures(10, 2)...).New, 0)
	want(c, "new when there may be more", c.show(4, c.pictures(10, 2)...).New, 1)
	// A place for a list is not a place for pictures, and a host that is not foreign takes
	// none.
	want(c, "refused on the host of a list", c.show(4, c.pictures(20, 1)...).RefusedRequisites, 1)
	own := c.url(2, 0, 0)
	own.Kind = crawl.KindRequisite
	want(c, "new on a host of the crawl", c.show(4, own).New, 1)
}

func requisiteHostsAtOnce(c *collection) {
	c.open()
	const workers, most = 8, 5
	c.together(workers, func(i int) error {
		for j := range 4 {
			params := store.RegisterParams{CrawlID: c.id, URLs: c.pictures(100*i+10*j, 3), RequisiteHosts: most}
			if _, err := c.s.RegisterLinks(c.ctx, params); err != nil {
				return err
			}
		}
		return nil
	})
	want(c, "hosts", len(strings.Fields(c.reached())), most)
}

func requisiteHostsForgotten(c *collection) {
	c.open()
	c.show(1, c.pictures(0, 2)...)
	_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{Host: c.pictures(0, 1)[0].Host}, Limit: 100})
	c.check(err)
	want(c, "forgotten", c.show(1, c.pictures(0, 3)...).Forgotten, 1)
	want(c, "reached instead", c.reached(), "1")
}
