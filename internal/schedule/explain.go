package schedule

import (
	"math"
	"time"

	"recrawl/internal/crawl"
)

// Explanation is why a page that its policy plans is visited when it is, in
// numbers; [Word] words the reasons.
type Explanation struct {
	Policy string

	// Mean is the believed rate of change, a day, on average until the next visit; the
	// true one is between Low and High with 90 %.
	Mean, Low, High float64
	// Looks is how many comparisons are remembered one by one, at most 32; Changes of
	// them found a change, and Told were made by the server (304).
	Looks, Changes, Told int
	// Observed is the time without changes that the page's own looks, as far as they
	// are not forgotten, amount to.
	Observed time.Duration
	// Noisy says that the page changes however soon it is looked at.
	Noisy bool

	// The rest of this group is of the budgeted policies only, and zero for others.

	// Index is what a visit now would be worth; the page is due when it reaches
	// Threshold, or HostPrice if that is more. OwnThreshold says that Threshold is
	// not the crawl's, which has none yet.
	Index, Threshold, HostPrice, Weight float64
	OwnThreshold                        bool

	// Wanted is the interval before bounds and jitter; Jitter is the share that it
	// is moved by; Interval is what comes of it, from the last visit to the next.
	Wanted   time.Duration
	Jitter   float64
	Interval time.Duration
	// Reasons are those of the interval.
	Reasons []crawl.Reason
	// WhatIf says what the interval would be if something were otherwise.
	WhatIf []crawl.Reason
}

// Explain says why a page's next visit is when it is, elapsed after its last one.
// The page is as that visit left it: its belief learned from it, and its number is
// that of it. With the parameters of then Interval is that of the plan; with
// others it is what the plan would be now. What a visit that found no content led
// to (a back-off, a probe) is not the policy's and not said here.
func Explain(policy Policy, page Page, p Parameters, elapsed time.Duration) Explanation {
	now := Replan(policy, page, p)
	ahead := p.forecast(page.Belief)
	own := page.Belief.Gamma(p.prior())
	g := ahead.over(own, min(days(now.Interval), days(p.Max)))
	x, counter := page.Belief.last(window)
	_, noisy := page.Belief.noisy(p)
	e := Explanation{
		Policy: policy.Name(), Mean: g.Mean(), Low: g.Quantile(0.05), High: g.Quantile(0.95),
		Looks: x, Changes: counter, Told: page.Belief.told(window), Observed: duration(float64(page.Belief.Days)), Noisy: noisy,
		Wanted: now.Wanted, Jitter: shift(page.ID, page.Visit), Interval: now.Interval, Reasons: now.Reasons(),
	}
	what := ifSeen(policy, page, p, now.Interval)
	if o, ok := policy.(Budgeted); ok {
		e.Weight, e.HostPrice = p.weight(), p.HostPrice
		e.Threshold, e.OwnThreshold = p.threshold(o.Objective)
		e.Index = e.Weight * o.Worth(ahead.over(own, days(max(elapsed, 0))), days(max(elapsed, 0)))
		e.Reasons = append(e.Reasons, because(CodeIndex, e.Index, max(e.Threshold, e.HostPrice)).reason())
		what = append(what, ifMoved(o, page, p, e)...)
	}
	if forever := now.Wanted == math.MaxInt64; !forever && (now.Wanted < p.Floor() || now.Wanted > p.Max) {
		what = append(what, because(CodeUnbound, now.Wanted.Seconds()))
	}
	for _, g := range what {
		e.WhatIf = append(e.WhatIf, g.reason())
	}
	return e
}

// ifSeen is what follows if the next visit, an interval after the last, finds a
// change or none.
func ifSeen(policy Policy, page Page, p Parameters, interval time.Duration) []ground {
	page.Visit++
	seen := Observation{Gap: interval}
	if last := page.Belief.ComparedAt(); !last.IsZero() {
		seen.At = last.Add(interval)
	}
	then := func(code string, o crawl.Outcome) ground {
		seen.Outcome = o
		return because(code, policy.Next(page, seen, p).Interval.Seconds())
	}
	return []ground{then(CodeUnchanged, crawl.OutcomeUnchanged), then(CodeChanged, crawl.OutcomeChanged)}
}

// ifMoved is what follows if a budgeted page had twice its weight, or its host had
// room.
func ifMoved(o Budgeted, page Page, p Parameters, e Explanation) []ground {
	heavier := p
	heavier.Weight = 2 * e.Weight
	what := []ground{because(CodeHeavier, Replan(o, page, heavier).Interval.Seconds())}
	if e.HostPrice > e.Threshold {
		free := p
		free.HostPrice = 0
		what = append(what, because(CodeHostFree, Replan(o, page, free).Interval.Seconds()))
	}
	return what
}
