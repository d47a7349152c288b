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

// Policy decides when a page is visited again. An implementation has no state: its
// memory of a page is in the page's Belief, and the values that pages share are in the
// Parameters.
type Policy interface {
	// Name returns the policy's name in a spec.
	Name() string
	// About says in a line what the policy is for, or whose it is.
	About() string
	// Next decides the interval after a visit. An outcome that is no evidence about the
	// page's changes (see [crawl.Outcome.Observes]) does not alter the evidence. The
	// interval is within the bounds of the parameters.
	Next(page Page, seen Observation, p Parameters) Decision
}

// Page is the knowledge about a page before a visit is judged.
type Page struct {
	ID       int64
	State    crawl.PageState
	Visit    int // number of the visit that is judged, ≥ 1
	Failures int // visits in a row that failed or were throttled, before this one
	Belief   Belief
}

// Observation is the result of a visit.
type Observation struct {
	Outcome crawl.Outcome
	// RetryAfter is the minimum wait that a throttling host asked for, 0 if it gave
	// none.
	RetryAfter time.Duration
	// Rest is the minimum time to leave the page alone because its last visit sent its
	// host into back-off, 0 if it did not.
	Rest time.Duration
	// Duplicate says that the content is also another page's, and that the other page
	// is the one visited as usual.
	Duplicate bool
	// Respelled says that the redirect leads to the page itself under another spelling.
	Respelled bool
	// Lifted says that the page was excluded without a request by a rule that is in force no
	// more.
	Lifted bool
	// Forbidden says that the page was excluded without a request by a file of its site, which
	// still does.
	Forbidden bool
	// Seed says that the page is a seed: somebody expects it to be there.
	Seed bool
	// Permanent says that the answer, a redirect or 410, claims to be for good.
	Permanent bool
	// HostLost says that the host has just lost another page in the same way.
	HostLost bool
	// Looks is how many visits ago the page was suspect first, 0 if it was not before this one.
	Looks int
	// Trapped says that the page is part of a trap, whose other pages are held.
	Trapped bool
	// At is when the visit was made. It is remembered only to compute the Gap of the
	// next visit. A zero time is not remembered.
	At time.Time
	// Gap is the time since the page was last compared or first seen; see [Belief.Gap].
	// Visits in between that saw no content do not end it. 0 means unknown: the visit
	// then counts in the history but says nothing about the rate.
	Gap time.Duration
	// Since is the time since the visit before, 0 if there was none.
	Since time.Duration
	// Late is how long after it was due the visit was made; 0 means on time, or
	// unknown.
	Late time.Duration
	// Hinted says that a sitemap or feed asked for the visit, because the page had changed.
	Hinted bool
	// NotModified says that the server made the comparison (304). It counts as no
	// change, and is recorded as the server's word.
	NotModified bool
	// ChangedAgo is how long before the visit the page last changed, according to a
	// date that has proved reliable: one that moves if and only if the
	// content does. 0 means unknown. A time that contradicts the comparison is ignored.
	ChangedAgo time.Duration
	// Modified has the Last-Modified dates of the copies. They determine ChangedAgo
	// once they have proved reliable on this page; see [Modified].
	Modified Modified
	// Newest is the date of the newest entry of a feed or sitemap, zero if it has none
	// with a time of day, or if the visit saw no content. It stands for Last-Modified.
	Newest time.Time
	// Internal describes the pages of the same site that the page links to.
	Internal Internal
}

// Parameters are a policy's inputs besides the page. Round, Min and Max come from the
// spec, or from a rule in it that matches the page. The others are values that pages
// share, which maintenance moves slowly; for each of them, zero means that there is
// none.
type Parameters struct {
	// Round is the policies' unit of time: revisit.default_interval.
	Round time.Duration
	// Min and Max bound every interval: revisit.min_interval and max_interval.
	Min, Max time.Duration
	// Threshold is θ, the index at which a page of weight 1 is due, in the objective's
	// unit; see [MoveThreshold]. 0 stands for a default threshold, with which an
	// unknown page is visited once a round.
	Threshold float64
	// HostPrice is the threshold of the page's host. It applies when it is above
	// Threshold; see [MoveHostPrice].
	HostPrice float64
	// Interval is the number of days that there are for each visit of a page; see
	// [Steering]. 0 means that it is not known, or that the page's host has no visits to
	// spare.
	Interval float64
	// Prior is the belief about an unknown page of this host; see [Population.Prior].
	// Its zero value stands for FirstPrior.
	Prior gamma.Distribution
	// Steep says how steeply rates of change fall with the age of pages; see [Clock]. 0
	// means not at all.
	Steep float64
	// Site describes the changes that the pages of the host have in common.
	Site Site
	// HalfLife is the time in which half of the evidence is forgotten; 0 stands for
	// DefaultHalfLife.
	HalfLife time.Duration
	// Weight is the page's importance, 1 for an average page; 0 counts as 1.
	Weight float64
	// Stretch is by how much intervals are longer than the policy wants; see
	// [Steering]. Policies with a budget have a smaller one instead, and no Stretch.
	Stretch float64
}

