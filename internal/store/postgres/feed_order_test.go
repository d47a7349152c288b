//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/pgtest"
)

// TestChangesAreReadInTheOrderOfCommits: a reader that can already see a later change
// does not skip one whose transaction is under way.
func TestChangesAreReadInTheOrderOfCommits(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	page := admitted(t, r.s, 1)[0].PageID
	before, err := r.s.FeedEnds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := func() store.ChangesPage {
		t.Helper()
		page, err := r.s.Changes(t.Context(), store.ChangesParams{After: before.Newest})
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	gone := store.RecordParams{Visit: store.VisitRecord{PageID: page, Visit: 1, Outcome: crawl.OutcomeGone, State: crawl.Gone}}
	slow, pause := r.pauses("crawl_counts") // after the change was written
	recorded := start(func() (store.RecordResult, error) {
		return slow.RecordVisit(context.WithoutCancel(t.Context()), gone)
	})
	<-pause.there
	if _, err := r.s.SetBlocked(t.Context(), "other.test", true); err != nil { // waits for no lock of the first
		t.Fatal(err)
	}
	conn := connect(t, r.dsn)
	var seen int64
	if err := conn.QueryRow(t.Context(), "SELECT COUNT(*) FROM changes WHERE id > $1", before.Newest.ID).Scan(&seen); err != nil || seen != 1 {
		t.Fatalf("%d changes can be seen, %v; want the later one", seen, err)
	}
	for range 3 {
		if page := read(); len(page.Changes) > 0 || page.Through != before.Newest {
			t.Fatalf("read %v through %s before the first was committed", page.Changes, page.Through)
		}
	}
	// Open transactions of another program on the same database do not matter.
	for _, query := range []string{"BEGIN", "CREATE TABLE foreigners (id INT)", "INSERT INTO foreigners VALUES (1)", "SELECT COUNT(*) FROM changes"} {
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	close(pause.proceed)
	if done := <-recorded; done.err != nil {
		t.Fatal(done.err)
	}
	both := read()
	if len(both.Changes) != 2 || both.Changes[0].Kind != feed.PageGone || both.Changes[1].Kind != feed.HostBlocked || both.Through != both.Newest {
		t.Errorf("read %v through %s, want both in their order", both.Changes, both.Through)
	}
}

// TestFreshStoreDoesNotKnowNow: a process that begins while a transaction is under way cannot know
// where the feed ends. It must not say that it ends at its beginning: a new sink would send all
// that is kept.
func TestFreshStoreDoesNotKnowNow(t *testing.T) {
	t.Parallel()
	r := newRace(t)
	page := admitted(t, r.s, 1)[0].PageID
	if _, err := r.s.SetBlocked(t.Context(), "other.test", true); err != nil {
		t.Fatal(err)
	}
	before, err := r.s.FeedEnds(t.Context())
	if err != nil || before.Newest == before.Oldest {
		t.Fatalf("%+v, %v", before, err)
	}
	gone := store.RecordParams{Visit: store.VisitRecord{PageID: page, Visit: 1, Outcome: crawl.OutcomeGone, State: crawl.Gone}}
	slow, pause := r.pauses("crawl_counts") // after the change was written
	recorded := start(func() (store.RecordResult, error) {
		return slow.RecordVisit(context.WithoutCancel(t.Context()), gone)
	})
	<-pause.there
	fresh := openDSN(t, r.dsn)
	if ends, err := fresh.FeedEnds(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the feed ends at %+v, %v", ends, err)
	}
	now, err := fresh.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last, err := fresh.ChangeBefore(t.Context(), now); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the last change is %s, %v", last, err)
	}
	// Who has a place reads on from there.
	if read, err := fresh.Changes(t.Context(), store.ChangesParams{After: before.Newest}); err != nil || len(read.Changes) > 0 || read.Through != before.Newest {
		t.Errorf("read %+v, %v", read, err)
	}
	close(pause.proceed)
	if done := <-recorded; done.err != nil {
		t.Fatal(done.err)
	}
	if ends, err := fresh.FeedEnds(t.Context()); err != nil || ends.Newest.ID <= before.Newest.ID {
		t.Errorf("the feed ends at %+v, %v", ends, err)
	}
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) }) // may be dead
	return conn
}

// trial is a feed with writers and readers.
type trial struct {
	*testing.T
	dsn     string
	store   store.Store
	start   feed.Cursor
	perPage int
	// each is called after each visit with the number of visits so far.
	each func(n int64)

	recorded atomic.Int64
	written  chan struct{} // closed when all writers are done
}

const trialWriters, trialReaders = 8, 3

