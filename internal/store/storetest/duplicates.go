package storetest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"recrawl/internal/change"
	"recrawl/internal/change/changetest"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func duplicateCases() []collectionCase {
	return []collectionCase{
		{"ContentIsThatOfTheLastVersion", contentLast},
		{"WithoutContent", contentNone},
		{"ContentsInOrder", contentsInOrder},
		{"LookalikesShareAKey", lookalikes},
		{"LookalikesStandForTheirContent", lookalikesStand},
		{"LookalikesOfMany", lookalikesMany},
		{"KeySharers", keySharers},
		{"SavedWithItsVersion", duplicateSaved},
		{"HoldsAsLongAsBothAreTheSame", duplicateHolds},
		{"FreedByAVisit", duplicatesFreed},
		{"Updated", duplicatesUpdated},
		{"ListedByCluster", duplicatesListed},
		{"NotOfItself", duplicateOfItself},
		{"OfAYoungerPage", duplicateOfYounger},
		{"UnlookedUntilMarked", duplicatesUnlooked},
		{"UnlookedWhenItComesBack", duplicatesComeBack},
		{"Unsettled", duplicatesUnsettled},
		{"Settled", duplicatesSettled},
		{"ForgottenWithTheirPages", duplicatesForgotten},
		{"ManyForgottenWithOne", duplicatesManyForgotten},
		{"Mirrors", mirrors},
		{"ManyMirrors", mirrorsMany},
	}
}

// variants have four contents that are nearly the same from every 16th on.
var variants = changetest.Corpus{Sites: 1, Shingles: 400, Family: 4, Edit: 0.01}

// content is the n-th of contents that have nothing in common.
func content(n int) change.Content { return variants.Content(8 + 16*n) }

// nearly is a content that is nearly the n-th.
func nearly(n int) change.Content { return variants.Content(8 + 16*n + 3) }

// oldest is admitted with the pages in the order of their ids.
func (c *collection) oldest(host, n int) []store.PageRecord {
	c.Helper()
	pages := c.admitted(host, n)
	slices.SortFunc(pages, func(a, b store.PageRecord) int { return cmp.Compare(a.PageID, b.PageID) })
	return pages
}

// saveContent saves the page's next version with a content, and returns its id.
func (c *collection) saveContent(page int64, content change.Content, of *store.DuplicateOf) int64 {
	c.Helper()
	id, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{
		Version: version(page, c.page(page).Visits+1), Content: content, Duplicate: of,
	})
	c.check(err)
	return id
}

// visitContent is saveContent with the visit recorded.
func (c *collection) visitContent(page int64, content change.Content, of *store.DuplicateOf) int64 {
	c.Helper()
	id := c.saveContent(page, content, of)
	c.visit(page, crawl.OutcomeChanged, crawl.Active)
	return id
}

func (c *collection) wantContent(what string, version int64, expected change.Content) {
	c.Helper()
	got, err := c.s.Content(c.ctx, version)
	c.check(err)
	if got.Exact != expected.Exact || fmt.Sprint(got.Sketch) != fmt.Sprint(expected.Sketch) {
		c.Fatalf("%s: another content", what)
	}
}

// lookalikes are the ids of a content's, of all pages of the crawl.
func (c *collection) lookalikes(content change.Content) []int64 {
	c.Helper()
	return c.lookalikesOf(0, content, 10)
}

// lookalikesOf are those of a page's content.
func (c *collection) lookalikesOf(page int64, content change.Content, limit int) []int64 {
	c.Helper()
	return c.likeliest(store.LookalikeParams{Page: page, Content: content, Limit: limit})
}

func (c *collection) likeliest(p store.LookalikeParams) []int64 {
	c.Helper()
	p.CrawlID = c.id
	found, err := c.s.Lookalikes(c.ctx, p)
	c.check(err)
	ids := []int64{}
	for _, l := range found {
		ids = append(ids, l.PageID)
	}
	return ids
}

func wantIDs(c *collection, what string, got []int64, expected ...int64) {
	c.Helper()
	want(c, what, fmt.Sprint(got), fmt.Sprint(expected))
}

