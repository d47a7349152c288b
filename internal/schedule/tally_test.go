package schedule

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule/mathtest"
)

// collection is pages that have been learned about, as a store keeps them.
type collection struct {
	rules    Rules
	entries  []Entry
	steering Steering
	hosts    map[int64]HostSteering
	now      time.Time
}

func newCollection(t testing.TB, r crawl.RevisitSpec, seed uint64, pages, hosts int) *collection {
	t.Helper()
	rules, err := NewRules(r)
	if err != nil {
		t.Fatal(err)
	}
	c := &collection{rules: rules, hosts: map[int64]HostSteering{}, now: time.Unix(1_800_000_000, 0)}
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range pages {
		e := Entry{Host: int64(i % hosts), Group: i % len(rules.groups)}
		e.ID, e.State, e.Visit = int64(i+1), crawl.Active, 5
		e.At = c.now.Add(-time.Duration(random.Int64N(int64(time.Hour)))).Truncate(time.Millisecond)
		e.Belief = Belief{Pairs: 4, Changes: float32(random.ExpFloat64()), Days: float32(20 * random.ExpFloat64()), Compared: e.At.UnixMilli()}
		c.entries = append(c.entries, e)
	}
	c.plan()
	return c
}

// plan plans every page again, as visits do one by one.
func (c *collection) plan() {
	for i := range c.entries {
		e := &c.entries[i]
		g := c.rules.At(e.Group)
		e.Due = e.At.Add(Replan(g.Policy, e.Page, g.Steer(c.steering, c.hosts[e.Host], e.Weight)).Interval)
	}
}

func (c *collection) tally() *Tally {
	tally := NewTally(c.rules, c.steering, c.hosts, Period{To: c.now})
	for _, e := range c.entries {
		tally.Add(e)
	}
	return tally
}

func (c *collection) round(budget float64, limits map[int64]float64) Round {
	return c.settle(Allowance{Budget: budget, Hosts: limits})
}

func (c *collection) settle(may Allowance) Round {
	round := c.tally().Settle(may)
	c.steering = round.Steering
	for id, h := range round.Hosts {
		c.hosts[id] = h
	}
	c.plan()
	return round
}

func (c *collection) planned(host int64) float64 {
	sum := 0.0
	for _, e := range c.entries {
		if host < 0 || e.Host == host {
			sum += 1 / days(e.Planned())
		}
	}
	return sum
}

func spec(policy string) crawl.RevisitSpec {
	r := crawl.DefaultSpec().Revisit
	r.Policy, r.MinInterval, r.AcceptPatents = policy, crawl.Duration(time.Minute), true
	return r
}

// Round after round, the planned visits approach the budget, and no host gets more
// than its limit: for every objective, with rules, weights, and whatever the pages.
func TestRoundsMeetTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := spec(rapid.SampledFrom([]string{"sqrt", "fresh", "age", "harmonic"}).Draw(t, "policy"))
		r.Rules = []crawl.RevisitRule{{Prefix: "http://a/", Weight: 3}, {Host: "b", Policy: "fixed", DefaultInterval: crawl.Duration(50 * 24 * time.Hour)}}
		c := newCollection(&testing.T{}, r, rapid.Uint64().Draw(t, "seed"), 600, 6)
		budget := rapid.Float64Range(50, 600).Draw(t, "budget")
		limits := map[int64]float64{0: budget / 20, 1: 1e6}
		for range 30 {
			c.round(budget, limits)
		}
		if got := c.planned(-1); got < 0.96*budget || got > 1.04*budget {
			t.Errorf("%v visits a day are planned, the budget has %v", got, budget)
		}
		if got := c.planned(0); got > 1.05*limits[0] {
			t.Errorf("%v visits a day are planned at a host that takes %v", got, limits[0])
		}
		if c.hosts[1].Price != 0 {
			t.Errorf("a host with room has the price %v", c.hosts[1].Price)
		}
	})
}

