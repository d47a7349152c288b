package activities

import (
	"context"
	"maps"
	"sync"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/polite"
)

const (
	// crowdPatience is how long Acquire waits in the process until a request may come to its
	// address.
	crowdPatience = 3 * time.Second
	// ticketsMost is how many tickets are kept before those whose Fetch ran elsewhere are
	// dropped, and ticketKept how long a Fetch may take to come for one.
	ticketsMost = 1000
	ticketKept  = time.Minute
)

// crowds are the pages of one process that have a permit and want to come to an address
// where many requests are made.
type crowds struct {
	mu      sync.Mutex
	tickets map[int64]keptTicket
	// asleep are pages by host that keep their permits while they sleep, and people the
	// number of visits by host that people wait for.
	asleep map[string]map[int64]sleeper
	people map[string]int
}

// sleeper is a page that asks again at a time. By then it may do so in another process.
type sleeper struct {
	crawl.PageRef
	until time.Time
}

type keptTicket struct {
	*fetch.Ticket
	at time.Time
}

// keep keeps a ticket for the page's Fetch.
func (c *crowds) keep(page crawl.PageRef, t *fetch.Ticket, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tickets == nil {
		c.tickets = map[int64]keptTicket{}
	}
	if len(c.tickets) >= ticketsMost {
		for id, kept := range c.tickets {
			if now.Sub(kept.at) > ticketKept {
				delete(c.tickets, id)
			}
		}
	}
	c.tickets[page.PageID] = keptTicket{t, now}
}

// take returns the page's ticket, nil if it has none.
func (c *crowds) take(page crawl.PageRef) *fetch.Ticket {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tickets[page.PageID].Ticket
	delete(c.tickets, page.PageID)
	return t
}

// sleep notes that a page keeps its permit while it sleeps for so long; false if somebody
// waits for a visit at its host.
func (c *crowds) sleep(page crawl.PageRef, wait time.Duration, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.people[page.Host] > 0 {
		return false
	}
	if c.asleep == nil {
		c.asleep = map[string]map[int64]sleeper{}
	}
	if c.asleep[page.Host] == nil {
		c.asleep[page.Host] = map[int64]sleeper{}
	}
	maps.DeleteFunc(c.asleep[page.Host], func(_ int64, s sleeper) bool { return !s.until.After(now) })
	c.asleep[page.Host][page.PageID] = sleeper{page, now.Add(wait)}
	return true
}

// wake notes that a page asks again, or leaves.
func (c *crowds) wake(page crawl.PageRef) {
	c.take(page).Release()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asleep[page.Host], page.PageID)
	if len(c.asleep[page.Host]) == 0 {
		delete(c.asleep, page.Host)
	}
}

// arrive notes that a person waits for a visit at a host, and returns the pages that keep
// permits there while they sleep. They are forgotten.
func (c *crowds) arrive(host string, now time.Time) (asleep []crawl.PageRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.people == nil {
		c.people = map[string]int{}
	}
	c.people[host]++
	for _, s := range c.asleep[host] {
		if s.until.After(now) {
			asleep = append(asleep, s.PageRef)
		}
	}
	delete(c.asleep, host)
	return asleep
}

func (c *crowds) depart(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.people[host]--; c.people[host] == 0 {
		delete(c.people, host)
	}
}

// queue waits until the request of a permit may come to its address, and keeps its ticket for
// the Fetch. If that takes too long, the page keeps its permit and sleeps. The host has
// nothing to gain from another page, which would wait for the same address.
func (a *Activities) queue(ctx context.Context, in contract.AcquireIn, view *crawlView, out contract.AcquireOut, most time.Duration) (contract.AcquireOut, error) {
	if out.Answer != contract.AnswerPermit && out.Answer != contract.AnswerRobots {
		return out, nil
	}
	permit := out.Permit
	if permit.URL == crawl.TermsPath {
		permit.URL = in.Page.URL
	}
	req, err := a.newRequest(ctx, view, permit)
	if err != nil {
		return out, nil //nolint:nilerr // Fetch says what is wrong
	}
	who := fetch.Asker{ID: in.Page.PageID, First: in.Class == crawl.ClassManual}
	ticket, wait, err := a.fetcher.Queue(ctx, req, who, min(crowdPatience, max(most, time.Second)))
	if err != nil {
		return contract.AcquireOut{}, translate(err)
	}
	if wait == 0 {
		if ticket != nil {
			a.crowds.keep(in.Page, ticket, time.Now())
		}
		return out, nil
	}
	if in.Class != crawl.ClassManual && !a.crowds.sleep(in.Page, wait, time.Now()) {
		a.yield(ctx, in.Page)
	}
	return contract.AcquireOut{Answer: contract.AnswerWait, Wait: wait, Reason: polite.WaitWords("address", 0)}, nil
}

// giveWay lets a visit that a person waits for have the permits that others keep at its host
// while they sleep. The function that it returns ends that.
func (a *Activities) giveWay(ctx context.Context, in contract.AcquireIn) (end func()) {
	if in.Class != crawl.ClassManual {
		return func() {}
	}
	for _, page := range a.crowds.arrive(in.Page.Host, time.Now()) {
		if page.PageID != in.Page.PageID {
			a.yield(ctx, page)
		}
	}
	return func() { a.crowds.depart(in.Page.Host) }
}

// yield gives up the permit of a page that sleeps. When it wakes, it asks for another.
func (a *Activities) yield(ctx context.Context, page crawl.PageRef) {
	effects, err := a.stores.Gate.Leave(ctx, page.PageID)
	if err != nil {
		a.log.Warn("a page that sleeps keeps its host from a visit that a person asked for", "url", page.URL, "error", err)
	}
	a.carryOut(ctx, effects)
}
