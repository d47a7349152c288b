package sim

// frontera is the revisiting backend of Scrapinghub's Frontera at commit c94beae:
// SQLALCHEMYBACKEND_REVISIT_INTERVAL, one day. (It was deleted later, at 276da48.)
type frontera struct{}

func newFrontera(Setting, *World) Scheduler { return frontera{} }

func (frontera) Enter(_ int, at float64) float64      { return at + 1 }
func (frontera) Visit(_ int, look Look) (due float64) { return look.At + 1 }
func (frontera) Leave(int)                            {}

// aduana is the frequency scheduler of Scrapinghub's Aduana at commit b14bb32
// (lib/src/page_db.c, page_info_rate; lib/src/freq_scheduler.c): a page's
// frequency is freq_scale times (changes + 1)/(last − first fetch), which makes
// it a proportional policy.
//
// Aduana leaves freq_scale to its operator, and loads the frequencies in batches. Here the
// scale is kept at the value where the frequencies add up to the budget, and each visit
// updates its page's: both in its favour. A page without a second fetch has freq_default,
// which is set to the mean.
type aduana struct {
	pace    *Pace
	entered []float64
	changes []float64
	rate    []float64 // changes a day, 0 while not known
	sum     float64   // of the rates
	known   int       // pages with one
}

func newAduana(s Setting, _ *World) Scheduler {
	n := len(s.Pages)
	return &aduana{pace: s.Pace, entered: make([]float64, n), changes: make([]float64, n), rate: make([]float64, n)}
}

func (a *aduana) Enter(page int, at float64) float64 {
	a.entered[page] = at
	return at + a.pace.Interval()
}

func (a *aduana) Visit(page int, look Look) float64 {
	if look.Changed {
		a.changes[page]++
	}
	a.setRate(page, (a.changes[page]+1)/(look.At-a.entered[page]))
	scale := a.pace.Visits() / (a.sum + float64(a.pace.Live()-a.known)*a.sum/float64(a.known))
	return look.At + 1/(scale*a.rate[page])
}

func (a *aduana) Leave(page int) { a.setRate(page, 0) }

func (a *aduana) setRate(page int, rate float64) {
	a.known += count(rate > 0) - count(a.rate[page] > 0)
	a.sum += rate - a.rate[page]
	a.rate[page] = rate
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
