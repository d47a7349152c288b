package schedule

import (
	"encoding/json"
	"math"
	"math/bits"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/gamma"
)

// window is how many comparisons a belief remembers individually. It is the width of
// Belief.History, and at least as large as any policy's limit.
const window = 32

// Belief is the policies' memory of a page: a few numbers that are stored with the
// page. The zero Belief is that of a page that was never compared. All policies keep
// their memory here, and each visit updates all of them, so a crawl that changes its
// policy starts with the earlier evidence. A field that is absent in a stored belief
// is zero, which is also right for beliefs from before the field existed.
type Belief struct {
	// MaxFR is max_fr of Bouras et al., in rounds; 0 before FRMax has made a decision.
	MaxFR int `json:"max_fr,omitempty"`
	// Pairs is the number of comparisons in History, 0 to 32.
	Pairs int `json:"pairs,omitempty"`
	// History has a bit for each of the last comparisons, the latest in the lowest bit.
	// 1 is a change.
	History uint32 `json:"history,omitempty"`
	// Told has a bit for each comparison in History. 1 is one that only the server's
	// word (304) confirms.
	Told uint32 `json:"told,omitempty"`
	// Soonest is the shortest time, in days, between two looks of the unbroken run of
	// changes that History ends with.
	Soonest float32 `json:"soonest,omitempty"`
	// Since is when the page last changed by itself, or was first seen, in milliseconds
	// of Unix time; 0 means unknown. The page's age counts from then; see [Clock].
	Since int64 `json:"since,omitempty"`
	// LastGap is the time between the last two comparisons, in days; 0 if a list asked for
	// the last one. Such a look finds a change because the list said so, which is no evidence
	// of a wave.
	LastGap float32 `json:"last,omitempty"`
	// Aging is the evidence on how the rate falls with age.
	Aging Aging `json:"slant,omitzero"`
	// Changes, Days, Looks and Apart are the evidence on the rate of change, on the
	// page's clock and after forgetting. They are the fields of [gamma.Evidence]; Apart
	// is its Gap. They do not include the prior, so a prior that moves takes all its
	// pages along.
	Changes float32 `json:"a,omitempty"`
	Days    float32 `json:"b,omitempty"`
	Looks   float32 `json:"n,omitempty"`
	Apart   float32 `json:"gap,omitempty"`
	// Compared is when the page was last compared or first seen, in milliseconds of
	// Unix time. Policies do not read it; see Gap.
	Compared int64 `json:"at,omitempty"`
	// Late is how many days late visits came, for instance because of the host's line.
	// Each visit counts for half of the weight that later ones leave; see lateness.
	Late float32 `json:"late,omitempty"`
	// Times has the times of the page's last looks and their results, in few bytes; see
	// timedLooks. Timetable is the page's timetable as these looks show it.
	Times     Times     `json:"times,omitzero"`
	Timetable Timetable `json:"table,omitzero"`
	// Dated counts, up to regular, the last changes whose times are known from trusted
	// dates and were each at the same time of a day, or of an hour, as the one before.
	Dated uint8 `json:"dated,omitempty"`
	// Refresh is t_n of Singhal et al., in days; 0 before DeltaT has made a decision.
	Refresh float32 `json:"t,omitempty"`
	// Selective is the share of changed internal pages at which the selective rule of
	// Bouras et al. visits a page; 0 before it first moved.
	Selective float32 `json:"selective,omitempty"`
	// Newest is the date of the newest entry of a list, in milliseconds of Unix time; 0 for
	// other pages, and for a list whose entries have no times.
	Newest int64 `json:"newest,omitempty"`
	// Moved and Stayed count, up to proofs, how often the content's date (Newest, or
	// Last-Modified) moved when the content changed, and stayed when it did not, since it
	// was last wrong.
	Moved  uint8 `json:"lm_moved,omitempty"`
	Stayed uint8 `json:"lm_stayed,omitempty"`
	// Skipped says that FRMax.Select skipped the last visit.
	Skipped bool `json:"skipped,omitempty"`
}

// DecodeBelief reads a stored belief. It cannot fail: empty, damaged or out-of-range
// input yields the belief of a fresh page, because everything in it can be learned
// again. Fields of later versions are ignored.
func DecodeBelief(stored json.RawMessage) Belief {
	var b Belief
	if len(stored) == 0 || json.Unmarshal(stored, &b) != nil || !b.valid() {
		return Belief{}
	}
	return b
}

