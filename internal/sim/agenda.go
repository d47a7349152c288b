package sim

import "math"

// agenda knows which page is due first, among those whose host may be asked.
// Without host limits all pages stand in one line; with them each host has a
// line and rests after a visit.
type agenda struct {
	lines []heap    // of pages by due time, one for each host, or one for all
	hosts []int     // by page: its line
	rests []float64 // by line: days between two visits, 0 for none
	ready heap      // lines that may be asked, by the due time of their heads
	busy  heap      // lines that rest, by when they are free
}

func newAgenda(w *World) *agenda {
	pages, hosts := newHeap(len(w.Pages)), 1
	if w.HostLimits != nil {
		hosts = w.Hosts
	}
	a := &agenda{
		lines: make([]heap, hosts), hosts: make([]int, len(w.Pages)), rests: make([]float64, hosts),
		ready: newHeap(hosts), busy: newHeap(hosts),
	}
	for i := range a.lines {
		a.lines[i] = heap{key: pages.key, place: pages.place}
	}
	for i, limit := range w.HostLimits {
		if limit > 0 {
			a.rests[i] = 1 / limit
		}
	}
	if w.HostLimits != nil {
		for i := range w.Pages {
			a.hosts[i] = w.Pages[i].Host
		}
	}
	return a
}

// set says when a page is due; +Inf means never.
func (a *agenda) set(page int, due float64) {
	line := a.hosts[page]
	a.lines[line].set(page, due)
	a.offer(line)
}

// remove forgets a page.
func (a *agenda) remove(page int) {
	line := a.hosts[page]
	a.lines[line].remove(page)
	a.offer(line)
}

// offer moves a line that does not rest to where its head belongs.
func (a *agenda) offer(line int) {
	if a.busy.has(line) {
		return
	}
	if _, due, ok := a.lines[line].head(); ok {
		a.ready.set(line, due)
	} else {
		a.ready.remove(line)
	}
}

// first returns the page that is due first of those that may be visited at t.
func (a *agenda) first(t float64) (page int, due float64, ok bool) {
	for line, free, some := a.busy.head(); some && free <= t; line, free, some = a.busy.head() {
		a.busy.remove(line)
		a.offer(line)
	}
	line, due, ok := a.ready.head()
	if !ok || math.IsInf(due, 1) {
		return 0, 0, false
	}
	page, due, _ = a.lines[line].head()
	return page, due, true
}

// rest says that a page's host was asked at t.
func (a *agenda) rest(page int, t float64) {
	line := a.hosts[page]
	if a.rests[line] > 0 {
		a.ready.remove(line)
		a.busy.set(line, t+a.rests[line])
	}
}

// opens returns when a page can be visited at the earliest, at t or after it: when the
// first one is due, or its host is free.
func (a *agenda) opens(t float64) float64 {
	next := math.Inf(1)
	if _, due, ok := a.first(t); ok {
		next = max(due, t)
	}
	if _, free, ok := a.busy.head(); ok {
		next = min(next, free)
	}
	return next
}
