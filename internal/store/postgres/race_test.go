//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest/pgtest"
)

// pausing is an engine in which one writing transaction pauses before a query that
// contains a text, and reports that it is there. It pauses once: on a slow machine the
// server may end the transaction meanwhile, and it is run again.
type pausing struct {
	sqlstore.Engine
	at             string
	there, proceed chan struct{}
	paused         atomic.Bool
}

func newPausing(e sqlstore.Engine, at string) *pausing {
	p := &pausing{at: at, there: make(chan struct{}), proceed: make(chan struct{})}
	p.Engine = promptEngine{sqlstore.Observe(e, sqlstore.Observer{Asked: p.asked})}
	return p
}

// promptEngine sends each statement of a writing transaction alone and at once, so that what
// comes before a pause has been done.
type promptEngine struct{ sqlstore.Engine }

func (e promptEngine) Write(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.Engine.Write(ctx, func(tx sqlstore.Tx) error { return fn(promptTx{tx}) })
}

func (e promptEngine) WriteLazily(ctx context.Context, fn func(sqlstore.Tx) error) error {
	return e.Engine.WriteLazily(ctx, func(tx sqlstore.Tx) error { return fn(promptTx{tx}) })
}

type promptTx struct{ sqlstore.Tx }

func (t promptTx) Queue(ctx context.Context, query string, args ...any) error {
	_, err := t.Exec(ctx, query, args...)
	return err
}

func (t promptTx) Pipeline(ctx context.Context, steps ...sqlstore.Step) error {
	return sqlstore.InTurn(ctx, t, steps)
}

func (p *pausing) asked(t sqlstore.Transaction, query string, _ []any) {
	if t != sqlstore.Reading && strings.Contains(query, p.at) && p.paused.CompareAndSwap(false, true) {
		p.there <- struct{}{}
		<-p.proceed
	}
}

// race is a crawl in a database, for tests of two transactions at once.
type race struct {
	*testing.T
	dsn   string
	s     store.Store
	crawl int64
}

func newRace(t *testing.T) *race {
	t.Helper()
	r := &race{T: t, dsn: pgtest.DSN(t)}
	e, err := openEngine(t.Context(), r.dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		audit(t, e)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	r.s = sqlstore.New(e, sqlstore.Options{})
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	rec, err := r.s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	r.crawl = rec.ID
	return r
}

// pauses opens the store once more, to pause before a query. However long the pause is on a busy
// machine, the server does not end its transaction.
func (r *race) pauses(at string) (store.Store, *pausing) {
	r.Helper()
	dsn, err := url.Parse(r.dsn)
	if err != nil {
		r.Fatal(err)
	}
	query := dsn.Query()
	query.Set("idle_in_transaction_session_timeout", "0")
	dsn.RawQuery = query.Encode()
	e, err := openEngine(r.Context(), dsn.String(), Options{})
	if err != nil {
		r.Fatal(err)
	}
	p := newPausing(e, at)
	s := sqlstore.New(p, sqlstore.Options{})
	r.Cleanup(func() {
		if err := s.Close(); err != nil {
			r.Error(err)
		}
	})
	return s, p
}

func (r *race) register(s store.Store, from int64, urls ...string) (store.RegisterResult, error) {
	p := store.RegisterParams{CrawlID: r.crawl, From: from}
	for _, u := range urls {
		p.URLs = append(p.URLs, store.NewURL{URL: u, Host: "host.test"})
	}
	return s.RegisterLinks(context.WithoutCancel(r.Context()), p)
}

// page registers a URL as a seed and returns its page.
func (r *race) page(url string) crawl.PageRef {
	r.Helper()
	if _, err := r.register(r.s, 0, url); err != nil {
		r.Fatal(err)
	}
	pages, err := r.s.FindPages(r.Context(), url, "")
	if err != nil || len(pages) != 1 {
		r.Fatalf("%d pages, %v", len(pages), err)
	}
	return pages[0].PageRef
}

func (r *race) forget(s store.Store, url string) (store.ForgetResult, error) {
	return s.Forget(context.WithoutCancel(r.Context()), store.ForgetParams{Target: store.Target{URL: url}})
}

// outcome is the result of a call in another goroutine.
type outcome[T any] struct {
	value T
	err   error
}

func start[T any](fn func() (T, error)) <-chan outcome[T] {
	done := make(chan outcome[T], 1)
	go func() {
		v, err := fn()
		done <- outcome[T]{v, err}
	}()
	return done
}

// meets returns when a statement waits for a lock that another transaction has.
func (r *race) meets() {
	r.Helper()
	conn, err := pgx.Connect(r.Context(), r.dsn)
	if err != nil {
		r.Fatal(err)
	}
	defer conn.Close(context.Background())
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); <-tick.C {
		var waits bool
		if err := conn.QueryRow(r.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits); err != nil {
			r.Fatal(err)
		}
		if waits {
			return
		}
	}
	r.Fatal("nothing waits for a lock")
}

