package storetest

import (
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func contentCases() []collectionCase {
	return []collectionCase{{"UnreferencedAreDeletedOnce", contentLife}}
}

func suspectCases() []collectionCase {
	return []collectionCase{{"SuspectBytesStay", contentSuspect}}
}

func claimCases() []collectionCase {
	return []collectionCase{{"FoundContentsAreClaimed", claimFound}}
}

// contentLife follows digests from their last version to the deletion of their
// bytes. It has the store for itself.
func contentLife(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 4)
	save := func(page, visit, digest int) error {
		v := version(pages[page].PageID, visit)
		v.Digest = c.digest(digest)
		_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: v})
		return err
	}
	claimed := func(what string, limit int, digests ...int) {
		c.Helper()
		got, err := c.s.Unreferenced(c.ctx, limit)
		c.check(err)
		expected := make([]string, len(digests))
		for i, d := range digests {
			expected[i] = c.digest(d)
		}
		want(c, what, fmt.Sprint(got), fmt.Sprint(expected))
	}
	waiting := func(what string, expected int) {
		c.Helper()
		n, err := c.s.Waiting(c.ctx)
		c.check(err)
		want(c, "waiting "+what, n, expected)
	}
	for digest := range 3 {
		c.check(save(0, digest+1, digest))
	}
	waiting("at first", 0)
	c.check(save(1, 1, 2))
	claimed("while there are versions", 10)

	c.forgetURL(pages[0].URL)
	c.check(save(1, 2, 0)) // before its bytes are deleted
	claimed("after the last version", 10, 1)
	claimed("while they are claimed", 10)
	waiting("while they are claimed", 1)
	c.wantError(save(1, 3, 1), store.ErrUnavailable)
	want(c, "versions", c.status().Versions, 2)
	c.check(c.s.Deleted(c.ctx, []string{c.digest(1), c.digest(2)})) // the second is a version's: nothing happens
	c.check(save(1, 3, 1))
	claimed("after they are deleted", 10)
	waiting("after they are deleted", 0)

	c.check(c.s.Discard(c.ctx, []string{c.digest(2), c.digest(7), c.digest(6), c.digest(7), ""}))
	c.check(c.s.Discard(c.ctx, nil))
	claimed("one of two discarded", 1, 6)
	claimed("the other", 1, 7)
	c.check(c.s.Deleted(c.ctx, nil))
	c.forgetURL(pages[1].URL)
	claimed("after the last page", 10, 0, 1, 2)
}

// contentSuspect follows bytes that no version has and that two pages' rows name until
// their second looks. It has the store for itself.
func contentSuspect(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 2)
	visits := map[int64]int{}
	record := func(page int, suspect *store.Suspect) {
		id := pages[page].PageID
		visits[id]++
		v := store.VisitRecord{PageID: id, Visit: visits[id], Outcome: crawl.OutcomeSuspect, State: crawl.Active}
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: v, Suspect: suspect})
		c.check(err)
	}
	kept := []string{c.digest(1)}
	claimed := func(what string, found []string, expected ...string) {
		c.Helper()
		free, err := c.s.Claimable(c.ctx, found)
		c.check(err)
		want(c, "claimable "+what, fmt.Sprint(free), fmt.Sprint(expected))
		got, err := c.s.Claim(c.ctx, found)
		c.check(err)
		want(c, what, fmt.Sprint(got), fmt.Sprint(expected))
	}
	for page := range pages {
		record(page, &store.Suspect{Visit: 1, Digest: kept[0]})
	}
	for digest, expected := range map[string]int{kept[0]: 1, c.digest(2): 0, "": 0} {
		others, err := c.s.Suspecting(c.ctx, c.page(pages[0].PageID), digest, 5)
		c.check(err)
		want(c, "other pages as suspect", others, expected)
	}
	claimed("found in the archive", []string{kept[0], c.digest(2)}, c.digest(2))
	handedOut := func(what string, expected ...string) {
		c.Helper()
		got, err := c.s.Unreferenced(c.ctx, 10)
		c.check(err)
		want(c, what, fmt.Sprint(got), fmt.Sprint(expected))
	}
	c.check(c.s.Discard(c.ctx, kept)) // by the second look of the first page
	handedOut("while both pages name it")
	record(0, &store.Suspect{})
	handedOut("while the other page names it")
	record(1, nil)
	handedOut("after a visit that settles nothing")
	claimed("found in the archive after that", kept)
	record(1, &store.Suspect{})
	handedOut("after both second looks", kept...)
}

// claimFound claims what lies in an archive. It has the store for itself.
func claimFound(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 5)
	save := func(page, visit, digest int) error {
		v := version(pages[page].PageID, visit)
		v.Digest = c.digest(digest)
		_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: v})
		return err
	}
	digests := func(ns ...int) []string {
		all := []string{}
		for _, n := range ns {
			all = append(all, c.digest(n))
		}
		return all
	}
	claimed := func(what string, found []string, expected ...int) {
		c.Helper()
		free, err := c.s.Claimable(c.ctx, found)
		c.check(err)
		want(c, "claimable "+what, fmt.Sprint(free), fmt.Sprint(digests(expected...)))
		got, err := c.s.Claim(c.ctx, found)
		c.check(err)
		want(c, what, fmt.Sprint(got), fmt.Sprint(digests(expected...)))
	}
	listed := func(after string, limit int, expected ...int) {
		c.Helper()
		got, err := c.s.ListContents(c.ctx, after, limit)
		c.check(err)
		want(c, "listed after "+after, fmt.Sprint(got), fmt.Sprint(digests(expected...)))
	}
	for page := range pages {
		c.check(save(page, 1, 2))
	}
	c.check(save(0, 2, 4))
	c.check(save(1, 2, 6))
	c.check(c.s.Discard(c.ctx, digests(3)))
	listed("", 10, 2, 4, 6)
	listed("", 2, 2, 4)
	listed(c.digest(2), 10, 4, 6)
	listed(c.digest(3), 1, 4)
	listed(c.digest(6), 10)

	claimed("nothing", nil)
	claimed("what a version has", digests(2, 4, 6))
	claimed("among others", digests(1, 2, 3, 5, 5, 6), 1, 3, 5)
	claimed("while they are claimed", digests(3, 5, 7), 7)
	c.wantError(save(2, 2, 5), store.ErrUnavailable)
	c.check(c.s.Deleted(c.ctx, digests(1, 3, 5, 7)))
	c.check(save(2, 2, 5))
	claimed("after they are deleted", digests(3, 5), 3)
	listed("", 10, 2, 4, 5, 6)
	many := []string{c.digest(5)}
	for i := range 2500 {
		many = append(many, fmt.Sprintf("%064x", i+100))
	}
	got, err := c.s.Claim(c.ctx, many)
	c.check(err)
	want(c, "many claimed", len(got), 2500)
	c.check(c.s.Deleted(c.ctx, got))

	with, err := c.s.PagesWith(c.ctx, digests(2, 4, 3))
	c.check(err)
	want(c, "pages with them", fmt.Sprint(with), fmt.Sprint([]store.ContentPage{
		{Digest: c.digest(2), URL: pages[0].URL},
		{Digest: c.digest(2), URL: pages[1].URL},
		{Digest: c.digest(2), URL: pages[2].URL},
		{Digest: c.digest(4), URL: pages[0].URL},
	}))
}