func contentLast(c *collection) {
	c.open()
	p := c.oldest(1, 1)[0].PageID
	first := c.saveContent(p, content(1), nil)
	c.wantContent("saved", first, content(1))
	wantIDs(c, "before its visit", c.lookalikes(content(1)))
	c.visit(p, crawl.OutcomeNew, crawl.Active)
	wantIDs(c, "after its visit", c.lookalikes(content(1)), p)

	second := c.saveContent(p, nearly(1), nil)
	// Comparing again finds the same as the first time.
	c.wantContent("of the last version", first, content(1))
	c.wantContent("of the next", second, nearly(1))
	want(c, "saved again", c.saveContent(p, content(2), nil), second)
	c.wantContent("saved again", second, nearly(1))
	wantIDs(c, "of what was saved again", c.lookalikes(content(2)))
	c.visit(p, crawl.OutcomeChanged, crawl.Active)
	c.wantContent("of an older version", first, change.Content{})
	c.wantContent("of the last version", second, nearly(1))

	c.visitContent(p, content(3), nil)
	for n := range 3 {
		wantIDs(c, "of former contents", c.lookalikes(content(n)))
	}
	wantIDs(c, "of the last content", c.lookalikes(content(3)), p)
	c.visit(p, crawl.OutcomeUnchanged, crawl.Active)
	wantIDs(c, "after a visit without a change", c.lookalikes(content(3)), p)
}

func contentNone(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 3)
	p := pages[0].PageID
	c.visitContent(p, content(1), nil)
	id := c.visitContent(p, change.Content{}, nil)
	c.wantContent("of a version without one", id, change.Content{})
	c.wantContent("of no version", 1<<40, change.Content{})
	wantIDs(c, "of the former content", c.lookalikes(content(1)))
	wantIDs(c, "of nothing", c.lookalikes(change.Content{}))

	short := change.Content{Sketch: change.NewSketch("a few words")}
	wantIDs(c, "of a short text", c.lookalikes(short))
	c.wantContent("a short text", c.visitContent(pages[1].PageID, short, nil), short)
	bytes := change.Content{Exact: 1<<64 - 1}
	c.wantContent("bytes", c.visitContent(pages[2].PageID, bytes, nil), bytes)
	wantIDs(c, "of the same bytes", c.lookalikes(bytes), pages[2].PageID)
	wantIDs(c, "of a short text", c.lookalikes(short))
}

func contentsInOrder(c *collection) {
	c.with(100, 0)
	pages := slices.Concat(c.oldest(1, 5), c.oldest(2, 3))
	byID := map[int64]store.ContentRecord{}
	for i, p := range pages {
		if i == 2 { // has no content
			continue
		}
		r := store.ContentRecord{PageID: p.PageID, HostID: p.HostID, URL: p.URL, Canonical: version(p.PageID, 1).Canonical, State: crawl.Active, Content: content(i)}
		r.Version = c.visitContent(p.PageID, r.Content, nil)
		r.NextAt = c.page(p.PageID).NextAt
		byID[p.PageID] = r
	}
	c.saveContent(pages[0].PageID, content(20), nil) // not visited yet
	for i, state := range map[int]crawl.PageState{3: crawl.Gone, 4: crawl.Stopped, 5: crawl.Duplicate} {
		r := byID[pages[i].PageID]
		r.State = state
		byID[pages[i].PageID] = r
		if c.setState(pages[i].PageID, state); state != crawl.Duplicate {
			delete(byID, pages[i].PageID)
		}
	}
	after := int64(0)
	for {
		some, err := c.s.Contents(c.ctx, c.id, after, 2)
		c.check(err)
		if len(some) == 0 {
			break
		}
		for _, r := range some {
			if r.PageID <= after || !reflect.DeepEqual(r, byID[r.PageID]) {
				c.Fatalf("after %d: got %+v, want %+v", after, r, byID[r.PageID])
			}
			delete(byID, r.PageID)
			after = r.PageID
		}
	}
	want(c, "contents that were not listed", len(byID), 0)
}

