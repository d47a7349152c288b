package storetest

import (
	"context"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// duplicateOfYounger: which page is the original does not follow from their ids.
func duplicateOfYounger(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 2)
	older, younger := pages[0].PageID, pages[1].PageID
	version := c.visitContent(younger, content(1), nil)
	c.visitContent(older, content(1), of(younger, version))
	got := c.duplicate(older)
	want(c, "of", got.Of.PageID, younger)
	want(c, "holds", got.Holds, true)
	contents, err := c.s.ContentsOf(c.ctx, []int64{older, younger, 1 << 40})
	c.check(err)
	want(c, "contents", len(contents), 2)
	for _, r := range contents {
		want(c, "copies", r.Copies(), r.PageID == older)
		want(c, "member", r.Member(), false)
	}
	c.forgetURL(pages[1].URL)
	_, err = c.s.Duplicate(c.ctx, older)
	c.wantError(err, store.ErrNotFound)
}

func (c *collection) unlooked() []int64 {
	c.Helper()
	return c.paged(c.s.Unlooked)
}

// paged lists all pages of one of maintenance's lists, one at a time.
func (c *collection) paged(list func(ctx context.Context, crawlID, after int64, limit int) ([]int64, error)) []int64 {
	c.Helper()
	all := []int64{}
	for after := int64(0); ; {
		some, err := list(c.ctx, c.id, after, 1)
		c.check(err)
		if len(some) == 0 {
			return all
		}
		after = some[0]
		all = append(all, after)
	}
}

func duplicatesUnlooked(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 3)
	a, b := pages[0].PageID, pages[1].PageID
	wantIDs(c, "without contents", c.unlooked())
	first := c.visitContent(a, content(1), nil)
	second := c.saveContent(b, content(2), nil)
	wantIDs(c, "a visit that is not recorded does not count", c.unlooked(), a)
	c.visit(b, crawl.OutcomeNew, crawl.Active)
	wantIDs(c, "both", c.unlooked(), a, b)
	looked := []store.PageVersion{{PageID: a, Version: first}, {PageID: b, Version: second}}
	c.check(c.s.MarkLooked(c.ctx, looked, nil))
	wantIDs(c, "looked at", c.unlooked())
	c.visit(a, crawl.OutcomeUnchanged, crawl.Active)
	wantIDs(c, "after a visit without a change", c.unlooked())
	c.visitContent(a, content(3), nil)
	wantIDs(c, "after a change", c.unlooked(), a)
	c.check(c.s.MarkLooked(c.ctx, []store.PageVersion{{PageID: a, Version: first}}, []int64{b, 1 << 40}))
	wantIDs(c, "an older version was looked at, and another page again", c.unlooked(), a, b)
}

func duplicatesComeBack(c *collection) {
	c.with(100, 0)
	states := []crawl.PageState{crawl.Gone, crawl.Redirect, crawl.Excluded, crawl.Evicted, crawl.Stopped}
	for i, p := range c.oldest(1, len(states)) {
		id := c.visitContent(p.PageID, content(i), nil)
		c.check(c.s.MarkLooked(c.ctx, []store.PageVersion{{PageID: p.PageID, Version: id}}, nil))
		c.setState(p.PageID, states[i])
		wantIDs(c, "while it is "+states[i].String(), c.unlooked())
		c.setState(p.PageID, crawl.Active)
		wantIDs(c, "after it was "+states[i].String(), c.unlooked(), p.PageID)
		c.check(c.s.MarkLooked(c.ctx, []store.PageVersion{{PageID: p.PageID, Version: id}}, nil))
	}
	p := c.oldest(2, 1)[0].PageID
	id := c.visitContent(p, content(9), nil)
	c.check(c.s.MarkLooked(c.ctx, []store.PageVersion{{PageID: p, Version: id}}, nil))
	c.visit(p, crawl.OutcomeGone, crawl.Gone)
	wantIDs(c, "while a visit says that it is gone", c.unlooked())
	c.visit(p, crawl.OutcomeUnchanged, crawl.Active)
	wantIDs(c, "when it is back", c.unlooked(), p)

	pages := c.oldest(3, 2)
	first := c.visitContent(pages[0].PageID, content(10), nil)
	second := c.visitContent(pages[1].PageID, content(10), of(pages[0].PageID, first))
	c.check(c.s.MarkLooked(c.ctx, []store.PageVersion{{PageID: p, Version: id}, {PageID: pages[1].PageID, Version: second}}, nil))
	c.forgetURL(pages[0].URL)
	wantIDs(c, "when its original is forgotten", c.unlooked(), pages[1].PageID)
}

