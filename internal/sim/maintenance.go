package sim

import (
	"maps"
	"time"

	"recrawl/internal/schedule"
)

// maintenance holds a store's values of a crawl and its hosts for policies that share a
// budget, and moves them in rounds of maintenance, by the product's own code.
type maintenance struct {
	rules    schedule.Rules
	setting  Setting
	steering schedule.Steering
	hosts    map[int64]schedule.HostSteering
	limits   map[int64]float64
}

func newMaintenance(o schedule.Objective, s Setting) *maintenance {
	// Rules of a spec are about URLs, which pages do not have here.
	spec := s.revisit()
	spec.Policy, spec.Rules = o.Name(), nil
	rules, err := schedule.NewRules(spec)
	if err != nil {
		panic("sim: an objective is no policy: " + err.Error())
	}
	m := &maintenance{rules: rules, setting: s, hosts: map[int64]schedule.HostSteering{}, limits: map[int64]float64{}}
	m.steering = schedule.Steering{Policy: o.Name(), Prior: schedule.FirstPrior(spec.DefaultInterval.Std())}
	for i, limit := range s.HostLimits {
		m.limits[int64(i)] = limit
	}
	return m
}

// group returns the group of all pages.
func (m *maintenance) group() schedule.Group { return m.rules.At(0) }

// parameters returns the parameters of a page, by its host and weight. Before the first
// round the threshold is that of unknown pages.
func (m *maintenance) parameters(page Known) schedule.Parameters {
	if m.steering.Threshold == 0 {
		objective := m.group().Policy.(schedule.Budgeted).Objective
		m.steering.Threshold = schedule.FirstThreshold(objective, m.steering.Prior, float64(m.setting.Pace.Live()), m.setting.Pace.Visits())
	}
	return m.group().Steer(m.steering, m.hosts[int64(page.Host)], page.Weight)
}

// round is one round of maintenance.
func (m *maintenance) round(entries func(func(schedule.Entry)), period schedule.Period) {
	tally := schedule.NewTally(m.rules, m.steering, m.hosts, period)
	entries(tally.Add)
	round := tally.Settle(schedule.Allowance{Budget: m.setting.Pace.Visits(), Hosts: m.limits})
	m.steering = round.Steering
	maps.Copy(m.hosts, round.Hosts)
}

// moved is a page that is planned again.
type moved struct {
	ID  int64
	Due time.Time
}

// moves returns the pages that are worth planning again now, with their new times.
func (m *maintenance) moves(entries func(func(schedule.Entry)), now time.Time, visits float64) []moved {
	var far schedule.Moved
	due := map[int64]time.Time{}
	entries(func(e schedule.Entry) {
		if s, sleeps := e.Sleeper(m.group(), m.steering, m.hosts[e.Host], now); sleeps && far.Add(s) {
			due[e.ID] = e.At.Add(s.Wanted)
		}
	})
	var all []moved
	for _, id := range far.Choose(visits) {
		all = append(all, moved{id, due[id]})
	}
	return all
}
