//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// stretch is a part of a phase, between two samples.
type stretch struct {
	from, to sample
}

// rate returns the visits a second.
func (s stretch) rate() float64 {
	return float64(s.to.Visits-s.from.Visits) / s.to.At.Sub(s.from.At).Seconds()
}

// cost returns the processor time of a visit.
func (s stretch) cost() time.Duration {
	visits := s.to.Visits - s.from.Visits
	if visits <= 0 {
		return 0
	}
	return (s.to.cpu() - s.from.cpu()) / time.Duration(visits)
}

// tenths divides the first pass into parts with the same number of visits, as well as the
// samples allow. There are fewer than ten if the pass was cut short, and none if a part
// lacks two samples of its own, since the pass was too short for its sampling rate.
func (r run) tenths() []stretch {
	of := r.in(firstPass)
	if len(of) == 0 {
		return nil
	}
	var parts []stretch
	from := of[0]
	for i, next := 1, 1; i < len(of) && next <= 10; i++ {
		if of[i].Visited*10 < int64(next*r.total()) {
			continue
		}
		if of[i].At.Sub(from.At) <= 0 || of[i].Visits == from.Visits {
			return nil
		}
		parts = append(parts, stretch{from, of[i]})
		from = of[i]
		if of[i].Visited*10 >= int64((next+1)*r.total()) {
			return nil // two tenths between two samples
		}
		next++
	}
	return parts
}

// peak returns the rate of the fastest part.
func peak(parts []stretch) float64 {
	var most float64
	for _, p := range parts {
		most = max(most, p.rate())
	}
	return most
}

// paces returns the parts' rates as they would be on a machine that is always as fast as in
// the first of them.
func paces(parts []stretch) []float64 {
	rates := make([]float64, len(parts))
	for i, p := range parts {
		rates[i] = p.rate() * p.slowness(parts[0])
	}
	return rates
}

// early returns the part of the first pass around the thousandth page.
func (r run) early() (stretch, bool) {
	var from sample
	for _, s := range r.in(firstPass) {
		switch {
		case s.Visited < 500:
		case from.At.IsZero():
			from = s
		case s.Visited >= 1500:
			return stretch{from, s}, true
		}
	}
	return stretch{}, false
}

// stretchOf returns a whole phase.
func (r run) stretchOf(phase string) (stretch, bool) {
	of := r.in(phase)
	if len(of) < 2 || of[len(of)-1].Visits == of[0].Visits {
		return stretch{}, false
	}
	return stretch{of[0], of[len(of)-1]}, true
}

// most returns the largest value of a gauge in some samples; negative if it was never read.
func most(of []sample, gauge func(sample) int64) int64 {
	largest := int64(-1)
	for _, s := range of {
		largest = max(largest, gauge(s))
	}
	return largest
}

func backlogAge(s sample) int64 { return int64(s.BacklogAge) }
func backlog(s sample) int64    { return s.Backlog }

// Targets, as docs/benchmarks-scale.md has them.
const (
	leastOfPeak    = 0.9
	mostBacklogAge = 10 * time.Second
	mostWait       = 10 * time.Second // of a person, for a visit
	mostBytes      = 10_000           // of a page that sleeps
	mostGrowth     = 1.2              // of cost, and of memory once the cache is full
	mostAnswer     = 5 * time.Second  // of a command
	mostStart      = 30 * time.Second // until the first request
)

// largeEnough is the number of pages a crawl needs to show how rates and costs change, and
// the size of a page apart from that of an empty database.
const largeEnough = 10_000

const tooSmall = "the crawl is too small or was cut short"

// verdict says whether a target is met.
type verdict struct {
	target string
	figure string
	judged bool // there was something to judge
	met    bool
}

// words returns the verdict's first words.
func (v verdict) words() string {
	switch {
	case !v.judged:
		return "not measured"
	case v.met:
		return "met"
	}
	return "NOT met"
}

func (v verdict) String() string {
	return fmt.Sprintf("%s: %s (%s)", v.words(), v.target, v.figure)
}

// verdicts judges a run by every target.
func (r run) verdicts() []verdict {
	return []verdict{r.noCollapse(), r.freshBacklog(), r.flat(), r.bounded(), r.smallPages(), r.soonStarted(), r.afterStop(), r.personServed(), r.answers(), r.polite()}
}

// whole reports whether the first pass was over before the next phase began.
func (r run) whole() bool {
	end, ok := r.last(firstPass)
	return ok && end.Visited >= int64(r.total())
}

// noCollapse leaves out the last tenth, in which hosts run out of pages. A pass that
// reached its time limit has collapsed too.
func (r run) noCollapse() verdict {
	v := verdict{target: fmt.Sprintf("no tenth of the first pass is slower than %.1f of the fastest", leastOfPeak), figure: tooSmall}
	parts := r.tenths()
	if p, ok := r.stretchOf(firstPass); ok && !r.whole() && len(r.in(sleeping)) > 0 {
		v.judged = true
		v.figure = fmt.Sprintf("after %s %d of %d pages had been visited", p.to.At.Sub(p.from.At).Round(time.Second), p.to.Visited, r.total())
		return v
	}
	if len(parts) < 9 || r.total() < largeEnough {
		return v
	}
	even := paces(parts[:9])
	least := slices.Min(even) / slices.Max(even)
	v.judged, v.met = true, least >= leastOfPeak
	v.figure = fmt.Sprintf("the slowest is %.2f of %.1f visits/s, on a machine of even speed", least, slices.Max(even))
	return v
}