// A pass says why the threshold is where it is: a first one starts, another stays or
// moves, and one that follows from another budget says so.
func TestRoundSaysWhy(t *testing.T) {
	t.Parallel()
	c := newCollection(t, spec("sqrt"), 7, 200, 1)
	for _, step := range []struct {
		budget float64
		want   string
	}{
		{100, `^θ starts at [0-9.e-]+$`},
		{100, `^[0-9.]+ visits a day were planned, the budget leaves 100, θ (stays at|moved from [0-9.e-]+ to) [0-9.e-]+$`},
		{50, `^the budget has a visit of each page every 4d instead of every 2d, [0-9.]+ visits a day were planned, the budget leaves 50, θ moved from [0-9.e-]+ to [0-9.e-]+$`},
	} {
		before := c.steering.Threshold
		round := c.round(step.budget, nil)
		if words := Words(round.Reasons); !regexp.MustCompile(step.want).MatchString(words) {
			t.Errorf("with a budget of %v: %q, want %s", step.budget, words, step.want)
		}
		if last := round.Reasons[len(round.Reasons)-1]; last.Num["from"] != before || last.Num["to"] != round.Threshold {
			t.Errorf("with a budget of %v: %v, want from %v to %v", step.budget, last, before, round.Threshold)
		}
	}
}

// A crawl that grows by a factor of a hundred, or is given another budget, meets
// its budget in the next round: a known change is not left to small moves.
func TestRoundFollowsGrowth(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"sqrt", "fresh", "age", "harmonic"} {
		c := newCollection(t, spec(policy), 7, 2000, 3)
		all := c.entries
		c.entries = all[:20]
		for range 20 {
			c.round(100, nil)
		}
		c.entries = all
		for range 3 {
			c.round(100, nil)
		}
		if got := c.planned(-1); got < 80 || got > 125 {
			t.Errorf("%s: three rounds after it has grown, %v visits a day are planned, the budget has 100", policy, got)
		}
		for range 3 {
			c.round(1000, nil)
		}
		if got := c.planned(-1); got < 800 || got > 1250 {
			t.Errorf("%s: three rounds after it was given more, %v visits a day are planned, the budget has 1000", policy, got)
		}
	}
}

// A host that takes less than before, because it asks for longer gaps or another crawl needs
// it too, gets its price at once, even if what is planned for it has not changed for days.
func TestRoundsNoticeALowerLimit(t *testing.T) {
	t.Parallel()
	c := newCollection(t, spec("sqrt"), 3, 600, 2)
	for range 30 {
		c.round(600, map[int64]float64{0: 70_000, 1: 70_000})
	}
	if got := c.planned(0); got < 250 {
		t.Fatalf("%v visits a day are planned at a host, want about 300", got)
	}
	for range 3 {
		c.round(600, map[int64]float64{0: 100, 1: 70_000})
	}
	if got := c.planned(0); got > 105 {
		t.Errorf("%v visits a day are planned at a host that takes 100", got)
	}
}

// Where no page is left, nothing is planned any more: other crawls have the host to themselves.
func TestRoundsLeaveHosts(t *testing.T) {
	t.Parallel()
	c := newCollection(t, spec("sqrt"), 3, 600, 2)
	for range 10 {
		c.round(600, map[int64]float64{0: 100, 1: 1000})
	}
	if h := c.hosts[0]; h.Planned == 0 || h.Price == 0 {
		t.Fatalf("a full host: %+v", h)
	}
	c.entries = slices.DeleteFunc(c.entries, func(e Entry) bool { return e.Host == 0 })
	c.round(600, map[int64]float64{1: 1000})
	if h := c.hosts[0]; h.Planned != 0 || h.Limit != 0 || h.Price != 0 || h.Prior.A == 0 {
		t.Errorf("a host without pages: %+v", h)
	}
	if round := c.round(600, map[int64]float64{1: 1000}); round.Hosts[0] != (HostSteering{}) {
		t.Errorf("it is written again: %+v", round.Hosts[0])
	}
}

