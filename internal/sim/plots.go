package sim

import (
	"fmt"
	"math"
	"slices"
)

// Plot is a drawing of a comparison.
type Plot struct {
	Name string // what it shows, fit for a file's name
	SVG  []byte
}

// Plots draws a comparison.
func (c *Comparison) Plots() []Plot {
	plots := []Plot{{"freshness", c.plotFreshness()}}
	if c.Stationary {
		plots = append(plots, Plot{"gap", c.plotGaps()})
	} else {
		plots = append(plots, Plot{"metrics", c.plotMetrics()})
	}
	return append(plots, Plot{"visits", c.plotVisits()})
}

// pens are the styles of our policies and of references in line plots; the others are thin
// and grey.
var pens = map[string]pen{
	"sqrt":          {"#0072b2", 2.4, ""},
	"fresh":         {"#009e73", 2.4, ""},
	"age":           {"#d55e00", 2.4, ""},
	"harmonic":      {"#cc79a7", 2.4, ""},
	"uniform":       {"#000000", 1.6, "6 3"},
	"optimum-fresh": {"#009e73", 1.4, "2 3"},
	"optimum-sqrt":  {"#0072b2", 1.4, "2 3"},
	"as-crawled":    {"#000000", 2.4, ""},
}

var otherPen = pen{"#a8a8a8", 1.1, ""}

func penOf(name string) pen {
	if p, ok := pens[name]; ok {
		return p
	}
	return otherPen
}

// drawn returns the rows of line plots, the grey ones first, so that the others lie on top.
// Policies that visit all pages alike equal uniform and are left out, as are all but two of
// those that know the rates.
func (c *Comparison) drawn() []*Row {
	var grey, coloured []*Row
	for i := range c.Rows {
		r := &c.Rows[i]
		_, special := pens[r.Name]
		switch {
		case special:
			coloured = append(coloured, r)
		case !r.alike && r.Family != Clairvoyant:
			grey = append(grey, r)
		}
	}
	return append(grey, coloured...)
}

// Sizes of line plots, in pixels.
const (
	plotWidth, plotHeight = 860.0, 460.0
	plotLeft, plotRight   = 66.0, 716.0 // labels stand at the right
	plotTop, plotBottom   = 66.0, 404.0
	labelGap              = 14.0
)

// allNew is the number of parts at the start that are not drawn, since all copies are new
// then.
const allNew = 2

func (c *Comparison) plotFreshness() []byte {
	s := c.newPlot(plotWidth, plotHeight, "Freshness over time")
	rows := c.drawn()
	low, high := math.Inf(1), math.Inf(-1)
	lines := make([][]float64, len(rows))
	for i, r := range rows {
		lines[i] = r.freshness()
		for part, f := range lines[i] {
			// Grey lines may leave the frame before the measured time.
			measured := float64(part)/parts*c.First.Days >= c.Warmup
			if !math.IsNaN(f) && (measured || penOf(r.Name) != otherPen) {
				low, high = min(low, f), max(high, f)
			}
		}
	}
	pad := max(0.02*(high-low), 1e-4)
	x := axis{from: 0, to: c.First.Days, start: plotLeft, end: plotRight}
	y := axis{from: 100 * max(0, low-pad), to: 100 * min(1, high+pad), start: plotBottom, end: plotTop}
	if c.Warmup > 0 {
		s.rect(plotLeft, plotTop, x.at(c.Warmup)-plotLeft, plotBottom-plotTop, shade)
		s.text(x.at(c.Warmup)-6, plotTop+15, right, faint, "", "warm-up")
	}
	s.horizontal(x, plotTop, plotBottom, 8, "days", tickText)
	s.vertical(y, plotLeft, plotRight, 8, "share of page-time with a fresh copy, %", tickText)
	var labels []label
	for i, r := range rows {
		var xs, ys []float64
		for part, f := range lines[i] {
			xs = append(xs, x.at((float64(part)+0.5)/parts*c.First.Days))
			ys = append(ys, y.at(100*f))
		}
		s.path(xs, ys, penOf(r.Name))
		labels = append(labels, label{r.Name, lastOf(ys), penOf(r.Name).colour})
	}
	s.labels(plotRight, plotTop, plotBottom, labels)
	return s.bytes()
}

// freshness returns the policy's freshness over time, the mean of the seeds; NaN at the
// start, and where no page lives.
func (r *Row) freshness() []float64 {
	mean := make([]float64, parts)
	for i := range mean {
		if i < allNew {
			mean[i] = nan
			continue
		}
		for _, run := range r.Runs {
			mean[i] += run.Freshness[i] / float64(len(r.Runs))
		}
	}
	return mean
}

func lastOf(ys []float64) float64 {
	for i := len(ys) - 1; i >= 0; i-- {
		if !math.IsNaN(ys[i]) {
			return ys[i]
		}
	}
	return 0
}

// visitBins is the number of bins of plotVisits.
const visitBins = 14

