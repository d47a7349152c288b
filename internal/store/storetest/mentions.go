package storetest

import (
	"context"
	"errors"
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

// forgetMention forgets a target and the mentions of it, some at a time, and returns the ids of
// the pages that named it.
func (c *collection) forgetMention(t store.Target, limit int) (named []int64) {
	c.Helper()
	before := func(_ context.Context, pages []crawl.PageRef) error {
		for _, p := range pages {
			named = append(named, p.PageID)
		}
		return nil
	}
	c.forget(store.ForgetParams{Target: t})
	for after, more := int64(0), true; more; {
		next, further, err := c.s.ForgetMentions(c.ctx, t, after, limit, before)
		c.check(err)
		if next <= after {
			c.Fatalf("from %d it goes on at %d", after, next)
		}
		after, more = next, further
	}
	slices.Sort(named)
	return named
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
	named := c.forgetMention(store.Target{URL: names[0]}, 7)
	want(c, "pages that named its URL", fmt.Sprint(named), fmt.Sprint(pages[:1]))
	for i, page := range pages {
		c.wantMentioned("after its URL was forgotten", page, names[i], i > 0)
	}
	named = c.forgetMention(store.Target{Host: c.host(2)}, 1000)
	want(c, "pages that named its host", fmt.Sprint(named), fmt.Sprint(slices.Sorted(slices.Values(pages[1:3]))))
	for i, page := range pages {
		c.wantMentioned("after its host was forgotten", page, names[i], i == 3)
	}
	named = c.forgetMention(store.Target{Host: c.host(2)}, 1000)
	want(c, "pages that name it still", len(named), 0)
	c.wantMentioned("of another host", pages[3], names[3], true)
}

// Whoever has something to do for the pages that named a target, and fails, is told of them
// again.
func forgetMentionsFails(c *collection) {
	c.open()
	page := ids(c.admitted(1, 1))[0]
	url := "https://" + c.host(2) + "/a"
	c.mentioning(page, url)
	target := store.Target{URL: url}
	c.forget(store.ForgetParams{Target: target})
	fault := errors.New("a fault")
	for after, more := int64(0), true; more; {
		next, further, err := c.s.ForgetMentions(c.ctx, target, after, 1000, func(context.Context, []crawl.PageRef) error { return fault })
		if err != nil {
			c.wantError(err, fault)
			want(c, "where it goes on", next, after)
			break
		}
		after, more = next, further
		want(c, "more", more, true)
	}
	c.wantMentioned("after a fault", page, url, true)
	want(c, "pages that named it", fmt.Sprint(c.forgetMention(target, 1000)), fmt.Sprint([]int64{page}))
	c.wantMentioned("in the end", page, url, false)
}

// A URL counts as forgotten by itself or with its host.
func forgottenURLs(c *collection) {
	c.open()
	base := "https://" + c.host(2)
	c.forgetURL(base + "/a")
	c.forget(store.ForgetParams{Target: store.Target{Host: c.host(3)}})
	for url, is := range map[string]bool{base + "/a": true, base + "/ab": false, base + "/": false, "https://" + c.host(3) + "/b": true, "": false} {
		got, err := c.s.Forgotten(c.ctx, url)
		c.check(err)
		want(c, "forgotten "+url, got, is)
	}
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