// run has writers record visits, each with a new version, and readers follow, and wants
// each reader to have read each visit once.
func (r *trial) run() {
	r.Helper()
	pages := admitted(r.T, r.store, trialWriters)
	ends, err := r.store.FeedEnds(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	r.start, r.written = ends.Newest, make(chan struct{})
	// Each has a separate store, as processes have. All are open before any is disturbed.
	stores := []store.Store{r.store}
	for range trialReaders - 1 + len(pages) {
		stores = append(stores, openDSN(r.T, r.dsn))
	}
	var writers, readers sync.WaitGroup
	for i, p := range pages {
		writers.Go(func() { r.write(stores[trialReaders+i], p.PageID) })
	}
	read := make([][]feed.Change, trialReaders)
	for i := range read {
		readers.Go(func() { read[i] = r.follow(stores[i]) })
	}
	writers.Wait()
	close(r.written)
	readers.Wait()
	for i, changes := range read {
		r.judge(fmt.Sprintf("reader %d", i+1), changes)
	}
}

// insist runs a call until the store answers.
func (r *trial) insist(call func() error) bool {
	for {
		err := call()
		if err == nil {
			return true
		}
		if !errors.Is(err, store.ErrUnavailable) {
			r.Error(err)
			return false
		}
	}
}

func (r *trial) write(s store.Store, page int64) {
	for visit := 1; visit <= r.perPage; visit++ {
		outcome := crawl.OutcomeChanged
		if visit == 1 {
			outcome = crawl.OutcomeNew
		}
		v := store.VersionRecord{PageID: page, Visit: visit, Digest: fmt.Sprintf("%064x", page<<16+int64(visit))}
		params := store.RecordParams{Visit: store.VisitRecord{PageID: page, Visit: visit, Outcome: outcome, State: crawl.Active}}
		ok := r.insist(func() error {
			_, err := s.SaveVersion(r.Context(), store.SaveVersionParams{Version: v})
			return err
		}) && r.insist(func() error {
			_, err := s.RecordVisit(r.Context(), params)
			return err
		})
		if !ok {
			return
		}
		if n := r.recorded.Add(1); r.each != nil {
			r.each(n)
		}
	}
}

// follow reads until everything written is read.
func (r *trial) follow(s store.Store) []feed.Change {
	var all []feed.Change
	after := r.start
	for {
		done := false
		select {
		case <-r.written:
			done = true
		default:
		}
		var page store.ChangesPage
		ok := r.insist(func() (err error) {
			page, err = s.Changes(r.Context(), store.ChangesParams{After: after, Limit: 7})
			return err
		})
		if !ok {
			return all
		}
		all = append(all, page.Changes...)
		after = page.Through
		if done && len(all) >= trialWriters*r.perPage {
			return all
		}
		if done && len(page.Changes) == 0 && r.settledAt(after) {
			return all // some are missing
		}
	}
}

// settledAt reports whether nothing is left after a cursor when nobody writes.
func (r *trial) settledAt(c feed.Cursor) bool {
	ends, err := r.store.FeedEnds(r.Context())
	return err == nil && ends.Newest.ID <= c.ID
}

// judge wants each visit once, in the order of ids, and each page's in the order of visits.
func (r *trial) judge(who string, changes []feed.Change) {
	r.Helper()
	last, visits := int64(0), map[int64]int{}
	for _, c := range changes {
		if c.ID <= last {
			r.Errorf("%s: change %d after %d", who, c.ID, last)
		}
		last = c.ID
		want := feed.PageChanged
		if c.Visit == 1 {
			want = feed.PageNew
		}
		if visits[c.PageID]++; c.Visit != visits[c.PageID] || c.Kind != want || c.Seq != c.Visit {
			r.Errorf("%s: %s of page %d with visit %d and version %d, after %d visits", who, c.Kind, c.PageID, c.Visit, c.Seq, visits[c.PageID]-1)
		}
	}
	if len(changes) != trialWriters*r.perPage {
		r.Errorf("%s has read %d changes of %d", who, len(changes), trialWriters*r.perPage)
	}
}

// TestNoChangeIsLost: eight writers, three readers, and beside them a transaction that
// stays open from before the first visit until everything is read: nobody waits for
// it.
func TestNoChangeIsLost(t *testing.T) {
	t.Parallel()
	r := &trial{T: t, dsn: pgtest.DSN(t), perPage: 60}
	r.store = openDSN(t, r.dsn)
	foreign := connect(t, r.dsn)
	for _, query := range []string{"BEGIN", "CREATE TABLE foreigners (id INT)", "INSERT INTO foreigners VALUES (1)", "SELECT COUNT(*) FROM changes"} {
		if _, err := foreign.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	r.run()
	if _, err := foreign.Exec(t.Context(), "COMMIT"); err != nil {
		t.Errorf("the foreign transaction was to be open until the end: %v", err)
	}
}

// TestNoChangeIsLostWithConnections: the same while every now and then all connections of
// writers and readers are ended, wherever their transactions are.
func TestNoChangeIsLostWithConnections(t *testing.T) {
	t.Parallel()
	r := &trial{T: t, dsn: pgtest.DSN(t), perPage: 40}
	r.store = openDSN(t, r.dsn)
	killer := connect(t, r.dsn)
	var alone sync.Mutex
	r.each = func(n int64) {
		if n%40 != 0 {
			return
		}
		alone.Lock()
		defer alone.Unlock()
		if _, err := killer.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
			t.Error(err)
		}
	}
	r.run()
}

// TestNoChangeIsLostWithTheServer: the same while the server is killed twice.
func TestNoChangeIsLostWithTheServer(t *testing.T) {
	server, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	r := &trial{T: t, dsn: server.DSN(), perPage: 30}
	r.store = openDSN(t, r.dsn)
	r.each = func(n int64) {
		if n != 80 && n != 160 {
			return
		}
		if err := errors.Join(server.Kill9(), server.Restart(t.Context())); err != nil {
			t.Error(err)
		}
	}
	r.run()
}
