package sim

// Metrics holds how well a scheduler did in the measured time. Means over pages are
// weighted by the pages' importance.
type Metrics struct {
	// Staleness is the share of time in which a page differs from its copy: one
	// minus the freshness of Cho & Garcia-Molina 2003.
	Staleness float64
	// Age is the mean, over time, of the days since the first change that a copy
	// lacks, 0 while it lacks none (Cho & Garcia-Molina 2003).
	Age float64
	// Delay is the mean number of days from a change to the visit that sees it
	// (Sizov: all changes count, not the first one only). Changes that no visit sees
	// wait until the end.
	Delay float64
	// Unseen is the mean number of changes that a copy lacks: Delay times the
	// changes of a page in a day.
	Unseen float64
	// Harmonic is the mean of the harmonic number of the changes that a copy lacks
	// (Kolobov et al. 2019).
	Harmonic float64
	// Visits is the number of visits a day.
	Visits float64
	// Found is the number of visits a day that found a change.
	Found float64
	// Wasted is the share of visits that found nothing new.
	Wasted float64
	// Idle is the share of slots in which no visit was made.
	Idle float64
	// HostPeak is the most visits of one host in a day.
	HostPeak int
}

// Objectives returns the names of the product's objectives, each of which keeps one penalty
// low.
func Objectives() []string { return []string{"sqrt", "fresh", "age", "harmonic"} }

// Penalty returns the metric that our policy of that name keeps low, NaN for other names.
func (m Metrics) Penalty(objective string) float64 {
	switch objective {
	case "sqrt":
		return m.Unseen
	case "fresh":
		return m.Staleness
	case "age":
		return m.Age
	case "harmonic":
		return m.Harmonic
	}
	return nan
}

// tally counts visits and slots of the measured time.
type tally struct {
	slots, idle, visits, wasted int
	peak                        peaks
}

func (t *tally) slot(idle bool) {
	t.slots++
	if idle {
		t.idle++
	}
}

func (t *tally) visit(changed bool, host int, at float64) {
	t.visits++
	if !changed {
		t.wasted++
	}
	t.peak.visit(host, at)
}

func (s sums) metrics(days float64, t tally) Metrics {
	return Metrics{
		Staleness: share(s.time-s.fresh, s.time), Age: share(s.age, s.time),
		Delay: share(s.unseen, s.changes), Unseen: share(s.unseen, s.time), Harmonic: share(s.harmonic, s.time),
		Visits: float64(t.visits) / days, Found: float64(t.visits-t.wasted) / days, Wasted: share(float64(t.wasted), float64(t.visits)),
		Idle: share(float64(t.idle), float64(t.slots)), HostPeak: t.peak.most,
	}
}

// share returns a ratio, 0 if the whole is 0.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// peaks finds the most visits of a host in one day.
type peaks struct {
	day   []int32 // by host
	count []int32 // by host, on that day
	most  int
}

func newPeaks(hosts int) peaks { return peaks{day: make([]int32, hosts), count: make([]int32, hosts)} }

func (p *peaks) visit(host int, at float64) {
	if day := int32(at); p.day[host] != day {
		p.day[host], p.count[host] = day, 0
	}
	p.count[host]++
	p.most = max(p.most, int(p.count[host]))
}
