package storetest

import (
	"fmt"
	"strings"
	"time"

	"recrawl/internal/change"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// unrecordedCases are about versions of visits that were never recorded: the workflow that
// saved one was lost, and another one makes the visit of that number again.
func unrecordedCases() []collectionCase {
	return []collectionCase{
		{"AnotherContentReplacesIt", unrecordedReplaced},
		{"OfAFirstVisit", unrecordedFirst},
		{"ReplacedByAReturn", unrecordedByReturn},
		{"AnotherContentReplacesAReturn", unrecordedReturn},
		{"OldContentDropsIt", unrecordedDropped},
		{"OldContentDropsAReturn", unrecordedReturnDropped},
		{"ReturnOfTheTextKeepsIt", unrecordedReturnKept},
		{"TheSameContentKeepsIt", unrecordedKept},
		{"OfARecordedVisitStays", unrecordedTooLate},
	}
}

// other is a version of the page's next visit with contents of its own, named by a letter.
func (c *collection) other(page int64, letter string) store.VersionRecord {
	c.Helper()
	v := version(page, c.page(page).Visits+1)
	v.Digest, v.TextDigest = bytesOf(page, letter), strings.Repeat(letter, 64)
	return v
}

// bytesOf is the digest of the bytes of a page's content, no other page's.
func bytesOf(page int64, letter string) string { return fmt.Sprintf("%s%063x", letter, page) }

// saveOther saves a version with a content, a link and a wording.
func (c *collection) saveOther(v store.VersionRecord, about change.Content, link string, of *store.DuplicateOf) int64 {
	c.Helper()
	id, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: v, Content: about, Links: []store.Link{{URL: link}}, Duplicate: of,
		Said: change.Wording{Known: true, Phrases: 3},
	})
	c.check(err)
	return id
}

// made records the page's next visit, which saw these bytes.
func (c *collection) made(page int64, outcome crawl.Outcome, status int, digest string, why ...crawl.Reason) store.VisitRecord {
	c.Helper()
	res, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{
		PageID: page, Visit: c.page(page).Visits + 1, Outcome: outcome, Status: status, Digest: digest, State: crawl.Active, Reasons: why,
	}, Interval: time.Hour})
	c.check(err)
	return res.Visit
}

// wantLink wants the one link that waits to be registered for a visit, "" for none.
func (c *collection) wantLink(page int64, visit int, expected string) {
	c.Helper()
	pending, err := c.s.PendingLinks(c.ctx, page, visit)
	c.check(err)
	got := ""
	if pending != nil {
		got = pending.Links[0].URL
	}
	want(c, "link that waits", got, expected)
}

// wantUncounted wants that of some bytes, these belong to no version.
func (c *collection) wantUncounted(of []string, expected ...string) {
	c.Helper()
	found, err := c.s.Claimable(c.ctx, of)
	c.check(err)
	want(c, "bytes of no version", fmt.Sprint(found), fmt.Sprint(expected))
}

func unrecordedReplaced(c *collection) {
	c.open()
	pages := c.oldest(1, 2)
	older, p := pages[0].PageID, pages[1].PageID
	of := &store.DuplicateOf{PageVersion: store.PageVersion{PageID: older, Version: c.visitContent(older, content(1), nil)}, Exact: true, Resemblance: 1}
	last := c.saveOther(c.other(p, "0"), content(5), "https://x.test/0", nil)
	c.visit(p, crawl.OutcomeNew, crawl.Active)
	a := c.other(p, "1")
	c.saveOther(a, content(1), "https://x.test/1", of)
	b := c.other(p, "2")
	id := c.saveOther(b, content(2), "https://x.test/2", nil)
	want(c, "id the second time", c.saveOther(b, content(2), "https://x.test/2", nil), id)
	c.wantLink(p, 2, "https://x.test/2")
	wantIDs(c, "pages with the content that was replaced", c.lookalikes(content(1)), older)
	wantIDs(c, "pages with the last content", c.lookalikes(content(5)), p)
	_, err := c.s.Duplicate(c.ctx, p)
	c.wantError(err, store.ErrNotFound)
	c.wantUncounted([]string{bytesOf(p, "0"), a.Digest, b.Digest}, a.Digest)
	want(c, "last version before the visit", c.page(p).Last.ID, last)
	v := c.made(p, crawl.OutcomeChanged, 200, b.Digest)
	want(c, "version of the visit", v.Version, 2)
	want(c, "last version", c.page(p).Last.ID, id)
	want(c, "its bytes", c.page(p).Last.Digest, b.Digest)
	wantIDs(c, "pages with the new content", c.lookalikes(content(2)), p)
	wantIDs(c, "pages with the content before", c.lookalikes(content(5)))
	want(c, "versions", c.status().Versions, 3)
}

