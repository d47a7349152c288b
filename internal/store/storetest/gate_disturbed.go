package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// calmVisits is how many visits each page must get once nobody interferes.
const calmVisits = 2

// disturb interferes with a crawl, its host and its pages as people do; then it lets them
// rest, and checks that no page is forgotten.
func (h *saturated) disturb(record store.CrawlRecord) {
	for range h.Disturbances {
		var err error
		switch h.wait(30 * time.Second); h.pick(4) {
		case 0:
			err = h.pause(record)
		case 1:
			err = h.blockFor()
		case 2:
			h.tell(func(p *saturatedPage) { p.asked, p.wake = true, time.Time{} })
		case 3:
			h.tell(func(p *saturatedPage) { p.due = time.Now().Add(2 * h.Interval) })
		}
		if h.ctx.Err() != nil {
			return
		}
		if err != nil {
			h.fail(err)
			return
		}
	}
	h.mu.Lock()
	h.calm = time.Now()
	h.mu.Unlock()
	limit := 10*h.Interval + 20*time.Duration(h.Pages)*(h.Delay+h.Took) + 3*time.Hour
	select {
	case <-h.ctx.Done():
	case <-time.After(limit):
		h.forgotten(limit)
	}
}

// forgotten fails for the pages that are no longer visited.
func (h *saturated) forgotten(after time.Duration) {
	h.mu.Lock()
	var names []string
	for _, p := range h.pages {
		if p.calm < calmVisits {
			names = append(names, p.String())
		}
	}
	h.mu.Unlock()
	h.fail(fmt.Errorf("%v after people stopped interfering, %d pages have not been visited twice: %s", after, len(names), strings.Join(names, "; ")))
}

// calmed notes a visit, and ends the test with the last one that is wanted. h.mu is held.
func (h *saturated) calmed(p *saturatedPage) {
	if h.calm.IsZero() {
		return
	}
	p.calm++
	for _, other := range h.pages {
		if other.calm < calmVisits {
			return
		}
	}
	h.stop()
}

// pause pauses the crawl for a while and resumes it, as its workflow does.
func (h *saturated) pause(record store.CrawlRecord) error {
	if _, err := h.s.SetCrawlState(h.ctx, record.Spec.Name, crawl.CrawlPaused); err != nil {
		return err
	}
	h.wait(time.Minute)
	if _, err := h.s.SetCrawlState(h.ctx, record.Spec.Name, crawl.CrawlRunning); err != nil {
		return err
	}
	for {
		back, err := h.s.Unpark(h.ctx, record.ID, 10)
		if err != nil || len(back.Turns) == 0 {
			return err
		}
		h.carryOut(back)
	}
}

// blockFor blocks the host for a while.
func (h *saturated) blockFor() error {
	for _, blocked := range []bool{true, false} {
		turns, err := h.s.SetBlocked(h.ctx, "host.test", blocked)
		if err != nil {
			return err
		}
		h.carryOut(turns)
		if blocked {
			h.wait(time.Minute)
		}
	}
	return nil
}

// tell sends some pages a message.
func (h *saturated) tell(what func(*saturatedPage)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pages {
		if h.random.IntN(8) != 0 {
			continue
		}
		select {
		case p.said <- what:
		default: // it has heard a lot
		}
	}
}

// leaveLine gives up a place: the visit is not due any more.
func (h *saturated) leaveLine(p *saturatedPage) error {
	left, err := h.s.Leave(h.ctx, p.PageID)
	if err != nil {
		return err
	}
	h.carryOut(left)
	p.inLine, p.wake, p.booked = false, time.Time{}, time.Time{}
	return nil
}

// wait lets some time pass, up to a maximum.
func (h *saturated) wait(most time.Duration) {
	select {
	case <-h.ctx.Done():
	case <-time.After(time.Duration(h.pick(int(most.Milliseconds())+1)) * time.Millisecond):
	}
}

// pick is a random number below n.
func (h *saturated) pick(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.random.IntN(n)
}

// ForgottenWaiter lets a page wait that never comes, in its own time: when its place is
// finally forgotten, it is called, for it may sleep because its turns were lost.
func ForgottenWaiter(t *testing.T, e sqlstore.Engine) {
	t.Helper()
	w := newGateWorld(t, sqlstore.New(e, sqlstore.Options{}))
	pages := w.open("news", time.Minute, 3)
	w.request(pages[0])
	w.waitAll(pages[1:])
	var calls []int // in which of the next hours
	for n := range 24 {
		time.Sleep(10 * time.Minute)
		if _, is := called(must(w.s.Nudge(t.Context()))(t), pages[2]); is {
			calls = append(calls, (n+1)/6)
		}
	}
	if len(calls) == 0 || calls[len(calls)-1] != 1 || w.host(pages[2].CrawlID).Waiting != 0 {
		t.Errorf("it was called in the hours %v; the last time should be when it is forgotten", calls)
	}
}