// Other crawls must leave a crawl the visits that it plans for a host. So these are kept up to
// date once the host's limit is known, and nothing else is written again and again.
func TestHostsThatDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before HostSteering
		after  HostSteering
		near   bool
	}{
		{"much more is planned for a host without a limit", HostSteering{Planned: 3}, HostSteering{Planned: 5}, true},
		{"a little more for one with a limit", HostSteering{Planned: 300, Limit: 1000}, HostSteering{Planned: 301, Limit: 1000}, true},
		{"more for one with a limit", HostSteering{Planned: 300, Limit: 1000}, HostSteering{Planned: 320, Limit: 1000}, false},
		{"more for one at its limit", HostSteering{Planned: 700, Limit: 1000}, HostSteering{Planned: 800, Limit: 1000}, false},
		{"a lower limit", HostSteering{Planned: 300, Limit: 1000}, HostSteering{Planned: 300, Limit: 900}, false},
		{"a limit that is near", HostSteering{Planned: 300, Limit: 1000}, HostSteering{Planned: 300, Limit: 500}, false},
		{"a first limit", HostSteering{Planned: 300}, HostSteering{Planned: 300, Limit: 1000}, false},
	} {
		if got := c.after.near(c.before); got != c.near {
			t.Errorf("%s: near is %v", c.name, got)
		}
	}
}

// While all pages of a crawl fail, what was learned of them is kept: the priors, and how rates fall
// with age.
func TestRoundsOfFailingPagesForgetNothing(t *testing.T) {
	t.Parallel()
	c := newCollection(t, spec("sqrt"), 3, 600, 2)
	for i := range c.entries {
		c.entries[i].Belief.Days *= 50
		c.entries[i].Belief.Aging = Aging{Known: 1, Slope: 0.3, Info: 1}
	}
	for range 40 {
		c.round(300, nil)
	}
	before := c.steering
	for i := range c.entries {
		c.entries[i].State = crawl.Failing
	}
	c.settle(Allowance{Budget: 300})
	after := c.steering
	if before.Steep < 0.2 || after.Steep != before.Steep {
		t.Errorf("rates fall by %v, before %v", after.Steep, before.Steep)
	}
	if !mathtest.Alike(after.Prior.Mean(), before.Prior.Mean(), 0.05) || !mathtest.Alike(after.Prior.A, before.Prior.A, 0.05) {
		t.Errorf("the prior is %+v, before %+v", after.Prior, before.Prior)
	}
}

// Prices of hosts say nothing to another policy, whose first threshold they do not move.
func TestRoundOfAnotherPolicy(t *testing.T) {
	t.Parallel()
	thresholds := map[float64]bool{}
	for _, price := range []float64{1e-9, 1e9} {
		c := newCollection(t, spec("age"), 3, 600, 2)
		c.steering = Steering{Policy: "sqrt", Threshold: 0.5, Prior: FirstPrior(day), Interval: 2}
		c.hosts[0] = HostSteering{Price: price, Planned: 150, Limit: 150}
		thresholds[c.tally().Settle(Allowance{Budget: 300, Hosts: map[int64]float64{0: 150}}).Threshold] = true
	}
	if len(thresholds) != 1 {
		t.Errorf("with different prices the thresholds are %v", thresholds)
	}
}

// A page that is due at once counts as one at its shortest interval. Neither that nor other
// visits that come and go make the threshold jump.
func TestRoundWithAPageDueAtOnce(t *testing.T) {
	t.Parallel()
	r := spec("sqrt")
	r.MinInterval = crawl.Duration(time.Hour)
	c := newCollection(t, r, 3, 600, 1)
	for range 10 {
		c.round(300, nil)
	}
	before := c.steering.Threshold
	c.entries[7].At = c.entries[7].At.Add(time.Second) // a look at something else than its content
	c.entries[7].Due = c.entries[7].At
	round := c.tally().Settle(Allowance{Budget: 300})
	if round.Planned < 310 || round.Planned > 335 {
		t.Errorf("%v visits a day are planned, want the 300 and one an hour", round.Planned)
	}
	if round.Threshold < before || round.Threshold > before*math.Exp(maxMove) || strings.Contains(Words(round.Reasons), "instead of every") {
		t.Errorf("θ from %v to %v: %s", before, round.Threshold, Words(round.Reasons))
	}
}

