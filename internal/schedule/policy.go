package schedule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
)

// Policy decides when a page is visited again. An implementation has no state
// of its own: what it remembers of a page is in the page's Belief, and what it
// shares with other pages is in the Parameters.
type Policy interface {
	// Name is the policy's name in a spec.
	Name() string
	// Next answers a visit. An outcome that is no evidence about the page's changes
	// (see [crawl.Outcome.Observes]) leaves what was learned as it was. The interval
	// is within the bounds of the parameters.
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
	// Rest is the least time that the page is left alone because its host was held on
	// its account, 0 if it was not.
	Rest time.Duration
	// Duplicate: the content is another page's too, which is visited as usual.
	Duplicate bool
	// Trapped: the page is part of a trap, whose other pages are held.
	Trapped bool
	// At is when the visit was made. It is only remembered, for the Gap of the next
	// one; the zero time is not.
	At time.Time
	// Gap is the time since the page was last compared or first seen; see
	// [Belief.Gap]. Visits in between that saw no content do not end it. 0 is not
	// known: then the visit counts in the history but says nothing of the rate.
	Gap time.Duration
	// Late is how long after it was due the visit was made; 0 is in time, or not known.
	Late time.Duration
	// NotModified says that the server made the comparison (304). It counts as no
	// change, and is told apart.
	NotModified bool
	// ChangedAgo is how long before the visit the page last changed, by a
	// Last-Modified that has proved itself: that moves when and only when content
	// does. 0 is not known. A time that contradicts the comparison is ignored.
	ChangedAgo time.Duration
	// Modified are the dates that the copies came with. They become ChangedAgo when
	// they have proved themselves on this page; see [Modified].
	Modified Modified
	// Internal is what is known of the pages of the site that the page links to.
	Internal Internal
}

// Parameters are what a policy is given besides the page. Round, Min and Max are
// those of the spec, or of a rule in it that is about the page; the others are the
// crawl's slowly moving inputs, for policies that share a budget. The zero value
// of each of those is its absence.
type Parameters struct {
	// Round is the policies' unit of time: revisit.default_interval.
	Round time.Duration
	// Min and Max bound every interval: revisit.min_interval and max_interval.
	Min, Max time.Duration
	// Threshold is θ, the index at which a page of weight 1 is due, in the unit of
	// the objective; see [MoveThreshold]. 0 is a threshold of one's own, with which
	// an unknown page is visited once a round.
	Threshold float64
	// HostPrice is the threshold of the page's host, which counts when it is above
	// Threshold; see [MoveHostPrice].
	HostPrice float64
	// Prior is the belief about a page of this host that nothing is known of; see
	// [Population.Prior]. The zero Gamma is FirstPrior.
	Prior gamma.Distribution
	// Steep says how steeply rates of change fall with the age of pages; see [Clock]. 0
	// is not at all.
	Steep float64
	// Site is what the pages of the host have in common.
	Site Site
	// HalfLife is the time in which half of what was learned is forgotten; 0 is
	// DefaultHalfLife.
	HalfLife time.Duration
	// Weight is the page's importance, 1 for an average page; 0 is 1.
	Weight float64
}

// DefaultHalfLife is how long half of what was learned about a page is remembered. On
// recorded collections two years are as good as any longer time and better than less;
// a memory of half a year was best only while rates were taken for constant, and busy
// and quiet times for changes of them.
const DefaultHalfLife = 720 * day

// ParametersOf takes the parameters from a valid spec.
func ParametersOf(r crawl.RevisitSpec) Parameters {
	return Parameters{Round: r.DefaultInterval.Std(), Min: r.MinInterval.Std(), Max: r.MaxInterval.Std()}
}

func (p Parameters) prior() gamma.Distribution {
	if p.Prior.A > 0 && p.Prior.B > 0 {
		return p.Prior
	}
	return FirstPrior(max(p.Round, 1))
}

func (p Parameters) halfLife() time.Duration {
	if p.HalfLife > 0 {
		return p.HalfLife
	}
	return DefaultHalfLife
}

// keep is the share of what was learned that is left after some time.
func (p Parameters) keep(after time.Duration) float64 {
	return math.Exp2(-float64(max(after, 0)) / float64(p.halfLife()))
}

func (p Parameters) weight() float64 {
	if p.Weight > 0 {
		return p.Weight
	}
	return 1
}

// Floor is the shortest interval that may result: Min, or Round when that is
// shorter, because whoever asks for a visit every minute has asked for
// intervals of a minute. It never exceeds Max.
func (p Parameters) Floor() time.Duration { return max(1, min(p.Min, p.Round, p.Max)) }

// Decision is when a page is visited again, and why.
type Decision struct {
	// Interval is the time from the visit to the next one.
	Interval time.Duration
	// Wanted is the interval that the policy came to, before the bounds and the
	// jitter.
	Wanted time.Duration
	// Belief is the page's memory after the visit.
	Belief Belief

	why grounds
}

// Reasons are why the interval is what it is, as codes and numbers; see [Words].
// They are made when asked for, so that a plan allocates nothing.
func (d Decision) Reasons() []crawl.Reason { return d.why.reasons() }

// decide makes a decision of the interval that the grounds lead to: clamped to
// the bounds and moved by the jitter.
func (p Parameters) decide(page Page, belief Belief, wanted time.Duration, why ...ground) Decision {
	d := Decision{Wanted: wanted, Belief: belief}
	var bound ground
	d.Interval, bound = p.spread(page, wanted)
	d.why.add(why...)
	d.why.add(bound)
	return d
}

// Replan is the decision that a policy makes of a page that sleeps, by what is known
// now. The page is as its last visit left it.
func Replan(policy Policy, page Page, p Parameters) Decision {
	return policy.Next(page, Observation{}, p)
}

// ByName returns a policy by its name in a spec.
func ByName(name string) (Policy, error) {
	i := slices.IndexFunc(policies, func(p Policy) bool { return p.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("no revisit policy %q: use one of %s", name, strings.Join(crawl.Policies(), ", "))
	}
	return policies[i], nil
}

var policies = []Policy{Budgeted{Delay{}}, Budgeted{Fresh{}}, Budgeted{Age{}}, Budgeted{Harmonic{}}, FRMax{}, DeltaT{}, Fixed{}}

// Fixed visits every page once a round.
type Fixed struct{}

// Name implements Policy.
func (Fixed) Name() string { return "fixed" }

// Next implements Policy.
func (Fixed) Next(page Page, seen Observation, p Parameters) Decision {
	return p.decide(page, page.Belief.observe(seen, p), p.Round, because(CodeEvery, p.Round.Seconds()))
}

// times multiplies without overflow: a product beyond what a Duration holds is
// the longest Duration.
func times(n int, d time.Duration) time.Duration {
	if n > 0 && d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return time.Duration(n) * d
}