func duplicatesUnsettled(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 3)
	original, p, near := pages[0].PageID, pages[1].PageID, pages[2].PageID
	unsettled := func(what string, ids ...int64) {
		c.Helper()
		wantIDs(c, what, c.paged(c.s.Unsettled), ids...)
	}
	first := c.visitContent(original, content(1), nil)
	c.saveContent(p, content(1), of(original, first))
	unsettled("before its visit")
	c.visit(p, crawl.OutcomeNew, crawl.Duplicate)
	nearly := of(original, first)
	nearly.Exact, nearly.Resemblance = false, 0.9
	c.visitContent(near, content(2), nearly)
	unsettled("as found")
	c.setState(p, crawl.Active)
	unsettled("active, though its content is another's", p)
	c.setState(p, crawl.Failing)
	unsettled("failing")
	c.setState(p, crawl.Duplicate)
	c.setState(original, crawl.Gone)
	unsettled("without the other page", p, near)
	c.setState(p, crawl.Gone)
	unsettled("both gone", near)
	c.setState(p, crawl.Duplicate)
	c.setState(original, crawl.Active)
	unsettled("again")
	c.visitContent(original, content(3), nil)
	unsettled("after the other has changed", p, near)
}

func duplicatesSettled(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 4)
	at := make([]store.PageVersion, len(pages))
	for i, p := range pages {
		at[i] = store.PageVersion{PageID: p.PageID, Version: c.visitContent(p.PageID, content(1), nil)}
	}
	now, err := c.s.Now(c.ctx)
	c.check(err)
	later := now.Add(100 * 24 * time.Hour).Truncate(time.Second)
	settle := func(what string, expected int, settled ...store.Settlement) {
		c.Helper()
		changed, err := c.s.SettleDuplicates(c.ctx, c.id, settled)
		c.check(err)
		want(c, what, len(changed), expected)
	}
	c.setState(pages[2].PageID, crawl.Failing)
	older := at[3]
	older.Version--
	before := c.page(at[1].PageID).NextAt
	settle("two of those", 2,
		store.Settlement{PageVersion: at[0], Duplicate: true, NextAt: later},
		store.Settlement{PageVersion: at[1], NextAt: later}, // is active
		store.Settlement{PageVersion: at[2], Duplicate: true, NextAt: later},
		store.Settlement{PageVersion: older, Duplicate: true, NextAt: later},
		store.Settlement{PageVersion: store.PageVersion{PageID: 1 << 40}, Duplicate: true})
	want(c, "state", c.page(at[0].PageID).State, crawl.Duplicate)
	want(c, "next visit", c.page(at[0].PageID).NextAt.Equal(later), true)
	want(c, "next visit of one that was active", c.page(at[1].PageID).NextAt.Equal(before), true)
	want(c, "duplicates", c.status().Pages[crawl.Duplicate], 1)
	settle("again", 1, store.Settlement{PageVersion: at[0], Duplicate: true, NextAt: now})
	want(c, "next visit, settled again", c.page(at[0].PageID).NextAt.Equal(later), true)
	soon := now.Add(time.Hour).Truncate(time.Second)
	settle("back", 1, store.Settlement{PageVersion: at[0], NextAt: soon})
	want(c, "state", c.page(at[0].PageID).State, crawl.Active)
	want(c, "next visit", c.page(at[0].PageID).NextAt.Equal(soon), true)
	want(c, "duplicates", c.status().Pages[crawl.Duplicate], 0)

	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.open()
	changed, err := c.s.SettleDuplicates(c.ctx, other.id, []store.Settlement{{PageVersion: at[0], Duplicate: true}})
	c.check(err)
	want(c, "of another crawl", len(changed), 0)
}
