package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// px is a coordinate of a drawing.
type px float64

// String implements fmt.Stringer: nobody sees a tenth of a pixel.
func (x px) String() string { return strconv.FormatFloat(math.Round(float64(x)*10)/10, 'f', -1, 64) }

// timeline is the drawing of a page's life: when it was looked at, what was found, the
// belief about its rate of change, and the next visit.
type timeline struct {
	Width, Height px
	// Left and Right bound the time axis. Lane is the height of the marks, Top and Bottom
	// bound the belief.
	Left, Right, Lane, Top, Bottom px

	Marks []visitMark
	// Now is the place of the present, Next that of the next visit if HasNext. Broken says
	// that the future is not to scale.
	Now, Next px
	NextWords string
	NextAtEnd bool // the words stand before the mark
	HasNext   bool
	Broken    bool
	Ticks     []tick
	// Mean and Band are the paths of the belief, Rungs its heights; "" without a belief.
	Mean, Band string
	Rungs      []tick
	// About describes the drawing in words.
	About string
}

// visitMark is a visit.
type visitMark struct {
	X     px
	Kind  string // see markKind
	Title string
}

// tick is a place on an axis.
type tick struct {
	At    px
	Label string
}

// Kinds of marks. The same words are classes of style.
const (
	markNew    = "new"    // the first copy
	markChange = "change" // a new version
	markReturn = "return" // an earlier version again
	markSame   = "same"   // looked at, and as before
	markWait   = "wait"   // counts only after a second look
	markFail   = "fail"   // brought no content
)

func markKind(o crawl.Outcome) string {
	switch o {
	case crawl.OutcomeNew:
		return markNew
	case crawl.OutcomeChanged:
		return markChange
	case crawl.OutcomeReturned:
		return markReturn
	case crawl.OutcomeUnchanged, crawl.OutcomeCosmetic, crawl.OutcomeSkipped:
		return markSame
	case crawl.OutcomeSuspect:
		return markWait
	}
	return markFail
}

// life is the data of a drawing.
type life struct {
	Visits  []store.VisitRecord // newest first
	Beliefs []report.BeliefAt
	Next    time.Time // zero if none is planned
	Now     time.Time
}

// drawnVisits is the number of a page's last visits that are drawn.
const drawnVisits = 200

// lifeOf collects the data of a page's drawing.
func lifeOf(e report.Explained) life {
	l := life{Beliefs: e.Beliefs(), Next: e.Next().At, Now: e.Now()}
	l.Visits, _ = cut(e.Visits(), drawnVisits)
	if n := len(l.Visits); n > 0 {
		first := l.Visits[n-1].At
		l.Beliefs = slices.DeleteFunc(l.Beliefs, func(b report.BeliefAt) bool { return b.At.Before(first) })
	}
	return l
}

// drawTimeline draws a page's life in a width in pixels.
func drawTimeline(l life, width px) timeline {
	t := timeline{Width: width, Left: 46, Right: width - 12, Lane: 40, Top: 84, Bottom: 196}
	if len(l.Beliefs) == 0 {
		t.Top, t.Bottom = 66, 66
	}
	t.Height = t.Bottom + 24
	x := t.scale(l)
	t.Now = x(l.Now)
	for _, v := range slices.Backward(l.Visits) {
		t.Marks = append(t.Marks, visitMark{X: x(v.At), Kind: markKind(v.Outcome), Title: fmt.Sprintf("visit %d, %s: %s", v.Visit, v.At.UTC().Format(dayAndTime), outcomeWords(v.Outcome))})
	}
	if !l.Next.IsZero() && len(l.Visits) > 0 {
		t.HasNext, t.NextWords = true, "next visit "+report.When(l.Next, l.Now)
		t.NextAtEnd = t.Next > t.Right-100
	}
	t.believe(l, x)
	t.About = aboutLife(l)
	return t
}

const dayAndTime = "2 Jan 2006 15:04 UTC"

// scale lays out the time from the first visit to the next one, and returns the place of a
// time. A next visit that would leave no room for the past is drawn at the end, not to
// scale.
func (t *timeline) scale(l life) func(time.Time) px {
	first := l.Now
	if n := len(l.Visits); n > 0 {
		first = l.Visits[n-1].At
	}
	past := max(l.Now.Sub(first), time.Minute)
	ahead := max(l.Next.Sub(l.Now), 0)
	if l.Next.IsZero() {
		ahead = 0
	}
	whole := t.Right - t.Left
	now := t.Left + whole*px(float64(past)/float64(past+max(ahead, past/20)))
	t.Next = t.Left + whole*px(float64(past+ahead)/float64(past+max(ahead, past/20)))
	if ahead > past/2 {
		t.Broken, now, t.Next = true, t.Left+whole*0.74, t.Left+whole*0.93
	}
	start := l.Now.Add(-past)
	x := func(at time.Time) px {
		if at.After(l.Now) {
			return min(now+(t.Next-now)*px(float64(at.Sub(l.Now))/float64(max(ahead, 1))), t.Right)
		}
		return max(t.Left, t.Left+(now-t.Left)*px(float64(at.Sub(start))/float64(past)))
	}
	t.Ticks = timeTicks(start, l.Now, int(max((now-t.Left)/70, 2)), x)
	return x
}

// step is the time between two ticks of an axis: a duration, or a number of months.
type step struct {
	every  time.Duration
	months int
	layout string
}

const day = 24 * time.Hour