// Pages at their shortest interval stay there over a wide range of thresholds. The threshold, or
// the price of their host, crosses that range when there are too many of them.
func TestRoundsLeaveTheShortestInterval(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"sqrt", "fresh", "age", "harmonic"} {
		r := spec(policy)
		r.MinInterval = crawl.Duration(time.Hour)
		c := newCollection(t, r, 3, 100, 2)
		for i := range c.entries {
			c.entries[i].Belief.Changes, c.entries[i].Belief.Days = 300, 30 // ten a day
		}
		for range 3 {
			c.round(1e6, nil)
		}
		if got := c.planned(-1); got < 2280 || got > 2520 {
			t.Fatalf("%s: %v visits a day are planned of 100 pages with an hour between two", policy, got)
		}
		limits := map[int64]float64{0: 300}
		for range 5 {
			c.round(1e6, limits)
		}
		if got := c.planned(0); got > 1.05*limits[0] {
			t.Errorf("%s: %v visits a day are planned at a host that takes %v", policy, got, limits[0])
		}
		for range 5 {
			c.round(900, nil)
		}
		if got := c.planned(-1); got < 0.95*900 || got > 1.05*900 {
			t.Errorf("%s: %v visits a day are planned, the budget has 900", policy, got)
		}
	}
}

// What the engine does not bear is not planned: a budget is smaller, and intervals of policies
// without one are longer, in proportion.
func TestRoundsFitTheEngine(t *testing.T) {
	t.Parallel()
	mixed := spec("sqrt")
	mixed.Rules = []crawl.RevisitRule{{Host: "b", Policy: "fixed", DefaultInterval: crawl.Duration(24 * time.Hour)}}
	for name, r := range map[string]crawl.RevisitSpec{"sqrt": spec("sqrt"), "fixed": spec("fixed"), "frmax": spec("frmax"), "deltat": spec("deltat"), "sqrt and fixed": mixed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCollection(t, r, 5, 600, 6)
			budget := 400.0
			for range 10 {
				c.round(budget, nil)
			}
			asked, free := c.tally().Asked(Allowance{Budget: budget}), c.planned(-1)
			if free < 0.95*asked || free > 1.05*asked {
				t.Fatalf("%v visits a day are planned of %v that are asked for", free, asked)
			}
			var round Round
			for range 30 {
				round = c.settle(Allowance{Budget: budget, Engine: asked / 3})
			}
			if got := c.planned(-1); got < 0.9*asked/3 || got > 1.06*asked/3 {
				t.Errorf("%v visits a day are planned, the engine makes %v", got, asked/3)
			}
			if round.Asked < 0.99*asked || round.Asked > 1.01*asked {
				t.Errorf("%v visits a day are asked for once they are fewer, and %v before", round.Asked, asked)
			}
			if words := Words(round.Reasons); !strings.HasPrefix(words, "Temporal and the workers make about ") {
				t.Errorf("why: %s", words)
			}
			for range 30 {
				round = c.settle(Allowance{Budget: budget, Engine: 2 * asked})
			}
			if got := c.planned(-1); got < 0.95*free || got > 1.05*free || round.Stretch != 0 {
				t.Errorf("%v visits a day are planned when the engine bears them again, %v before", got, free)
			}
		})
	}
}

// A stretched interval says so, and stays within the bounds.
func TestStretchedInterval(t *testing.T) {
	t.Parallel()
	p := ParametersOf(spec("fixed"))
	p.Round, p.Max, p.Stretch = 24*time.Hour, 50*time.Hour, 2
	d := Fixed{}.Next(Page{ID: 1, Visit: 1}, Observation{Outcome: crawl.OutcomeUnchanged}, p)
	if d.Interval < 45*time.Hour || d.Interval > 50*time.Hour || d.Wanted != p.Round {
		t.Errorf("every %s instead of %s", d.Interval, d.Wanted)
	}
	if got, want := Words(d.Reasons()), "every 1d, times 2 because the engine does not make more visits"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Stretch = 5
	if d := (Fixed{}).Next(Page{ID: 1, Visit: 1}, Observation{Outcome: crawl.OutcomeUnchanged}, p); d.Interval > p.Max {
		t.Errorf("every %s, not after %s", d.Interval, p.Max)
	}
}

