package storetest

import (
	"fmt"
	"slices"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// mentioning is a visit of a page that names a URL wherever a visit and its version can.
func (c *collection) mentioning(page int64, url string) {
	c.Helper()
	v := version(page, c.page(page).Visits+1)
	v.Canonical = url
	c.save(v)
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{
		PageID: page, Visit: v.Visit, Outcome: crawl.OutcomeNew, Status: 200, State: crawl.Active, Location: url,
		Reasons: []crawl.Reason{
			{Code: "duplicate-of", Text: url, Num: map[string]float64{"resemblance": 1}},
			{Code: "hinted", Text: "visited early because " + url + ", a feed, said so"},
			{Code: "x", Text: "nothing"},
		},
	}})
	c.check(err)
}

// wantMentioned wants that the page's last visit names a URL, or none.
func (c *collection) wantMentioned(what string, page int64, url string, named bool) {
	c.Helper()
	p := c.page(page)
	v, err := c.s.Visit(c.ctx, page, p.Visits)
	c.check(err)
	location, text := url, url
	if !named {
		location, text = "", "a forgotten page"
	}
	want(c, what+": canonical", p.Last.Canonical, location)
	want(c, what+": where it redirected", v.Location, location)
	want(c, what+": reasons", fmt.Sprint(v.Reasons), fmt.Sprint([]crawl.Reason{
		{Code: "duplicate-of", Text: text, Num: map[string]float64{"resemblance": 1}},
		{Code: "hinted", Text: "visited early because " + text + ", a feed, said so"},
		{Code: "x", Text: "nothing"},
	}))
}

// forgetMention forgets a target and the mentions of it, some at a time.
func (c *collection) forgetMention(t store.Target, limit int) {
	c.Helper()
	c.forget(store.ForgetParams{Target: t})
	for after, more := int64(0), true; more; {
		next, further, err := c.s.ForgetMentions(c.ctx, t, after, limit)
		c.check(err)
		if next <= after {
			c.Fatalf("from %d it goes on at %d", after, next)
		}
		after, more = next, further
	}
}

// Others have named a forgotten page without a link to it.
func forgetMentions(c *collection) {
	c.open()
	pages := ids(c.admitted(1, 4))
	base := "https://" + c.host(2)
	names := []string{base + "/a?b=1&c=%3C%25_2!%27", base + "/a?b=1&c=%3C%25_2!%27x", base + "/", "https://" + c.host(3) + "/a"}
	c.register(pages[0], c.urls(2, 1, 1)...) // so that the host is known
	for i, page := range pages {
		c.mentioning(page, names[i])
		c.wantMentioned("before", page, names[i], true)
	}
	c.forgetMention(store.Target{URL: names[0]}, 7)
	for i, page := range pages {
		c.wantMentioned("after its URL was forgotten", page, names[i], i > 0)
	}
	c.forgetMention(store.Target{Host: c.host(2)}, 1000)
	for i, page := range pages {
		c.wantMentioned("after its host was forgotten", page, names[i], i == 3)
	}
	c.forgetMention(store.Target{Host: c.host(2)}, 1000) // again
	c.wantMentioned("of another host", pages[3], names[3], true)
}

// Pages that lead to a forgotten one are visited again.
func forgetMentionsLater(c *collection) {
	c.open()
	pages := ids(c.admitted(1, 3))
	names := []string{"https://" + c.host(2) + "/a", "https://" + c.host(3) + "/b", "https://" + c.host(2) + "/c"}
	c.forget(store.ForgetParams{Target: store.Target{URL: names[0]}})
	c.forget(store.ForgetParams{Target: store.Target{Host: c.host(3)}})
	for i, page := range pages {
		c.mentioning(page, names[i])
		p := c.page(page)
		visit, err := c.s.Visit(c.ctx, page, p.Visits)
		c.check(err)
		expected := []string{"", ""}
		if i == 2 {
			expected = []string{names[2], names[2]}
		}
		if got := []string{p.Last.Canonical, visit.Location}; !slices.Equal(got, expected) {
			c.Errorf("%s is named as %q", names[i], got)
		}
	}
}
