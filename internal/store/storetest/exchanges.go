package storetest

import (
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func exchangeCases() []collectionCase {
	return []collectionCase{
		{"InOrder", exchangesInOrder},
		{"OnlyFound", exchangesFound},
		{"UntilATime", exchangesUntil},
		{"WithoutTheVersion", exchangesPruned},
		{"WhatIsReserved", exchangesReserved},
	}
}

// exchanges lists as exports do, a few at a time.
func (c *collection) exchanges(p store.ExchangeParams) []store.ExchangeRecord {
	c.Helper()
	if p.Until.IsZero() {
		p.Until = c.soon().Add(time.Hour)
	}
	var all []store.ExchangeRecord
	for p.Limit = 3; ; {
		found, err := c.s.ListExchanges(c.ctx, p)
		c.check(err)
		if len(found) == 0 {
			return all
		}
		all = append(all, found...)
		last := found[len(found)-1]
		p.After, p.AfterVisit = last.PageID, last.Visit
	}
}

// marks are page/visit/version of exchanges.
func marks(all []store.ExchangeRecord) string {
	var text []string
	for _, x := range all {
		text = append(text, fmt.Sprintf("%d/%d", x.Visit, x.Version.Seq))
	}
	return fmt.Sprint(text)
}

func exchangesInOrder(c *collection) {
	c.open()
	pages := sortedIDs(c.admitted(1, 3))
	for _, p := range pages[:2] {
		v := version(p, 1)
		v.Language, v.Heads = "en", store.Heads{Request: "GET", Response: "HTTP/1.1 200 OK", Remote: "192.0.2.1"}
		c.save(v)
		c.visit(p, crawl.OutcomeNew, crawl.Active)
		c.visit(p, crawl.OutcomeUnchanged, crawl.Active)
	}
	c.visit(pages[0], crawl.OutcomeFailed, crawl.Failing)
	c.save(version(pages[1], 3))
	c.visit(pages[1], crawl.OutcomeChanged, crawl.Active)
	all := c.exchanges(store.ExchangeParams{Pages: []int64{pages[2], pages[1], pages[0]}})
	want(c, "visits and versions", marks(all), "[1/1 2/1 3/1 1/1 2/1 3/2]")
	if !slices.IsSortedFunc(all, func(a, b store.ExchangeRecord) int { return int(a.PageID - b.PageID) }) {
		c.Fatal("not in the order of the pages")
	}
	first, second := all[0], all[1]
	want(c, "title", first.Version.Title, "A title")
	want(c, "heads of the visit that found the version", first.Version.Heads.Response, "HTTP/1.1 200 OK")
	want(c, "heads of another visit", second.Version.Heads, store.Heads{})
	want(c, "version's visit", second.Version.Visit, 1)
	want(c, "outcome", second.Outcome, crawl.OutcomeUnchanged)
	want(c, "of no pages", len(c.exchanges(store.ExchangeParams{})), 0)
	want(c, "of a page without visits", len(c.exchanges(store.ExchangeParams{Pages: pages[2:]})), 0)
}

func exchangesFound(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.past(p, 2, store.Retention{})
	c.unchanged(p, store.Retention{})
	want(c, "visits that found a version", marks(c.exchanges(store.ExchangeParams{Pages: []int64{p}, Found: true})), "[1/1 2/2]")
}

func exchangesUntil(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.past(p, 3, store.Retention{})
	second, err := c.s.Visit(c.ctx, p, 2)
	c.check(err)
	want(c, "until the second visit", marks(c.exchanges(store.ExchangeParams{Pages: []int64{p}, Until: second.At})), "[1/1 2/2]")
}

func exchangesPruned(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.past(p, 3, store.Retention{Versions: 1})
	all := c.exchanges(store.ExchangeParams{Pages: []int64{p}})
	want(c, "visits and versions", marks(all), "[1/0 2/0 3/3 4/3]")
	want(c, "version that is gone", all[0].Version, store.VersionRecord{})
}
