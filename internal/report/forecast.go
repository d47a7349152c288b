package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// ErrNoBudget is wrapped by forecasts of budgets for a crawl whose policy keeps to none.
var ErrNoBudget = errors.New("its policy keeps to no budget")

// forecastSample is the default number of pages from which a forecast is computed.
const forecastSample = 20_000

// forecastHosts is the number of hosts that a forecast names.
const forecastHosts = 10

// ForecastQuery asks how a crawl would do with other budgets.
type ForecastQuery struct {
	Crawl string
	// Budgets are tried beside the present one, and Fresh are shares of the copies that are
	// to be up to date. Without either, a few budgets are tried.
	Budgets []Budget
	Fresh   []float64
	// Sample is the number of pages from which it is computed, if there are more.
	Sample int
}

// Forecast is what to expect of a crawl once every known page has been visited, if pages
// change as now believed and visits come as planned.
type Forecast struct {
	Crawl  string `json:"crawl"`
	Now    stamp  `json:"now"`
	Policy string `json:"policy"`
	// Pages counts those that are visited or wait for their first visit, and Unvisited the
	// latter. Blocked counts other pages, at hosts that an operator has blocked.
	Pages     int `json:"pages"`
	Unvisited int `json:"unvisited"`
	Blocked   int `json:"blocked"`
	// Read is the number of them from which it is computed; the others are taken to be
	// alike.
	Read int `json:"read"`
	// Budgeted says that the policy shares a budget among pages. Otherwise no budget would
	// change anything.
	Budgeted bool              `json:"budgeted"`
	Budgets  []ForecastBudget  `json:"budgets"` // the present one first, the most that is possible last
	Promises []ForecastPromise `json:"promises"`
	// Hosts are those that politeness limits at some budget, longest pass first.
	Hosts []ForecastHost `json:"hosts"`
	// MinInterval is the shortest time between two visits of a page.
	MinInterval crawl.Duration `json:"min_interval"`
}

// Expected holds the figures to expect at a number of visits a day.
type Expected struct {
	Visits float64 `json:"visits_per_day"`
	Fresh  float64 `json:"fresh"`      // share of the copies that are up to date, on average over time
	Age    float64 `json:"age_days"`   // mean time since the first change that a copy lacks
	Delay  float64 `json:"delay_days"` // mean time from a change to the visit that finds it
	Full   int     `json:"full_hosts"` // hosts that can take no more
}

// ForecastBudget is a budget, and what to expect with it.
type ForecastBudget struct {
	// Budget is the budget as asked for: "now", "2×", "20000/day", or "most" for as many
	// visits as the hosts and min_interval allow. PerDay is null for the most, and if there
	// is no budget.
	Budget string   `json:"budget"`
	PerDay *float64 `json:"budget_per_day"`
	Expected
}

// ForecastPromise is a freshness, and what it costs.
type ForecastPromise struct {
	Promised float64 `json:"promised"`
	Kept     bool    `json:"kept"`
	// Why names the limit if it cannot be kept: "politeness" or "min_interval". Expected is
	// then the best that is possible.
	Why orNull `json:"why"`
	// Times is the number of visits it takes, as a multiple of the present number.
	Times float64 `json:"times"`
	Expected
}

// ForecastHost is a host that limits the effect of a budget.
type ForecastHost struct {
	Host  string         `json:"host"`
	Pages int64          `json:"pages"`
	Every crawl.Duration `json:"every"` // from one request to the next
	Pass  crawl.Duration `json:"pass"`  // the time of one pass over its pages
	Most  float64        `json:"most_per_day"`
	From  float64        `json:"full_from_per_day"` // the crawl's visits a day at which the host becomes full
}

// Forecast writes how a crawl would do with other budgets.
func (r Reporter) Forecast(ctx context.Context, q ForecastQuery) error {
	f, err := r.ForecastOf(ctx, q)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		return writeJSON(r.Out, f)
	}
	return f.write(r.Out)
}

// ForecastOf returns how a crawl would do with other budgets.
func (r Reporter) ForecastOf(ctx context.Context, q ForecastQuery) (Forecast, error) {
	record, now, err := r.open(ctx, q.Crawl)
	if err != nil {
		return Forecast{}, err
	}
	known, err := r.forecastPages(ctx, record, q.Sample)
	if err != nil {
		return Forecast{}, err
	}
	outlook, err := known.outlook(record.Spec)
	if err != nil {
		return Forecast{}, err
	}
	if !outlook.Budgeted() && len(q.Budgets)+len(q.Fresh) > 0 {
		return Forecast{}, fmt.Errorf("crawl %q cannot be forecast for a budget: %w: %q plans every page by itself; sqrt, fresh and age share one", q.Crawl, ErrNoBudget, record.Spec.Revisit.Policy)
	}
	f := Forecast{
		Crawl: record.Spec.Name, Now: stamp(now), Policy: record.Spec.Revisit.Policy, MinInterval: record.Spec.Revisit.MinInterval,
		Pages: int(math.Round(known.total)), Unvisited: int(math.Round(known.unvisited)), Blocked: int(math.Round(known.blocked)), Read: len(known.pages),
		Budgeted: outlook.Budgeted(), Budgets: []ForecastBudget{}, Promises: []ForecastPromise{}, Hosts: []ForecastHost{},
	}
	if f.Pages > 0 {
		f.foresee(q, known, outlook, outlook.Budget(record.Spec.Revisit))
	}
	return f, nil
}