func (r run) freshBacklog() verdict {
	v := verdict{target: fmt.Sprintf("no task waits longer than %s for a worker", mostBacklogAge), figure: "no sample"}
	age := most(r.samples, backlogAge)
	if age < 0 {
		return v
	}
	v.judged, v.met = true, time.Duration(age) <= mostBacklogAge
	v.figure = fmt.Sprintf("at most %s, with %d tasks waiting at most", seconds(time.Duration(age)), most(r.samples, backlog))
	return v
}

// flat compares the cost of a visit in the ninth tenth, since in the last one hosts run out
// of pages, with that in the second, since in the first one the bound of admission still
// grows.
func (r run) flat() verdict {
	v := verdict{target: fmt.Sprintf("a first visit in the ninth tenth costs at most %.1f of one in the second", mostGrowth), figure: tooSmall}
	parts := r.tenths()
	if len(parts) < 9 || r.total() < largeEnough || parts[1].cost() <= 0 {
		return v
	}
	slower := parts[8].slowness(parts[1])
	growth := float64(parts[8].cost()) / float64(parts[1].cost()) / slower
	v.judged, v.met = true, growth <= mostGrowth
	v.figure = fmt.Sprintf("%.2f: %s after %s of processor time, on a machine that took %.2f of the time for fixed work", growth, millis(parts[8].cost()), millis(parts[1].cost()), slower)
	return v
}

// bounded compares the end with the middle of the pass, when the cache has long been full
// in a full-size run.
func (r run) bounded() verdict {
	v := verdict{target: fmt.Sprintf("the worker's memory at the end is at most %.1f of that in the middle", mostGrowth), figure: tooSmall}
	parts := r.tenths()
	if len(parts) < 9 || r.total() < largeEnough || parts[4].to.WorkerRSS <= 0 {
		return v
	}
	growth := float64(parts[8].to.WorkerRSS) / float64(parts[4].to.WorkerRSS)
	v.judged, v.met = true, growth <= mostGrowth
	v.figure = fmt.Sprintf("%.2f: %s after %s", growth, bytesText(parts[8].to.WorkerRSS), bytesText(parts[4].to.WorkerRSS))
	return v
}

func (r run) smallPages() verdict {
	v := verdict{target: fmt.Sprintf("a page that sleeps takes at most %s after retention and `starter compact`", bytesText(mostBytes)), figure: tooSmall}
	end, ok := r.last(settled)
	if !ok || !r.whole() || r.total() < largeEnough {
		return v
	}
	t, s, a := end.perPage()
	v.judged, v.met = true, t+s+a <= mostBytes
	v.figure = fmt.Sprintf("%s: %s Temporal, %s store, %s archive", bytesText(t+s+a), bytesText(t), bytesText(s), bytesText(a))
	return v
}

// perPage returns the bytes of a visited page in the three places.
func (s sample) perPage() (temporal, store, archive int64) {
	n := max(1, s.Visited)
	return max(0, s.Temporal) / n, max(0, s.Store) / n, max(0, s.Archive) / n
}

func (s sample) perPageText() string {
	temporal, store, archive := s.perPage()
	return fmt.Sprintf("%s + %s + %s", bytesText(temporal), bytesText(store), bytesText(archive))
}

func (r run) afterStop() verdict {
	v := verdict{target: fmt.Sprintf("with everything overdue after a stop, visits/s are at least %.1f of the first pass' peak", leastOfPeak), figure: "no stop in this run, or no large and whole first pass before it"}
	after, ok := r.stretchOf(afterStart)
	parts := r.tenths()
	if !ok || !r.whole() || len(parts) == 0 || r.total() < largeEnough {
		return v
	}
	v.judged, v.met = true, after.rate() >= leastOfPeak*peak(parts)
	v.figure = fmt.Sprintf("%.1f visits/s, %.2f of the peak", after.rate(), after.rate()/peak(parts))
	return v
}

func (r run) soonStarted() verdict {
	v := verdict{target: fmt.Sprintf("a start with everything overdue makes its first request within %s", mostStart), figure: "no stop in this run"}
	for _, e := range r.events {
		if e.Phase == afterStart && e.What == firstSeen {
			v.judged, v.met = true, e.Took <= mostStart
			v.figure = seconds(e.Took)
		}
	}
	return v
}

func (r run) personServed() verdict {
	v := verdict{target: fmt.Sprintf("a person's visit is made within %s", mostWait), figure: "nobody asked"}
	for _, e := range r.events {
		if e.What != wanted {
			continue
		}
		if !v.judged {
			v.judged, v.met, v.figure = true, true, ""
		}
		v.met = v.met && e.Took <= mostWait
		v.figure += fmt.Sprintf(", %s in the phase %q", seconds(e.Took), e.Phase)
	}
	v.figure = strings.TrimPrefix(v.figure, ", ")
	return v
}

func (r run) answers() verdict {
	v := verdict{target: fmt.Sprintf("status, hosts and pages answer within %s", mostAnswer), figure: "nobody asked"}
	var slowest event
	for _, e := range r.events {
		if strings.HasPrefix(e.What, command) && e.Phase != settled {
			if v.judged = true; e.Took >= slowest.Took {
				slowest = e
			}
		}
	}
	if v.judged {
		v.met = slowest.Took <= mostAnswer
		v.figure = fmt.Sprintf("the slowest: %s, %s in the phase %q", slowest.What, seconds(slowest.Took), slowest.Phase)
	}
	return v
}

func (r run) polite() verdict {
	v := verdict{target: "no two requests to a host overlap", figure: "no sample"}
	if len(r.samples) == 0 {
		return v
	}
	end := r.samples[len(r.samples)-1]
	v.judged, v.met = true, end.Overlaps == 0
	v.figure = fmt.Sprintf("%d of %d did", end.Overlaps, end.Visits)
	return v
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// bytesText writes a size in decimal units, as the targets have them.
func bytesText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1e3)
}