func lookalikes(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 5)
	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.open()
	other.visitContent(other.admitted(1, 1)[0].PageID, content(1), nil)
	id := func(n int) int64 { return pages[n].PageID }
	c.visitContent(id(0), content(2), nil)
	c.visitContent(id(1), nearly(1), nil)
	c.visitContent(id(2), content(1), nil)
	c.visitContent(id(3), nearly(1), nil)
	c.visitContent(id(4), content(3), nil)
	want(c, "a near one's keys are others", fmt.Sprint(nearly(1).Keys()) != fmt.Sprint(content(1).Keys()), true)
	wantIDs(c, "the most likely first, then the oldest", c.lookalikes(content(1)), id(2), id(1), id(3))
	wantIDs(c, "others, older and younger", c.lookalikesOf(id(2), content(1), 10), id(1), id(3))
	wantIDs(c, "the first", c.lookalikesOf(0, content(1), 1), id(2))
	wantIDs(c, "of an unknown content", c.lookalikes(content(9)))
	near := content(1).Sketch.Resemblance(nearly(1).Sketch)
	least := store.LookalikeParams{Content: content(1), Limit: 10, Least: near}
	wantIDs(c, "that resemble it as much as these", c.likeliest(least), id(2), id(1), id(3))
	least.Least += 0.001
	wantIDs(c, "that resemble it more", c.likeliest(least), id(2))
}

func keySharers(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 5)
	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.open()
	other.visitContent(other.admitted(1, 1)[0].PageID, content(4), nil)
	contents := []change.Content{content(1), content(2), nearly(1), content(3), content(4)}
	sharers := func() []int64 {
		c.Helper()
		records := []store.ContentRecord{{PageID: pages[0].PageID}}
		for i, content := range contents {
			records = append(records, store.ContentRecord{PageID: pages[i].PageID, Content: content})
		}
		slices.Reverse(records)
		found, err := c.s.KeySharers(c.ctx, c.id, records)
		c.check(err)
		return found
	}
	wantIDs(c, "before any visit", sharers())
	for i, content := range contents[:4] {
		c.visitContent(pages[i].PageID, content, nil)
	}
	wantIDs(c, "two that resemble each other", sharers(), pages[0].PageID, pages[2].PageID)
	c.saveContent(pages[4].PageID, contents[3], nil)
	wantIDs(c, "and one whose twin's visit is not recorded", sharers(), pages[0].PageID, pages[2].PageID, pages[3].PageID)
	found, err := c.s.KeySharers(c.ctx, c.id, nil)
	c.check(err)
	wantIDs(c, "none of none", found)
}

func lookalikesStand(c *collection) {
	c.with(100, 0)
	pages := c.oldest(1, 9)
	states := []crawl.PageState{
		crawl.Active, crawl.Failing, crawl.Gone, crawl.Redirect, crawl.Duplicate, crawl.Excluded, crawl.Evicted, crawl.Stopped, crawl.Known,
	}
	for i, state := range states {
		c.visitContent(pages[i].PageID, content(1), nil)
		c.setState(pages[i].PageID, state)
	}
	wantIDs(c, "pages", c.lookalikes(content(1)), pages[0].PageID, pages[1].PageID, pages[4].PageID)
}

// For a key that is everywhere the oldest pages are checked, so that rarer keys
// still count.
func lookalikesMany(c *collection) {
	const many = store.LookalikeDepth + 10
	c.with(1000, 0)
	pages := c.oldest(1, many+1)
	common := change.Content{Exact: 99, Sketch: content(1).Sketch}
	for _, p := range pages[:many] {
		c.visitContent(p.PageID, common, nil)
	}
	all := c.lookalikesOf(0, common, 1000)
	want(c, "pages that are looked at", len(all), store.LookalikeDepth)
	wantIDs(c, "the oldest", all[:1], pages[0].PageID)
	last := pages[many].PageID
	c.visitContent(last, change.Content{Exact: 98, Sketch: content(1).Sketch}, nil)
	wantIDs(c, "one of many with the same bytes", c.lookalikesOf(0, change.Content{Exact: 98, Sketch: content(1).Sketch}, 1), last)
}

