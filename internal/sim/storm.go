package sim

// minutes is how many there are in a day.
const minutes = 1440

// stormFixed is com.digitalpebble.stormcrawler…DefaultScheduler of Apache StormCrawler at
// commit 384e98c (2025-07-01), the default: fetchInterval.default in crawler-default.yaml
// is 1440 minutes.
type stormFixed struct{}

func newStormFixed(Setting, *World) Scheduler { return stormFixed{} }

func (stormFixed) Enter(_ int, at float64) float64      { return at + 1 }
func (stormFixed) Visit(_ int, look Look) (due float64) { return look.At + 1 }
func (stormFixed) Leave(int)                            {}

// stormAdaptive is AdaptiveScheduler of the same: whole minutes, shortened
// towards the least interval by a change and lengthened without one. The least
// interval is not enforced otherwise; a first fetch has the default interval.
type stormAdaptive struct {
	interval         []int // by page, in minutes
	increase, shrink float64
	least, most      int // minutes
}

// newStormAdaptive has the defaults of the class: scheduler.adaptive.fetchInterval
// rate.incr and rate.decr 0.5, min 1 hour, max 14 days.
func newStormAdaptive(s Setting, _ *World) Scheduler {
	return &stormAdaptive{make([]int, len(s.Pages)), 0.5, 0.5, 60, 14 * minutes}
}

// newNewsCrawl has the settings of Common Crawl's news-crawl at commit ffdfae3,
// conf/crawler-conf.yaml: rate.incr 0.5, rate.decr 0.2, min 90 minutes, max 90
// days.
func newNewsCrawl(s Setting, _ *World) Scheduler {
	return &stormAdaptive{make([]int, len(s.Pages)), 0.5, 0.2, 90, 90 * minutes}
}

func (a *stormAdaptive) Enter(page int, at float64) float64 {
	a.interval[page] = minutes
	return at + 1
}

func (a *stormAdaptive) Visit(page int, look Look) float64 {
	interval := float64(a.interval[page])
	if look.Changed {
		a.interval[page] = int((1-a.shrink)*interval + a.shrink*float64(a.least))
	} else {
		a.interval[page] = min(a.most, int(interval*(1+a.increase)))
	}
	return look.At + float64(a.interval[page])/minutes
}

func (*stormAdaptive) Leave(int) {}
