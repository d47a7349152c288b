package storetest

import (
	"fmt"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// RunDelays compares the automatic delays that a status counts with those by which hosts
// are asked.
func RunDelays(t *testing.T, e sqlstore.Engine) {
	c := newCollection(t, sqlstore.New(e, sqlstore.Options{}))
	const most = 30 * time.Second
	c.spec.Politeness.Delay = crawl.Duration(most)
	c.spec.Politeness.AutoDelay = true
	c.open()
	var sum time.Duration
	delays := []time.Duration{}
	host := 0
	for _, mean := range []time.Duration{0, time.Millisecond, 250 * time.Millisecond, 600 * time.Millisecond, 2 * time.Second, 10 * time.Second} {
		for _, refusals := range []float64{0, 0.003, 0.02, 0.05, 0.099, 0.3} {
			host++
			c.known(host, 1)
			c.check(e.Write(c.ctx, func(tx sqlstore.Tx) error {
				_, err := tx.Exec(c.ctx, `UPDATE hosts SET mean_duration = $1, refusals = $2 WHERE host = $3`, mean.Microseconds(), refusals, c.host(host))
				return err
			}))
			if mean > 0 { // the others were never asked
				delay := polite.AutoDelay(mean, refusals, most).Length
				delays, sum = append(delays, delay), sum+delay
			}
		}
	}
	got := c.status().Delays
	want(c, "hosts", got.Hosts, len(delays))
	if slack := time.Duration(len(delays)) * time.Millisecond; got.Sum < sum-slack || got.Sum > sum {
		c.Errorf("%v in all, want %v", got.Sum, sum)
	}
	for i, bound := range store.DelayBounds {
		hosts := 0
		for _, d := range delays {
			if d <= bound {
				hosts++
			}
		}
		want(c, fmt.Sprintf("up to %v", bound), got.UpTo[i], hosts)
	}
	c.spec.Politeness.AutoDelay = false
	c.open()
	want(c, "hosts with a fixed delay", c.status().Delays.Hosts, 0)
}