func (c *collection) duplicate(page int64) store.DuplicateRecord {
	c.Helper()
	d, err := c.s.Duplicate(c.ctx, page)
	c.check(err)
	return d
}

// of makes a DuplicateOf.
func of(page, version int64) *store.DuplicateOf {
	return &store.DuplicateOf{PageVersion: store.PageVersion{PageID: page, Version: version}, Exact: true, Resemblance: 1}
}

func duplicateSaved(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 3)
	older, p := pages[0].PageID, pages[1].PageID
	_, err := c.s.Duplicate(c.ctx, p)
	c.wantError(err, store.ErrNotFound)
	first := c.visitContent(older, content(1), nil)
	near := of(older, first)
	near.Exact, near.Resemblance = false, 0.984375
	id := c.saveContent(p, nearly(1), near)
	got := c.duplicate(p)
	if got.At.IsZero() {
		c.Fatal("recorded at no time")
	}
	expected := store.DuplicateRecord{
		Page: pages[1].PageRef, Version: id, Of: pages[0].PageRef, OfVersion: first, Resemblance: 0.984375, At: got.At, Pending: true,
	}
	want(c, "before its visit", got, expected)
	c.visit(p, crawl.OutcomeNew, crawl.Active)
	expected.Holds, expected.Pending = true, false
	want(c, "after its visit", c.duplicate(p), expected)
	found, err := c.s.Lookalikes(c.ctx, store.LookalikeParams{CrawlID: c.id, Page: pages[2].PageID, Content: nearly(1)})
	c.check(err)
	want(c, "lookalikes", len(found), 2)
	want(c, "member", found[0].Member(), true)
	want(c, "member", found[1].Member(), false)

	id = c.visitContent(p, content(1), of(older, first))
	d := c.duplicate(p)
	want(c, "exact", d.Exact, true)
	want(c, "version", d.Version, id)
	c.visitContent(p, content(2), nil)
	_, err = c.s.Duplicate(c.ctx, p)
	c.wantError(err, store.ErrNotFound)
	c.visitContent(p, content(1), of(older, first))
	c.forgetURL(pages[0].URL)
	c.saveContent(p, content(1), of(older, first)) // found before it was forgotten
	_, err = c.s.Duplicate(c.ctx, p)
	c.wantError(err, store.ErrNotFound)
}

func duplicateHolds(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 2)
	older, p := pages[0].PageID, pages[1].PageID
	first := c.visitContent(older, content(1), nil)
	c.visitContent(p, content(1), of(older, first))
	holds := func(what string, expected bool) {
		c.Helper()
		want(c, "holds "+what, c.duplicate(p).Holds, expected)
	}
	holds("at first", true)
	c.visit(older, crawl.OutcomeUnchanged, crawl.Active)
	c.visit(p, crawl.OutcomeUnchanged, crawl.Duplicate)
	holds("after visits without a change", true)
	for _, state := range crawl.PageStates() {
		c.setState(older, state)
		holds("while the older is "+state.String(), state == crawl.Active || state == crawl.Failing)
	}
	c.setState(older, crawl.Active)
	second := c.visitContent(older, content(2), nil)
	holds("after the older has changed", false)
	c.visitContent(p, content(2), of(older, second))
	holds("after both have", true)
}

// A visit says that it may free duplicates only if the page has some.
func duplicatesFreed(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 2)
	older, p := pages[0].PageID, pages[1].PageID
	first := c.visitContent(older, content(1), nil)
	copied := func(what string, outcome crawl.Outcome, expected bool) {
		c.Helper()
		want(c, "copied "+what, c.visit(older, outcome, crawl.Active).Copied, expected)
	}
	copied("without duplicates", crawl.OutcomeChanged, false)
	c.visitContent(p, content(1), of(older, first))
	copied("by a change", crawl.OutcomeChanged, true)
	copied("by its end", crawl.OutcomeGone, true)
	copied("without a change", crawl.OutcomeUnchanged, false)
	res, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: older, Visit: c.page(older).Visits - 1, Outcome: crawl.OutcomeGone}})
	c.check(err)
	want(c, "copied once more", res.Already && res.Copied, true)
	want(c, "copied by the duplicate", c.visit(p, crawl.OutcomeChanged, crawl.Active).Copied, false)
}

