package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// Saturation describes a host at which more visits are due than it can take, and the engine
// beside it.
type Saturation struct {
	Pages    int
	Delay    time.Duration // between two requests
	Took     time.Duration // by a request, on average
	Interval time.Duration // from a visit to the next one's due time
	Signal   time.Duration // from a turn's commit to the ask of the page that it wakes
	Lost     float64       // part of the turns that never arrive
	Dies     float64       // part of the permits whose holder dies, half of them in the request
	Visits   int           // how many are counted
	Asleep   bool          // all pages stand in the line at first, and sleep until they are called
	// Disturbances is how often people interfere, while visits are counted: they pause the
	// crawl, block the host, ask for visits, snooze pages. After the last one each page must
	// be visited twice more, which ends the test in place of Visits.
	Disturbances int
	Seed         uint64 // of all random choices
}

// Cost sums up the counted visits.
type Cost struct {
	Visits, Acquires, Turns, Events int
	Idle                            time.Duration // of the host while somebody waited
	Lasted                          time.Duration
	Fewest, Most                    int           // visits of a page; Most leaves out the page in a hundred that had more
	Latest                          time.Duration // after it was due that a visit was made
	Early                           int           // requests that came before the last one's gap was over
}

// PerVisit is a count divided by visits.
func (c Cost) PerVisit(n int) float64 { return float64(n) / float64(c.Visits) }

func (c Cost) String() string {
	return fmt.Sprintf("%d visits, each %.2f asks, %.2f turns and %.2f events; idle for %v of %v; %d to %d visits of a page, at most %v late",
		c.Visits, c.PerVisit(c.Acquires), c.PerVisit(c.Turns), c.PerVisit(c.Events), c.Idle, c.Lasted, c.Fewest, c.Most, c.Latest)
}

// Events of a workflow's history.
const (
	eventsTask     = 3 // scheduled, started, completed
	eventsActivity = 3
	eventMarker    = 1 // of a local activity
	eventTimer     = 1 // started, fired or cancelled
	eventSignal    = 1
)

// saturated is the host, whose pages ask, sleep and wake as their workflows do.
type saturated struct {
	*gateWorld
	Saturation
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
	pages   map[int64]*saturatedPage

	mu      sync.Mutex
	random  *rand.Rand
	cost    Cost
	warm    bool
	started time.Time
	ended   time.Time // of the last request
	calm    time.Time // since when nobody interferes, zero if people do
	failed  error
}

// saturatedPage is a page as its workflow has it: see workflows.pageNext.
type saturatedPage struct {
	crawl.PageRef
	class             crawl.Class
	visits, counted   int
	due, wake, booked time.Time
	inLine            bool
	asked             bool      // a person wants a visit
	calm              int       // visits since nobody interferes
	alarm             time.Time // the deadline of its timer, zero if there is none
	turns             chan time.Duration
	said              chan func(*saturatedPage) // by people
}

// dueAt is when the next visit is due.
func (p *saturatedPage) dueAt() time.Time {
	if p.asked {
		return time.Time{}
	}
	return p.due
}

func (p *saturatedPage) String() string {
	now := time.Now()
	return fmt.Sprintf("%s: due in %v, in line %v, wakes in %v, asked for %v, booked %v", p.URL, p.due.Sub(now), p.inLine, p.wake.Sub(now), p.asked, p.hasPlace())
}

// hasPlace reports whether a place is booked for the next visit.
func (p *saturatedPage) hasPlace() bool {
	return p.inLine && !p.booked.IsZero() && p.booked.Equal(p.dueAt())
}

// Saturate lets the pages live until enough visits were made, and returns their cost.
// Visits are counted from when each page was visited once, or at once if they sleep at
// first.
func Saturate(t *testing.T, e sqlstore.Engine, how Saturation) Cost {
	t.Helper()
	h := &saturated{
		gateWorld: newGateWorld(t, sqlstore.New(e, sqlstore.Options{})), Saturation: how, pages: map[int64]*saturatedPage{},
		random: rand.New(rand.NewPCG(1, 2+how.Seed)), warm: how.Asleep, started: time.Now(),
	}
	h.ctx, h.stop = context.WithCancel(t.Context())
	defer h.stop()
	record := h.crawl("busy", how.Delay)
	h.allow("http://host.test")
	for i, p := range h.manyPages(record, how.Pages) {
		page := &saturatedPage{PageRef: p, class: crawl.ClassRevisit, visits: 1, turns: make(chan time.Duration, 1), said: make(chan func(*saturatedPage), 8)}
		page.due = h.now().Add(how.Interval * time.Duration(i) / time.Duration(how.Pages))
		h.pages[p.PageID] = page
	}
	h.visitedOnce(e)
	for _, p := range h.pages {
		h.running.Go(func() { h.live(p) })
	}
	if how.Asleep { // the host calls the first ones
		h.carryOut(must(h.s.Nudge(h.ctx))(t))
	}
	h.running.Go(h.recall)
	if how.Disturbances > 0 {
		h.running.Go(func() { h.disturb(record) })
	}
	h.running.Wait()
	if h.failed != nil {
		t.Fatal(h.failed)
	}
	// Where signals take long, some pages come due in a moment in which nobody who was called has
	// arrived, and need not wait. In a run of fifty, one page has this luck two or three times.
	var visits []int
	for _, p := range h.pages {
		visits = append(visits, p.counted)
	}
	slices.Sort(visits)
	h.cost.Fewest, h.cost.Most = visits[0], visits[len(visits)-1-len(visits)/100]
	h.cost.Lasted = h.ended.Sub(h.started)
	return h.cost
}

