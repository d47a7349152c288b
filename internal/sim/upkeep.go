package sim

import (
	"maps"
	"time"

	"recrawl/internal/schedule"
)

// upkeep is what a store keeps of a crawl and its hosts for policies that share a
// budget, and maintenance's turns, by the product's own code.
type upkeep struct {
	rules    schedule.Rules
	setting  Setting
	steering schedule.Steering
	hosts    map[int64]schedule.HostSteering
	limits   map[int64]float64
}

func newUpkeep(o schedule.Objective, s Setting) *upkeep {
	// Rules of a spec are about URLs, which pages do not have here.
	spec := s.revisit()
	spec.Policy, spec.Rules = o.Name(), nil
	rules, err := schedule.NewRules(spec)
	if err != nil {
		panic("sim: an objective is no policy: " + err.Error())
	}
	u := &upkeep{rules: rules, setting: s, hosts: map[int64]schedule.HostSteering{}, limits: map[int64]float64{}}
	u.steering = schedule.Steering{Policy: o.Name(), Prior: schedule.FirstPrior(spec.DefaultInterval.Std())}
	for i, limit := range s.HostLimits {
		u.limits[int64(i)] = limit
	}
	return u
}

// group is that of all pages.
func (u *upkeep) group() schedule.Group { return u.rules.At(0) }

// parameters are those of a page, by its host and weight. Before the first turn the
// threshold is that of pages of which nothing is known.
func (u *upkeep) parameters(page Known) schedule.Parameters {
	if u.steering.Threshold == 0 {
		objective := u.group().Policy.(schedule.Budgeted).Objective
		u.steering.Threshold = schedule.FirstThreshold(objective, u.steering.Prior, float64(u.setting.Pace.Live()), u.setting.Pace.Visits())
	}
	return u.group().Steer(u.steering, u.hosts[int64(page.Host)], page.Weight)
}

// turn is one turn of maintenance.
func (u *upkeep) turn(entries func(func(schedule.Entry)), period schedule.Period) {
	stock := schedule.NewStock(u.rules, u.steering, u.hosts, period)
	entries(stock.Add)
	turn := stock.Turn(u.setting.Pace.Visits(), u.limits)
	u.steering = turn.Steering
	maps.Copy(u.hosts, turn.Hosts)
}

// moved is a page that is planned again.
type moved struct {
	ID  int64
	Due time.Time
}

// moves are the pages that it is worth to plan again now.
func (u *upkeep) moves(entries func(func(schedule.Entry)), now time.Time, visits float64) []moved {
	var far schedule.Moved
	due := map[int64]time.Time{}
	entries(func(e schedule.Entry) {
		if s, sleeps := e.Sleeper(u.group(), u.steering, u.hosts[e.Host], now); sleeps && far.Add(s) {
			due[e.ID] = e.At.Add(s.Wanted)
		}
	})
	var all []moved
	for _, id := range far.Choose(visits) {
		all = append(all, moved{id, due[id]})
	}
	return all
}
