package sim

import "math"

// PlotBudgets draws the share of the gap between uniform and the optimum of its own
// objective that each policy closed, over the budgets of studies of one world that differ
// only in the budget: the median of the seeds, and thin lines from the least to the most.
// Budgets are for each page, in rising order.
func PlotBudgets(studies []*Comparison) Plot {
	first := studies[0]
	s := &svg{width: plotWidth, height: plotHeight, title: "Gap closed by budget: " + first.Title}
	s.text(16, 26, left, ink, ` font-size="15" font-weight="bold"`, s.title)
	s.text(16, 45, left, faint, "", plural(len(first.First.Pages), "page")+", "+string(first.Mode)+
		", each policy by the objective that it is for"+first.spreadWords(", "+plural(len(first.Seeds), "seed")))
	x := axis{from: first.Budget.Each / 1.2, to: studies[len(studies)-1].Budget.Each * 1.2, start: plotLeft, end: plotRight, log: true}
	y := axis{from: 0, to: 100, start: plotBottom, end: plotTop}
	s.horizontal(x, plotTop, plotBottom, 8, "visits a day for each page", tickText)
	s.vertical(y, plotLeft, plotRight, 10, "share of the gap closed, %", tickText)
	var labels []label
	for i := range first.Rows {
		name := first.Rows[i].Name
		if first.Rows[i].Family != Ours || first.Rows[i].Objective == "" {
			continue
		}
		look := penOf(name)
		var xs, ys []float64
		for _, c := range studies {
			gap := c.Rows[i].Gap(c.Rows[i].Objective)
			if math.IsNaN(gap.Median) {
				continue
			}
			at := x.at(c.Budget.Each)
			s.line(at, y.at(100*gap.Low), at, y.at(100*gap.High), look.colour, 1)
			xs, ys = append(xs, at), append(ys, y.at(100*math.Max(0, gap.Median)))
		}
		s.path(xs, ys, look)
		labels = append(labels, label{name, lastOf(ys), look.colour})
	}
	s.labels(plotRight, plotTop, plotBottom, labels)
	return Plot{"budgets", s.bytes()}
}
