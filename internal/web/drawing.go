package web

import (
	"fmt"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
)

// Drawings are SVG that the server writes: positions are attributes, colours come from
// classes.

// dayChart is one number a day, the last thirty days, as bars.
type dayChart struct {
	Name  string
	Today string // in words
	Most  string
	// Label describes the drawing for readers who cannot see it.
	Label string
	Class string
	Bars  []bar
}

// bar is a rectangle of a drawing.
type bar struct {
	X, Y, Width, Height float64
	Title               string
}

// Width of a day and height of a chart. The last day is at the right edge.
const (
	chartDays   = 30
	dayWidth    = 10.0
	dayGap      = 2.0
	chartHeight = 48.0
	// leastBar is the height of the smallest bar that is not zero.
	leastBar = 1.5
)

// ViewBox is the part of the plane that is shown.
func (dayChart) ViewBox() string { return fmt.Sprintf("0 0 %g %g", chartDays*dayWidth, chartHeight) }

// dayCharts draws a crawl's days.
func dayCharts(days []report.Day) []dayChart {
	numbers := func(of func(report.Day) int) func(report.Day) float64 {
		return func(d report.Day) float64 { return float64(of(d)) }
	}
	whole := func(noun string) func(float64) string {
		return func(v float64) string { return count(int(v), noun) }
	}
	return []dayChart{
		drawDays("Visits", "visits", days, numbers(func(d report.Day) int { return d.Visits }), whole("visit")),
		drawDays("Changes", "changes", days, numbers(func(d report.Day) int { return d.Changes }), whole("change")),
		drawDays("Mean lag", "lag", days, func(d report.Day) float64 { return d.Lag.Std().Seconds() }, func(v float64) string {
			if v == 0 {
				return "none"
			}
			return schedule.Rough(crawl.Seconds(v))
		}),
	}
}

// drawDays draws one number of each day; words puts it into words.
func drawDays(name, class string, days []report.Day, of func(report.Day) float64, words func(float64) string) dayChart {
	c := dayChart{Name: name, Class: class}
	if len(days) == 0 {
		return c
	}
	days = days[max(0, len(days)-chartDays):]
	most, mostOn := 0.0, ""
	for _, d := range days {
		if v := of(d); v > most {
			most, mostOn = v, d.Day
		}
	}
	for i, d := range days {
		v := of(d)
		height := 0.0
		if v > 0 {
			height = max(leastBar, v/most*chartHeight)
		}
		c.Bars = append(c.Bars, bar{
			X: float64(chartDays-len(days)+i)*dayWidth + dayGap/2, Y: chartHeight - height, Width: dayWidth - dayGap, Height: height,
			Title: d.Day + ": " + words(v),
		})
	}
	c.Today, c.Most = words(of(days[len(days)-1])), words(most)
	c.Label = fmt.Sprintf("%s a day since %s: %s today", name, days[0].Day, c.Today)
	if mostOn != "" {
		c.Label += fmt.Sprintf(", at most %s, on %s", c.Most, mostOn)
	}
	return c
}

// hostBar is a host with how long one pass over its pages takes.
type hostBar struct {
	report.HostPass
	Link string
	// Share is the length of its bar, of 100.
	Share float64
}

// Words say how long the pass takes and why.
func (h hostBar) Words() string {
	return fmt.Sprintf("%s, one every %s", count(h.Pages, "page"), schedule.Rough(h.Every.Std()))
}

// hostBars draws hosts, the one with the longest pass first.
func hostBars(crawlName string, passes []report.HostPass) []hostBar {
	var bars []hostBar
	for _, p := range passes {
		b := hostBar{HostPass: p, Link: at(crawlName, "hosts", p.Host)}
		if longest := passes[0].Pass; longest > 0 {
			b.Share = max(1, 100*float64(p.Pass)/float64(longest))
		}
		bars = append(bars, b)
	}
	return bars
}
