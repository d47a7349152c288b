package storetest

import (
	"fmt"
	"slices"
	"strings"

	"recrawl/internal/store"
)

func rejectionCases() []collectionCase {
	return []collectionCase{
		{"CountedByReason", rejectionsCounted},
		{"CountedOnceForAVersion", rejectionsOnce},
		{"SomeAreKept", rejectionsKept},
		{"InParts", rejectionsInParts},
		{"HostileTexts", rejectionsHostile},
		{"ForgottenAreNotListed", rejectionsForgotten},
		{"AtOnceFromManySides", rejectionsAtOnce},
	}
}

// rejection makes n links that were rejected for a reason, each an example.
func (c *collection) rejection(reason string, host, n int) store.Rejection {
	r := store.Rejection{Reason: reason, Links: n}
	for i := range n {
		u := c.url(host, i, 0)
		r.Examples = append(r.Examples, store.RejectedURL{URL: u.URL, Host: u.Host, Detail: fmt.Sprint("detail ", i)})
	}
	return r
}

func (c *collection) reject(from int64, rejected ...store.Rejection) {
	c.Helper()
	_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: from, Rejected: rejected})
	c.check(err)
}

func (c *collection) rejections() string {
	c.Helper()
	counts, err := c.s.Rejections(c.ctx, c.id)
	c.check(err)
	var parts []string
	for _, r := range counts {
		parts = append(parts, fmt.Sprintf("%s %d", r.Reason, r.Links))
	}
	return strings.Join(parts, ", ")
}

func (c *collection) listRejected(reason string) []store.RejectedLink {
	c.Helper()
	links, err := c.s.ListRejected(c.ctx, store.RejectedFilter{CrawlID: c.id, Reason: reason, Limit: 1000})
	c.check(err)
	return links
}

func rejectionsCounted(c *collection) {
	c.open()
	want(c, "rejections at first", c.rejections(), "")
	from := c.known(1, 3)
	for _, p := range from {
		c.reject(p.PageID, c.rejection("host", 2, 2), c.rejection("depth", 3, 1))
	}
	c.reject(0, c.rejection("depth", 3, 9))
	want(c, "rejections", c.rejections(), "depth 12, host 6")
	_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: 1 << 40, Rejected: []store.Rejection{c.rejection("x", 1, 1)}})
	c.wantError(err, store.ErrNotFound)
}

// An activity that is run again must not count again.
func rejectionsOnce(c *collection) {
	c.open()
	page := c.known(1, 1)[0]
	version, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page.PageID, Visit: 1}, Links: []store.Link{{URL: "https://x.test/"}},
	})
	c.check(err)
	for range 3 {
		_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{
			CrawlID: c.id, From: page.PageID, Version: version, URLs: c.urls(1, 3, 1), Rejected: []store.Rejection{c.rejection("host", 2, 2)},
		})
		c.check(err)
	}
	want(c, "rejections", c.rejections(), "host 2")
}

func rejectionsKept(c *collection) {
	c.open()
	page := c.known(1, 1)[0]
	c.reject(page.PageID, c.rejection("host", 2, 2))
	links := c.listRejected("host")
	want(c, "links", len(links), 2)
	for _, l := range links {
		want(c, "from", l.From, page.URL)
		want(c, "reason", l.Reason, "host")
		want(c, "host", l.Host, c.host(2))
		if l.At.IsZero() || !strings.HasPrefix(l.Detail, "detail ") {
			c.Fatalf("%+v", l)
		}
	}
	c.reject(0, c.rejection("host", 3, 500), c.rejection("depth", 4, 1))
	if n := len(c.listRejected("host")); n < 20 || n > store.RejectedKept {
		c.Fatalf("%d examples of many are kept", n)
	}
	want(c, "links of another reason", len(c.listRejected("depth")), 1)
	want(c, "links of no reason", len(c.listRejected("nonsense")), 0)
	want(c, "links of all reasons", len(c.listRejected("")), len(c.listRejected("host"))+1)
}

// Parts of the list, one after the other, are the list, whatever their size.
func rejectionsInParts(c *collection) {
	c.open()
	c.reject(0, c.rejection("host", 2, 20), c.rejection("depth", 3, 5))
	c.reject(0, c.rejection("host", 4, 10), c.rejection("Äöü ' reason", 5, 3))
	for _, reason := range []string{"", "host"} {
		all := c.listRejected(reason)
		for _, limit := range []int{1, 3, 100} {
			f := store.RejectedFilter{CrawlID: c.id, Reason: reason, Limit: limit}
			var parts []store.RejectedLink
			for {
				some, err := c.s.ListRejected(c.ctx, f)
				c.check(err)
				parts = append(parts, some...)
				if len(some) < limit {
					break
				}
				f.After = some[limit-1].RejectedPlace
			}
			if !slices.Equal(parts, all) {
				c.Fatalf("%q in parts of %d: %v, want %v", reason, limit, parts, all)
			}
		}
	}
	for _, slot := range []int{1 << 40, -1 << 40} { // an address may name any
		_, err := c.s.ListRejected(c.ctx, store.RejectedFilter{CrawlID: c.id, After: store.RejectedPlace{Reason: "host", Slot: slot}})
		c.check(err)
	}
}

func rejectionsHostile(c *collection) {
	c.open()
	for i, text := range append(hostile(), strings.Repeat("ä", 9000)) {
		c.reject(0, store.Rejection{Reason: "malformed", Links: 1, Examples: []store.RejectedURL{{URL: text, Detail: text}}}, store.Rejection{
			Reason: fmt.Sprintf("rule %d %.60s", i, text), Links: 1, Examples: []store.RejectedURL{{URL: text, Host: text}},
		})
	}
	c.listRejected("")
}

func rejectionsForgotten(c *collection) {
	c.open()
	page := c.known(1, 1)[0]
	c.reject(page.PageID, c.rejection("of a page", 2, 1))
	c.reject(0, c.rejection("of a host", 3, 3), c.rejection("of a URL", 4, 2))
	forget := func(t store.Target) {
		_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: t, Limit: 100})
		c.check(err)
	}
	forget(store.Target{URL: page.URL})
	want(c, "links of a forgotten page", len(c.listRejected("of a page")), 0)
	forget(store.Target{Host: c.host(3)})
	want(c, "links to a forgotten host", len(c.listRejected("of a host")), 0)
	forget(store.Target{URL: c.url(4, 0, 0).URL})
	want(c, "links to a forgotten URL and another", len(c.listRejected("of a URL")), 1)
	c.reject(0, c.rejection("of a host", 3, 3), c.rejection("of a URL", 4, 2))
	want(c, "links to a forgotten host, again", len(c.listRejected("of a host")), 0)
	want(c, "links to a forgotten URL and another, again", len(c.listRejected("of a URL")), 1)
}

func rejectionsAtOnce(c *collection) {
	const workers, times = 6, 10
	c.open()
	c.together(workers, func(i int) error {
		for j := range times {
			rejected := []store.Rejection{c.rejection("host", i, 5), c.rejection("depth", j, 3)}
			if i%2 == 1 {
				rejected[0], rejected[1] = rejected[1], rejected[0]
			}
			if _, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: c.urls(1, 5, i), Rejected: rejected}); err != nil {
				return err
			}
		}
		return nil
	})
	want(c, "rejections", c.rejections(), fmt.Sprintf("host %d, depth %d", workers*times*5, workers*times*3))
}
