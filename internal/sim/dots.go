package sim

import (
	"fmt"
	"math"
)

// panel is one of several dot plots with the same rows side by side.
type panel struct {
	title, unit string
	axis        axis // its places are set when it is drawn
	value       func(r *Row) Spread
	text        func(float64) string // of a tick
	number      func(float64) string // of a value beyond the axis
	// mark reports whether the panel's metric is a row's own objective.
	mark func(r *Row) bool
}

// Sizes of dot plots, in pixels.
const (
	dotsLeft   = 130.0
	dotsRow    = 19.0
	dotsTop    = 92.0
	panelWidth = 160.0
	panelGap   = 40.0
)

// plotDots draws a dot for each row in each panel, with a line from the least to the most
// of the seeds. Values beyond the axis stand at its end.
func (c *Comparison) plotDots(title string, panels []panel) []byte {
	rows := float64(len(c.Rows))
	s := c.newPlot(dotsLeft+float64(len(panels))*(panelWidth+panelGap), dotsTop+rows*dotsRow+50, title)
	bottom := dotsTop + rows*dotsRow
	for i := range c.Rows {
		y := c.rowPlace(i)
		if i%2 == 0 {
			s.rect(6, y-dotsRow/2, s.width-12, dotsRow, shade)
		}
		s.text(dotsLeft-12, y+4, right, ink, weightOf(c.Rows[i].Name), c.Rows[i].Name)
	}
	for i, p := range panels {
		a := p.axis
		a.start = dotsLeft + float64(i)*(panelWidth+panelGap)
		a.end = a.start + panelWidth
		s.text((a.start+a.end)/2, dotsTop-12, centre, ink, ` font-weight="bold"`, p.title)
		s.horizontal(a, dotsTop, bottom, 3, p.unit, p.text)
		for j := range c.Rows {
			s.spread(a, c.rowPlace(j), p.value(&c.Rows[j]), p.mark(&c.Rows[j]), p.number)
		}
	}
	return s.bytes()
}

func (c *Comparison) rowPlace(i int) float64 { return dotsTop + (float64(i)+0.5)*dotsRow }

func (s *svg) spread(a axis, y float64, v Spread, marked bool, number func(float64) string) {
	if math.IsNaN(v.Median) {
		return
	}
	colour, radius := "#8a8a8a", 3.5
	if marked {
		colour, radius = "#0072b2", 5.0
	}
	if v.Median < a.from || v.Median > a.to {
		x, arrow, at := a.start+2, "◀ ", left
		if v.Median > a.to {
			x, arrow, at = a.end-2, "▶ ", right
		}
		s.text(x, y+4, at, colour, ` font-size="11"`, arrow+number(v.Median))
		return
	}
	s.line(a.at(v.Low), y, a.at(v.High), y, colour, 2)
	s.dot(a.at(v.Median), y, radius, colour)
}

func (c *Comparison) plotGaps() []byte {
	var panels []panel
	for _, objective := range Objectives() {
		panels = append(panels, panel{
			title: objective, unit: "%", axis: axis{from: -1, to: 1},
			value: func(r *Row) Spread { return r.Gap(objective) }, text: wholePercent, number: wholePercent,
			mark: func(r *Row) bool { return r.Policy.Objective == objective && r.Family == Ours },
		})
	}
	return c.plotDots("Gap between uniform and optimum closed", panels)
}

func (c *Comparison) plotMetrics() []byte {
	u := c.timeUnit()
	metrics := []struct {
		title, unit string
		of          func(Metrics) float64
		objective   string
	}{
		{"stale", "% of page-time", func(m Metrics) float64 { return 100 * m.Staleness }, "fresh"},
		{"age", u.name, func(m Metrics) float64 { return m.Age / u.days }, "age"},
		{"delay of a change", u.name, func(m Metrics) float64 { return m.Delay / u.days }, "sqrt"},
		{"harmonic", "", func(m Metrics) float64 { return m.Harmonic }, "harmonic"},
	}
	var panels []panel
	for _, m := range metrics {
		panels = append(panels, panel{
			title: m.title, unit: m.unit, axis: c.range3(m.of),
			value: func(r *Row) Spread { return r.Of(m.of) }, text: tickText,
			number: func(x float64) string { return fmt.Sprintf("%.3g", x) },
			mark:   func(r *Row) bool { return r.Policy.Objective == m.objective && r.Family == Ours },
		})
	}
	return c.plotDots("Measured", panels)
}

// range3 returns an axis from a little below the least to a little above the most of a
// metric, cut at three times the least if some are far off.
func (c *Comparison) range3(of func(Metrics) float64) axis {
	low, high := math.Inf(1), 0.0
	for i := range c.Rows {
		s := c.Rows[i].Of(of)
		low, high = min(low, s.Low), max(high, s.High)
	}
	high = min(high, 3*low)
	pad := max(0.04*(high-low), 1e-9)
	return axis{from: max(0, low-pad), to: high + pad}
}
