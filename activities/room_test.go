package activities_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/room"
	"recrawl/internal/store"
)

// disk is a disk whose room a test decides.
type disk struct{ left atomic.Int64 }

func (d *disk) measure(string) (room.Space, error) {
	return room.Space{Bytes: d.left.Load(), Files: -1}, nil
}

// glance is a Room that looks at its disk each time it is asked.
type glance struct {
	*room.Keeper
	disk *disk
}

func (g glance) keeper() *room.Keeper {
	return room.New(room.Options{Folders: []string{"the data"}, Reserve: 1 << 20, Measure: g.disk.measure})
}

func (g glance) Shortage() (room.Shortage, bool) { return g.keeper().Shortage() }
func (g glance) Begin() (room.Shortage, bool)    { return g.keeper().Begin() }

func withDisk(d *disk) func(*parts) {
	d.left.Store(1 << 30)
	return func(p *parts) { p.settings.Room = glance{room.New(room.Options{}), d} }
}

// While there is no room, no place is taken and no request made; when there is room
// again, the pages that asked are told.
func TestNoRoomNoRequest(t *testing.T) {
	t.Parallel()
	var d disk
	w := newWorld(t, withDisk(&d))
	s := serve(t, pageOf("<p>hello"))
	pages := w.living([]string{s.url + "/a", s.url + "/b"})
	d.left.Store(1000)
	for _, page := range pages {
		got := w.acquire(page, 1)
		if got.Answer != contract.AnswerWait || !got.Held || got.Wait < 10*time.Second || got.Wait > 13*time.Second || !strings.Contains(got.Reason, "no room: 1000B left on the disk of the data") {
			t.Errorf("asked without room: %+v", got)
		}
	}
	if n := w.status().Waiting; n != 0 {
		t.Errorf("%d pages stand in line for what may not be", n)
	}
	d.left.Store(1 << 30)
	w.activities.WakeForRoom(t.Context())
	if len(w.flows.turned) != 2 {
		t.Errorf("told %v, want both pages", w.flows.turned)
	}
	w.activities.WakeForRoom(t.Context())
	if len(w.flows.turned) != 2 {
		t.Errorf("told again: %v", w.flows.turned)
	}
	for _, page := range pages {
		w.visit(page, 1)
	}
	s.wantRequests(t, "/a", "/b")
}

// If the room vanishes between the permit and the request, no request is made, and
// another page gets the permit at once.
func TestRoomGoesBeforeTheRequest(t *testing.T) {
	t.Parallel()
	var d disk
	w := newWorld(t, withDisk(&d))
	s := serve(t, pageOf("<p>hello"))
	pages := w.living([]string{s.url + "/a", s.url + "/b"})
	permit := w.permit(pages[0], 1)
	d.left.Store(0)
	out := run(w, contract.Fetch, contract.FetchIn{Page: pages[0], Visit: 1, Permit: permit})
	if !out.NotBegun {
		t.Errorf("fetched without room: %+v", out)
	}
	s.wantRequests(t)
	if n := w.status().Waiting; n != 0 {
		t.Errorf("%d places are kept", n)
	}
	robots := crawl.Permit{Kind: crawl.PermitRobots, ID: permit.ID + 1, HostID: permit.HostID, URL: s.url + "/robots.txt", Lifetime: time.Minute}
	if out := run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: pages[1], Visit: 1, Permit: robots}); out.Summary != "not begun" {
		t.Errorf("robots.txt: %+v", out)
	}
	s.wantRequests(t)
	d.left.Store(1 << 30)
	w.visit(pages[1], 1)
	w.visit(pages[0], 1)
	s.wantRequests(t, "/b", "/a")
}

// fullArchive is on a disk that is full while full is set.
type fullArchive struct {
	archive.Store
	full *atomic.Bool
}

func (a fullArchive) Create(ctx context.Context) (archive.Writer, error) {
	w, err := a.Store.Create(ctx)
	return fullWriter{w, a.full}, err
}

type fullWriter struct {
	archive.Writer
	full *atomic.Bool
}

func (w fullWriter) Write(p []byte) (int, error) {
	if w.full.Load() {
		return 0, fmt.Errorf("archive: %w", &fs.PathError{Op: "write", Path: "x.part", Err: syscall.ENOSPC})
	}
	return w.Writer.Write(p)
}

// fullStore has no room for a version while full is set.
type fullStore struct {
	store.Store
	full *atomic.Bool
}

func (s fullStore) SaveVersion(ctx context.Context, p store.SaveVersionParams) (int64, error) {
	if s.full.Load() {
		return 0, fmt.Errorf("save version: %w", store.ErrFull)
	}
	return s.Store.SaveVersion(ctx, p)
}

// A full disk that nobody can measure fails one request. No other is made then, for
// any page.
func TestFullDiskIsNotTriedByEveryPage(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	w := newWorld(t, func(p *parts) {
		p.archive = fullArchive{p.archive, &full}
		p.settings.Room = room.New(room.Options{})
	})
	s := serve(t, pageOf("<p>hello"))
	pages := w.living([]string{s.url + "/a", s.url + "/b"})
	w.visit(pages[0], 1)
	full.Store(true)
	_, err := w.fetch(pages[0], 2)
	wantError(t, err, contract.ErrTypeStoreUnavailable, true, "no space left on device")
	for _, page := range pages {
		if got := w.acquire(page, 2); got.Answer != contract.AnswerWait || !got.Held || got.Reason != "no room: the archive is full" {
			t.Errorf("asked of a full archive: %+v", got)
		}
	}
	s.wantRequests(t, "/a", "/a")
}

// spared counts the requests that brought nothing to keep.
type spared struct {
	*room.Keeper
	n atomic.Int32
}

func (s *spared) Spared() {
	s.n.Add(1)
	s.Keeper.Spared()
}

// A visit that brings nothing to keep says nothing about a disk that was full.
func TestVisitsThatNeedNoRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   int32
	}{
		{"a page", pageOf("<p>hello"), 0},
		{"not found", answering(404, ""), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			keeper := &spared{Keeper: room.New(room.Options{})}
			w := newWorld(t, func(p *parts) { p.settings.Room = keeper })
			s := serve(t, c.answer)
			w.visit(w.living([]string{s.url + "/"})[0], 1)
			if n := keeper.n.Load(); n != c.want {
				t.Errorf("%d visits needed no room, want %d", n, c.want)
			}
		})
	}
}

// A version for which there is no room does not count as a page that cannot be
// compared: its visit waits, and is not made again.
func TestFullStoreKeepsTheVisit(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	w := newWorld(t, func(p *parts) { p.store = fullStore{p.store, &full} })
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<p>hello") })
	page := w.living([]string{s.url + "/"})[0]
	full.Store(true)
	fetched := w.fetched(w.fetch(page, 1))
	detect := contract.DetectIn{Page: page, Visit: 1, Fetch: fetched}
	_, err := try(w, contract.DetectChange, detect)
	wantError(t, err, contract.ErrTypeStoreUnavailable, true, "no room")
	if got := w.acquire(page, 1); !got.Held || got.Reason != "no room: the store's disk is full" {
		t.Errorf("asked of a full store: %+v", got)
	}
	full.Store(false)
	out := run(w, contract.DetectChange, detect)
	fetched.Outcome = out.Outcome
	plan := run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1, Fetch: fetched, Reasons: out.Reasons})
	if plan.Visit != 1 || plan.Outcome != crawl.OutcomeNew {
		t.Errorf("recorded %+v", plan)
	}
	s.wantRequests(t, "/")
}
