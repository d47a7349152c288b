package monitor

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawl/internal/report"
	"recrawl/internal/store"
)

// SampleEvery is how long the figures of the crawls are kept before the store is asked
// again, however often somebody scrapes. SampleLimit is how long it may take to answer.
const (
	SampleEvery = 15 * time.Second
	SampleLimit = 5 * time.Second
)

// Disk is a disk that a worker writes to.
type Disk struct {
	Of    string                // store or archive
	Bytes func() (int64, error) // how many bytes are left
}

// Sources are the sources of a worker's figures at a scrape; a nil source is left out.
type Sources struct {
	// Crawls reads the figures of every crawl.
	Crawls func(ctx context.Context) ([]report.StatusLine, error)
	Disks  []Disk
	// Held reports whether the worker makes no requests for lack of room. Reserve is the
	// room that must be left.
	Held    func() bool
	Reserve int64
}

// Watch begins to answer from sources. Earlier ones are forgotten.
func (m *Metrics) Watch(s Sources) { m.crawls.watch(s) }

// crawlFigures are the figures of the crawls, whoever works on them, and of the disks.
type crawlFigures struct {
	failures prometheus.Counter
	now      func() time.Time

	mu      sync.Mutex
	sources Sources
	lines   []report.StatusLine
	read    time.Time // when the lines were read
	known   bool      // the last attempt to read them succeeded
}

func newCrawlFigures() *crawlFigures {
	return &crawlFigures{now: time.Now, failures: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "recrawl_crawl_figures_errors_total", Help: "Scrapes for which the store did not give the figures of the crawls in time; they lack then.",
	})}
}

func (c *crawlFigures) watch(s Sources) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources, c.lines, c.read, c.known = s, nil, time.Time{}, false
}

// refresh asks the store, unless it was asked recently.
func (c *crawlFigures) refresh(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sources.Crawls == nil || !c.read.IsZero() && c.now().Sub(c.read) < SampleEvery {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, SampleLimit)
	defer cancel()
	lines, err := c.sources.Crawls(ctx)
	c.lines, c.read, c.known = lines, c.now(), err == nil
	if err != nil {
		c.failures.Inc()
	}
}

// Describe implements prometheus.Collector: the crawls determine which series there
// are.
func (c *crawlFigures) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. It reads no store: refresh has.
func (c *crawlFigures) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to <- c.failures
	f := figures{to}
	for _, d := range c.sources.Disks {
		if left, err := d.Bytes(); err == nil {
			f.gauge(diskFree, float64(left), d.Of)
		}
	}
	if c.sources.Held != nil {
		f.gauge(diskReserve, float64(c.sources.Reserve))
		f.gauge(workerHeld, truth(c.sources.Held()))
	}
	if !c.known {
		return
	}
	f.gauge(figuresAge, c.now().Sub(c.read).Seconds())
	for i, line := range c.lines {
		if i == 0 { // the same in all
			f.store(line)
		}
		f.crawl(line)
	}
}

// figures sends metrics.
type figures struct{ to chan<- prometheus.Metric }

