package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// Pace is how fast time passes for a host's line under test.
type Pace struct {
	Delay    time.Duration // between two requests
	Patience time.Duration // of Acquire
	Spacing  time.Duration // between the promises of those who wait at first
	Late     time.Duration // how much too late workflows wake
	Requests int           // how many there are
	// RealTime: the clock goes on however busy the machine is, so shares depend on who comes
	// in time. They are logged, and not judged.
	RealTime bool
}

// fairHost is a host whose visited pages come back sooner than it can take them,
// so that they fill its line. Its pages ask for permits, sleep and wake as their
// workflows do.
type fairHost struct {
	*gateWorld
	engine  sqlstore.Engine
	pace    Pace
	record  store.CrawlRecord
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	// answer is the site's answer, and plan the plan that follows it, where held is
	// how long the host is held.
	answer func(*fairPage) store.HostAnswer
	plan   func(p *fairPage, a store.HostAnswer, held time.Duration) store.RecordParams

	mu    sync.Mutex
	pages map[int64]*fairPage
	log   []fairRequest
}

// fairPage is a page as its workflow has it.
type fairPage struct {
	crawl.PageRef
	class            crawl.Class
	visits, failures int
	asks             time.Time          // when it asks first
	turns            chan time.Duration // from now
}

// fairRequest is a request as the site sees it.
type fairRequest struct {
	page         int64
	class        crawl.Class
	begun, ended time.Time
}

// newFairHost makes the host with a line of visited pages, the first of them of
// the last class, and known pages besides.
func newFairHost(t *testing.T, e sqlstore.Engine, pace Pace, visited, probes, known int) *fairHost {
	t.Helper()
	h := &fairHost{gateWorld: newGateWorld(t, sqlstore.New(e, sqlstore.Options{})), engine: e, pace: pace, pages: map[int64]*fairPage{}}
	h.answer, h.plan = allWell, h.soonAgain
	h.ctx, h.stop = context.WithCancel(t.Context())
	h.record = h.crawl("fair", pace.Delay)
	h.allow("http://host.test")
	for i, p := range h.manyPages(h.record, visited+known)[:visited] {
		page := h.add(p, 1, h.now().Add(time.Duration(i)*pace.Spacing))
		if i < probes {
			page.class = crawl.ClassProbe
		}
	}
	if visited > 0 {
		h.lineUpVisited(visited, probes)
	}
	return h
}

