package schedule

import (
	"time"

	"recrawl/internal/crawl"
)

// Plan is the consequence of a visit for its page: its state, and when it is visited
// again.
type Plan struct {
	State crawl.PageState
	// Failures is the number of visits in a row that failed or were throttled,
	// including this one.
	Failures int
	// Foreseen is the chance of a change that the visit was given beforehand, for
	// judging beliefs; 0 if none was. See [Foresee].
	Foreseen float64
	Decision
}

// AfterVisit decides how a page goes on after a visit.
//
//	outcome                            state      next visit
//	new changed cosmetic unchanged     active     by policy
//	returned                           active     by policy, as unchanged
//	the same of a duplicate            duplicate  at max_interval
//	the same in a trap                 active     at max_interval, nothing learned
//	unsupported too_large              active     at max_interval
//	redirected to another spelling     as before  at once, nothing learned
//	redirected, gone                   redirect, gone: growing from a day up to max_interval; see lost
//	excluded by its site's robots.txt  excluded   the same
//	excluded otherwise                 excluded   at max_interval
//	excluded by a rule that is gone    as before  at min_interval, nothing learned
//	failed timed_out                   failing    back-off, not before its Rest
//	throttled                          as before  back-off, not before Retry-After and its Rest
//	skipped                            as before  by policy, nothing learned
//	suspect                            as before  early, nothing learned
//
// Only outcomes of the first three rows teach the policy anything; a failed fetch says
// nothing about a page's changes. A page that was stopped, or gave up its place, during
// the visit stays so, whatever the visit saw.
func AfterVisit(policy Policy, page Page, seen Observation, p Parameters) Plan {
	plan := judge(policy, page, seen, p)
	if page.State == crawl.Stopped || page.State == crawl.Evicted {
		plan.State = page.State
	}
	return plan
}

func judge(policy Policy, page Page, seen Observation, p Parameters) Plan {
	switch seen.Outcome {
	case crawl.OutcomeNew, crawl.OutcomeChanged, crawl.OutcomeCosmetic, crawl.OutcomeUnchanged, crawl.OutcomeReturned:
		if seen.Duplicate {
			return Plan{State: crawl.Duplicate, Decision: p.probe(page, CodeDuplicate, page.Belief.observe(seen, p))}
		}
		if seen.Trapped {
			return Plan{State: crawl.Active, Decision: p.probe(page, CodeTrapped, page.Belief)}
		}
		return Plan{State: crawl.Active, Decision: policy.Next(page, seen, p)}
	case crawl.OutcomeUnsupported, crawl.OutcomeTooLarge:
		return Plan{State: crawl.Active, Decision: p.probe(page, seen.Outcome.String(), page.Belief)}
	case crawl.OutcomeRedirected:
		if seen.Respelled {
			return Plan{State: living(page.State), Failures: page.Failures, Decision: atOnce(page)}
		}
		return Plan{State: crawl.Redirect, Decision: p.lost(policy, page, seen)}
	case crawl.OutcomeGone:
		return Plan{State: crawl.Gone, Decision: p.lost(policy, page, seen)}
	case crawl.OutcomeExcluded:
		if seen.Lifted {
			return Plan{State: living(page.State), Failures: page.Failures, Decision: p.askAgain(page)}
		}
		if seen.Forbidden {
			return Plan{State: crawl.Excluded, Decision: p.lost(policy, page, seen)}
		}
		return Plan{State: crawl.Excluded, Decision: p.probe(page, seen.Outcome.String(), page.Belief)}
	case crawl.OutcomeThrottled:
		return Plan{State: living(page.State), Failures: page.Failures + 1, Decision: p.backoff(page, CodeThrottled, seen)}
	case crawl.OutcomeSkipped:
		return Plan{State: living(page.State), Failures: page.Failures, Decision: policy.Next(page, seen, p)}
	case crawl.OutcomeSuspect:
		return Plan{State: living(page.State), Failures: page.Failures, Decision: p.lookAgain(policy, page, seen)}
	default: // failed, timed out, and outcomes that a later version may add
		return Plan{State: crawl.Failing, Failures: page.Failures + 1, Decision: p.backoff(page, CodeFailed, seen)}
	}
}

// secondLook is how soon the second look at a suspect page comes: an error that passes has
// usually passed by then.
const secondLook = 30 * time.Minute

// lookAgain decides when the next look at a suspect page is: early, but not before the floor,
// and never later than the policy wants it. Each look waits twice as long as the one before.
func (p Parameters) lookAgain(policy Policy, page Page, seen Observation) Decision {
	usual := policy.Next(page, seen, p)
	wanted := times(1<<min(seen.Looks, 16), secondLook)
	interval, bound := p.spread(page, wanted)
	if usual.Interval <= interval {
		return usual
	}
	d := Decision{Interval: interval, Wanted: wanted, Belief: page.Belief}
	d.why.add(because(CodeSecondLook, interval.Seconds()), bound)
	return d
}