func (b Belief) valid() bool {
	return b.Pairs >= 0 && b.Pairs <= window && b.MaxFR >= 0 && b.MaxFR <= FRLimit &&
		b.History>>b.Pairs == 0 && b.Told>>b.Pairs == 0 && b.Told&b.History == 0 &&
		within(b.Soonest, 1e6) && within(b.Changes, 1e6) && within(b.Days, 1e6) && within(b.Refresh, 1e6) && within(b.Late, 1e6) &&
		within(b.Looks, 1e6) && within(b.Apart, 1e6) && (b.Looks == 0) == (b.Apart == 0) &&
		b.Timetable.valid() && within(b.LastGap, 1e6) && b.Aging.valid() &&
		within(b.Selective, 1) && b.Compared >= 0 && b.Newest >= 0 && b.Moved <= proofs && b.Stayed <= proofs && b.Dated <= regular
}

func within(x, most float32) bool { return x >= 0 && x <= most }

// Encode returns the belief as it is stored.
func (b Belief) Encode() json.RawMessage {
	data, err := json.Marshal(b)
	if err != nil {
		panic("schedule: a belief of numbers does not encode: " + err.Error())
	}
	return data
}

// Gap returns the time from the last comparison, or the first copy, to now. It is the
// [Observation.Gap] of a visit at that time; 0 means unknown.
func (b Belief) Gap(now time.Time) time.Duration {
	if b.Compared == 0 {
		return 0
	}
	return max(0, now.Sub(time.UnixMilli(b.Compared)))
}

// ComparedAt returns when the page was last compared or first seen, zero if unknown.
func (b Belief) ComparedAt() time.Time {
	if b.Compared == 0 {
		return time.Time{}
	}
	return time.UnixMilli(b.Compared)
}

// Gamma returns the belief about the page's rate of change, on its own clock, under a
// prior.
func (b Belief) Gamma(prior gamma.Distribution) gamma.Distribution {
	return b.evidence().Under(prior)
}

func (b Belief) evidence() gamma.Evidence {
	return gamma.Evidence{Changes: float64(b.Changes), Days: float64(b.Days), Looks: float64(b.Looks), Gap: float64(b.Apart)}
}

// Rate returns the expected changes a day from now on, averaged over a round.
func (b Belief) Rate(p Parameters) float64 {
	return p.forecast(b).over(b.Gamma(p.prior()), days(max(p.Round, 1))).Mean()
}

// observe adds the evidence of a visit, if it compared two copies or saw the first one.
func (b Belief) observe(seen Observation, p Parameters) Belief {
	if !seen.Outcome.Observes() {
		return b
	}
	b.Late = b.lateness(seen, p)
	if !seen.At.IsZero() {
		b.Compared = seen.At.UnixMilli()
	}
	ago, before := b.changedAgo(seen), b.Since
	b = b.learn(seen, p).witness(seen).noteNewest(seen)
	if !compares(seen.Outcome) {
		return b
	}
	changed := seen.Outcome.Changed()
	b.Pairs = min(b.Pairs+1, window)
	b.History = b.History<<1 | bit(changed)
	b.Told = b.Told<<1 | bit(!changed && seen.NotModified)
	switch {
	case !changed:
		b.Soonest = 0
	case seen.Gap > 0 && (b.Soonest == 0 || float64(b.Soonest) > days(seen.Gap)):
		b.Soonest = float32(days(seen.Gap))
	}
	return b.keepTime(seen, ago, before)
}

// surprise bounds by how much more than earlier visits a visit may be late to count, as a share of
// its planned interval.
const surprise = 0.1

// lateness returns Late after a visit. The line of a full host is long for good. Elsewhere much
// lateness at once is that of an outage, which is over when it is noticed: plans that allowed
// for it would ask for more visits than there is budget for, for months. If it lasts, a few
// visits show it. How late a first visit was, which has no interval, says nothing about
// those that follow.
func (b Belief) lateness(seen Observation, p Parameters) float32 {
	late := days(max(seen.Late, 0))
	if p.HostPrice <= p.Threshold {
		planned := max(0, days(seen.Gap)-late)
		late = min(late, float64(b.Late)+surprise*planned)
	}
	return stored32((float64(b.Late) + late) / 2)
}

// learn adds to the evidence. A change after an unknown gap says nothing about the
// rate, nor does a missing change in no time.
func (b Belief) learn(seen Observation, p Parameters) Belief {
	var e gamma.Evidence
	switch {
	case seen.Outcome == crawl.OutcomeNew:
		b, e = b.meet(seen, p)
	case compares(seen.Outcome) && seen.Gap > 0:
		b, e = b.compare(seen, p)
	default:
		return b
	}
	b.Changes, b.Days, b.Looks, b.Apart = stored32(e.Changes), stored32(e.Days), stored32(e.Looks), stored32(e.Gap)
	if b.Looks == 0 || b.Apart == 0 {
		b.Looks, b.Apart = 0, 0
	}
	return b
}