func unrecordedFirst(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	a, b := c.other(p, "1"), c.other(p, "2")
	c.saveOther(a, content(1), "https://x.test/1", nil)
	id := c.saveOther(b, content(2), "https://x.test/2", nil)
	c.made(p, crawl.OutcomeNew, 200, b.Digest)
	want(c, "last version", c.page(p).Last.ID, id)
	c.wantVersions(p, 1)
	// And without any content in the end.
	q := c.admitted(2, 1)[0].PageID
	c.saveOther(c.other(q, "3"), content(3), "https://x.test/3", nil)
	v := c.made(q, crawl.OutcomeGone, 404, "")
	want(c, "version of the visit", v.Version, 0)
	want(c, "last version", c.page(q).Last.ID, 0)
	c.wantLink(q, 1, "")
	wantIDs(c, "pages with the content", c.lookalikes(content(3)))
	want(c, "versions", c.status().Versions, 1)
}

func unrecordedByReturn(c *collection) {
	p, ids := c.flip()
	c.saveOther(c.other(p, "1"), content(7), "https://x.test/1", nil)
	want(c, "version", c.saveBack(p, ids[0]), ids[0])
	c.wantLink(p, 4, "")
	c.recordAt(p, 4, time.Time{}, crawl.OutcomeReturned, store.Retention{})
	want(c, "last version", c.page(p).Last.ID, ids[0])
	c.wantVersions(p, 3, 2, 1)
	wantIDs(c, "pages with the content that was replaced", c.lookalikes(content(7)))
}

func unrecordedReturn(c *collection) {
	p, ids := c.flip()
	c.back(p, ids[0], time.Time{}, store.Retention{})
	c.back(p, ids[1], time.Time{}, store.Retention{})
	c.saveBack(p, ids[0], store.Link{URL: "https://x.test/0"})
	b := c.other(p, "2")
	id := c.saveOther(b, content(7), "https://x.test/2", nil)
	c.wantLink(p, 6, "https://x.test/2")
	v := c.made(p, crawl.OutcomeChanged, 200, b.Digest)
	want(c, "version of the visit", v.Version, 4)
	want(c, "last version", c.page(p).Last.ID, id)
	c.wantContent("of the version that it had not returned to", ids[0], change.Content{})
	for _, v := range c.listed(p) {
		want(c, "last return to a version", v.Back, []int{4, 5, 0, 0}[v.Seq-1])
	}
	c.wantEarlier(p, 10, 2, 1, 3)
}