// lineUpVisited makes rows of pages that have been visited and wait for longer
// than anybody else, each of them promised its turn.
func (h *fairHost) lineUpVisited(visited, probes int) {
	h.t.Helper()
	now, step := h.now().UnixMicro(), h.pace.Spacing.Microseconds()
	err := h.engine.Write(h.ctx, func(tx sqlstore.Tx) error {
		for _, query := range []string{
			fmt.Sprintf("UPDATE frontier SET state = 2, visit = 1, attempted = 1 WHERE page_id <= %d", visited),
			fmt.Sprintf("UPDATE host_crawls SET known = known - %d, living = %[1]d", visited),
			fmt.Sprintf(`INSERT INTO places (page_id, host_id, home_id, crawl_id, visit, class, rank, state, kind, origin, url,
					arrived, promised_at, present_until, lapsed_at, ahead, departed, permit_id, granted_at)
				SELECT p.id, p.host_id, p.host_id, p.crawl_id, 2, CASE WHEN p.id <= %d THEN 3 ELSE 1 END, 0, 1, 0, 'http://host.test', '',
					%d + p.id, %d + %d * (p.id - 1), 0, 0, p.id - 1, 0, 0, 0
				FROM pages p WHERE p.id <= %d`, probes, now-3600e6, now, step, visited),
			`INSERT INTO lines (host_id, crawl_id, class, waiting, departed, served)
				SELECT p.host_id, p.crawl_id, p.class, COUNT(*), 0, 0 FROM places p GROUP BY p.host_id, p.crawl_id, p.class`,
		} {
			if _, err := tx.Exec(h.ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *fairHost) add(p crawl.PageRef, visits int, asks time.Time) *fairPage {
	page := &fairPage{PageRef: p, class: crawl.ClassRevisit, visits: visits, asks: asks, turns: make(chan time.Duration, 1)}
	if visits == 0 {
		page.class = crawl.ClassFirst
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pages[p.PageID] = page
	return page
}

// run lets all pages live until enough requests were made.
func (h *fairHost) run() []fairRequest {
	h.t.Helper()
	for _, p := range h.pages {
		h.running.Go(func() { h.live(p) })
	}
	if err := h.admit(); err != nil {
		h.t.Error(err)
	}
	h.running.Wait()
	return h.log
}

// admit admits as many known pages as the window has room for.
func (h *fairHost) admit() error {
	found, err := h.s.Candidates(h.ctx, store.CandidateParams{CrawlID: h.record.ID, Limit: 100})
	if err != nil {
		return err
	}
	ids := make([]int64, len(found))
	for i, p := range found {
		ids[i] = p.PageID
	}
	admitted, err := h.s.Admit(h.ctx, store.AdmitParams{CrawlID: h.record.ID, Admit: ids})
	for i, p := range admitted {
		// No two of them arrive at the same moment.
		page := h.add(p.PageRef, 0, time.Now().Add(time.Duration(i)*time.Millisecond))
		h.running.Go(func() { h.live(page) })
	}
	return err
}

// live makes visits of a page until there were enough of all.
func (h *fairHost) live(p *fairPage) {
	for h.sleep(p, time.Until(p.asks)) {
		if err := h.visit(p); err != nil && h.ctx.Err() == nil {
			h.t.Errorf("%s: %v", p.URL, err)
			h.stop()
		}
	}
}

// sleep is a workflow's timer, which a turn brings forward. It reports false when
// the test is over.
func (h *fairHost) sleep(p *fairPage, d time.Duration) bool {
	timer := time.NewTimer(d + h.pace.Late)
	defer timer.Stop()
	wake := time.Now().Add(d)
	for {
		select {
		case <-h.ctx.Done():
			return false
		case in := <-p.turns:
			if at := time.Now().Add(in); at.Before(wake) {
				wake = at
				timer.Reset(in + h.pace.Late)
			}
		case <-timer.C:
			return h.ctx.Err() == nil
		}
	}
}

// visit is a page's way from its first ask to its record.
func (h *fairHost) visit(p *fairPage) error {
	for {
		a, err := h.s.Acquire(h.ctx, store.AcquireParams{Page: p.PageRef, Visit: p.visits + 1, Class: p.class, Patience: h.pace.Patience})
		if err != nil {
			return err
		}
		h.carryOut(a.Effects)
		switch a.Answer {
		case store.GateGranted:
			return h.request(p, a.Permit)
		case store.GateWait:
			if !h.sleep(p, a.Wait) {
				return h.ctx.Err()
			}
		default:
			return fmt.Errorf("answer %s", a.Answer)
		}
	}
}

// carryOut signals turns.
func (h *fairHost) carryOut(e store.GateEffects) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, turn := range e.Turns {
		select {
		case h.pages[turn.Page.PageID].turns <- max(turn.In, 0):
		default: // one is on its way
		}
	}
}

// request makes the request of a permit, records the visit, and plans the next.
func (h *fairHost) request(p *fairPage, permit crawl.Permit) error {
	b, err := h.s.Begin(h.ctx, store.BeginParams{Permit: permit, Page: p.PageRef, Visit: p.visits + 1, Patience: gatePatience})
	if errors.Is(err, store.ErrRefused) || err == nil && b.Wait > 0 {
		return nil // it asks again
	}
	if err != nil {
		return err
	}
	if h.note(fairRequest{p.PageID, p.class, b.At, h.now()}) {
		h.stop()
		return nil
	}
	answer := h.answer(p)
	e, err := h.s.Release(h.ctx, store.ReleaseParams{Permit: permit, Answer: answer})
	if err != nil {
		return err
	}
	h.carryOut(e)
	h.mu.Lock()
	params := h.plan(p, answer, e.Held)
	h.mu.Unlock()
	if _, err = h.s.RecordVisit(h.ctx, params); err != nil {
		return err
	}
	if p.class == crawl.ClassFirst {
		err = h.admit()
	}
	p.visits, p.failures = p.visits+1, params.Failures
	p.asks = time.Now().Add(params.Interval)
	if p.class = crawl.ClassRevisit; params.Visit.State != crawl.Active {
		p.class = crawl.ClassProbe
	}
	return err
}

// allWell and soonAgain are a site that answers everything, whose pages come back
// after four requests of others.
func allWell(*fairPage) store.HostAnswer { return store.HostOK }

func (h *fairHost) soonAgain(p *fairPage, _ store.HostAnswer, _ time.Duration) store.RecordParams {
	params := recordParams(p.PageRef, p.visits+1)
	params.Interval = 4 * h.pace.Delay
	if p.class == crawl.ClassProbe {
		params.Visit.State = crawl.Gone
	}
	return params
}

// note logs a request and reports whether it is the last one.
func (h *fairHost) note(r fairRequest) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.log) < h.pace.Requests {
		h.log = append(h.log, r)
	}
	return len(h.log) == h.pace.Requests
}