func (f figures) gauge(d *prometheus.Desc, v float64, labels ...string) {
	f.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (f figures) counter(d *prometheus.Desc, v float64, labels ...string) {
	f.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("recrawl_"+name, help, labels, nil)
}

var (
	diskFree    = desc("disk_free_bytes", "Bytes left on the disk of the store's file, or of the archive's folder.", "of")
	diskReserve = desc("disk_reserve_bytes", "Bytes that must be left; with less, no request is made.")
	workerHeld  = desc("worker_held", "1 while this worker makes no requests for want of room.")
	figuresAge  = desc("crawl_figures_age_seconds", "How old the figures of the crawls are.")

	workersHeld  = desc("workers_held", "Workers of the store that make no requests.")
	backlogTasks = desc("task_backlog", "Tasks that wait in Temporal's task queue; 0 while none waits for long.")
	backlogAge   = desc("task_backlog_age_seconds", "How long the oldest of them has waited.")

	crawlInfo      = desc("crawl_info", "1, with the crawl's state and policy.", "crawl", "state", "policy")
	crawlPages     = desc("crawl_pages", "Pages of the crawl, by state.", "crawl", "state")
	crawlVisits    = desc("crawl_visits_total", "Visits of the crawl so far, by outcome, by all workers.", "crawl", "outcome")
	crawlVersions  = desc("crawl_versions", "Versions of the crawl's pages.", "crawl")
	crawlHosts     = desc("crawl_hosts", "Hosts on which the crawl has pages.", "crawl")
	crawlBackoff   = desc("crawl_hosts_in_backoff", "Hosts that are not asked for a while, because they asked for quiet or fail.", "crawl")
	crawlTroubled  = desc("crawl_hosts_in_trouble", "Hosts from which nothing can be fetched for now.", "crawl")
	crawlBlocked   = desc("crawl_hosts_blocked", "Those of them that an operator has blocked.", "crawl")
	crawlAutoDelay = desc("crawl_auto_delay_seconds", "Automatic delays of the hosts that were asked, as they are now; only of crawls with delay: auto.", "crawl")
	crawlWaiting   = desc("crawl_waiting", "Pages that wait in hosts' lines.", "crawl")
	crawlOverdue   = desc("crawl_overdue", "Pages that are due and in no line.", "crawl")
	crawlLag       = desc("crawl_lag_seconds", "For how long the most overdue page has been due.", "crawl")
	crawlFresh     = desc("crawl_fresh_ratio", "The share of the copies that are believed to be up to date now; absent while nothing is known.", "crawl")
	crawlFreshPlan = desc("crawl_fresh_planned_ratio", "What that share would be on average if each page were visited when it was planned.", "crawl")
	crawlAge       = desc("crawl_copy_age_seconds", "The mean time for which copies are believed to lack a change.", "crawl")
	crawlDelay     = desc("crawl_change_delay_seconds", "The mean time from a change to the visit that will find it, by what is believed.", "crawl")
	crawlFirstLeft = desc("crawl_first_pass_left", "Pages that were never visited and have a place; 0 when the first pass is over.", "crawl")
	crawlFirstEnds = desc("crawl_first_pass_seconds", "How long the first pass still takes, by what is known now; 0 when it is over.", "crawl")
	crawlAsked     = desc("crawl_asked_visits_per_day", "Visits a day that the crawl would plan if Temporal and the workers could make them.", "crawl")
	crawlPlanned   = desc("crawl_planned_visits_per_day", "Visits a day that the crawl plans.", "crawl")
	crawlBudget    = desc("crawl_budget_visits_per_day", "Visits a day that the crawl's budget allows; only if it has one.", "crawl")
	crawlEvictions = desc("crawl_evictions_month", "Pages that gave their place to better ones in the last 30 days.", "crawl")
	crawlTrouble   = desc("crawl_trouble_pages", "Troubles that last, by part: the number of pages that they are about, at least 1.", "crawl", "part")

	sinkLag         = desc("sink_lag_seconds", "How old the oldest change is that waits for the sink.", "crawl", "sink")
	sinkWaiting     = desc("sink_waiting", "Changes that wait for the sink, at most 1000.", "crawl", "sink")
	sinkUndelivered = desc("sink_undelivered", "Changes that the sink's receiver refused for good, at most 1000.", "crawl", "sink")
	sinkPaused      = desc("sink_paused", "1 while the sink is paused.", "crawl", "sink")
	sinkSent        = desc("sink_sent_total", "Changes that were delivered to the sink.", "crawl", "sink")
)

func (f figures) store(line report.StatusLine) {
	f.gauge(workersHeld, float64(len(line.Held)))
	tasks, age := 0, time.Duration(0)
	if line.Backlog != nil {
		tasks, age = line.Backlog.Tasks, line.Backlog.Age.Std()
	}
	f.gauge(backlogTasks, float64(tasks))
	f.gauge(backlogAge, age.Seconds())
}

func (f figures) crawl(line report.StatusLine) {
	name := line.Crawl
	f.gauge(crawlInfo, 1, name, line.State.String(), line.Policy)
	for state, n := range line.Pages {
		f.gauge(crawlPages, float64(n), name, state)
	}
	for outcome, n := range line.Outcomes {
		f.counter(crawlVisits, float64(n), name, outcome)
	}
	f.gauge(crawlVersions, float64(line.Versions), name)
	f.gauge(crawlHosts, float64(line.Hosts), name)
	f.gauge(crawlBackoff, float64(line.HostsBackoff), name)
	f.gauge(crawlTroubled, float64(line.InTrouble), name)
	f.gauge(crawlBlocked, float64(line.HostsBlocked), name)
	f.delays(name, line.Delays)
	f.gauge(crawlWaiting, float64(line.Waiting), name)
	f.gauge(crawlOverdue, float64(line.Overdue), name)
	f.gauge(crawlLag, line.Lag.Std().Seconds(), name)
	f.gauge(crawlEvictions, float64(line.Evictions), name)
	f.gauge(crawlAsked, line.AskedPerDay, name)
	f.gauge(crawlPlanned, line.PlannedPerDay, name)
	if line.BudgetPerDay > 0 {
		f.gauge(crawlBudget, line.BudgetPerDay, name)
	}
	f.freshness(name, line.Freshness)
	left, takes := 0, time.Duration(0)
	if line.FirstPass != nil {
		left, takes = line.FirstPass.Left, line.FirstPass.Takes.Std()
	}
	f.gauge(crawlFirstLeft, float64(left), name)
	f.gauge(crawlFirstEnds, takes.Seconds(), name)
	f.troubles(name, line)
	for _, s := range line.Sinks {
		f.gauge(sinkLag, s.Lag.Std().Seconds(), name, s.Sink)
		f.gauge(sinkWaiting, float64(s.Waiting), name, s.Sink)
		f.gauge(sinkUndelivered, float64(s.Undelivered), name, s.Sink)
		f.gauge(sinkPaused, truth(s.State == "paused"), name, s.Sink)
		f.counter(sinkSent, float64(s.Sent), name, s.Sink)
	}
}

// delays are a histogram over hosts: hosts are no labels.
func (f figures) delays(name string, of store.Delays) {
	if of.Hosts == 0 {
		return
	}
	upTo := make(map[float64]uint64, len(of.UpTo))
	for i, hosts := range of.UpTo {
		upTo[store.DelayBounds[i].Seconds()] = uint64(hosts)
	}
	f.to <- prometheus.MustNewConstHistogram(crawlAutoDelay, uint64(of.Hosts), of.Sum.Seconds(), upTo, name)
}

// freshness leaves out hosts and rules: a rule is named by a host or the beginning of a URL,
// and these are no labels.
func (f figures) freshness(name string, fresh *report.Freshness) {
	if fresh == nil {
		return
	}
	const day = 24 * 60 * 60
	f.gauge(crawlFresh, fresh.Fresh, name)
	f.gauge(crawlFreshPlan, fresh.Planned, name)
	f.gauge(crawlAge, fresh.Age*day, name)
	f.gauge(crawlDelay, fresh.Delay*day, name)
}

func (f figures) troubles(name string, line report.StatusLine) {
	parts := map[string]int{}
	for _, t := range line.Troubles {
		if time.Time(t.MendedAt).IsZero() {
			parts[t.Part] += max(t.Pages, 1)
		}
	}
	for part, pages := range parts {
		f.gauge(crawlTrouble, float64(pages), name, part)
	}
}