func duplicatesUpdated(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 4)
	at := make([]store.PageVersion, len(pages))
	for i, p := range pages {
		at[i] = store.PageVersion{PageID: p.PageID, Version: c.visitContent(p.PageID, content(i/2), nil)}
	}
	update := func(p store.UpdateDuplicatesParams) {
		c.Helper()
		p.CrawlID = c.id
		c.check(c.s.UpdateDuplicates(c.ctx, p))
	}
	set := func(page, of int, resemblance float64) store.NewDuplicate {
		return store.NewDuplicate{PageVersion: at[page], Of: store.DuplicateOf{PageVersion: at[of], Resemblance: resemblance}}
	}
	unknown := store.NewDuplicate{PageVersion: store.PageVersion{PageID: 1 << 40}, Of: set(1, 0, 1).Of}
	update(store.UpdateDuplicatesParams{Set: []store.NewDuplicate{set(1, 0, 0.99), set(3, 2, 0.9), unknown}})
	want(c, "resemblance", c.duplicate(at[1].PageID).Resemblance, 0.99)
	want(c, "of", c.duplicate(at[3].PageID).Of.PageID, at[2].PageID)
	update(store.UpdateDuplicatesParams{Set: []store.NewDuplicate{set(3, 2, 0.7), set(3, 0, 0.8)}})
	want(c, "of", c.duplicate(at[3].PageID).Of.PageID, at[0].PageID)

	older := set(3, 1, 0.7)
	older.Version--
	update(store.UpdateDuplicatesParams{
		Set:   []store.NewDuplicate{older},
		Unset: []store.PageVersion{at[1], {PageID: at[3].PageID, Version: at[3].Version - 1}, at[0], {PageID: 1 << 40}},
	})
	_, err := c.s.Duplicate(c.ctx, at[1].PageID)
	c.wantError(err, store.ErrNotFound)
	want(c, "what was found for an older version", c.duplicate(at[3].PageID).Resemblance, 0.8)
	update(store.UpdateDuplicatesParams{})

	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.open()
	c.check(c.s.UpdateDuplicates(c.ctx, store.UpdateDuplicatesParams{CrawlID: other.id, Set: []store.NewDuplicate{set(1, 0, 1)}}))
	_, err = c.s.Duplicate(c.ctx, at[1].PageID)
	c.wantError(err, store.ErrNotFound) // they are of another crawl
}

func duplicatesListed(c *collection) {
	pages := c.with(100, 0).oldest(1, 12)
	p := store.UpdateDuplicatesParams{CrawlID: c.id}
	var expected []string
	for _, cluster := range [][]int{{0, 3, 4, 7}, {1, 2}, {5, 6, 11}} {
		for _, member := range cluster[1:] {
			p.Set = append(p.Set, store.NewDuplicate{
				PageVersion: store.PageVersion{PageID: pages[member].PageID}, Of: *of(pages[cluster[0]].PageID, 0),
			})
			expected = append(expected, pages[cluster[0]].URL+" "+pages[member].URL)
		}
	}
	c.check(c.s.UpdateDuplicates(c.ctx, p))
	list := func(f store.DuplicateFilter) []string {
		var got []string
		for {
			some, err := c.s.ListDuplicates(c.ctx, f)
			c.check(err)
			if len(some) == 0 {
				return got
			}
			for _, d := range some {
				got = append(got, d.Of.URL+" "+d.Page.URL)
				f.AfterOf, f.After = d.Of.PageID, d.Page.PageID
			}
		}
	}
	want(c, "duplicates", fmt.Sprint(list(store.DuplicateFilter{CrawlID: c.id, Limit: 2})), fmt.Sprint(expected))
	want(c, "duplicates of one page", fmt.Sprint(list(store.DuplicateFilter{CrawlID: c.id, Of: pages[5].PageID, Limit: 1})), fmt.Sprint(expected[4:]))
	want(c, "duplicates of another crawl", len(list(store.DuplicateFilter{CrawlID: c.id + 1000, Limit: 2})), 0)
}