// meet adds the evidence of a first look, which is when the page last changed, if that
// is known. Looking back in time, the last change is as far away as the next one. A
// change long ago counts less, like all evidence that is half forgotten.
func (b Belief) meet(seen Observation, p Parameters) (Belief, gamma.Evidence) {
	ago := days(b.changedAgo(seen))
	if b.Since == 0 || ago > 0 {
		b.Since = b.changedAt(seen, ago)
	}
	if ago == 0 {
		return b, b.evidence()
	}
	e, forgets := b.evidence().Faded(p.keep(seen.Gap)), math.Ln2/days(p.halfLife())
	e.Changes += p.keep(duration(ago))
	e.Days += p.clock(b).Lives(0, -math.Expm1(-forgets*ago)/forgets)
	return b, e
}

// compare adds the evidence of a look after a known gap. A change of the whole site
// is not evidence of the page's own rate.
func (b Belief) compare(seen Observation, p Parameters) (Belief, gamma.Evidence) {
	keep, gap, ago := p.keep(seen.Gap), days(seen.Gap), days(b.changedAgo(seen))
	believed, look, e := b.Gamma(p.prior()), b.look(seen, p), b.evidence().Faded(keep)
	if b.Since != 0 {
		b.Aging = b.Aging.faded(keep)
		if !look.wave && b.Pairs >= knownLooks {
			b.Aging = b.Aging.look(believed, look.clock, look.age, gap, seen.Outcome.Changed())
		}
	}
	switch lived := look.clock.Lives(look.age, gap); {
	case look.site:
	case !seen.Outcome.Changed():
		e.Days += lived
	case ago > 0 && ago <= gap:
		e.Changes++
		b.Since = b.changedAt(seen, ago)
		e.Days += p.clock(b).Lives(0, ago)
	default:
		e = e.Changed(lived, believed.Mean())
		b.Since = b.changedAt(seen, gap/2)
	}
	if b.LastGap = stored32(gap); seen.Hinted {
		b.LastGap = 0
	}
	return b, e
}

// changedAt returns Since after a visit that says the page changed ago days before it.
func (b Belief) changedAt(seen Observation, ago float64) int64 {
	if seen.At.IsZero() {
		return b.Since
	}
	return seen.At.UnixMilli() - dayMs(ago)
}

// aged is a look at a page in terms of its clock.
type aged struct {
	clock Clock
	age   float64 // days, at the look before
	wave  bool    // the site's pages changed in between
	site  bool    // and that is the likelier reason of the change found
}

// look returns a look after a known gap in terms of the page's clock.
func (b Belief) look(seen Observation, p Parameters) aged {
	gap := days(seen.Gap)
	l := aged{clock: p.clock(b)}
	if seen.At.IsZero() || b.Since == 0 {
		l.clock.Steep = 0
		return l
	}
	at := seen.At.UnixMilli()
	l.age = max(0, msDays(at-b.Since)-gap)
	l.wave = p.Site.between(at-dayMs(gap), at)
	if l.wave && seen.Outcome.Changed() {
		own := 1 - b.Gamma(p.prior()).Survival(l.clock.Lives(l.age, gap))
		l.site = p.Site.Share > own
	}
	return l
}

// stored32 limits evidence to the range that is stored.
func stored32(x float64) float32 { return float32(min(max(x, 0), 1e6)) }

// last returns how many of the last limit comparisons there are, and how many
// of them were changes.
func (b Belief) last(limit int) (pairs, changes int) {
	pairs = min(b.Pairs, limit)
	return pairs, bits.OnesCount32(b.History & (1<<pairs - 1))
}

// told returns how many of the last limit comparisons the server made.
func (b Belief) told(limit int) int {
	return bits.OnesCount32(b.Told & (1<<min(b.Pairs, limit) - 1))
}

// noisyLooks is how many looks in a row must have found a change before a page is
// suspected of noise.
const noisyLooks = 16

// noisy reports whether the page "changes" however soon it is looked at: each of the
// last 16 looks found a change, one of them within twice the shortest interval. The
// page either changes faster than it may be visited, or the changes are noise (a clock,
// a token, an advertisement). The looks alone cannot tell which.
func (b Belief) noisy(p Parameters) (looks int, is bool) {
	looks = bits.TrailingZeros32(^b.History)
	return looks, looks >= noisyLooks && b.Soonest > 0 && b.Soonest <= float32(2*days(p.Floor()))
}

// compares reports whether the visit compared two copies of the page. A first copy
// only shows that the page exists.
func compares(o crawl.Outcome) bool { return o.Observes() && o != crawl.OutcomeNew }

func bit(is bool) uint32 {
	if is {
		return 1
	}
	return 0
}