const (
	oneURL, otherURL = "https://host.test/1", "https://host.test/2"
	// pagesLocked is the query before which Forget has locked its pages.
	pagesLocked = "DELETE FROM visits"
)

// TestForgetWaitsForRegistrars: a URL registered by somebody who has not seen the
// tombstone is found and removed.
func TestForgetWaitsForRegistrars(t *testing.T) {
	r := newRace(t)
	slow, registrar := r.pauses("INSERT INTO crawl_counts")
	hasty, forgetter := r.pauses("LOCK TABLE forgotten IN EXCLUSIVE MODE")
	registered := start(func() (store.RegisterResult, error) { return r.register(slow, 0, oneURL) })
	<-registrar.there
	forgotten := start(func() (store.ForgetResult, error) { return r.forget(hasty, oneURL) })
	<-forgetter.there
	forgetter.proceed <- struct{}{}
	r.meets()
	registrar.proceed <- struct{}{}
	if o := <-registered; o.err != nil || o.value.New != 1 {
		t.Errorf("registered %+v, %v", o.value, o.err)
	}
	if o := <-forgotten; o.err != nil || len(o.value.Pages) != 1 {
		t.Errorf("forgot %+v, %v; want the page that was being registered", o.value, o.err)
	}
}

// TestRegistrarSeesTombstone: somebody who waits until a tombstone is set sees it, although the
// question about it was sent together with the lock that waits.
func TestRegistrarSeesTombstone(t *testing.T) {
	r := newRace(t)
	slow, forgetter := r.pauses("INSERT INTO forgotten")
	forgotten := start(func() (store.ForgetResult, error) { return r.forget(slow, oneURL) })
	<-forgetter.there
	registered := start(func() (store.RegisterResult, error) { return r.register(r.s, 0, oneURL) })
	r.meets()
	forgetter.proceed <- struct{}{}
	if o := <-forgotten; o.err != nil {
		t.Error(o.err)
	}
	if o := <-registered; o.err != nil || o.value.New != 0 || o.value.Forgotten != 1 {
		t.Errorf("registered %+v, %v; want nothing but a forgotten URL", o.value, o.err)
	}
}

// TestForgottenPageRegistersNothing: a page that is removed while its links are
// registered leaves none behind.
func TestForgottenPageRegistersNothing(t *testing.T) {
	r := newRace(t)
	page := r.page(oneURL)
	slow, forgetter := r.pauses(pagesLocked)
	forgotten := start(func() (store.ForgetResult, error) { return r.forget(slow, oneURL) })
	<-forgetter.there
	registered := start(func() (store.RegisterResult, error) { return r.register(r.s, page.PageID, otherURL) })
	r.meets()
	forgetter.proceed <- struct{}{}
	if o := <-forgotten; o.err != nil || len(o.value.Pages) != 1 {
		t.Errorf("forgot %+v, %v", o.value, o.err)
	}
	if o := <-registered; !errors.Is(o.err, store.ErrNotFound) {
		t.Errorf("registered %+v, %v", o.value, o.err)
	}
}

