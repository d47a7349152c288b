package report

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report/survey"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// How many of a crawl's visits a survey reads: a number of pages, chosen evenly by their
// ids and so independently of their changes, and a number of the last visits of each.
const (
	sampledPages  = 1000
	sampledVisits = 200
)

// visitSample is the evidence from some pages' visits about the model by which pages are
// planned.
type visitSample struct {
	pages int    // of the crawl
	every uint64 // one page in every is read
	looks [][]schedule.Look
	rates rates
}

// rates holds the changes a day of pages, by each estimator.
type rates struct{ count, log, likelihood, belief []float64 }

func newSample(pages map[crawl.PageState]int) *visitSample {
	total := 0
	for _, n := range pages {
		total += n
	}
	return &visitSample{pages: total, every: uint64(max(1, total/sampledPages))}
}

// takes reports whether a page is in the sample.
func (s *visitSample) takes(page int64) bool {
	high, low := bits.Mul64(uint64(page), 0x9E3779B97F4A7C15) // so that ids in steps are no pattern
	return (high^low)%s.every == 0
}

// readSample adds the visits of those pages that are in the sample.
func (r Reporter) readSample(ctx context.Context, s *visitSample, pages []store.PageRecord, rules schedule.Rules) error {
	chosen := map[int64]store.PageRecord{}
	var ids []int64
	for _, p := range pages {
		if p.Visits > 1 && p.Last.ID != 0 && s.takes(p.PageID) {
			chosen[p.PageID], ids = p, append(ids, p.PageID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	visits, err := r.Visits.RecentVisits(ctx, ids, sampledVisits)
	if err != nil {
		return err
	}
	for len(visits) > 0 {
		n := slices.IndexFunc(visits, func(v store.VisitLook) bool { return v.PageID != visits[0].PageID })
		if n < 0 {
			n = len(visits)
		}
		page := chosen[visits[0].PageID]
		s.add(page, looksInOrder(visits[:n]), parametersOf(rules, page))
		visits = visits[n:]
	}
	return nil
}

func (s *visitSample) add(p store.PageRecord, looks []schedule.Look, with schedule.Parameters) {
	s.looks = append(s.looks, looks)
	e, is := schedule.EstimatesOf(looks)
	if !is {
		return
	}
	s.rates.count = append(s.rates.count, e.Count)
	s.rates.log = append(s.rates.log, e.Log)
	s.rates.likelihood = append(s.rates.likelihood, e.Likelihood)
	s.rates.belief = append(s.rates.belief, schedule.DecodeBelief(p.Belief).Rate(with))
}

// looksInOrder returns the comparisons among a page's last visits. Old visits may have been
// removed, except those that found a version, so the visits left before a gap in the
// numbers would suggest too many changes.
func looksInOrder(visits []store.VisitLook) []schedule.Look {
	for i := len(visits) - 1; i > 0; i-- {
		if visits[i-1].Visit != visits[i].Visit-1 {
			visits = visits[i:]
			break
		}
	}
	var looks []schedule.Look
	var last *store.VisitLook
	for i := range visits {
		v := &visits[i]
		if !v.Outcome.Observes() {
			continue
		}
		if last != nil && v.Outcome != crawl.OutcomeNew && v.At.After(last.At) {
			looks = append(looks, schedule.Look{Days: v.At.Sub(last.At).Hours() / 24, Changed: v.Outcome.Changed()})
		}
		last = v
	}
	return looks
}

// parametersOf returns the parameters by which a page is planned.
func parametersOf(rules schedule.Rules, p store.PageRecord) schedule.Parameters {
	return rules.At(rules.Group(p.URL)).Steer(p.Steering, p.HostSteering, p.Weight)
}

// freshnessLine holds how far the copies are expected to be behind their pages now, by the
// beliefs.
type freshnessLine struct {
	Pages int     `json:"pages"`      // with a copy whose time of the last look is known
	Fresh float64 `json:"fresh"`      // expected share that has not changed since
	Age   float64 `json:"age_days"`   // mean time since the first change that a copy lacks
	Delay float64 `json:"delay_days"` // mean time from a change to the visit that will find it
}

// foreseenLine counts the visits for which the chance of a change was in a range, and what
// they found.
type foreseenLine struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Visits   int     `json:"visits"`
	Foreseen float64 `json:"foreseen"` // share that was expected to find a change
	Found    float64 `json:"found"`    // share that did
}

// ratesLine holds estimates of the changes of a page in a day.
type ratesLine struct {
	Estimator string  `json:"estimator"`
	Pages     int     `json:"pages"`
	Mean      float64 `json:"mean"`
	Median    float64 `json:"median"`
}

// intervalsLine says whether the intervals between changes fit Poisson processes; see
// schedule.IntervalFit. The test is null if there are too few changes.
type intervalsLine struct {
	Pages   int               `json:"pages"`
	Looks   int               `json:"looks"`
	Changes int               `json:"changes"`
	Bins    []intervalBinLine `json:"bins"`
	Test    *intervalTestLine `json:"test"`
}

type intervalBinLine struct {
	From     float64 `json:"from"` // of 1 − e^−H, H the changes expected since the last
	To       float64 `json:"to"`
	Looks    int     `json:"looks"`
	Expected float64 `json:"expected"`
	Found    int     `json:"found"`
}

type intervalTestLine struct {
	ChiSquare float64 `json:"chi_square"`
	Degrees   int     `json:"degrees"`
	P         float64 `json:"p"`
	Ratio     float64 `json:"found_over_expected"` // before their level is equalised
}

// addModel adds the beliefs about pages, and how they compare with what visits found.
func (line *surveyLine) addModel(s survey.Result, of *visitSample, round time.Duration, foresight [store.ForesightBins]store.Foresight) {
	line.Freshness = freshnessLine{Pages: s.Copies, Fresh: rounded(s.Freshness()), Age: rounded(s.Age()), Delay: rounded(s.Delay())}
	line.Foreseen, line.Rates = []foreseenLine{}, []ratesLine{}
	for i, f := range foresight {
		if n := float64(f.Visits); n > 0 {
			line.Foreseen = append(line.Foreseen, foreseenLine{
				float64(i) / store.ForesightBins, float64(i+1) / store.ForesightBins, f.Visits, rounded(f.Chance / n), rounded(float64(f.Found) / n),
			})
		}
	}
	for _, e := range []struct {
		name  string
		pages []float64
	}{{"count", of.rates.count}, {"log", of.rates.log}, {"likelihood", of.rates.likelihood}, {"belief", of.rates.belief}} {
		line.Rates = append(line.Rates, newRatesLine(e.name, e.pages))
	}
	line.Intervals = newIntervalsLine(schedule.FitIntervals(of.looks, schedule.FirstPrior(round)))
}

// rounded leaves six decimals of an estimate: more than its accuracy, and few enough to be
// the same on all machines.
func rounded(x float64) float64 { return math.Round(1e6*x) / 1e6 }

func newRatesLine(name string, pages []float64) ratesLine {
	line := ratesLine{Estimator: name, Pages: len(pages)}
	if len(pages) == 0 {
		return line
	}
	slices.Sort(pages)
	for _, rate := range pages {
		line.Mean += rate / float64(len(pages))
	}
	half := len(pages) / 2
	line.Mean, line.Median = rounded(line.Mean), rounded((pages[half]+pages[len(pages)-1-half])/2)
	return line
}

func newIntervalsLine(in schedule.IntervalFit) intervalsLine {
	line := intervalsLine{Pages: in.Pages, Looks: in.Looks, Changes: in.Changes, Bins: []intervalBinLine{}}
	for i, b := range in.Bins {
		line.Bins = append(line.Bins, intervalBinLine{
			float64(i) / schedule.IntervalBins, float64(i+1) / schedule.IntervalBins, b.Looks, rounded(b.Expected), b.Found,
		})
	}
	if in.Tested {
		line.Test = &intervalTestLine{rounded(in.ChiSquare), in.Degrees, rounded(in.PValue), rounded(in.Ratio)}
	}
	return line
}

// modelRows puts the model's figures into words.
func (line surveyLine) modelRows() [][]string {
	rows := [][]string{}
	if f := line.Freshness; f.Pages > 0 {
		rows = append(rows, []string{"freshness", fmt.Sprintf("%s of the copies of %s are up to date, by the beliefs; their mean age is %s, and a change waits %s for its visit",
			percentage(f.Fresh), plural(f.Pages, "page"), inDays(f.Age), inDays(f.Delay))})
	}
	if visits, foreseen, found := line.foreseen(); visits > 0 {
		rows = append(rows, []string{"foreseen", fmt.Sprintf("%s of %s were expected to find a change, %s did",
			percentage(foreseen), plural(visits, "visit"), percentage(found))})
	}
	if in := line.Intervals; in.Looks > 0 {
		rows = append(rows, []string{"intervals", in.words()})
	}
	return rows
}

func inDays(days float64) string {
	return schedule.Rough(time.Duration(days * 24 * float64(time.Hour)))
}

// foreseen returns the sums of all classes.
func (line surveyLine) foreseen() (visits int, foreseen, found float64) {
	for _, f := range line.Foreseen {
		visits += f.Visits
		foreseen += f.Foreseen * float64(f.Visits)
		found += f.Found * float64(f.Visits)
	}
	if visits == 0 {
		return 0, 0, 0
	}
	return visits, foreseen / float64(visits), found / float64(visits)
}

// unlikely is the p-value below which intervals are reported as not fitting.
const unlikely = 0.01

func (in intervalsLine) words() string {
	seen := fmt.Sprintf("%s in %s at %s", plural(in.Changes, "change"), plural(in.Looks, "look"), plural(in.Pages, "page"))
	if in.Test == nil {
		return "too few to tell whether they are those of Poisson processes: " + seen
	}
	verdict := "nothing speaks against Poisson processes"
	if in.Test.P < unlikely {
		verdict = "not those of Poisson processes"
	}
	p := "p " + strconv.FormatFloat(in.Test.P, 'f', 3, 64)
	if in.Test.P < 0.001 {
		p = "p below 0.001"
	}
	return fmt.Sprintf("%s: χ² %.1f, %s, %s; %s", verdict, in.Test.ChiSquare, plural(in.Test.Degrees, "degree")+" of freedom", p, seen)
}

func (line surveyLine) foreseenTable() surveyTable {
	t := surveyTable{Title: "Changes foreseen and found", Header: []string{"CHANCE", "VISITS", "FORESEEN", "FOUND"}}
	for _, f := range line.Foreseen {
		t.add(f.Found, inPercent(f.From, f.To), strconv.Itoa(f.Visits), percentage(f.Foreseen), percentage(f.Found))
	}
	return t
}

func (line surveyLine) ratesTable() surveyTable {
	t := surveyTable{Title: "Changes of a page in a day, by estimator", Header: []string{"ESTIMATOR", "PAGES", "MEAN", "MEDIAN"}}
	names := map[string]string{"count": "changes by days", "log": "Cho & Garcia-Molina", "likelihood": "likelihood", "belief": "belief"}
	for _, e := range line.Rates {
		if e.Pages > 0 {
			t.add(e.Mean, names[e.Estimator], strconv.Itoa(e.Pages), figure(e.Mean), figure(e.Median))
		}
	}
	return t.scaled()
}

// intervalTable makes the histogram of the intervals between changes, over the share of
// intervals that would be over by then if pages changed as Poisson processes.
func (line surveyLine) intervalTable() surveyTable {
	t := surveyTable{Title: "Intervals between changes, found (bars) and of Poisson processes (marks)", Header: []string{"OVER BY THEN", "LOOKS", "EXPECTED", "FOUND"}}
	if line.Intervals.Changes == 0 {
		return t
	}
	most := 0.0
	for _, b := range line.Intervals.Bins {
		most = max(most, float64(b.Found), b.Expected)
	}
	for _, b := range line.Intervals.Bins {
		if b.Looks > 0 {
			t.add(float64(b.Found)/most, inPercent(b.From, b.To), strconv.Itoa(b.Looks), strconv.FormatFloat(b.Expected, 'f', 1, 64), strconv.Itoa(b.Found))
			t.Marks = append(t.Marks, b.Expected/most)
		}
	}
	return t
}

// drawn draws a bar of at most 30 characters with a mark, both from 0 to 1.
func drawn(bar, mark float64) string {
	const width = 30
	at := int(math.Round(mark * width))
	text := []byte(strings.Repeat("#", int(math.Round(bar*width))))
	for len(text) <= at {
		text = append(text, ' ')
	}
	text[at] = '|'
	return string(text)
}

func inPercent(from, to float64) string { return fmt.Sprintf("%.0f to %.0f %%", 100*from, 100*to) }
