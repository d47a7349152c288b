package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

// Pages whose changes follow clocks of a known steepness are looked at as policies do;
// the estimate from the looks comes near it. Where rates are constant, however
// different, they do not seem to fall.
func TestSteepnessIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many pages")
	}
	t.Parallel()
	for _, want := range []float64{0, 0.2, 0.4} {
		steep := 0.0
		p := Parameters{Round: day, Min: time.Hour, Max: 120 * day}
		random := rand.New(rand.NewPCG(7, uint64(100*want)))
		pages := make([]agingPage, 300)
		for i := range pages {
			pages[i] = newAgingPage(i, Clock{want, 1}, math.Exp(1.5*random.NormFloat64()-3), random)
		}
		for range 30 { // months
			var slope, info float64
			var all Population
			for i := range pages {
				p.Steep = steep
				pages[i].live(p, 30)
				slope, info = slope+float64(pages[i].Belief.Aging.Slope), info+float64(pages[i].Belief.Aging.Info)
				all.Add(pages[i].Belief.Gamma(p.prior()))
			}
			steep, p.Prior = steepnessOf(slope, info), all.Prior(FirstPrior(day))
		}
		t.Logf("of a steepness of %v, %.3f is found", want, steep)
		if math.Abs(steep-want) > 0.12 {
			t.Errorf("found %v, want %v", steep, want)
		}
	}
}

// agingPage changes by a clock, and is visited by the square root of its rate.
type agingPage struct {
	Page
	clock           Clock
	rate            float64
	random          *rand.Rand
	now, due        float64 // days
	changed, change float64 // when it last did, and does next
}

func newAgingPage(id int, c Clock, rate float64, random *rand.Rand) agingPage {
	a := agingPage{Page: Page{ID: int64(id + 1), State: crawl.Active}, clock: c, rate: rate, random: random}
	a.next()
	return a
}

// next draws the next change: when the page's clock has gone on by an exponential time.
func (a *agingPage) next() {
	life := a.random.ExpFloat64() / a.rate
	low, high := 0.0, 1e9
	for range 100 {
		if mid := (low + high) / 2; a.clock.Lives(0, mid) < life {
			low = mid
		} else {
			high = mid
		}
	}
	a.change = a.changed + high
}

// live visits the page until the given number of days from now.
func (a *agingPage) live(p Parameters, days float64) {
	start := time.Unix(1_800_000_000, 0)
	end := a.now + days
	for ; a.due <= end; a.now = a.due {
		a.Visit++
		seen := Observation{Outcome: crawl.OutcomeNew, At: start.Add(duration(a.due)), Gap: a.Belief.Gap(start.Add(duration(a.due)))}
		if a.Visit > 1 {
			seen.Outcome = crawl.OutcomeUnchanged
		}
		for a.change <= a.due {
			if a.changed = a.change; a.Visit > 1 {
				seen.Outcome = crawl.OutcomeChanged
			}
			a.next()
		}
		a.Belief = a.Belief.observe(seen, p)
		a.now = a.due
		// Visits at many ages: some soon, some late, whatever was seen.
		a.due += math.Exp(1.2*a.random.NormFloat64()) * 0.5 / math.Sqrt(a.rate)
	}
	a.now = end
}

// The evidence of the looks is kept in the page's belief through a change of Steep.
func TestAgingIsStored(t *testing.T) {
	t.Parallel()
	p := Parameters{Round: day, Min: time.Hour, Max: 120 * day, Steep: 0.4}
	at := time.Unix(1_800_000_000, 0)
	b := Belief{}.observe(Observation{Outcome: crawl.OutcomeNew, At: at}, p)
	for i, o := range []crawl.Outcome{crawl.OutcomeUnchanged, crawl.OutcomeChanged, crawl.OutcomeUnchanged, crawl.OutcomeChanged} {
		gap := time.Duration(i+1) * day
		at = at.Add(gap)
		b = b.observe(Observation{Outcome: o, At: at, Gap: gap}, p)
	}
	if b.Aging.Info <= 0 || b.Aging.Known <= 0 || b.Since != at.Add(-2*day).UnixMilli() || b.LastGap != 4 {
		t.Errorf("%+v: want an aging, and the last change two days ago", b)
	}
	if got := DecodeBelief(b.Encode()); got != b {
		t.Errorf("read %+v, stored %+v", got, b)
	}
}
