package storetest

import (
	"errors"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func termsCases() []collectionCase {
	return []collectionCase{
		{"TermsAreKept", termsKept},
		{"TermsGoWithTheirHost", termsForgotten},
	}
}

func (c *collection) terms(origin string) store.TermsRecord {
	c.Helper()
	r, err := c.s.Terms(c.ctx, origin)
	c.check(err)
	return r
}

func termsKept(c *collection) {
	origin := "https://" + c.host(1)
	if _, err := c.s.Terms(c.ctx, origin); !errors.Is(err, store.ErrNotFound) {
		c.Fatalf("terms of an origin that was never asked: %v, want ErrNotFound", err)
	}
	c.check(c.s.SaveTerms(c.ctx, store.SaveTermsParams{Origin: origin, Text: `[{"location": "/"}]`, Expires: 24 * time.Hour}))
	first := c.terms(origin)
	want(c, "text", first.Text, `[{"location": "/"}]`)
	want(c, "origin", first.Origin, origin)
	want(c, "for", first.ExpiresAt.Sub(first.FetchedAt), 24*time.Hour)
	c.check(c.s.SaveTerms(c.ctx, store.SaveTermsParams{Origin: origin, Text: first.Text, Expires: time.Minute, Failures: 2, Problem: "HTTP 503"}))
	second := c.terms(origin)
	want(c, "failures", second.Failures, 2)
	want(c, "problem", second.Problem, "HTTP 503")
	want(c, "for", second.ExpiresAt.Sub(second.FetchedAt), time.Minute)
	if _, err := c.s.Terms(c.ctx, "http://"+c.host(1)); !errors.Is(err, store.ErrNotFound) {
		c.Fatalf("terms of another origin of the host: %v, want ErrNotFound", err)
	}
	if err := c.s.SaveTerms(c.ctx, store.SaveTermsParams{Origin: "no origin"}); err == nil {
		c.Fatal("the terms of no origin were stored")
	}
}

func termsForgotten(c *collection) {
	c.open()
	host := c.host(1)
	c.known(1, 1)
	save := func(host string) {
		c.check(c.s.SaveTerms(c.ctx, store.SaveTermsParams{Origin: "https://" + host, Text: "[]", Expires: time.Hour}))
	}
	save(host)
	save(c.host(2))
	c.forget(store.ForgetParams{Target: store.Target{Host: host}})
	if _, err := c.s.Terms(c.ctx, "https://"+host); !errors.Is(err, store.ErrNotFound) {
		c.Fatalf("terms of a forgotten host: %v, want ErrNotFound", err)
	}
	save(host) // by a request that was under way
	if _, err := c.s.Terms(c.ctx, "https://"+host); !errors.Is(err, store.ErrNotFound) {
		c.Fatalf("terms of a forgotten host were stored: %v", err)
	}
	want(c, "of another host", c.terms("https://"+c.host(2)).Text, "[]")
}

// exchangesReserved: a version's reservations are part of it, wherever versions are read.
func exchangesReserved(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	first := version(p, 1)
	first.Reserved = []crawl.Reservation{
		{Use: crawl.UseSearch, Allowed: true, Source: `robots.txt: Content-Signal: search=yes, "ai-train=no"`},
		{Use: crawl.UseAITrain, Source: "meta robots: noai"},
	}
	c.save(first)
	c.visit(p, crawl.OutcomeNew, crawl.Active)
	c.save(version(p, 2))
	c.visit(p, crawl.OutcomeChanged, crawl.Active)
	for _, x := range c.exchanges(store.ExchangeParams{Pages: []int64{p}}) {
		v, err := c.s.Version(c.ctx, p, x.Version.Seq)
		c.check(err)
		is := [][]crawl.Reservation{first.Reserved, nil}[x.Visit-1]
		want(c, "of an exchange", x.Version.Reserved, is)
		want(c, "of a version", v.Reserved, is)
	}
	list, err := c.s.ListVersions(c.ctx, p, 0, 0)
	c.check(err)
	want(c, "in a list", list[1].Reserved, first.Reserved)
	want(c, "of the page's row", len(c.page(p).Last.Reserved), 0)
}
