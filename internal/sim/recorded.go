package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"recrawl/internal/crawl"
)

// Recording holds the findings of a crawl's own visits.
type Recording struct {
	Name  string
	Pages []RecordedPage
	// Until is when it was recorded, the end of its world.
	Until time.Time
}

// RecordedPage is one page of a crawl.
type RecordedPage struct {
	Name string
	Host string
	// Visits are in the order in which they were made.
	Visits []RecordedVisit
}

// RecordedVisit is one visit.
type RecordedVisit struct {
	At      time.Time
	Outcome crawl.Outcome
}

// RecordingNotes says what a world made from a recording is worth.
var RecordingNotes = []string{
	"The changes are a reconstruction, and fewer than there were: between two visits of the crawl at most one can be seen, and when it was is not known.",
	"Each change is put at a random time of the gap in which it was found, anew for each seed.",
	"So pages that change faster than they were visited look slower than they are, and what a policy would gain by visiting them more often is not seen.",
}

// compared returns the visits that saw the page's content, and so show whether it changed.
func (p *RecordedPage) compared() []RecordedVisit {
	return slices.DeleteFunc(slices.Clone(p.Visits), func(v RecordedVisit) bool { return !v.Outcome.Observes() })
}

// start returns the first time that content was seen, the zero time if it never was.
func (r *Recording) start() time.Time {
	var start time.Time
	for i := range r.Pages {
		if seen := r.Pages[i].compared(); len(seen) > 0 && (start.IsZero() || seen[0].At.Before(start)) {
			start = seen[0].At
		}
	}
	return start
}

// Keep leaves out what was recorded more than some days after the start.
func (r *Recording) Keep(most float64) {
	until := r.start().Add(duration(most))
	if !until.Before(r.Until) {
		return
	}
	r.Until = until
	for i := range r.Pages {
		p := &r.Pages[i]
		p.Visits = slices.DeleteFunc(p.Visits, func(v RecordedVisit) bool { return v.At.After(until) })
	}
}

// World makes a world from what the crawl saw; see [RecordingNotes] for its limits. Its
// policy visits as the crawl did. A page is born when its content was seen for the first
// time, and dies with a last visit that found it gone. Pages whose content was never seen
// are left out.
func (r *Recording) World(seed uint64) (*World, error) {
	start := r.start()
	w := &World{Name: r.Name, Days: days(r.Until.Sub(start))}
	if start.IsZero() || w.Days <= 0 {
		return nil, fmt.Errorf("crawl %s has no recorded visit that saw a page's content: let it run first", r.Name)
	}
	d := newDrawing(seed)
	hosts := map[string]int{}
	for i := range r.Pages {
		page, ok := r.Pages[i].live(start, w.Days, d)
		if !ok {
			continue
		}
		host := r.Pages[i].Host
		if _, ok := hosts[host]; !ok {
			hosts[host] = len(hosts)
		}
		page.Host = hosts[host]
		w.Pages = append(w.Pages, page)
	}
	w.Hosts = len(hosts)
	return w, w.Validate()
}

// live makes a page from what its visits saw; false if they saw nothing.
func (p *RecordedPage) live(start time.Time, until float64, d drawing) (Page, bool) {
	seen := p.compared()
	if len(seen) == 0 {
		return Page{}, false
	}
	page := Page{Name: p.Name, Weight: 1, Birth: days(seen[0].At.Sub(start)), Death: math.Inf(1)}
	if last := p.Visits[len(p.Visits)-1]; last.Outcome == crawl.OutcomeGone {
		page.Death = days(last.At.Sub(start))
	}
	end := min(page.Death, until)
	if page.Birth >= end {
		return Page{}, false
	}
	for i := 1; i < len(seen); i++ {
		if !seen[i].Outcome.Changed() {
			continue
		}
		from, to := days(seen[i-1].At.Sub(start)), days(seen[i].At.Sub(start))
		// Float64 may be 0; the page has not changed yet at from.
		if at := to - (to-from)*d.Float64(); at > page.Birth && at < end {
			page.Changes = append(page.Changes, at)
		}
	}
	page.Rate = float64(len(page.Changes)) / (end - page.Birth)
	return page, true
}

// Budget returns the average visits a day of the crawl, without first visits.
func (r *Recording) Budget() Budget {
	visits, span := 0, days(r.Until.Sub(r.start()))
	for i := range r.Pages {
		visits += max(0, len(r.Pages[i].compared())-1)
	}
	return Budget{PerDay: max(float64(visits), 1) / span}
}

// AsCrawled is the name of the policy of a recording.
const AsCrawled = "as-crawled"

// Policy makes the visits that the crawl made.
func (r *Recording) Policy() Policy {
	start := r.start()
	var visits [][]float64 // by page of the world: after the first
	for i := range r.Pages {
		if _, ok := r.Pages[i].live(start, days(r.Until.Sub(start)), newDrawing(0)); !ok {
			continue
		}
		var times []float64
		for _, v := range r.Pages[i].compared()[1:] {
			times = append(times, days(v.At.Sub(start)))
		}
		visits = append(visits, times)
	}
	return Policy{
		Name: AsCrawled, Family: Recorded, Help: "the visits that the crawl made itself", ownTime: true,
		make: func(Setting, *World) Scheduler { return &replay{visits: slices.Clone(visits)} },
	}
}

// replay makes visits at given times.
type replay struct{ visits [][]float64 }

func (r *replay) Enter(page int, _ float64) float64 { return r.next(page) }
func (r *replay) Visit(page int, _ Look) float64    { return r.next(page) }
func (r *replay) Leave(int)                         {}

func (r *replay) next(page int) float64 {
	left := r.visits[page]
	if len(left) == 0 {
		return math.Inf(1)
	}
	r.visits[page] = left[1:]
	return left[0]
}
