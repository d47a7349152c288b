package schedule

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/mathtest"
)

// site1 is a site of pages, looked at one after the other.
type wavingSite struct {
	pages      []Entry
	steering   Steering
	host       HostSteering
	now        time.Time
	maintained time.Time
	waves      []time.Time
}

const siteDay = 24 * time.Hour

func newWavingSite(pages int) *wavingSite {
	s := &wavingSite{now: time.Unix(1_800_000_000, 0).Truncate(time.Millisecond), steering: Steering{Steep: 0.5, Interval: 20}}
	for i := range pages {
		e := Entry{Host: 1}
		e.ID, e.State = int64(i+1), crawl.Active
		s.pages = append(s.pages, e)
	}
	return s
}

// round visits every page once in twenty days, with maintenance every day. changed
// says whether a page has changed, by its place and the time of the look before.
func (s *wavingSite) round(t *testing.T, changed func(page int, before time.Time) bool) {
	t.Helper()
	rules, err := NewRules(crawl.DefaultSpec().Revisit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.pages {
		e := &s.pages[i]
		s.now = s.now.Add(20 * siteDay / time.Duration(len(s.pages)))
		e.Visit++
		seen := Observation{Outcome: crawl.OutcomeUnchanged, At: s.now, Gap: e.Belief.Gap(s.now)}
		switch {
		case e.Visit == 1:
			seen.Outcome = crawl.OutcomeNew
		case changed(i, e.At):
			seen.Outcome = crawl.OutcomeChanged
		}
		plan := AfterVisit(Budgeted{Delay{}}, e.Page, seen, rules.At(0).Steer(s.steering, s.host, 0))
		e.Belief, e.At, e.Due = plan.Belief, s.now, s.now.Add(20*siteDay)
		if s.now.Sub(s.maintained) >= siteDay {
			s.maintain(rules)
		}
	}
}

func (s *wavingSite) maintain(rules Rules) {
	tally := NewTally(rules, s.steering, map[int64]HostSteering{1: s.host}, Period{From: s.maintained, To: s.now})
	for _, e := range s.pages {
		tally.Add(e)
	}
	round := tally.Settle(Allowance{Budget: float64(len(s.pages)) / 20})
	steep := s.steering.Steep
	s.steering, s.maintained = round.Steering, s.now
	s.steering.Steep = steep
	if h, moved := round.Hosts[1]; moved {
		if h.Site.Wave != s.host.Site.Wave {
			s.waves = append(s.waves, time.UnixMilli(h.Site.Wave))
		}
		s.host = h
	}
}

// A change of the whole site is found within the looks that it takes, once, and not
// attributed to the pages: their rates stay, and so does their age.
func TestWave(t *testing.T) {
	t.Parallel()
	s := newWavingSite(400)
	never := func(int, time.Time) bool { return false }
	for range 6 {
		s.round(t, never)
	}
	if len(s.waves) > 0 || s.host.Site.Rate(s.now.UnixMilli()) != 0 {
		t.Fatalf("waves %v at a site that never changed", s.waves)
	}
	start := s.now
	before := s.pages[399].Belief
	s.round(t, func(page int, looked time.Time) bool { return page%4 < 3 && looked.Before(start) })
	s.round(t, never)
	if len(s.waves) != 1 || s.waves[0].Before(start) || s.waves[0].After(start.Add(2*siteDay)) {
		t.Fatalf("waves at %v, want one soon after %v", s.waves, start)
	}
	if share := s.host.Site.Share; !mathtest.Alike(share, 0.75, 0.05) {
		t.Errorf("it changed %v of the pages, want 0.75", share)
	}
	if rate, want := s.host.Site.Rate(s.now.UnixMilli()), 0.75/(160+waveless-1); !mathtest.Alike(rate, want, 0.1) {
		t.Errorf("a page is expected to change with its site %v times a day, want %v", rate, want)
	}
	after := s.pages[398].Belief
	if after.last(1); after.Looks != 0 || after.Since != s.pages[398].Belief.Since || after.Since > start.UnixMilli() {
		t.Errorf("the site's change was taken for the page's own: %+v, before %+v", after, before)
	}
	if _, n := after.last(32); n != 1 {
		t.Errorf("the history of the page has %d changes, want 1", n)
	}
}

// Pages that change by themselves, often or not, are no wave.
func TestNoWave(t *testing.T) {
	t.Parallel()
	s := newWavingSite(400)
	round := 0
	for range 20 {
		round++
		s.round(t, func(page int, _ time.Time) bool { return mix(uint64(page*1000+round))%100 < uint64(page%60) })
	}
	if len(s.waves) > 0 {
		t.Errorf("waves at %v", s.waves)
	}
}

// Visits that a list asks for, because it says that their pages have changed, find changes one
// after the other. That is no wave.
func TestHintsAreNoWave(t *testing.T) {
	t.Parallel()
	for _, hinted := range []bool{true, false} {
		s := newWavingSite(400)
		never := func(int, time.Time) bool { return false }
		for range 6 {
			s.round(t, never)
		}
		rules, err := NewRules(crawl.DefaultSpec().Revisit)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			e := &s.pages[i]
			s.now = s.now.Add(time.Minute)
			e.Visit++
			seen := Observation{Outcome: crawl.OutcomeChanged, At: s.now, Gap: e.Belief.Gap(s.now), Hinted: hinted}
			plan := AfterVisit(Budgeted{Delay{}}, e.Page, seen, rules.At(0).Steer(s.steering, s.host, 0))
			e.Belief, e.At, e.Due = plan.Belief, s.now, s.now.Add(20*siteDay)
		}
		s.maintain(rules)
		if got := len(s.waves) == 0; got != hinted {
			t.Errorf("60 looks found changes, hinted %v: waves at %v", hinted, s.waves)
		}
	}
}

func TestSiteIsStored(t *testing.T) {
	t.Parallel()
	for _, s := range []Site{{}, {Wave: 1, Share: 0.5, Looks: 2, Waves: 1.5, Since: 3}, {Since: 4}} {
		if got := DecodeSite(s.Encode()); got != s {
			t.Errorf("read %+v, stored %+v", got, s)
		}
	}
	for _, damaged := range []string{"{", `{"share":2}`, `{"looks":-1}`, "null"} {
		if got := DecodeSite(damaged); got != (Site{}) {
			t.Errorf("%q is read as %+v", damaged, got)
		}
	}
}