// firstProbe is how soon a page comes again that had content and has just been lost, or a seed
// that never had any, at the latest.
const firstProbe = day

// seedPatience is by how much each wait for a seed that never had content is longer than the
// one before.
const seedPatience = 4

// lost plans the next visit of a page that is gone or elsewhere, or that its robots.txt forbids.
// A site in trouble, or a mistake of its owner, may do that to all its pages for minutes or days.
// So a page that had content comes again after a day, or when it is due if that is sooner, and
// then after as long as it has been without content: the trouble costs no copy more than as much
// time again. A seed that never had content comes again too, but less often. Other pages without
// content rest: most of the links that lead to them are dead for good. But if their host has just
// lost another page in the same way, they are looked at once more after a day.
func (p Parameters) lost(policy Policy, page Page, seen Observation) Decision {
	var wanted time.Duration
	expected := seen.Gap > 0 || seen.Seed && !seen.Permanent
	switch first := page.State != crawl.Gone && page.State != crawl.Redirect && page.State != crawl.Excluded; {
	case first && (expected || seen.HostLost):
		wanted = min(firstProbe, policy.Next(page, seen, p).Interval)
	case seen.Gap > 0:
		wanted = seen.Gap
	case expected:
		wanted = times(seedPatience, seen.Since)
	}
	code := seen.Outcome.String()
	if wanted <= 0 || wanted >= p.Max || p.Max <= firstProbe {
		return p.probe(page, code, page.Belief)
	}
	interval, bound := p.spread(page, wanted)
	d := Decision{Interval: interval, Wanted: wanted, Belief: page.Belief}
	d.why.add(because(code), because(CodeComeBack, interval.Seconds()), bound)
	return d
}

// askAgain comes again as soon as a page may: the rule that kept the visit from being made is
// gone.
func (p Parameters) askAgain(page Page) Decision {
	interval, _ := p.spread(page, p.Floor())
	d := Decision{Interval: interval, Wanted: p.Floor(), Belief: page.Belief}
	d.why.add(because(CodeLifted, interval.Seconds()))
	return d
}

// living returns the state of a page after a visit that does not determine its state. A
// page that was visited is at least active.
func living(s crawl.PageState) crawl.PageState {
	if s.Lives() {
		return s
	}
	return crawl.Active
}

// probe leaves a page alone for as long as the spec allows.
func (p Parameters) probe(page Page, code string, b Belief) Decision {
	d := Decision{Interval: p.Rest(page), Wanted: p.Max, Belief: b}
	d.why.add(because(code), because(CodeProbe, p.Max.Seconds()))
	return d
}

// atOnce comes again as soon as the host's line allows. Nobody waits longer for it than for
// the page itself; the caller bounds how many times in a row this may happen.
func atOnce(page Page) Decision {
	d := Decision{Belief: page.Belief}
	d.why.add(because(CodeRespelled))
	return d
}

// Rest is how long a page is left alone that is only probed, such as a duplicate.
func (p Parameters) Rest(page Page) time.Duration {
	interval, _ := p.spread(page, p.Max)
	return interval
}

// backoff waits Floor × 2^(n−1) after the n-th failed visit in a row, at most Max, and
// at least the wait that the host asked for and the page's Rest. A longer request is
// cut to Max; the host's own line enforces the remainder.
func (p Parameters) backoff(page Page, code string, seen Observation) Decision {
	n := page.Failures + 1
	low := min(max(p.Floor(), seen.RetryAfter, seen.Rest), p.Max)
	interval, _ := p.between(low, page, p.Backoff(n))
	d := Decision{Interval: interval, Wanted: max(low, p.Backoff(n)), Belief: page.Belief}
	d.why.add(because(code, float64(n)))
	if seen.RetryAfter > 0 {
		d.why.add(because(CodeRetryAfter, seen.RetryAfter.Seconds()))
	}
	if seen.Rest > seen.RetryAfter {
		d.why.add(because(CodeRest, seen.Rest.Seconds()))
	}
	return d
}

// Backoff returns the wait after the n-th failed visit in a row (n ≥ 1), before jitter:
// Floor × 2^(n−1), at most Max.
func (p Parameters) Backoff(n int) time.Duration {
	d := p.Floor()
	for ; n > 1 && d < p.Max; n-- {
		d = times(2, d)
	}
	return min(d, p.Max)
}