// visitedOnce turns all pages into visited ones; if they are to sleep, with places in the
// line.
func (h *saturated) visitedOnce(e sqlstore.Engine) {
	h.t.Helper()
	now := h.now().UnixMicro()
	queries := []string{
		"UPDATE frontier SET state = 2, visit = 1, attempted = 1",
		fmt.Sprintf("UPDATE host_crawls SET known = 0, living = %d", h.Pages),
	}
	if h.Asleep {
		queries = append(queries, fmt.Sprintf(`INSERT INTO places (page_id, host_id, home_id, crawl_id, visit, class, rank, state, kind, origin, url,
				arrived, promised_at, present_until, lapsed_at, ahead, departed, permit_id, granted_at, called)
			SELECT p.id, p.host_id, p.host_id, p.crawl_id, 2, 1, 0, 1, 0, 'http://host.test', '',
				%d + p.id, %d, 0, 0, p.id - 1, 0, 0, 0, 1 FROM pages p`, now-3600e6, now+24*3600e6),
			`INSERT INTO lines (host_id, crawl_id, class, waiting, departed, served)
				SELECT p.host_id, p.crawl_id, p.class, COUNT(*), 0, 0 FROM places p GROUP BY p.host_id, p.crawl_id, p.class`)
		for _, p := range h.pages {
			p.due, p.wake, p.inLine = h.now().Add(-time.Hour), h.now().Add(24*time.Hour), true
			p.alarm = p.wake
		}
	}
	err := e.Write(h.ctx, func(tx sqlstore.Tx) error {
		for _, query := range queries {
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

// live is the workflow's loop.
func (h *saturated) live(p *saturatedPage) {
	for h.ctx.Err() == nil {
		now, due := time.Now(), p.dueAt()
		var err error
		switch {
		case p.hasPlace() && p.wake.After(now):
			h.sleep(p, p.wake)
		case p.hasPlace():
			err = h.ask(p)
		case due.After(now) && p.inLine:
			err = h.leaveLine(p)
		case due.After(now):
			h.sleep(p, due)
		case p.inLine && p.booked.IsZero() && p.wake.After(now):
			h.sleep(p, p.wake)
		default:
			err = h.ask(p)
		}
		if err != nil && h.ctx.Err() == nil {
			h.fail(fmt.Errorf("%s: %w", p.URL, err))
		}
	}
}

func (h *saturated) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = errors.Join(h.failed, err)
	h.stop()
}

// count adds to the cost, if visits are counted by now.
func (h *saturated) count(add func(*Cost)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.warm {
		add(&h.cost)
	}
}

func (h *saturated) events(n int) { h.count(func(c *Cost) { c.Events += n }) }

// sleep is an alarm, which a turn brings forward.
func (h *saturated) sleep(p *saturatedPage, until time.Time) {
	if !p.alarm.Equal(until) {
		h.unset(p)
		h.events(eventTimer)
		p.alarm = until
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-h.ctx.Done():
	case in := <-p.turns:
		h.events(eventSignal + eventsTask)
		at := time.Now().Add(max(in-turnLead, 0))
		if p.hasPlace() && at.Before(p.due.Add(-turnLead)) {
			at = p.due // it was for the visit before
		}
		if p.inLine && at.Before(p.wake) {
			p.wake = at
		}
	case do := <-p.said:
		h.events(eventSignal + eventsTask)
		do(p)
	case <-timer.C:
		h.events(eventTimer + eventsTask)
		p.alarm = time.Time{}
	}
}

// turnLead is how long before its turn a workflow comes.
const turnLead = 2 * time.Second

// unset cancels the alarm.
func (h *saturated) unset(p *saturatedPage) {
	if !p.alarm.IsZero() {
		h.events(eventTimer)
	}
	p.alarm = time.Time{}
}

func (h *saturated) ask(p *saturatedPage) error {
	h.unset(p)
	if now := time.Now(); p.hasPlace() && p.due.After(now) {
		p.due = now
	}
	p.inLine, p.wake, p.booked = true, time.Time{}, time.Time{}
	class := p.class
	if p.asked {
		class = crawl.ClassManual
	}
	h.count(func(c *Cost) { c.Acquires++; c.Events += eventMarker })
	a, err := h.s.Acquire(h.ctx, store.AcquireParams{
		Page: p.PageRef, Visit: p.visits + 1, Class: class, Patience: 4 * time.Second, Callable: true,
	})
	if err != nil {
		return err
	}
	h.carryOut(a.Effects)
	switch a.Answer {
	case store.GateGranted:
		return h.request(p, a.Permit)
	case store.GateWait:
		p.wake = time.Now().Add(a.Wait)
		return nil
	case store.GateParked:
		p.wake = time.Now().Add(24 * time.Hour)
		return nil
	}
	return fmt.Errorf("answer %s", a.Answer)
}

// carryOut signals turns, which take their time and may be lost.
func (h *saturated) carryOut(e store.GateEffects) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, turn := range e.Turns {
		if h.warm {
			h.cost.Turns++
		}
		if h.random.Float64() < h.Lost {
			continue
		}
		page, in := h.pages[turn.Page.PageID], min(turn.In, turnLead)
		time.AfterFunc(turn.In-in+h.Signal, func() { // a worker keeps it until then
			select {
			case page.turns <- in:
			default: // one is on its way
			}
		})
	}
}

// recall runs the recalls that every worker does every few seconds, and maintenance
// every ten minutes.
func (h *saturated) recall() {
	for n := 1; ; n++ {
		select {
		case <-h.ctx.Done():
			return
		case <-time.After(10 * time.Second):
		}
		called, err := h.s.Recall(h.ctx, 100)
		if err == nil && n%60 == 0 && h.Disturbances > 0 {
			var nudged store.GateEffects
			nudged, err = h.s.Nudge(h.ctx)
			called.Turns = append(called.Turns, nudged.Turns...)
		}
		if err == nil {
			h.carryOut(called)
		} else if h.ctx.Err() == nil {
			h.fail(err)
		}
	}
}

// dies reports whether an event with this chance happens now.
func (h *saturated) dies(chance float64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.random.Float64() < chance
}

// took is how long a request takes.
func (h *saturated) took() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(2 * h.random.Float64() * float64(h.Took))
}

// restart is how long it takes until another worker takes over from a dead one.
const restart = 15 * time.Second

// request makes the request of a permit. If that was for the page, it records the visit and
// adopts its plan; if it was for a robots.txt, the page asks again.
func (h *saturated) request(p *saturatedPage, permit crawl.Permit) error {
	h.events(eventsActivity + eventsTask)
	if h.dies(h.Dies / 2) {
		time.Sleep(restart)
		return nil
	}
	b, err := h.s.Begin(h.ctx, store.BeginParams{Permit: permit, Page: p.PageRef, Visit: p.visits + 1, Patience: gatePatience})
	if errors.Is(err, store.ErrRefused) || err == nil && b.Wait > 0 {
		return nil // it asks again
	}
	if err != nil {
		return err
	}
	robots := permit.Kind == crawl.PermitRobots
	if !robots {
		p.asked = false
	}
	h.begun(p, b.At)
	if h.dies(h.Dies / 2) { // the permit expires
		h.finished(b.At)
		time.Sleep(restart)
		return nil
	}
	took := h.took()
	time.Sleep(took)
	if robots {
		err := h.s.SaveRobots(h.ctx, store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
		if err != nil {
			return err
		}
	}
	e, err := h.s.Release(h.ctx, store.ReleaseParams{Permit: permit, Answer: store.HostOK, Duration: took})
	h.finished(time.Now())
	if err != nil {
		return err
	}
	h.carryOut(e)
	if robots {
		return nil
	}
	h.events(eventMarker)
	params := recordParams(p.PageRef, p.visits+1)
	params.Interval, params.Late = h.Interval, max(b.At.Sub(p.due), 0)
	r, err := h.s.RecordVisit(h.ctx, params)
	if err != nil {
		return err
	}
	p.visits, p.due, p.inLine, p.wake = p.visits+1, r.Visit.NextAt, false, time.Time{}
	if !r.InLineUntil.IsZero() {
		p.inLine, p.wake, p.booked = true, r.InLineUntil, p.due
	}
	h.visited(p)
	return nil
}

// begun notes how long the host was idle, and how late the visit is.
func (h *saturated) begun(p *saturatedPage, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended.IsZero() && at.Before(h.ended.Add(h.Delay-time.Microsecond)) {
		h.cost.Early++
	}
	if h.warm && !h.ended.IsZero() {
		h.cost.Idle += at.Sub(h.ended) - h.Delay
		h.cost.Latest = max(h.cost.Latest, at.Sub(p.due))
	}
	h.ended = at.Add(time.Hour) // until it ends
}

func (h *saturated) finished(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = at
}

// visited counts a visit, and ends the test with the last one.
func (h *saturated) visited(p *saturatedPage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.counted++; h.warm {
		h.cost.Visits++
	}
	if h.Disturbances > 0 {
		h.calmed(p)
	} else if h.cost.Visits == h.Visits {
		h.stop()
	}
	if h.warm {
		return
	}
	for _, other := range h.pages {
		if other.counted < 2 {
			return
		}
	}
	h.warm, h.started = true, time.Now()
}