// foresee asks an outlook; present is the crawl's own budget in visits a day.
func (f *Forecast) foresee(q ForecastQuery, known forecastPages, outlook *schedule.Outlook, present float64) {
	add := func(name string, perDay float64) {
		f.Budgets = append(f.Budgets, ForecastBudget{Budget: name, PerDay: &perDay, Expected: known.expected(outlook.At(perDay))})
	}
	if !f.Budgeted {
		f.Budgets = append(f.Budgets, ForecastBudget{Budget: "now", Expected: known.expected(outlook.Most())})
		return
	}
	add("now", present)
	budgets := q.Budgets
	if len(budgets)+len(q.Fresh) == 0 {
		budgets = []Budget{{Times: 0.5}, {Times: 2}, {Times: 4}}
	}
	for _, b := range budgets {
		add(b.String(), b.visits(present))
	}
	f.Budgets = append(f.Budgets, ForecastBudget{Budget: "most", Expected: known.expected(outlook.Most())})
	for _, share := range q.Fresh {
		p, why := outlook.Promise(share)
		promise := ForecastPromise{Promised: share, Kept: why == schedule.NoObstacle, Why: promiseWhy[why], Expected: known.expected(p)}
		promise.Times = rounded(p.Visits / max(outlook.At(present).Visits, least))
		f.Promises = append(f.Promises, promise)
	}
	for _, full := range outlook.Limiting(forecastHosts) {
		h := known.hosts[full.ID]
		pages, every := int64(math.Round(known.pagesOf(h))), h.Delay+h.Mean
		f.Hosts = append(f.Hosts, ForecastHost{
			Host: h.Host, Pages: pages, Every: crawl.Duration(every), Pass: crawl.Duration(times(pages, every)),
			Most: rounded(full.Limit / known.stands[full.ID]), From: rounded(full.From),
		})
	}
}

// least is a number of visits a day below that of any crawl: one page in three thousand
// years.
const least = 1e-6

var promiseWhy = map[schedule.Obstacle]orNull{schedule.FullHosts: "politeness", schedule.ShortestBound: "min_interval"}

// forecastPages holds the pages from which a forecast is computed.
type forecastPages struct {
	steering schedule.Steering
	pages    []store.PageRecord
	// counts is the number of pages for which each of them stands, by state.
	counts map[crawl.PageState]float64
	// room is for which share of the pages without a place the crawl has room.
	room  float64
	hosts map[int64]store.HostRecord
	// stands is the weight of a host: the number of its pages estimated from the sample,
	// divided by their real number. A small host in the sample stands for others like it.
	stands                    map[int64]float64
	limits                    map[int64]float64 // visits a day that a host and those for which it stands can take
	total, unvisited, blocked float64
}

// forecastPages reads a sample of the crawl's pages, and their hosts.
func (r Reporter) forecastPages(ctx context.Context, c store.CrawlRecord, sample int) (forecastPages, error) {
	known := forecastPages{hosts: map[int64]store.HostRecord{}, stands: map[int64]float64{}, limits: map[int64]float64{}}
	steering, err := r.Store.Steering(ctx, c.ID, false)
	if err != nil {
		return known, err
	}
	status, err := r.Store.Status(ctx, c.ID)
	if err != nil {
		return known, err
	}
	known.steering = steering.Steering
	if sample == 0 {
		sample = forecastSample
	}
	states := append(crawl.LivingStates(), crawl.Known)
	if known.pages, err = r.Store.ListPages(ctx, store.PageFilter{CrawlID: c.ID, States: states, Sample: sample}); err != nil {
		return known, err
	}
	known.room = roomShare(status.Pages, c.Spec.Limits.MaxPages)
	known.counts = countsOf(known.pages, status.Pages, known.room)
	hosts, err := r.Store.ListHosts(ctx, store.HostFilter{CrawlID: c.ID, IDs: hostsOf(known.pages)})
	if err != nil {
		return known, err
	}
	for _, h := range hosts {
		known.hosts[h.ID] = h
	}
	known.weigh()
	return known, r.limitHosts(ctx, &known, c)
}

