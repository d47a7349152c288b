package storetest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"recrawl/internal/store"
)

func careCases() []collectionCase {
	return []collectionCase{{"OneWorkerLooksAfterACrawl", oneWorkerCares}, {"TroublesLastAndEnd", troublesLast}}
}

// oneWorkerCares: the group's other cases have crawls too, so only its own is looked for.
func oneWorkerCares(c *collection) {
	c.open()
	care, err := c.s.Care(c.ctx, c.id)
	c.check(err)
	if !care.LookedAt.IsZero() {
		c.Errorf("looked after at %s, by nobody", care.LookedAt)
	}
	claims := func() int {
		var mu sync.Mutex
		var workers sync.WaitGroup
		got := 0
		for range 4 {
			workers.Go(func() {
				for {
					crawls, err := c.s.ClaimCare(c.ctx, time.Hour, 1)
					if err != nil {
						c.Error(err)
					}
					if err != nil || len(crawls) == 0 {
						return
					}
					if slices.ContainsFunc(crawls, func(r store.CrawlRecord) bool { return r.ID == c.id && r.Spec.Name == c.name }) {
						mu.Lock()
						got++
						mu.Unlock()
					}
				}
			})
		}
		workers.Wait()
		return got
	}
	want(c, "workers that got the crawl", fmt.Sprint(claims()), "1")
	want(c, "workers that got it within the hour", fmt.Sprint(claims()), "0")
	care, err = c.s.Care(c.ctx, c.id)
	c.check(err)
	now, err := c.s.Now(c.ctx)
	c.check(err)
	if care.LookedAt.IsZero() || care.LookedAt.After(now) {
		c.Errorf("looked after at %s, now %s", care.LookedAt, now)
	}
	again, err := c.s.ClaimCare(c.ctx, 0, 0)
	c.check(err)
	if !slices.ContainsFunc(again, func(r store.CrawlRecord) bool { return r.ID == c.id }) {
		c.Errorf("not to be had when its time has come")
	}
	_, err = c.s.BeginDelete(c.ctx, c.name)
	c.check(err)
	again, err = c.s.ClaimCare(c.ctx, 0, 0)
	c.check(err)
	if slices.ContainsFunc(again, func(r store.CrawlRecord) bool { return r.ID == c.id }) {
		c.Errorf("somebody looks after a crawl that is being deleted, and may bring it back")
	}
}

func troublesLast(c *collection) {
	c.open()
	told := func(what, expected string) []store.TroubleRecord {
		c.Helper()
		care, err := c.s.Care(c.ctx, c.id)
		c.check(err)
		text := []string{}
		for _, t := range care.Troubles {
			text = append(text, fmt.Sprintf("%s: %s (%d, mended %t)", t.Part, t.Problem, t.Pages, t.Mended))
			if t.Since.IsZero() || t.Seen.Before(t.Since) || t.Mended != !t.MendedAt.IsZero() {
				c.Errorf("%s: since %s, seen %s, mended %s", t.Part, t.Since, t.Seen, t.MendedAt)
			}
		}
		want(c, what, fmt.Sprint(text), expected)
		return care.Troubles
	}
	note := func(troubles ...store.Trouble) { c.Helper(); c.check(c.s.NoteTroubles(c.ctx, c.id, troubles)) }
	told("at first", "[]")
	note(store.Trouble{Part: "sweep", Problem: "a disk"}, store.Trouble{Part: "counts"})
	first := told("one step fails", "[sweep: a disk (0, mended false)]")
	note(store.Trouble{Part: "sweep", Problem: "the same disk"})
	if again := told("again", "[sweep: the same disk (0, mended false)]"); !again[0].Since.Equal(first[0].Since) {
		c.Errorf("since %s, and then since %s", first[0].Since, again[0].Since)
	}
	note(store.Trouble{Part: store.TroublePages, Problem: "stuck", Pages: 12, Mended: true})
	mended := told("another part", "[pages: stuck (12, mended true) sweep: the same disk (0, mended false)]")
	note(store.Trouble{Part: "sweep"}, store.Trouble{Part: store.TroublePages})
	told("what was mended is told on", "[pages: stuck (12, mended true)]")
	note(store.Trouble{Part: store.TroublePages, Problem: "stuck again", Pages: 1})
	if again := told("and begins anew", "[pages: stuck again (1, mended false)]"); !again[0].Since.After(mended[0].Since) {
		c.Errorf("a new trouble since %s, the old one since %s", again[0].Since, mended[0].Since)
	}
	if err := c.s.NoteTroubles(c.ctx, -1, []store.Trouble{{Part: "sweep", Problem: "x"}}); err == nil {
		c.Errorf("a trouble of no crawl was noted")
	}
}
