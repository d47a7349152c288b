package schedule

import (
	"math"
	"time"

	"recrawl/internal/crawl"
)

// Explanation says in numbers why a page that its policy plans is visited when it is.
// [Word] puts the reasons into words.
type Explanation struct {
	Policy string

	// Mean is the believed rate in changes a day, averaged until the next visit. The
	// true rate is between Low and High with a probability of 90 %.
	Mean, Low, High float64
	// Looks is how many comparisons are remembered individually, at most 32. Changes of
	// them found a change, and Told of them were made by the server (304).
	Looks, Changes, Told int
	// Observed is the total time without changes in the page's own looks, less the
	// forgotten part.
	Observed time.Duration
	// Noisy says that every recent look found a change, however soon it came.
	Noisy bool

	// The rest of this group is of the budgeted policies only, and zero for others.

	// Index is the worth of a visit now. The page is due when it reaches the larger of
	// Threshold and HostPrice. OwnThreshold says that Threshold is the default,
	// because the crawl has none yet.
	Index, Threshold, HostPrice, Weight float64
	OwnThreshold                        bool

	// Wanted is the interval before bounds and jitter. Jitter is the share by which it
	// is moved, 0 for a visit by a timetable. Interval is the result, from the last visit to the next.
	Wanted   time.Duration
	Jitter   float64
	Interval time.Duration
	// Reasons are those of the interval.
	Reasons []crawl.Reason
	// WhatIf gives the interval under other circumstances.
	WhatIf []crawl.Reason
}

// Explain says why a page's next visit is when it is, when the last one was elapsed
// ago. page is in the state after its last visit: its belief includes that visit,
// and its number is that visit's. With the parameters of that time, Interval is the
// plan's; with later ones, it is the interval that would be planned now. Explain
// does not cover the time after a visit without content (a back-off, a probe),
// which is not the policy's decision.
func Explain(policy Policy, page Page, p Parameters, elapsed time.Duration) Explanation {
	now := Replan(policy, page, p)
	ahead := p.forecast(page.Belief)
	own := page.Belief.Gamma(p.prior())
	mean, low, high := Believed(page.Belief, p, now.Interval)
	x, counter := page.Belief.last(window)
	_, noisy := page.Belief.noisy(p)
	e := Explanation{
		Policy: policy.Name(), Mean: mean, Low: low, High: high,
		Looks: x, Changes: counter, Told: page.Belief.told(window), Observed: duration(float64(page.Belief.Days)), Noisy: noisy,
		Wanted: now.Wanted, Jitter: shift(page.ID, page.Visit), Interval: now.Interval, Reasons: now.Reasons(),
	}
	if now.why.timed() {
		e.Jitter = 0
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

// Believed returns the believed rate of a page in changes a day, averaged until the next
// visit an interval later. The true rate is between low and high with a probability of 90 %.
func Believed(b Belief, p Parameters, interval time.Duration) (mean, low, high float64) {
	g := p.forecast(b).over(b.Gamma(p.prior()), min(days(interval), days(p.Max)))
	return g.Mean(), g.Quantile(0.05), g.Quantile(0.95)
}

// ifSeen returns what follows if the next visit, an interval after the last, finds a
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

// ifMoved returns what would follow if a budgeted page had twice its weight, or its
// host had room.
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