// countsOf returns the number of pages for which each page of a sample stands. Of pages
// that wait for their first visit, only those count for which the crawl has room.
func countsOf(pages []store.PageRecord, all map[crawl.PageState]int, room float64) map[crawl.PageState]float64 {
	counts := map[crawl.PageState]float64{}
	for _, p := range pages {
		counts[p.State]++
	}
	for state, read := range counts {
		there := float64(all[state])
		if state == crawl.Known {
			there *= room
		}
		counts[state] = there / read
	}
	return counts
}

func hostsOf(pages []store.PageRecord) []int64 {
	ids := make([]int64, 0, len(pages))
	for _, p := range pages {
		ids = append(ids, p.HostID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// weigh counts the pages of each host.
func (k *forecastPages) weigh() {
	for _, p := range k.pages {
		n := k.counts[p.State]
		if k.hosts[p.HostID].Blocked {
			k.blocked += n
			continue
		}
		k.stands[p.HostID] += n
		if forbidden(p) {
			continue
		}
		k.total += n
		if p.Visits == 0 {
			k.unvisited += n
		}
	}
	for id := range k.stands {
		k.stands[id] /= max(1, k.pagesOf(k.hosts[id]))
	}
}

// pagesOf returns how many pages of a host have a place in the crawl, or will have one.
func (k *forecastPages) pagesOf(h store.HostRecord) float64 {
	return float64(h.Visited) + unvisitedOf(h, k.room)
}

// forbidden reports whether a page was excluded, by robots.txt for instance, before a
// request was ever made. It waits for no visit, and none is made.
func forbidden(p store.PageRecord) bool { return p.State == crawl.Excluded && p.Visits == 0 }

// nearFull is the share of a host's capacity from which on the plans of other crawls there
// are read.
const nearFull = 0.25

// limitHosts finds the capacity of hosts that the pages might exceed.
func (r Reporter) limitHosts(ctx context.Context, k *forecastPages, c store.CrawlRecord) error {
	rules, err := schedule.NewRules(c.Spec.Revisit)
	if err != nil {
		return err
	}
	capacity := map[int64]float64{}
	var near []int64
	for _, id := range hostsOf(k.pages) {
		h := k.hosts[id]
		can := schedule.HostLimit(max(h.Delay, time.Millisecond), h.Mean, polite.Discover(0, h.Visited+h.Unvisited).Kept)
		if k.pagesOf(h)/rules.Floor() > nearFull*can && !h.Blocked {
			capacity[id], near = can, append(near, id)
		}
	}
	loads, err := r.Visits.HostLoads(ctx, c.ID, near)
	if err != nil {
		return err
	}
	planned := map[int64]float64{}
	for _, p := range k.pages {
		planned[p.HostID] = p.HostSteering.Planned
	}
	for _, l := range loads {
		can := capacity[l.ID]
		k.limits[l.ID] = k.stands[l.ID] * max(schedule.SharedLimit(can, planned[l.ID], l.Others), nearFull*can)
	}
	return nil
}

// outlook adds up the beliefs about the pages.
func (k *forecastPages) outlook(spec crawl.Spec) (*schedule.Outlook, error) {
	rules, err := schedule.NewRules(spec.Revisit)
	if err != nil {
		return nil, err
	}
	hosts := map[int64]schedule.HostSteering{}
	for _, p := range k.pages {
		hosts[p.HostID] = p.HostSteering
	}
	tally := schedule.NewOutlookTally(rules, k.steering, hosts, k.limits)
	for _, p := range k.pages {
		n := k.counts[p.State]
		switch {
		case n == 0 || k.hosts[p.HostID].Blocked || forbidden(p):
		case p.Visits == 0:
			tally.AddUnseen(p.HostID, rules.Group(p.URL), n)
		default:
			tally.Add(schedule.Entry{
				Page: schedule.Page{ID: p.PageID, State: p.State, Visit: p.Visits, Belief: schedule.DecodeBelief(p.Belief)},
				Host: p.HostID, Group: rules.Group(p.URL), Weight: p.Weight, At: p.LastAt, Due: p.NextAt,
			}, n)
		}
	}
	return tally.Settle(), nil
}

// expected rounds a prospect. Each host counts as many times as it stands for.
func (k *forecastPages) expected(p schedule.Prospect) Expected {
	full := 0.0
	for _, id := range p.Full {
		full += k.stands[id]
	}
	return Expected{
		Visits: rounded(p.Visits), Fresh: rounded(p.Fresh), Age: rounded(p.Age), Delay: rounded(p.Delay),
		Full: max(int(math.Round(full)), min(1, len(p.Full))),
	}
}