func TestRoundWithoutPages(t *testing.T) {
	t.Parallel()
	c := newCollection(t, spec("sqrt"), 1, 0, 1)
	if round := c.round(100, nil); round.Threshold != 0 || round.Planned != 0 || len(round.Hosts) != 0 {
		t.Errorf("nothing is planned, and %+v came of it", round)
	}
	c = newCollection(t, spec("frmax"), 1, 10, 1)
	if round := c.round(100, nil); round.Steering != (Steering{}) {
		t.Errorf("frmax shares nothing, and %+v came of it", round.Steering)
	}
}

// Probes, back-offs and pages never visited are not moved.
func TestWhoIsMoved(t *testing.T) {
	t.Parallel()
	c := newCollection(t, spec("sqrt"), 3, 1, 1)
	g, e := c.rules.At(0), c.entries[0]
	s := Steering{Policy: "sqrt", Threshold: 1e-6}
	if sleeper, ok := e.Sleeper(g, s, HostSteering{}, c.now); !ok || sleeper.Wanted >= sleeper.Planned {
		t.Errorf("a page that is worth more is not moved nearer: %+v", sleeper)
	}
	hinted := e
	hinted.Hinted = true
	if _, ok := hinted.Sleeper(g, s, HostSteering{}, c.now); !ok {
		t.Error("a page that a sitemap made sooner is not moved even nearer")
	}
	hinted.Due = c.now.Add(time.Second)
	if _, ok := hinted.Sleeper(g, Steering{Policy: "sqrt", Threshold: 1e6}, HostSteering{}, c.now); ok {
		t.Error("a page that a sitemap made sooner is moved back")
	}
	for name, change := range map[string]func(*Entry){
		"a failing page": func(e *Entry) { e.State = crawl.Failing },
		"a probe":        func(e *Entry) { e.At = e.At.Add(time.Second) },
		"one that is due": func(e *Entry) {
			e.Due = c.now
		},
	} {
		other := e
		change(&other)
		if _, ok := other.Sleeper(g, s, HostSteering{}, c.now); ok {
			t.Errorf("%s is moved", name)
		}
	}
}