func duplicateOfItself(c *collection) {
	c.open()
	p := c.oldest(1, 1)[0].PageID
	_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: version(p, 1), Duplicate: of(p, 1)})
	if err == nil {
		c.Fatal("a page is its own duplicate")
	}
	want(c, "versions", c.status().Versions, 0)
	same := store.NewDuplicate{PageVersion: store.PageVersion{PageID: p}, Of: *of(p, 1)}
	if err := c.s.UpdateDuplicates(c.ctx, store.UpdateDuplicatesParams{CrawlID: c.id, Set: []store.NewDuplicate{same}}); err == nil {
		c.Fatal("a page is its own duplicate")
	}
}

func duplicatesForgotten(c *collection) {
	c.with(100, 0)
	one, two := c.oldest(1, 3), c.oldest(2, 3)
	var first int64
	for i, p := range slices.Concat(one, two) {
		if i == 0 {
			first = c.visitContent(p.PageID, content(1), nil)
			continue
		}
		c.visitContent(p.PageID, content(1), of(one[0].PageID, first))
	}
	c.saveContent(one[1].PageID, content(2), of(one[0].PageID, first)) // its visit is under way
	c.check(c.s.SetMirrors(c.ctx, c.id, []change.Mirror{{A: one[0].HostID, B: two[0].HostID, Shared: 3, OfA: 3, OfB: 3}}))
	c.forgetURL(one[0].URL)
	for _, p := range two {
		_, err := c.s.Duplicate(c.ctx, p.PageID)
		c.wantError(err, store.ErrNotFound)
	}
	wantIDs(c, "lookalikes", c.lookalikes(content(1)), one[1].PageID, one[2].PageID, two[0].PageID, two[1].PageID, two[2].PageID)
	c.forget(store.ForgetParams{Target: store.Target{Host: c.host(1)}})
	wantIDs(c, "lookalikes", c.lookalikes(content(1)), two[0].PageID, two[1].PageID, two[2].PageID)
	left, err := c.s.Mirrors(c.ctx, c.id, 10)
	c.check(err)
	want(c, "mirrors of a forgotten host", len(left), 0)
	c.check(c.s.SetMirrors(c.ctx, c.id, []change.Mirror{{A: one[0].HostID, B: two[0].HostID, Shared: 3, OfA: 3, OfB: 3}}))
	left, err = c.s.Mirrors(c.ctx, c.id, 10)
	c.check(err)
	want(c, "mirrors that were found before", len(left), 0)
}

// A page with more duplicates than one transaction removes.
func duplicatesManyForgotten(c *collection) {
	const many = 1200
	c.open()
	c.register(0, c.urls(1, many, 1)...)
	pages := c.list(store.PageFilter{CrawlID: c.id})
	p := store.UpdateDuplicatesParams{CrawlID: c.id}
	for _, page := range pages[1:] {
		p.Set = append(p.Set, store.NewDuplicate{PageVersion: store.PageVersion{PageID: page.PageID}, Of: *of(pages[0].PageID, 0)})
	}
	c.check(c.s.UpdateDuplicates(c.ctx, p))
	all, err := c.s.ListDuplicates(c.ctx, store.DuplicateFilter{CrawlID: c.id, Limit: 2 * many})
	c.check(err)
	want(c, "duplicates", len(all), many-1)
	want(c, "forgotten pages", len(c.forgetURL(pages[0].URL).Pages), 1)
	all, err = c.s.ListDuplicates(c.ctx, store.DuplicateFilter{CrawlID: c.id, Limit: 2 * many})
	c.check(err)
	want(c, "duplicates of a forgotten page", len(all), 0)
}
