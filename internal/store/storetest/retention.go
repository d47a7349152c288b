package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func retentionCases() []collectionCase {
	return []collectionCase{
		{"VersionsAreListed", versionsListed},
		{"HeadsAreKept", headsKept},
		{"AllIsKeptByDefault", retainsAll},
		{"ByCount", retainsCount},
		{"ByAge", retainsAge},
		{"LinksThatWaitAreKept", retainsLinks},
		{"AVisitThatIsUnderWay", retainsNext},
		{"Visits", retainsVisits},
		{"ALittleAtATime", retainsSteps},
	}
}

// retentionBytesCases have the store for themselves: others would meet the claims
// on what they keep.
func retentionBytesCases() []collectionCase {
	return []collectionCase{{"BytesAreGivenUpOnce", retainsBytes}}
}

// past gives a page n visits, each with a new version, an hour apart and the last
// one an hour ago, and applies r with one more.
func (c *collection) past(page int64, n int, r store.Retention) {
	c.Helper()
	start := c.soon().Add(-time.Duration(n+1) * time.Hour)
	for i := 1; i <= n; i++ {
		c.turn(page, start.Add(time.Duration(i)*time.Hour), store.Retention{})
	}
	if r != (store.Retention{}) {
		c.unchanged(page, r)
	}
}

// turn is a visit that finds a new version.
func (c *collection) turn(page int64, at time.Time, r store.Retention) {
	c.Helper()
	visit := c.page(page).Visits + 1
	v := version(page, visit)
	v.At, v.Digest = at, fmt.Sprintf("%032x%032x", page, visit)
	c.save(v)
	c.recordAt(page, visit, at, crawl.OutcomeChanged, r)
}

func (c *collection) unchanged(page int64, r store.Retention) {
	c.Helper()
	c.recordAt(page, c.page(page).Visits+1, time.Time{}, crawl.OutcomeUnchanged, r)
}

func (c *collection) recordAt(page int64, visit int, at time.Time, outcome crawl.Outcome, r store.Retention) {
	c.Helper()
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{
		Visit:    store.VisitRecord{PageID: page, Visit: visit, At: at, Outcome: outcome, State: crawl.Active, Status: 200},
		Interval: time.Hour, Retention: r,
	})
	c.check(err)
}

// versions are the numbers of a page's versions, newest first.
func (c *collection) versions(page int64) []int {
	c.Helper()
	var all []int
	before := 0
	for {
		found, err := c.s.ListVersions(c.ctx, page, before, 3)
		c.check(err)
		if len(found) == 0 {
			return all
		}
		for _, v := range found {
			all = append(all, v.Seq)
		}
		before = all[len(all)-1]
	}
}

func (c *collection) wantVersions(page int64, seqs ...int) {
	c.Helper()
	if got := c.versions(page); !slices.Equal(got, seqs) {
		c.Fatalf("versions %v, want %v", got, seqs)
	}
	want(c, "versions counted", c.status().Versions, len(seqs))
}

// visits are the numbers of a page's visits, newest first.
func (c *collection) wantVisits(page int64, numbers ...int) {
	c.Helper()
	visits, err := c.s.ListVisits(c.ctx, page, 0, 1000)
	c.check(err)
	var got []int
	for _, v := range visits {
		got = append(got, v.Visit)
	}
	if !slices.Equal(got, numbers) {
		c.Fatalf("visits %v, want %v", got, numbers)
	}
	want(c, "visits counted", c.status().Visits, len(numbers))
}

func versionsListed(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.past(p, 7, store.Retention{})
	c.wantVersions(p, 7, 6, 5, 4, 3, 2, 1)
	c.save(version(p, 8)) // of a visit that is not recorded yet
	c.wantError(errorOf(c.s.Version(c.ctx, p, 8)), store.ErrNotFound)
	found, err := c.s.ListVersions(c.ctx, p, 0, 1)
	c.check(err)
	want(c, "the newest", found[0], c.page(p).Last)
	for _, seq := range []int{0, -1, 8, 1 << 40} {
		c.wantError(errorOf(c.s.Version(c.ctx, p, seq)), store.ErrNotFound)
	}
}

func errorOf[T any](_ T, err error) error { return err }

func headsKept(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	v := version(p, 1)
	v.Language = "de-AT"
	v.Heads = store.Heads{Request: "GET / HTTP/1.1\r\n\r\n", Response: "HTTP/1.1 200 OK\r\nX: \x00\xff\r\n\r\n", Remote: "192.0.2.1"}
	c.save(v)
	c.visit(p, crawl.OutcomeNew, crawl.Active)
	got, err := c.s.Version(c.ctx, p, 1)
	c.check(err)
	want(c, "language", got.Language, "de-AT")
	want(c, "request", got.Heads.Request, v.Heads.Request)
	want(c, "remote", got.Heads.Remote, v.Heads.Remote)
	if !strings.HasPrefix(got.Heads.Response, "HTTP/1.1 200 OK\r\nX: ") || !strings.HasSuffix(got.Heads.Response, "\r\n\r\n") {
		c.Fatalf("response %q", got.Heads.Response)
	}
	want(c, "heads of the page's last version", c.page(p).Last.Heads, store.Heads{})
}