// A page whose policy shares no budget is moved when its spec wants it sooner, and for no other reason.
func TestWhoIsMovedWithoutABudget(t *testing.T) {
	t.Parallel()
	for _, policy := range crawl.RulePolicies() {
		c := newCollection(t, spec(policy), 3, 20, 1)
		g := c.rules.At(0)
		for _, e := range c.entries {
			if _, ok := e.Sleeper(g, Steering{}, HostSteering{}, c.now); ok && e.Due.After(c.now) {
				t.Errorf("%s: a page is moved while nothing changes", policy)
			}
			e.Due = e.Due.Add(30 * day)
			if sleeper, ok := e.Sleeper(g, Steering{}, HostSteering{}, c.now); !ok || sleeper.Gain() <= 0 {
				t.Errorf("%s: a page that its spec wants sooner sleeps on", policy)
			}
			e.Due = c.now.Add(time.Minute)
			if _, ok := e.Sleeper(g, Steering{}, HostSteering{}, c.now); ok {
				t.Errorf("%s: a page is moved farther", policy)
			}
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	r := spec("sqrt")
	r.Rules = []crawl.RevisitRule{
		{Prefix: "HTTPS://Example.com", Weight: 2},
		{Host: "*.Example.org", Policy: "fixed", DefaultInterval: crawl.Duration(time.Hour)},
		{Host: "example.org:8080", MinInterval: crawl.Duration(time.Second)},
	}
	rules, err := NewRules(r)
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]int{
		"https://example.com/":          1,
		"https://example.com/a?b":       1,
		"https://example.com.evil.net/": 0,
		"http://example.com/":           0,
		"http://www.example.org/":       2,
		"http://example.org/":           0,
		"http://badexample.org/":        0,
		"http://example.org:8080/x":     3,
	} {
		if got := rules.Group(url); got != want {
			t.Errorf("%s is in group %d, want %d", url, got, want)
		}
	}
	var names []string
	for i := range 4 {
		names = append(names, rules.At(i).Policy.Name())
	}
	if !slices.Equal(names, []string{"sqrt", "sqrt", "fixed", "sqrt"}) || rules.At(1).Parameters.Weight != 2 ||
		rules.At(2).Parameters.Round != time.Hour || rules.At(3).Parameters.Min != time.Second {
		t.Errorf("groups are %v: %+v", names, rules.groups)
	}
}

func BenchmarkTurn(b *testing.B) {
	c := newCollection(b, spec("sqrt"), 1, 100_000, 1000)
	for b.Loop() {
		c.round(100_000, map[int64]float64{1: 50, 2: 50})
	}
}

func TestModified(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	p := Parameters{Round: day, Min: time.Hour, Max: 100 * day}
	look := func(b Belief, o crawl.Outcome, before, now time.Time) Belief {
		at = at.Add(10 * day)
		return b.observe(Observation{Outcome: o, At: at, Gap: 10 * day, Modified: Modified{before, now}}, p)
	}
	first, second, third := at.Add(-day), at.Add(5*day), at.Add(28*day)
	b := look(Belief{}, crawl.OutcomeChanged, first, second)
	b = look(b, crawl.OutcomeUnchanged, second, second)
	b = look(b, crawl.OutcomeChanged, second, third)
	if b.Moved != 2 || b.Stayed != 1 {
		t.Fatalf("proofs are %d and %d, want 2 and 1", b.Moved, b.Stayed)
	}
	// A return says nothing about the dates, whether they move with it or not.
	for _, now := range []time.Time{third, third.Add(day)} {
		if r := look(b, crawl.OutcomeReturned, third, now); r.Moved != b.Moved || r.Stayed != b.Stayed {
			t.Errorf("proofs after a return are %d and %d", r.Moved, r.Stayed)
		}
		at = at.Add(-10 * day)
	}
	fourth := at.Add(9 * day)
	trusted := look(b, crawl.OutcomeChanged, third, fourth)
	at = at.Add(-10 * day)
	blind := look(b, crawl.OutcomeChanged, time.Time{}, time.Time{})
	if trusted.Changes != blind.Changes+1 || trusted.Looks >= blind.Looks {
		t.Errorf("a change a day ago counts as %+v, one at some time in ten as %+v", trusted, blind)
	}
	if liar := look(b, crawl.OutcomeUnchanged, third, fourth); liar.Moved != 0 || liar.Stayed != 0 {
		t.Errorf("a date that moved alone is still believed: %+v", liar)
	}
}

// The date of a list's newest entry stands for Last-Modified, which says the time of the
// request here: it is remembered from look to look, and believed by the same record.
func TestNewestEntryTellsTheChange(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	p := Parameters{Round: day, Min: time.Hour, Max: 100 * day}
	look := func(b Belief, o crawl.Outcome, newest time.Time) Belief {
		at = at.Add(10 * day)
		seen := Observation{Outcome: o, At: at, Gap: 10 * day, Newest: newest, Modified: Modified{at.Add(-10 * day), at}}
		return DecodeBelief(b.observe(seen, p).Encode())
	}
	ago := func(d time.Duration) time.Time { return at.Add(10*day - d) } // before the next look
	b := look(Belief{}, crawl.OutcomeNew, ago(3*day))
	b = look(b, crawl.OutcomeChanged, ago(2*day))
	b = look(b, crawl.OutcomeUnchanged, time.Time{}) // a 304: nobody read the list
	b = look(b, crawl.OutcomeChanged, ago(4*day))
	if b.Moved != 2 || b.Stayed != 1 {
		t.Fatalf("proofs are %d and %d, want 2 and 1", b.Moved, b.Stayed)
	}
	known := at.Add(9 * day)
	if got := look(b, crawl.OutcomeChanged, known); got.Since != known.UnixMilli() {
		t.Errorf("changed at %d, want that of the newest entry, %d", got.Since, known.UnixMilli())
	}
	at = at.Add(-10 * day)
	// The list lost its times: the date says nothing, and is not kept to be compared with.
	bare := look(b, crawl.OutcomeChanged, time.Time{})
	if bare.Newest != 0 {
		t.Errorf("the date of a list without times is %d", bare.Newest)
	}
	if again := look(bare, crawl.OutcomeChanged, ago(day)); again.Moved != bare.Moved || again.Stayed != bare.Stayed {
		t.Errorf("a first date counts as one that moved: %+v after %+v", again, bare)
	}
}
