package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// RunComesLate tests, on an empty engine, what becomes of pages that come back late, or not at all:
// the lines count each waiter once, and who holds a permit for too long is looked after.
func RunComesLate(t *testing.T, e sqlstore.Engine) {
	clock, err := stopClock(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	l := lateWorld{newGateWorld(t, sqlstore.New(clock, sqlstore.Options{})), e, clock}
	l.oldPermit()
	l.longerRest()
	l.lateElder()
	l.permitOfTheGone()
	l.emptyLine()
}

// lateWorld is a gateWorld whose time passes when the test says so.
type lateWorld struct {
	*gateWorld
	engine sqlstore.Engine
	clock  *stillClock
}

func (l lateWorld) pass(d time.Duration) { l.clock.at += d.Microseconds() }

// site opens a crawl with n pages of a host whose robots.txt allows all.
func (l lateWorld) site(name string, delay time.Duration, n int) []crawl.PageRef {
	l.t.Helper()
	pages := l.pages(l.crawl(name, delay), name+".test", n)
	l.allow("http://" + name + ".test")
	return pages
}

// counted checks that the lines count those who wait.
func (l lateWorld) counted(when string) {
	l.t.Helper()
	var wrong []string
	err := l.engine.Read(l.t.Context(), func(tx sqlstore.Tx) error {
		wrong = nil
		return tx.Query(l.t.Context(), audits["lines"], nil, func(row sqlstore.Row) error {
			var text string
			err := row.Scan(&text)
			wrong = append(wrong, text)
			return err
		})
	})
	if err != nil || len(wrong) > 0 {
		l.t.Errorf("%s: %v, the lines count %q", when, err, wrong)
	}
}

// oldPermit: a page whose own permit is no longer good is granted another at once.
func (l lateWorld) oldPermit() {
	page := l.site("alone", time.Millisecond, 1)[0]
	first := l.grant(page)
	l.pass(polite.GrantLimit + time.Second)
	l.allow("http://alone.test")
	if again := l.grant(page); again.ID == first.ID {
		l.t.Error("the page was granted its old permit")
	}
	l.counted("after another permit")
}

// longerRest: a page does not try again and again to begin at a host that rests for much longer
// than when its permit was granted.
func (l lateWorld) longerRest() {
	pages := l.site("quick", time.Millisecond, 2)
	l.request(pages[0])
	permit := l.grant(pages[1])
	file := store.SaveRobotsParams{Origin: "http://quick.test", State: store.RobotsParsed, Status: 200, Text: "User-agent: *", Expires: time.Hour}
	file.CrawlDelay = polite.GrantAhead
	l.robots(file)
	if again := l.grant(pages[1]); again != permit {
		l.t.Errorf("asking again: %+v, was %+v", again, permit)
	}
	file.CrawlDelay = time.Minute
	l.robots(file)
	if a := l.waits(pages[1]); a.Wait != time.Minute || a.Reason != store.WaitDelay {
		l.t.Errorf("the page waits %v (%s), want a minute", a.Wait, a.Reason)
	}
	l.counted("while the host rests")
	l.refused(pages[1], permit)
	l.pass(time.Minute)
	permit = l.grant(pages[1])
	l.begin(pages[1], permit)
	l.release(permit)
	l.counted("after the rest")
}

// lateElder: the page that has waited longest comes late, and gets the grant that is for it.
func (l lateWorld) lateElder() {
	pages := l.site("late", time.Minute, 3)
	other := l.pages(l.crawl("other", 2*time.Minute), "late.test", 1)[0]
	for range polite.AgeEvery {
		l.grant(pages[0])
		l.leave(pages[0])
	}
	l.request(pages[0])
	probe := as(crawl.ClassProbe)
	l.waits(pages[1], probe)
	l.pass(time.Second)
	l.waits(pages[2], probe)
	l.pass(time.Second)
	l.present(other)
	l.pass(time.Minute + polite.Lapse)
	l.grant(pages[1], probe)
	l.counted("after the grant")
}

// present has a page wait in some process, which ends at once without a word.
func (l lateWorld) present(page crawl.PageRef) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	s := sqlstore.New(&leaving{l.clock, cancel}, sqlstore.Options{})
	_, err := s.Acquire(ctx, store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassRevisit, Patience: gatePatience})
	if !errors.Is(err, context.Canceled) {
		l.t.Fatalf("a call that was given up: %v", err)
	}
}

// leaving is an engine whose caller gives up after its first transaction.
type leaving struct {
	*stillClock
	giveUp context.CancelFunc
}

func (l *leaving) WriteLazily(ctx context.Context, fn func(sqlstore.Tx) error) error {
	defer l.giveUp()
	return l.stillClock.WriteLazily(ctx, fn)
}

// permitOfTheGone: maintenance finds a page whose workflow is gone, although nobody has taken its
// permit back: it is the only one of its host.
func (l lateWorld) permitOfTheGone() {
	page := l.site("gone", time.Millisecond, 1)[0]
	if err := l.s.SetPageState(l.t.Context(), page.PageID, crawl.Active); err != nil {
		l.t.Fatal(err)
	}
	l.grant(page)
	for _, found := range []bool{false, true} {
		for _, p := range []store.DueParams{{}, {Longest: true}, {Untried: true}} {
			p.CrawlID, p.Before, p.Limit = page.CrawlID, l.now().Add(time.Second), 10
			due := must(l.s.DuePages(l.t.Context(), p))(l.t)
			if is := slices.ContainsFunc(due, func(r store.PageRecord) bool { return r.PageID == page.PageID }); is != found {
				l.t.Errorf("%+v found the page: %t, want %t", p, is, found)
			}
		}
		l.pass(polite.GrantLimit + time.Second)
	}
}

// emptyLine: a line that an earlier release has counted too high is corrected once nobody waits in it.
func (l lateWorld) emptyLine() {
	page := l.site("wrong", time.Millisecond, 1)[0]
	l.grant(page)
	l.leave(page)
	err := l.engine.Write(l.t.Context(), func(tx sqlstore.Tx) error {
		_, err := tx.Exec(l.t.Context(), `UPDATE lines SET waiting = 2 WHERE crawl_id = $1`, page.CrawlID)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	must(l.s.Nudge(l.t.Context()))(l.t)
	l.counted("after a nudge")
}
