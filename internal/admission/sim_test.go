package admission

import (
	"cmp"
	"container/heap"
	"slices"
	"testing"
	"time"
)

// The cost of a simulated visit to the engine: starting its page, its request, its record;
// and the cost of a refill besides the pages that it starts.
const (
	startCost  = 10 * time.Millisecond
	fetchCost  = 10 * time.Millisecond
	recordCost = 15 * time.Millisecond
	refillCost = 20 * time.Millisecond
	answerTime = 20 * time.Millisecond // of a site
	// knee is the backlog with which a task costs twice as much: large tables, cold caches.
	knee = 2000
)

// simulation is an engine with one queue of tasks, and hosts that are asked one request at
// a time, with a gap.
type simulation struct {
	now    time.Time
	events agenda
	serial int

	workers, busy int
	slower        time.Duration // factor of the costs
	queue         []task
	waits         waited // as a worker sees it

	window int
	gap    time.Duration
	hosts  []*simHost
	taken  int

	bound   Bound
	fixed   bool // the bound does not move
	all     bool // every visit refills
	claimed bool
	lookAt  time.Time

	visits  int
	settled time.Time     // from when on
	longest time.Duration // task waits
}

// waited is the mean of the waits of the last seconds, as in temporalkit.Waits.
type waited struct {
	at   []time.Time
	wait []time.Duration
}

func (w *waited) add(at time.Time, d time.Duration) {
	w.at, w.wait = append(w.at, at), append(w.wait, d)
}

func (w *waited) mean(now time.Time) time.Duration {
	old, _ := slices.BinarySearchFunc(w.at, now.Add(-5*time.Second), time.Time.Compare)
	w.at, w.wait = w.at[old:], w.wait[old:]
	var sum time.Duration
	for _, d := range w.wait {
		sum += d
	}
	return sum / time.Duration(max(len(w.wait), 1))
}

type task struct {
	queued time.Time
	cost   time.Duration
	done   func()
}

type simHost struct {
	id, known, taken int
	turn             time.Time // its last admission
	line             int       // pages that wait for the host
	busy             bool
}

type event struct {
	at     time.Time
	serial int
	do     func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].at.Compare(a[j].at), cmp.Compare(a[i].serial, a[j].serial)) < 0
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (s *simulation) after(d time.Duration, do func()) {
	s.serial++
	heap.Push(&s.events, event{s.now.Add(d), s.serial, do})
}

func (s *simulation) run(until time.Duration) {
	end := now.Add(until)
	for len(s.events) > 0 && !s.events[0].at.After(end) {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
	}
	s.now = end
}

// work queues a task of the engine.
func (s *simulation) work(cost time.Duration, done func()) {
	s.queue = append(s.queue, task{s.now, cost, done})
	s.serve()
}

func (s *simulation) serve() {
	for s.busy < s.workers && len(s.queue) > 0 {
		t := s.queue[0]
		s.queue = s.queue[1:]
		s.busy++
		wait := s.now.Sub(t.queued)
		s.waits.add(s.now, wait)
		if s.now.After(s.settled) {
			s.longest = max(s.longest, wait)
		}
		s.after(s.slower*t.cost*time.Duration(knee+len(s.queue))/knee, func() {
			s.busy--
			t.done()
			s.serve()
		})
	}
}

// ask lets the next page of a host's line make its request.
func (s *simulation) ask(h *simHost) {
	if h.busy || h.line == 0 {
		return
	}
	h.busy = true
	h.line--
	s.work(fetchCost, func() {
		s.after(answerTime, func() {
			s.after(s.gap, func() {
				h.busy = false
				s.ask(h)
			})
			s.work(recordCost, func() { s.recorded(h) })
		})
	})
}

func (s *simulation) recorded(h *simHost) {
	s.visits++
	h.taken--
	s.taken--
	if s.mayRefill(!s.now.Before(s.lookAt)) {
		s.claimed = true
		s.work(refillCost, s.refill)
	}
}

// mayRefill decides as the store does.
func (s *simulation) mayRefill(looks bool) bool {
	if s.claimed && !s.all || !slices.ContainsFunc(s.hosts, func(h *simHost) bool { return h.known > 0 && Low(h.taken, s.window) }) {
		return false
	}
	return s.bound.Room(s.demand()) > 0 || looks && s.bound.MayGrow(s.now, s.taken)
}

func (s *simulation) demand() Demand { return Demand{Taken: s.taken, Own: s.taken, Crawls: 1} }

func (s *simulation) refill() {
	engine := Engine{Wait: s.waits.mean(s.now)}
	if !s.fixed {
		s.bound = s.bound.Next(s.now, engine, s.taken)
	}
	if s.admit(min(100, s.bound.Room(s.demand()))) > 0 {
		s.work(refillCost/4, s.refill)
		return
	}
	s.claimed, s.lookAt = false, s.now.Add(Period(engine))
	if s.mayRefill(false) {
		s.claimed = true
		s.work(refillCost/4, s.refill)
	}
}

func (s *simulation) admit(n int) (admitted int) {
	var open []*simHost
	for _, h := range s.hosts {
		if h.known > 0 && h.taken < s.window {
			open = append(open, h)
		}
	}
	slices.SortFunc(open, func(a, b *simHost) int {
		return cmp.Or(cmp.Compare(a.taken, b.taken), a.turn.Compare(b.turn), cmp.Compare(a.id, b.id))
	})
	open = open[:min(n, len(open))]
	rooms := make([]Host, len(open))
	for i, h := range open {
		rooms[i] = Host{h.taken, min(s.window-h.taken, h.known)}
	}
	for i, share := range Share(rooms, n) {
		h := open[i]
		for range share {
			h.known--
			h.taken++
			h.turn = s.now
			s.taken++
			admitted++
			s.work(startCost, func() {
				h.line++
				s.ask(h)
			})
		}
	}
	return admitted
}