func retainsAll(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.past(p, 5, store.Retention{})
	c.unchanged(p, store.Retention{})
	c.wantVersions(p, 5, 4, 3, 2, 1)
	c.wantVisits(p, 6, 5, 4, 3, 2, 1)
	c.unchanged(p, store.Retention{Versions: 1 << 40, Visits: 1 << 40, Age: 100 * 365 * 24 * time.Hour}) // as good as all
	c.wantVersions(p, 5, 4, 3, 2, 1)
	c.wantVisits(p, 7, 6, 5, 4, 3, 2, 1)
}

func retainsCount(c *collection) {
	c.open()
	pages := c.admitted(1, 2)
	p := pages[0].PageID
	c.past(p, 5, store.Retention{Versions: 3})
	c.wantVersions(p, 5, 4, 3)
	c.unchanged(p, store.Retention{Versions: 1})
	c.wantVersions(p, 5)
	c.turn(p, time.Time{}, store.Retention{Versions: 2})
	c.wantVersions(p, 6, 5) // numbers go on
	want(c, "versions of another page", len(c.versions(pages[1].PageID)), 0)
}

// A version's age is the time since another took its place.
func retainsAge(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.past(p, 5, store.Retention{Age: 150 * time.Minute}) // replaced 4, 3, 2 and 1 h ago
	c.wantVersions(p, 5, 4, 3)
	c.unchanged(p, store.Retention{Age: time.Microsecond})
	c.wantVersions(p, 5) // the last one, whatever its age
}

func retainsLinks(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	id := c.save(version(p, 1), store.Link{URL: "https://x.test/1"})
	c.visit(p, crawl.OutcomeNew, crawl.Active)
	c.turn(p, time.Time{}, store.Retention{Versions: 1})
	c.wantVersions(p, 2, 1)
	_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: p, Version: id})
	c.check(err)
	c.unchanged(p, store.Retention{Versions: 1})
	c.wantVersions(p, 2)
}

// A version saved by a visit that is not recorded yet is not the page's last version.
func retainsNext(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.past(p, 2, store.Retention{})
	c.save(version(p, 4)) // of the visit after the next
	c.unchanged(p, store.Retention{Versions: 1})
	c.wantErrorFree(p, 2)
	c.recordAt(p, 4, time.Time{}, crawl.OutcomeChanged, store.Retention{})
	want(c, "last version", c.page(p).Last.Seq, 3)
}

func (c *collection) wantErrorFree(page int64, seqs ...int) {
	c.Helper()
	for _, seq := range seqs {
		c.check(errorOf(c.s.Version(c.ctx, page, seq)))
	}
}

func retainsVisits(c *collection) {
	c.spec.Retention.MaxVisits = 3 // as the audits want to know
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.turn(p, time.Time{}, store.Retention{})
	for range 6 {
		c.unchanged(p, store.Retention{Visits: 3})
	}
	c.wantVisits(p, 7, 6, 5, 1) // the first one made the version that is kept
	c.turn(p, time.Time{}, store.Retention{Visits: 3, Versions: 1})
	c.wantVisits(p, 8, 7, 6)
	want(c, "visits of the page", c.page(p).Visits, 8)
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p, Visit: 2}})
	c.wantError(err, store.ErrConflict)
}

func retainsSteps(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.past(p, store.RetentionStep+7, store.Retention{Versions: 2})
	want(c, "versions after one visit", len(c.versions(p)), 7)
	c.unchanged(p, store.Retention{Versions: 2})
	c.wantVersions(p, store.RetentionStep+7, store.RetentionStep+6)
}

func retainsBytes(c *collection) {
	c.open()
	pages := c.admitted(1, 2)
	p := pages[0].PageID
	c.past(p, 3, store.Retention{})
	shared := version(pages[1].PageID, 1)
	shared.Digest = fmt.Sprintf("%032x%032x", p, 1) // the first version of the other page
	c.save(shared)
	c.visit(pages[1].PageID, crawl.OutcomeNew, crawl.Active)
	c.unchanged(p, store.Retention{Versions: 1})
	unreferenced := map[string]bool{}
	for {
		digests, err := c.s.Unreferenced(c.ctx, 100)
		if err != nil && !errors.Is(err, store.ErrUnavailable) {
			c.Fatal(err)
		}
		if len(digests) == 0 {
			break
		}
		for _, d := range digests {
			unreferenced[d] = true
		}
	}
	if unreferenced[shared.Digest] || !unreferenced[fmt.Sprintf("%032x%032x", p, 2)] || unreferenced[fmt.Sprintf("%032x%032x", p, 3)] {
		c.Fatalf("to be deleted are %v: want the second version's bytes, not the first's, which another page has, nor the last's", unreferenced)
	}
}