func (c *Comparison) plotVisits() []byte {
	s := c.newPlot(plotWidth, plotHeight, "Visits against the rate of change")
	bins := c.binByRate()
	if len(bins) < 2 {
		s.text((plotLeft+plotRight)/2, (plotTop+plotBottom)/2, centre, faint, "", "fewer than two different rates of change")
		return s.bytes()
	}
	rows := c.drawn()
	means := make([][]float64, len(rows))
	low, high := math.Inf(1), 0.0
	for i, r := range rows {
		for _, b := range bins {
			visits := b.visits(r.Runs[0].PageVisits, c.First, c.Warmup)
			means[i] = append(means[i], visits)
			if visits > 0 {
				low, high = min(low, visits), max(high, visits)
			}
		}
	}
	x := axis{from: bins[0].rate, to: bins[len(bins)-1].rate, start: plotLeft, end: plotRight, log: true}
	// Bins below a ten-thousandth of the highest are drawn at the edge.
	y := axis{from: max(low, high/1e4) / 1.2, to: high * 1.2, start: plotBottom, end: plotTop, log: true}
	s.horizontal(x, plotTop, plotBottom, 8, "changes a day", tickText)
	s.vertical(y, plotLeft, plotRight, 8, "visits a day", tickText)
	var labels []label
	for i, r := range rows {
		var xs, ys []float64
		for j, b := range bins {
			xs, ys = append(xs, x.at(b.rate)), append(ys, y.at(max(means[i][j], y.from)))
		}
		s.path(xs, ys, penOf(r.Name))
		labels = append(labels, label{r.Name, lastOf(ys), penOf(r.Name).colour})
	}
	s.labels(plotRight, plotTop, plotBottom, labels)
	return s.bytes()
}

// rateBin holds the pages of about one rate.
type rateBin struct {
	rate  float64 // geometric mean
	pages []int
}

// binByRate puts the pages of the first world that change at all into bins of equal factors
// of their rates; empty ones are left out.
func (c *Comparison) binByRate() []rateBin {
	low, high := math.Inf(1), 0.0
	for i := range c.First.Pages {
		if r := c.First.Pages[i].Rate; r > 0 {
			low, high = min(low, r), max(high, r)
		}
	}
	if high <= low {
		return nil
	}
	bins := make([]rateBin, visitBins)
	for i := range c.First.Pages {
		if r := c.First.Pages[i].Rate; r > 0 {
			b := &bins[min(int(math.Log(r/low)/math.Log(high/low)*visitBins), visitBins-1)]
			b.pages = append(b.pages, i)
			b.rate += math.Log(r)
		}
	}
	for i := range bins {
		bins[i].rate = math.Exp(bins[i].rate / float64(len(bins[i].pages)))
	}
	return slices.DeleteFunc(bins, func(b rateBin) bool { return len(b.pages) == 0 })
}

// visits returns the visits a day that the bin's pages had in the measured time.
func (b rateBin) visits(visits []int32, w *World, warmup float64) float64 {
	made, lived := 0.0, 0.0
	for _, i := range b.pages {
		p := &w.Pages[i]
		made += float64(visits[i])
		lived += max(0, w.end(p)-max(p.Birth, warmup))
	}
	return share(made, lived)
}

// label names a line at its end.
type label struct {
	text   string
	y      float64
	colour string
}

// labels writes names at the right of a frame, as near to their lines as possible without
// touching each other.
func (s *svg) labels(x, top, bottom float64, labels []label) {
	slices.SortStableFunc(labels, func(a, b label) int { return int(math.Copysign(1, a.y-b.y)) })
	ys := make([]float64, len(labels))
	for i, l := range labels {
		ys[i] = l.y
	}
	for i, y := range apart(ys, labelGap, top, bottom) {
		l := labels[i]
		s.line(x+2, l.y, x+12, y, l.colour, 1)
		s.text(x+16, y+4, left, l.colour, weightOf(l.text), l.text)
	}
}

func weightOf(name string) string {
	if penOf(name).width > 2 {
		return ` font-weight="bold"`
	}
	return ""
}

// apart moves rising places so that they are at least a gap apart and, if there is room,
// between top and bottom.
func apart(ys []float64, gap, top, bottom float64) []float64 {
	moved := slices.Clone(ys)
	for i := range moved {
		low := top
		if i > 0 {
			low = moved[i-1] + gap
		}
		moved[i] = max(moved[i], low)
	}
	for i := len(moved) - 1; i >= 0; i-- {
		high := bottom
		if i < len(moved)-1 {
			high = moved[i+1] - gap
		}
		moved[i] = min(moved[i], high)
	}
	return moved
}

// newPlot starts a drawing with its title and subject.
func (c *Comparison) newPlot(width, height float64, title string) *svg {
	s := &svg{width: width, height: height, title: title + ": " + c.Title}
	s.text(16, 26, left, ink, ` font-size="15" font-weight="bold"`, s.title)
	s.text(16, 45, left, faint, "", fmt.Sprintf("%s, budget %s, %s%s", plural(len(c.First.Pages), "page"), c.Budget, c.Mode,
		c.spreadWords(", "+plural(len(c.Seeds), "seed"))))
	return s
}