// TestLinkToVanishingPage: a URL that is remembered while its old page is being
// removed comes back as a new page.
func TestLinkToVanishingPage(t *testing.T) {
	r := newRace(t)
	page, from := r.page(oneURL), r.page(otherURL)
	slow, forgetter := r.pauses(pagesLocked)
	forgotten := start(func() (store.ForgetResult, error) { return r.forget(slow, oneURL) })
	<-forgetter.there
	if err := r.s.Remember(t.Context(), store.Target{URL: oneURL}); err != nil {
		t.Error(err)
	}
	registered := start(func() (store.RegisterResult, error) { return r.register(r.s, from.PageID, oneURL) })
	r.meets()
	forgetter.proceed <- struct{}{}
	// It may find the new page too, if that is quick to come.
	if o := <-forgotten; o.err != nil || len(o.value.Pages) == 0 || o.value.Pages[0] != page {
		t.Errorf("forgot %+v, %v", o.value, o.err)
	}
	if o := <-registered; o.err != nil || o.value.New != 1 {
		t.Errorf("registered %+v, %v; want a new page", o.value, o.err)
	}
}

// TestRequisiteStaysBelowPages: a link that finds a page nearer to a seed does not raise what becomes a
// requisite meanwhile.
func TestRequisiteStaysBelowPages(t *testing.T) {
	r := newRace(t)
	page, from := r.page(oneURL), r.page(otherURL)
	const picture = "https://host.test/a.png"
	register := func(s store.Store, origin int64, u store.NewURL) (store.RegisterResult, error) {
		u.URL, u.Host = picture, "host.test"
		return s.RegisterLinks(context.WithoutCancel(t.Context()), store.RegisterParams{CrawlID: r.crawl, From: origin, URLs: []store.NewURL{u}})
	}
	if _, err := register(r.s, page.PageID, store.NewURL{Level: 5}); err != nil {
		t.Fatal(err)
	}
	slow, linker := r.pauses("INSERT INTO links")
	linked := start(func() (store.RegisterResult, error) { return register(slow, from.PageID, store.NewURL{Level: 1}) })
	<-linker.there
	if _, err := register(r.s, page.PageID, store.NewURL{Level: 1, Kind: crawl.KindRequisite, Looks: true}); err != nil {
		t.Error(err)
	}
	linker.proceed <- struct{}{}
	if o := <-linked; o.err != nil {
		t.Error(o.err)
	}
	found, err := r.s.FindPages(t.Context(), picture, "")
	if err != nil || len(found) != 1 || found[0].Kind != crawl.KindRequisite {
		t.Errorf("%+v, %v; want a requisite", found, err) // its priority is audited
	}
}

// TestForgottenPageAsks: a page that is removed while it asks for its permit gets
// no place in the line.
func TestForgottenPageAsks(t *testing.T) {
	r := newRace(t)
	page := r.page(oneURL)
	slow, asker := r.pauses("FROM hosts h WHERE h.id = $1 FOR UPDATE")
	asked := start(func() (store.AcquireResult, error) {
		return slow.Acquire(context.WithoutCancel(t.Context()), store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassFirst})
	})
	<-asker.there
	if res, err := r.forget(r.s, oneURL); err != nil || len(res.Pages) != 1 {
		t.Errorf("forgot %+v, %v", res, err)
	}
	asker.proceed <- struct{}{}
	if o := <-asked; !errors.Is(o.err, store.ErrNotFound) {
		t.Errorf("a forgotten page is answered %s, %v", o.value.Answer, o.err)
	}
}