var steps = []step{
	{every: time.Second, layout: "15:04:05"},
	{every: 5 * time.Second, layout: "15:04:05"},
	{every: 15 * time.Second, layout: "15:04:05"},
	{every: time.Minute, layout: "15:04"},
	{every: 5 * time.Minute, layout: "15:04"},
	{every: 15 * time.Minute, layout: "15:04"},
	{every: time.Hour, layout: "15:04"},
	{every: 3 * time.Hour, layout: "15:04"},
	{every: 12 * time.Hour, layout: "2 Jan 15:04"},
	{every: day, layout: "2 Jan"},
	{every: 2 * day, layout: "2 Jan"},
	{every: 7 * day, layout: "2 Jan"},
	{every: 14 * day, layout: "2 Jan"},
	{months: 1, layout: "Jan"},
	{months: 3, layout: "Jan 2006"},
	{months: 12, layout: "2006"},
	{months: 60, layout: "2006"},
	{months: 240, layout: "2006"},
}

// before returns the last tick that is not after a time.
func (s step) before(at time.Time) time.Time {
	if s.months == 0 {
		return at.Truncate(s.every)
	}
	months := (at.Year()*12 + int(at.Month()) - 1) / s.months * s.months
	return time.Date(months/12, time.Month(months%12+1), 1, 0, 0, 0, 0, time.UTC)
}

func (s step) after(at time.Time) time.Time {
	if s.months == 0 {
		return at.Add(s.every)
	}
	return at.AddDate(0, s.months, 0)
}

// timeTicks returns round times between two times, about most or fewer.
func timeTicks(from, to time.Time, most int, x func(time.Time) px) []tick {
	chosen := steps[len(steps)-1]
	for _, s := range steps {
		if to.Sub(from)/max(s.every, time.Duration(s.months)*30*day) < time.Duration(most) {
			chosen = s
			break
		}
	}
	var all []tick
	for at := chosen.after(chosen.before(from.UTC())); !at.After(to); at = chosen.after(at) {
		all = append(all, tick{x(at), at.Format(chosen.layout)})
	}
	return all
}

// rungs are the heights that may get a label: times between two changes.
var rungs = []struct {
	days  float64
	label string
}{
	{1. / 86400, "1 s"}, {1. / 8640, "10 s"}, {1. / 1440, "1 min"}, {1. / 144, "10 min"}, {1. / 24, "1 h"}, {0.25, "6 h"}, {1, "1 day"}, {7, "week"}, {30, "month"}, {365, "year"}, {3650, "10 years"}, {36500, "century"},
}

// believe draws the beliefs: the time between two changes, with long ones above.
func (t *timeline) believe(l life, x func(time.Time) px) {
	if len(l.Beliefs) == 0 {
		return
	}
	low, high := extent(l.Beliefs)
	y := func(rate float64) px {
		share := math.Log(1/max(rate, 1e-9)/low) / math.Log(high/low)
		return t.Bottom - (t.Bottom-t.Top)*px(min(max(share, 0), 1))
	}
	for _, r := range rungs {
		if at := y(1 / r.days); r.days >= low && r.days <= high && (len(t.Rungs) == 0 || t.Rungs[len(t.Rungs)-1].At-at > 18) {
			t.Rungs = append(t.Rungs, tick{at, r.label})
		}
	}
	end := t.Right
	if t.HasNext || t.Broken {
		end = t.Next
	}
	var mean, upper strings.Builder
	var lower []string
	for i, b := range l.Beliefs {
		from, to := x(b.At), end
		if i+1 < len(l.Beliefs) {
			to = x(l.Beliefs[i+1].At)
		}
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&mean, "%s%v %vH%v", command, from, y(b.Mean), to)
		fmt.Fprintf(&upper, "%s%v %vH%v", command, from, y(b.Low), to)
		lower = append(lower, fmt.Sprintf("L%v %vH%v", to, y(b.High), from))
	}
	slices.Reverse(lower)
	t.Mean, t.Band = mean.String(), upper.String()+strings.Join(lower, "")+"Z"
}

// extent returns the shortest and the longest time between two changes that are drawn, in
// days. A band without an upper end is cut, so that the rest can be told apart.
func extent(beliefs []report.BeliefAt) (low, high float64) {
	low, high = math.Inf(1), 0
	longest := 0.0
	for _, b := range beliefs {
		low = min(low, 1/max(b.High, 1e-9))
		high = max(high, 1/max(b.Low, 1e-9))
		longest = max(longest, 1/b.Mean)
	}
	high = min(high, 30*longest)
	return low / 1.2, max(high, 4*low) * 1.2
}

// aboutLife describes the drawing for readers who cannot see it.
func aboutLife(l life) string {
	if len(l.Visits) == 0 {
		return "There are no visits yet."
	}
	changes := 0
	for _, v := range l.Visits {
		if v.Outcome.Changed() {
			changes++
		}
	}
	text := fmt.Sprintf("%s since %s, of which %d found a change.", count(len(l.Visits), "visit"), l.Visits[len(l.Visits)-1].At.UTC().Format(dayAndTime), changes)
	if n := len(l.Beliefs); n > 0 {
		b := l.Beliefs[n-1]
		text += fmt.Sprintf(" It is believed to change about every %s, with a probability of 90 %% every %s to %s.", schedule.Every(b.Mean), schedule.Every(b.High), schedule.Every(b.Low))
	}
	if !l.Next.IsZero() {
		text += " The next visit is " + report.When(l.Next, l.Now) + "."
	}
	return text
}

func outcomeWords(o crawl.Outcome) string { return strings.ReplaceAll(o.String(), "_", " ") }
