package schedule

import (
	"time"

	"recrawl/internal/crawl"
)

const (
	// copyAge is the age from which a requisite's copy is fetched again when a new version
	// of a page needs it.
	copyAge = 30 * 24 * time.Hour
	// missedAge is the same if the visit brought no copy because of a fault that may have
	// passed.
	missedAge = 24 * time.Hour
	// requisiteTries is how many times in a row a requisite is requested before that.
	requisiteTries = 3
)

// AfterRequisite decides what becomes of a requisite after a visit. It has no policy: the
// requisite is kept as it is, and rests until a new version of a page needs it and its time
// is over. That time is the plan's interval. Only a failure that may pass is followed by
// another try.
func AfterRequisite(page Page, seen Observation, p Parameters) Plan {
	plan := judgeRequisite(page, seen, p)
	if page.State == crawl.Stopped || page.State == crawl.Evicted {
		plan.State = page.State
	}
	return plan
}

func judgeRequisite(page Page, seen Observation, p Parameters) Plan {
	tried := page.Failures + 1
	switch seen.Outcome {
	case crawl.OutcomeRedirected:
		if seen.Respelled {
			return Plan{State: living(page.State), Failures: page.Failures, Decision: atOnce(page)}
		}
		return rest(page, copyAge, CodeRedirected)
	case crawl.OutcomeThrottled, crawl.OutcomeFailed, crawl.OutcomeTimedOut:
		code := CodeFailed
		if seen.Outcome == crawl.OutcomeThrottled {
			code = CodeThrottled
		}
		if tried < requisiteTries {
			return Plan{State: crawl.Failing, Failures: tried, Decision: p.backoff(page, code, seen)}
		}
		return rest(page, missedAge, code, float64(tried))
	case crawl.OutcomeNew, crawl.OutcomeChanged, crawl.OutcomeCosmetic, crawl.OutcomeUnchanged, crawl.OutcomeReturned:
		return rest(page, copyAge, "")
	}
	return rest(page, copyAge, seen.Outcome.String())
}

// rest lets a requisite rest. The code says why there is no copy, "" if there is one.
func rest(page Page, age time.Duration, code string, num ...float64) Plan {
	d := Decision{Interval: age, Wanted: age, Belief: page.Belief}
	if code == "" {
		d.why.add(because(CodeKept, age.Seconds()))
	} else {
		d.why.add(because(code, num...), because(CodeNoCopy, age.Seconds()))
	}
	return Plan{State: crawl.Kept, Decision: d}
}
