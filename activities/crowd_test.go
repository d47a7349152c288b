package activities

import (
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// A page that sleeps with its permit gives it up for a person, but not what it has when it has
// woken in another process.
func TestSleepersGiveWay(t *testing.T) {
	t.Parallel()
	const host = "example.com"
	page := func(id int64) crawl.PageRef { return crawl.PageRef{PageID: id, Host: host} }
	now := time.Now()
	var c crowds
	for id, wait := range []time.Duration{time.Second, time.Minute, time.Minute} {
		if !c.sleep(page(int64(id)), wait, now) {
			t.Errorf("page %d must not sleep", id)
		}
	}
	c.wake(page(1))
	later := now.Add(2 * time.Second)
	if got := c.arrive(host, later); !slices.Equal(got, []crawl.PageRef{page(2)}) {
		t.Errorf("%+v give way, want page 2", got)
	}
	if c.sleep(page(3), time.Minute, later) {
		t.Error("a page sleeps with a permit for which a person waits")
	}
	c.depart(host)
	c.sleep(page(4), time.Minute, later)
	c.sleep(page(5), time.Minute, later.Add(time.Hour)) // page 4 has woken elsewhere
	c.wake(page(5))
	if len(c.people) > 0 || len(c.asleep) > 0 {
		t.Errorf("left: %v, %v", c.people, c.asleep)
	}
}