// TestGrowthIsReadInTheOrderOfCommits: the guard does not pass pages whose registration is
// under way, though it can already see pages with higher ids.
func TestGrowthIsReadInTheOrderOfCommits(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	grown := func() (store.Growth, []string) {
		t.Helper()
		g, err := r.s.GrownPages(t.Context(), r.crawl, 10)
		if err != nil {
			t.Fatal(err)
		}
		var urls []string
		for _, p := range g.Pages {
			urls = append(urls, p.URL)
		}
		_, err = r.s.EndLook(t.Context(), store.EndLookParams{CrawlID: r.crawl, From: g.From, Through: g.Through})
		if err != nil {
			t.Fatal(err)
		}
		return g, urls
	}
	slow, pause := r.pauses("INSERT INTO crawl_counts") // after the page was written
	first := start(func() (store.RegisterResult, error) { return r.register(slow, 0, oneURL) })
	<-pause.there
	later := store.RegisterParams{CrawlID: r.crawl, URLs: []store.NewURL{{URL: "https://later.test/", Host: "later.test"}}}
	if _, err := r.s.RegisterLinks(t.Context(), later); err != nil { // waits for no lock of the first
		t.Fatal(err)
	}
	if found, err := r.s.FindPages(t.Context(), later.URLs[0].URL, ""); err != nil || len(found) != 1 {
		t.Fatalf("%d pages, %v; want the later one to be seen", len(found), err)
	}
	for range 2 {
		if g, urls := grown(); len(urls) > 0 || g.Through != 0 {
			t.Errorf("the guard has read %v through %d before the first was committed", urls, g.Through)
		}
	}
	pause.proceed <- struct{}{}
	if o := <-first; o.err != nil {
		t.Fatal(o.err)
	}
	var all []string
	for try := 0; len(all) < 2 && try < 1000; try++ {
		_, urls := grown()
		all = append(all, urls...)
	}
	if want := []string{oneURL, later.URLs[0].URL}; !slices.Equal(all, want) {
		t.Errorf("the guard has read %v, want %v", all, want)
	}
}

// TestResumeBeforeParking: a page that waits for its host's row while its crawl is resumed does
// not park any more. The resume is over, and would not wake it.
func TestResumeBeforeParking(t *testing.T) {
	r := newRace(t)
	page := r.page(oneURL)
	if err := r.s.SetPageState(t.Context(), page.PageID, crawl.Active); err != nil {
		t.Fatal(err)
	}
	set := func(state crawl.CrawlState) {
		t.Helper()
		if _, err := r.s.SetCrawlState(t.Context(), "news", state); err != nil {
			t.Fatal(err)
		}
	}
	set(crawl.CrawlPaused)
	slow, asker := r.pauses("FROM hosts h WHERE h.id = $1 FOR UPDATE")
	asked := start(func() (store.AcquireResult, error) {
		return slow.Acquire(context.WithoutCancel(t.Context()), store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassFirst, Callable: true})
	})
	<-asker.there
	set(crawl.CrawlRunning)
	if _, err := r.s.Unpark(t.Context(), r.crawl, 10); err != nil {
		t.Fatal(err)
	}
	asker.proceed <- struct{}{}
	if o := <-asked; o.err != nil || o.value.Answer == store.GateParked {
		t.Errorf("answer %s, %v", o.value.Answer, o.err)
	}
}

// TestHostIsLockedBeforeCounts: a visit that waits for its host's row, to book its next place,
// holds up nobody else's counts. Those who hold the host wait for counts, and it would be a
// deadlock.
func TestHostIsLockedBeforeCounts(t *testing.T) {
	r := newRace(t)
	var pages []crawl.PageRef
	for i := range 9 {
		pages = append(pages, r.page(fmt.Sprint(oneURL, "/", i)))
	}
	first, last := pages[0].PageID, pages[8].PageID
	if (last-first)%8 != 0 {
		t.Fatalf("pages %d and %d have counts of their own", first, last)
	}
	record := func(s store.Store, page int64, visit int) (store.RecordResult, error) {
		return s.RecordVisit(context.WithoutCancel(t.Context()), store.RecordParams{
			Visit:    store.VisitRecord{PageID: page, Visit: visit, Outcome: crawl.OutcomeUnchanged, State: crawl.Active},
			Interval: time.Second, Late: time.Hour, // it may stand in line for its next visit
		})
	}
	for _, page := range []int64{first, last} {
		if err := r.s.SetPageState(t.Context(), page, crawl.Active); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := record(r.s, first, 1); err != nil {
		t.Fatal(err)
	}
	slow, recorder := r.pauses("FROM hosts h WHERE h.id = $1 FOR UPDATE")
	booked := start(func() (store.RecordResult, error) { return record(slow, first, 2) })
	<-recorder.there
	e, err := openEngine(t.Context(), r.dsn+"&lock_timeout=1s", Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := sqlstore.New(e, sqlstore.Options{})
	if _, err := record(other, last, 1); err != nil {
		t.Errorf("while another visit waits for its host: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	recorder.proceed <- struct{}{}
	if o := <-booked; o.err != nil {
		t.Error(o.err)
	}
}
