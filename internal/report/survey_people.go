package report

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report/survey"
	"recrawl/internal/schedule"
)

// surveyPeople is the part of a report's page for people, before the figures of the papers.
type surveyPeople struct {
	Sentence string
	Facts    []surveyFact
	Changed  []surveyChange
	Days     dayDrawing
	Hosts    surveyTable
}

// surveyFact is a number with its name, and what else there is to say.
type surveyFact struct{ Name, Value, Note string }

// surveyChange is a page that changed.
type surveyChange struct{ URL, Title, When, At string }

// surveyHosts is the number of hosts that a report's page names, those with the longest
// pass.
const surveyHosts = 10

// surveyPeople reads the parts of the page besides a survey's figures.
func (r Reporter) surveyPeople(ctx context.Context, line surveyLine) (surveyPeople, error) {
	status, err := r.StatusOf(ctx, line.Crawl)
	if err != nil {
		return surveyPeople{}, err
	}
	days, err := r.Days(ctx, line.Crawl)
	if err != nil {
		return surveyPeople{}, err
	}
	passes, err := r.Passes(ctx, line.Crawl, surveyHosts)
	if err != nil {
		return surveyPeople{}, err
	}
	p := surveyPeople{Sentence: status.Sentence(time.UTC, true), Facts: surveyFacts(line, days), Days: drawDays(days), Hosts: passTable(passes, status.Freshness)}
	for _, c := range line.changed {
		p.Changed = append(p.Changed, changedPage(c, time.Time(line.Now)))
	}
	return p, nil
}

// titleShown bounds the part of a title that is shown.
const titleShown = 120

func changedPage(p survey.Page, now time.Time) surveyChange {
	return surveyChange{URL: p.URL, Title: crawl.Clean(p.Title, titleShown), When: when(p.ChangedAt, now), At: p.ChangedAt.UTC().Format(time.RFC3339)}
}

func surveyFacts(line surveyLine, days []Day) []surveyFact {
	facts := []surveyFact{{"Pages", strconv.Itoa(line.Visited), fmt.Sprintf("visited, of %d known", line.Known)}}
	if f := line.Freshness; f.Pages > 0 {
		facts = append(facts,
			surveyFact{"Up to date", percentage(f.Fresh), "of the copies of " + plural(f.Pages, "page") + ", as is believed now"},
			surveyFact{"A change waits", inDays(f.Delay), "on average for the visit that finds it"},
			surveyFact{"Age of the copies", inDays(f.Age), "on average since the first change that they lack"},
		)
	}
	visits, changes := 0, 0
	for _, d := range days {
		visits, changes = visits+d.Visits, changes+d.Changes
	}
	if visits > 0 {
		facts = append(facts, surveyFact{"Changes", strconv.Itoa(changes), fmt.Sprintf("found by %s in %s", plural(visits, "visit"), plural(len(days), "day"))})
	}
	if line.Broken.Pages > 0 {
		facts = append(facts, surveyFact{"Broken", strconv.Itoa(line.Broken.Pages), "pages are gone; " + plural(line.Broken.Links, "link") + " lead there"})
	}
	return facts
}

// passTable lists hosts by how long one pass over their pages takes.
func passTable(passes []HostPass, fresh *Freshness) surveyTable {
	t := surveyTable{Header: []string{"Host", "Pages", "Up to date", "One request every", "One pass takes", "How it is"}}
	byHost := map[string]FreshPart{}
	if fresh != nil {
		for _, p := range fresh.Hosts {
			byHost[p.Name] = p
		}
	}
	for _, h := range passes {
		upToDate := "–"
		if p, is := byHost[h.Host]; is {
			upToDate = percentage(p.Fresh)
		}
		how := string(h.State)
		if h.Why != "" {
			how += ": " + string(h.Why)
		}
		t.Rows = append(t.Rows, []string{h.Host, strconv.FormatInt(h.Pages, 10), upToDate, schedule.Rough(h.Every.Std()), schedule.Rough(h.Pass.Std()), how})
	}
	return t
}

// dayDrawing draws days as bars side by side, in the units of its box.
type dayDrawing struct {
	Words  string // what it shows, for those who do not see it
	Bars   []dayBar
	Labels []dayLabel
	// Most is the value of the highest bar of visits, Latest that of lags.
	Most, Latest string
	Days         []Day
}

type dayBar struct {
	X, Width                 float64
	Visits, Changes, Late    float64 // heights
	VisitsY, ChangesY, LateY float64 // upper ends
	Words                    string
}

type dayLabel struct {
	X    float64
	Text string
}

// The box of the drawing: visits and changes stand on visitsFloor, lags on lateFloor.
const (
	dayWidth    = 720.0
	visitsFloor = 140.0
	visitsHigh  = 120.0
	lateFloor   = 210.0
	lateHigh    = 40.0
)

// drawDays draws visits, the changes that they found, and by how much they were late.
func drawDays(days []Day) dayDrawing {
	d := dayDrawing{Days: days}
	visits, changes, late := 0, 0, time.Duration(0)
	all := 0
	for _, day := range days {
		visits, late = max(visits, day.Visits), max(late, day.Lag.Std())
		all, changes = all+day.Visits, changes+day.Changes
	}
	if visits == 0 {
		return dayDrawing{Days: days}
	}
	d.Words = fmt.Sprintf("%s found %s in %s; on the busiest day there were %s", plural(all, "visit"), plural(changes, "change"), plural(len(days), "day"), plural(visits, "visit"))
	d.Most, d.Latest = plural(visits, "visit"), schedule.Rough(late)
	step := dayWidth / float64(len(days))
	height := func(part, whole, high float64) float64 {
		if whole <= 0 {
			return 0
		}
		return math.Round(10*high*part/whole) / 10
	}
	for i, day := range days {
		b := dayBar{X: math.Round(10*(float64(i)*step+0.1*step)) / 10, Width: math.Round(8*step) / 10}
		b.Visits = height(float64(day.Visits), float64(visits), visitsHigh)
		b.Changes = height(float64(day.Changes), float64(visits), visitsHigh)
		b.Late = height(float64(day.Lag), float64(late), lateHigh)
		b.VisitsY, b.ChangesY, b.LateY = visitsFloor-b.Visits, visitsFloor-b.Changes, lateFloor-b.Late
		b.Words = fmt.Sprintf("%s: %s, %s, late by %s", day.Day, plural(day.Visits, "visit"), plural(day.Changes, "change"), schedule.Rough(day.Lag.Std()))
		d.Bars = append(d.Bars, b)
		if (len(days)-1-i)%labelEvery == 0 {
			d.Labels = append(d.Labels, dayLabel{math.Round(10*(float64(i)+0.5)*step) / 10, dayLabelText(day.Day)})
		}
	}
	return d
}

// labelEvery is the number of days between two dates under the drawing.
const labelEvery = 7

func dayLabelText(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.Format("2 Jan")
}