// DefaultHalfLife is the time in which half of the evidence about a page is forgotten.
// On recorded collections two years do as well as any longer time and better than any
// shorter one. Half a year was best only under the model of a constant rate, which
// mistook busy and quiet times for changes of the rate.
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

// keep returns the share of the evidence that is left after some time.
func (p Parameters) keep(after time.Duration) float64 {
	return math.Exp2(-float64(max(after, 0)) / float64(p.halfLife()))
}

func (p Parameters) weight() float64 {
	if p.Weight > 0 {
		return p.Weight
	}
	return 1
}

// Floor returns the shortest possible interval: Min, or Round if that is shorter, since
// a crawl with a round of a minute wants intervals of a minute. It never exceeds Max.
func (p Parameters) Floor() time.Duration { return max(1, min(p.Min, p.Round, p.Max)) }

// Decision says when a page is visited again, and why.
type Decision struct {
	// Interval is the time from the visit to the next one.
	Interval time.Duration
	// Wanted is the interval that the policy chose, before bounds and jitter.
	Wanted time.Duration
	// Belief is the page's memory after the visit.
	Belief Belief

	why grounds
}

// Reasons returns the reasons for the interval, as codes and numbers; see [Words].
// They are made on demand, so that planning allocates nothing.
func (d Decision) Reasons() []crawl.Reason { return d.why.reasons() }

// decide makes a decision from the wanted interval and the grounds for it. The interval
// is stretched, clamped to the bounds and moved by the jitter.
func (p Parameters) decide(page Page, belief Belief, wanted time.Duration, why ...ground) Decision {
	d := Decision{Wanted: wanted, Belief: belief}
	d.why.add(why...)
	if p.Stretch > 1 {
		wanted = duration(max(days(wanted), days(p.Floor())) * p.Stretch)
		d.why.add(because(CodeStretched, p.Stretch))
	}
	var bound ground
	d.Interval, bound = p.spread(page, wanted)
	d.why.add(bound)
	return d
}

// Replan returns the decision that a policy would make now about a page that sleeps.
// page is in the state after its last visit.
func Replan(policy Policy, page Page, p Parameters) Decision {
	return policy.Next(page, Observation{}, p)
}

// ByName returns a policy by its name in a spec. The error lists the names that exist.
func ByName(name string) (Policy, error) {
	policies := Policies()
	i := slices.IndexFunc(policies, func(p Policy) bool { return p.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("no revisit policy %q: use one of %s", name, strings.Join(crawl.Policies(), ", "))
	}
	return policies[i], nil
}

// Policies returns all policies.
func Policies() []Policy {
	return []Policy{Budgeted{Delay{}}, Budgeted{Fresh{}}, Budgeted{Age{}}, Budgeted{Harmonic{}}, FRMax{}, DeltaT{}, Fixed{}}
}

// Fixed visits every page once a round.
type Fixed struct{}

// Name implements Policy.
func (Fixed) Name() string { return "fixed" }

// About implements Policy.
func (Fixed) About() string { return "every page once a round, jittered" }

// Next implements Policy.
func (Fixed) Next(page Page, seen Observation, p Parameters) Decision {
	return p.decide(page, page.Belief.observe(seen, p), p.Round, because(CodeEvery, p.Round.Seconds()))
}

// times multiplies without overflow; the result is capped at the longest Duration.
func times(n int, d time.Duration) time.Duration {
	if n > 0 && d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return time.Duration(n) * d
}
