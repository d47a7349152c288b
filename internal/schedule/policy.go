package schedule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
)

// Policy decides when a page is visited again. An implementation has no state
// of its own: what it remembers of a page is in the page's Belief, and what it
// shares with other pages is in the Parameters.
type Policy interface {
	// Name is the policy's name in a spec.
	Name() string
	// Next answers a visit. An outcome that is no evidence about the page's changes
	// (see [crawl.Outcome.Observes]) leaves the belief as it was. The interval is
	// within the bounds of the parameters.
	Next(page Page, seen Observation, p Parameters) Decision
}

// Page is what is known of a page before a visit is judged.
type Page struct {
	ID       int64
	State    crawl.PageState
	Visit    int // number of the visit that is judged, ≥ 1
	Failures int // visits in a row that failed or were throttled, before this one
	Belief   Belief
}

// Observation is what a visit saw.
type Observation struct {
	Outcome crawl.Outcome
	// RetryAfter is the least time that a throttling host asked for, 0 if it did
	// not say.
	RetryAfter time.Duration
	// Duplicate: the content is another page's too, which is visited as usual.
	Duplicate bool
}

// Parameters are what a policy is given besides the page: the bounds of the
// spec and, for policies that share a budget, the crawl's slowly moving inputs.
type Parameters struct {
	// Round is the policies' unit of time: revisit.default_interval.
	Round time.Duration
	// Min and Max bound every interval: revisit.min_interval and max_interval.
	Min, Max time.Duration
}

// ParametersOf takes the parameters from a valid spec.
func ParametersOf(r crawl.RevisitSpec) Parameters {
	return Parameters{Round: r.DefaultInterval.Std(), Min: r.MinInterval.Std(), Max: r.MaxInterval.Std()}
}

// Floor is the shortest interval that may result: Min, or Round when that is
// shorter, because whoever asks for a visit every minute has asked for
// intervals of a minute. It never exceeds Max.
func (p Parameters) Floor() time.Duration { return max(1, min(p.Min, p.Round, p.Max)) }

// Decision is when a page is visited again, and why.
type Decision struct {
	// Interval is the time from the visit to the next one.
	Interval time.Duration
	// Reasons are codes and numbers; see [Words].
	Reasons []crawl.Reason
	// Belief is the page's memory after the visit.
	Belief Belief
}

// ByName returns a policy by its name in a spec.
func ByName(name string) (Policy, error) {
	i := slices.IndexFunc(policies, func(p Policy) bool { return p.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("no revisit policy %q: use one of %s", name, strings.Join(crawl.Policies(), ", "))
	}
	return policies[i], nil
}

var policies = []Policy{Fixed{}, FRMax{}}

// Fixed visits every page once a round.
type Fixed struct{}

// Name implements Policy.
func (Fixed) Name() string { return "fixed" }

// Next implements Policy. The observation is remembered all the same, so that a
// crawl that changes its policy starts with what was learned.
func (Fixed) Next(page Page, seen Observation, p Parameters) Decision {
	interval, bound := p.spread(page, p.Round)
	return Decision{
		Interval: interval,
		Belief:   page.Belief.observe(seen.Outcome),
		Reasons:  p.withBound(bound, crawl.Reason{Code: CodeEvery, Num: map[string]float64{"s": p.Round.Seconds()}}),
	}
}

// times multiplies without overflow: a product beyond what a Duration holds is
// the longest Duration.
func times(n int, d time.Duration) time.Duration {
	if n > 0 && d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return time.Duration(n) * d
}