// web is the simulated web.
type web struct {
	hosts, pages, window int
	gap                  time.Duration
	workers              int
	slower               int // how many times as long as others; 0 is once
	// changed is when something happens to the workers, if anything does: there are then
	// after workers, and after the stop as many as before.
	changed time.Duration
	after   int
	stop    time.Duration
	runs    time.Duration
	all     bool // every visit refills
}

// crawl runs a web, under a bound that moves or one that is fixed, and returns how many
// visits were made since the last change, and the longest wait of a task, except for a
// minute after each change.
func (w web) crawl(fixed int) (visits int, longest time.Duration, s *simulation) {
	s = &simulation{now: now, workers: w.workers, window: w.window, gap: w.gap, bound: Start(), settled: now.Add(time.Minute), all: w.all, slower: time.Duration(max(w.slower, 1))}
	if fixed > 0 {
		s.bound.Pages, s.fixed = fixed, true
	}
	for i := range w.hosts {
		s.hosts = append(s.hosts, &simHost{id: i, known: w.pages})
	}
	s.claimed = true
	s.work(refillCost, s.refill)
	before := 0
	if w.changed > 0 {
		s.run(w.changed)
		s.workers, s.settled = w.after, s.now.Add(w.stop+time.Minute)
		s.serve()
		s.run(w.changed + w.stop)
		if w.stop > 0 {
			s.workers = w.workers
			s.serve()
		}
		before = s.visits
	}
	s.run(w.runs)
	return s.visits - before, s.longest, s
}

var webs = map[string]web{
	"500 hosts of 200 pages":     {hosts: 500, pages: 200, window: 16, gap: 10 * time.Millisecond, workers: 1, runs: 5 * time.Minute},
	"20 hosts of 5000 pages":     {hosts: 20, pages: 5000, window: 16, gap: 10 * time.Millisecond, workers: 1, runs: 5 * time.Minute},
	"20 hosts with wide windows": {hosts: 20, pages: 5000, window: 10_000, gap: 10 * time.Millisecond, workers: 1, runs: 5 * time.Minute},
	"1000 slow hosts":            {hosts: 1000, pages: 1000, window: 16, gap: time.Minute, workers: 1, runs: 5 * time.Minute},
	"slow hosts, small windows":  {hosts: 1000, pages: 1000, window: 1, gap: time.Minute, workers: 1, runs: 5 * time.Minute},
	"a slow machine":             {hosts: 500, pages: 200, window: 16, gap: 10 * time.Millisecond, workers: 1, slower: 10, runs: 20 * time.Minute},
	"one host":                   {hosts: 1, pages: 10_000, window: 16, gap: 100 * time.Millisecond, workers: 1, runs: 5 * time.Minute},
	"one host, window 1":         {hosts: 1, pages: 10_000, window: 1, gap: time.Second, workers: 1, runs: 5 * time.Minute},
	"many workers":               {hosts: 500, pages: 200, window: 16, gap: 10 * time.Millisecond, workers: 8, runs: 90 * time.Second},
	"a worker is added":          {hosts: 500, pages: 400, window: 16, gap: 10 * time.Millisecond, workers: 1, changed: 2 * time.Minute, after: 2, runs: 5 * time.Minute},
	"a worker is lost":           {hosts: 500, pages: 400, window: 16, gap: 10 * time.Millisecond, workers: 2, changed: 2 * time.Minute, after: 1, runs: 5 * time.Minute},
	"a stop of an hour":          {hosts: 500, pages: 400, window: 16, gap: 10 * time.Millisecond, workers: 1, changed: 2 * time.Minute, stop: time.Hour, runs: 66 * time.Minute},
}

// Whatever the hosts and the workers, the moving bound lets nearly as many visits be made
// as the best fixed one, and no task waits longer than seconds.
func TestBoundFindsThePeak(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("simulates hours")
	}
	for name, w := range webs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peak := 0
			for _, fixed := range []int{128, 2048} {
				visits, _, _ := w.crawl(fixed)
				peak = max(peak, visits)
			}
			visits, longest, s := w.crawl(0)
			t.Logf("%d visits of %d, tasks waited up to %s, bound %d", visits, peak, longest, s.bound.Pages)
			if visits*10 < peak*9 {
				t.Errorf("%d visits; the best fixed bound makes %d", visits, peak)
			}
			if longest > 8*time.Second {
				t.Errorf("a task waited %s", longest)
			}
		})
	}
}

// The simulation shows the purpose: if every visit starts all the pages for which
// there is room, the engine collapses.
func TestWithoutABoundTheEngineCollapses(t *testing.T) {
	t.Parallel()
	w := webs["500 hosts of 200 pages"]
	with, _, _ := w.crawl(0)
	w.all = true
	without, longest, _ := w.crawl(Most)
	if without*10 > with*9 || longest < time.Minute {
		t.Errorf("%d visits with a bound and %d without, where tasks wait up to %s: the simulation shows nothing", with, without, longest)
	}
}

// While the bound is below the number of hosts, each gets its share.
func TestHostsTakeTurns(t *testing.T) {
	t.Parallel()
	w := webs["500 hosts of 200 pages"]
	visits, _, s := w.crawl(0)
	least, most := w.pages, 0
	for _, h := range s.hosts {
		n := w.pages - h.known
		least, most = min(least, n), max(most, n)
	}
	if visits < 2*w.hosts || most-least > 2 {
		t.Errorf("%d visits; of one host %d pages were admitted, of another %d", visits, least, most)
	}
}
