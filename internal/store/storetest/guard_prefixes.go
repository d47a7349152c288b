package storetest

import (
	"fmt"
	"strings"

	"recrawl/internal/store"
)

func prefixesCounted(c *collection) {
	c.open()
	p := c.known(1, 1)[0]
	long := strings.Repeat("ä", 500)
	found := []store.PrefixRecord{{HostID: p.HostID, Pages: 5}, {HostID: p.HostID, Prefix: "/a/", Pages: 3}, {HostID: p.HostID, Prefix: long, Pages: 1}, {HostID: p.HostID, Prefix: long + "b", Pages: 1}}
	counts, err := c.s.EndLook(c.ctx, store.EndLookParams{CrawlID: c.id, Through: 1, Found: found})
	c.check(err)
	want(c, "counts", len(counts), 3)
	counts, err = c.s.EndLook(c.ctx, store.EndLookParams{CrawlID: c.id, From: 1, Through: 2, Found: []store.PrefixRecord{{HostID: p.HostID, Pages: 2}}})
	c.check(err)
	want(c, "count", fmt.Sprint(counts), fmt.Sprint([]store.PrefixRecord{{HostID: p.HostID, Pages: 7}}))
	most, err := c.s.Dominating(c.ctx, c.id, 2)
	c.check(err)
	want(c, "dominating", fmt.Sprint(most), fmt.Sprint([]store.PrefixRecord{{HostID: p.HostID, Host: c.host(1), Pages: 7}, {HostID: p.HostID, Host: c.host(1), Prefix: "/a/", Pages: 3}}))
}

// A page that is forgotten counts no more, and a prefix that had no other page is not kept: it
// may be the page's address.
func forgottenPrefixes(c *collection) {
	c.open()
	base := "https://" + c.host(1)
	urls := []string{base + "/secret.html?q=a%20b", base + "/secret.html?q=c", base + "/all/a", base + "/all/b", base + "/other.html?q=1"}
	for _, url := range urls[:4] {
		c.register(0, store.NewURL{URL: url, Host: c.host(1)})
	}
	g := c.growth(10, 4)
	host := g.Pages[0].HostID
	counts := func(n int, pages ...store.PrefixRecord) string { // of the host and of prefixes
		all := []store.PrefixRecord{{HostID: host, Host: c.host(1), Pages: n}}
		for _, p := range pages {
			all = append(all, store.PrefixRecord{HostID: host, Host: c.host(1), Prefix: p.Prefix, Pages: p.Pages})
		}
		return fmt.Sprint(all)
	}
	counted := func() string {
		most, err := c.s.Dominating(c.ctx, c.id, 10)
		c.check(err)
		return fmt.Sprint(most)
	}
	all, secret := store.PrefixRecord{Prefix: "/all/", Pages: 2}, store.PrefixRecord{Prefix: "/secret.html?", Pages: 2}
	end := store.EndLookParams{CrawlID: c.id, From: g.From, Through: g.Through, Found: []store.PrefixRecord{
		{HostID: host, Pages: 4}, {HostID: host, Prefix: "/all/", Pages: 2}, {HostID: host, Prefix: "/secret.html?", Pages: 2},
	}}
	for _, p := range g.Pages {
		end.Pages = append(end.Pages, p.PageID)
	}
	_, err := c.s.EndLook(c.ctx, end)
	c.check(err)
	want(c, "before", counted(), counts(4, all, secret))
	c.forgetURL(urls[1])
	secret.Pages = 1
	want(c, "after one of two", counted(), counts(3, all, secret))
	c.forgetURL(urls[0])
	want(c, "after the other", counted(), counts(2, all))

	c.register(0, store.NewURL{URL: urls[4], Host: c.host(1)})
	g = c.growth(10, 1)
	c.forgetURL(urls[4])
	want(c, "after one that is not counted yet", counted(), counts(2, all))
	_, err = c.s.EndLook(c.ctx, store.EndLookParams{
		CrawlID: c.id, From: g.From, Through: g.Through, Pages: []int64{g.Pages[0].PageID},
		Found: []store.PrefixRecord{{HostID: host, Pages: 1}, {HostID: host, Prefix: "/other.html?", Pages: 1}},
	})
	c.wantError(err, store.ErrConflict)
	want(c, "after a look that saw it", counted(), counts(2, all))
	c.growth(10, 0)
}