func unrecordedDropped(c *collection) {
	c.open()
	for i, seen := range []struct {
		what    string
		outcome crawl.Outcome
		status  int
		digest  string
	}{
		{"the last bytes", crawl.OutcomeUnchanged, 200, "0"},
		{"not modified", crawl.OutcomeUnchanged, 304, "0"},
		{"other boilerplate", crawl.OutcomeCosmetic, 200, "9"},
		{"an error", crawl.OutcomeFailed, 500, ""},
		{"gone", crawl.OutcomeGone, 404, ""},
		{"suspect", crawl.OutcomeSuspect, 200, "9"},
	} {
		p := c.admitted(i+1, 1)[0].PageID
		last := c.saveOther(c.other(p, "0"), content(5), "https://x.test/0", nil)
		c.made(p, crawl.OutcomeNew, 200, bytesOf(p, "0"))
		before := c.status().Versions
		c.saveOther(c.other(p, "1"), content(1), "https://x.test/1", nil)
		digest := ""
		if seen.digest != "" {
			digest = bytesOf(p, seen.digest)
		}
		v := c.made(p, seen.outcome, seen.status, digest)
		want(c, seen.what+": version of the visit", v.Version, 1)
		want(c, seen.what+": last version", c.page(p).Last.ID, last)
		c.wantContent(seen.what, last, content(5))
		wantIDs(c, seen.what+": pages with the content", c.lookalikes(content(1)))
		c.wantLink(p, 2, "")
		want(c, seen.what+": versions", c.status().Versions, before)
		want(c, seen.what+": versions listed", len(c.listed(p)), 1)
		c.wantUncounted([]string{bytesOf(p, "0"), bytesOf(p, "1")}, bytesOf(p, "1"))
	}
}

func unrecordedReturnDropped(c *collection) {
	p, ids := c.flip()
	c.saveBack(p, ids[0], store.Link{URL: "https://x.test/0"})
	v := c.made(p, crawl.OutcomeCosmetic, 200, bytesOf(p, "9"))
	want(c, "version of the visit", v.Version, 3)
	want(c, "last version", c.page(p).Last.ID, ids[2])
	c.wantContent("of the last version", ids[2], content(2))
	c.wantContent("of the version that it had not returned to", ids[0], change.Content{})
	c.wantLink(p, 4, "")
	c.wantEarlier(p, 10, 2, 1)
	// The last version is not old because it was nearly left.
	c.unchanged(p, store.Retention{Age: time.Nanosecond})
	want(c, "last version", c.page(p).Last.ID, ids[2])
}

// unrecordedReturnKept: a return whose bytes differ in boilerplate is one nevertheless.
func unrecordedReturnKept(c *collection) {
	p, ids := c.flip()
	c.saveBack(p, ids[0])
	v := c.made(p, crawl.OutcomeCosmetic, 200, bytesOf(p, "9"), change.ReturnReason(1, 3))
	want(c, "version of the visit", v.Version, 1)
	want(c, "last version", c.page(p).Last.ID, ids[0])
}

// unrecordedKept: a content can have a version although the visit finds little new in it,
// because its links are others, or because it may not be kept.
func unrecordedKept(c *collection) {
	c.open()
	for i, outcome := range []crawl.Outcome{crawl.OutcomeUnchanged, crawl.OutcomeCosmetic} {
		p := c.admitted(i+1, 1)[0].PageID
		c.save(c.other(p, "0"))
		c.made(p, crawl.OutcomeNew, 200, bytesOf(p, "0"))
		v := c.other(p, "1")
		id := c.save(v)
		c.made(p, outcome, 200, v.Digest)
		want(c, "last version", c.page(p).Last.ID, id)
		withheld := c.other(p, "2")
		withheld.Digest = ""
		id = c.save(withheld)
		c.made(p, outcome, 200, v.Digest)
		want(c, "last version that may not be kept", c.page(p).Last.ID, id)
		withheld = c.other(p, "3")
		withheld.Digest = ""
		c.save(withheld)
		c.made(p, crawl.OutcomeUnchanged, 304, v.Digest)
		want(c, "last version after a 304", c.page(p).Last.ID, id)
	}
}

// unrecordedTooLate: an attempt that comes after the visit was recorded changes nothing.
func unrecordedTooLate(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	id := c.save(c.other(p, "1"))
	late := c.other(p, "2")
	c.made(p, crawl.OutcomeNew, 200, bytesOf(p, "1"))
	want(c, "id after the visit", c.save(late), id)
	want(c, "bytes of the last version", c.page(p).Last.Digest, bytesOf(p, "1"))
	c.wantVersions(p, 1)
}
