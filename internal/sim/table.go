package sim

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteText writes the comparison for people: what was compared, a table of the
// measurements and, if there is an optimum, a table of how near to it each policy came.
func (c *Comparison) WriteText(out io.Writer) error {
	fmt.Fprintf(out, "%s\n", c.Title)
	for _, line := range wrap(c.heading(), 100) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
	if err := c.writeMetrics(out); err != nil || !c.Stationary {
		return err
	}
	fmt.Fprintf(out, "\nShare of the gap between uniform and the optimum of each objective that was closed, %%%s:\n\n", c.spreadWords(" (least to most)"))
	return c.writeGaps(out)
}

// heading explains the numbers.
func (c *Comparison) heading() string {
	w := c.First
	text := fmt.Sprintf("%s on %s with %s. Budget %s (%.4g visits a day at the end), %s. Measured for %.4g days after %.4g days of warm-up%s.",
		plural(len(w.Pages), "page"), plural(w.Hosts, "host"), plural(w.Changes(), "change"), c.Budget, c.Budget.visits(w.livingAt(w.Days)), c.Mode,
		w.Days-c.Warmup, c.Warmup, c.spreadWords(", median of "+plural(len(c.Seeds), "seed")+" ± half the range"))
	return strings.Join(append([]string{text}, c.Notes...), " ")
}

// spreadWords returns words about spread, if there is one.
func (c *Comparison) spreadWords(words string) string {
	if len(c.Seeds) < 2 {
		return ""
	}
	return words
}

func (w *World) livingAt(t float64) int {
	n := 0
	for i := range w.Pages {
		if p := &w.Pages[i]; p.Birth <= t && p.Death >= t {
			n++
		}
	}
	return n
}

func (c *Comparison) writeMetrics(out io.Writer) error {
	u := c.timeUnit()
	header := []string{"POLICY", "STALE %", "AGE " + u.name, "DELAY " + u.name, "HARMONIC", "VISITS/DAY", "FOUND/DAY", "WASTED %", "IDLE %"}
	lead, modes := c.hasLead(), c.Mode == Better
	if lead {
		header = append(header, "LEAD %")
	}
	if modes {
		header = append(header, "MODE")
	}
	rows := [][]string{header}
	for i := range c.Rows {
		r := &c.Rows[i]
		cells := []string{
			r.Name,
			percent(r.Of(func(m Metrics) float64 { return m.Staleness })),
			number(r.Of(func(m Metrics) float64 { return m.Age / u.days })),
			number(r.Of(func(m Metrics) float64 { return m.Delay / u.days })),
			number(r.Of(func(m Metrics) float64 { return m.Harmonic })),
			fmt.Sprintf("%.4g", r.Of(func(m Metrics) float64 { return m.Visits }).Median),
			fmt.Sprintf("%.4g", r.Of(func(m Metrics) float64 { return m.Found }).Median),
			fmt.Sprintf("%.1f", 100*r.Of(func(m Metrics) float64 { return m.Wasted }).Median),
			fmt.Sprintf("%.1f", 100*r.Of(func(m Metrics) float64 { return m.Idle }).Median),
		}
		if lead {
			cells = append(cells, percent(c.Lead(i)))
		}
		if modes {
			cells = append(cells, r.modes())
		}
		rows = append(rows, cells)
	}
	return writeTable(out, rows)
}

func (c *Comparison) hasLead() bool {
	for i := range c.Rows {
		if !math.IsNaN(c.Lead(i).Median) {
			return true
		}
	}
	return false
}

// modes names the modes in which the policy was better.
func (r *Row) modes() string {
	for i := range r.Runs {
		if r.Runs[i].Mode != r.Runs[0].Mode {
			return "either"
		}
	}
	return string(r.Runs[0].Mode)
}

func (c *Comparison) writeGaps(out io.Writer) error {
	rows := [][]string{append([]string{"POLICY"}, Objectives()...)}
	for i := range c.Rows {
		r := &c.Rows[i]
		cells := []string{r.Name}
		for _, objective := range Objectives() {
			cell := interval(r.Gap(objective))
			if r.Policy.Objective == objective {
				cell = "* " + cell
			}
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	if err := writeTable(out, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "\n* what the policy is for")
	return err
}

// writeTable writes rows of cells, the first column at the left, the others at
// the right of their columns.
func writeTable(out io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, cells := range rows {
		fmt.Fprintf(&b, "%-*s", widths[0], cells[0])
		for i, cell := range cells[1:] {
			fmt.Fprintf(&b, "  %*s", widths[i+1], cell)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// percent writes a share in percent, with its spread.
func percent(s Spread) string {
	if math.IsNaN(s.Median) {
		return "-"
	}
	return spreadText(100*s.Median, 100*s.half(), 2)
}

// number writes a number in three digits, with its spread.
func number(s Spread) string {
	decimals := 0
	if s.Median > 0 {
		decimals = max(0, 2-int(math.Floor(math.Log10(s.Median))))
	}
	return spreadText(s.Median, s.half(), decimals)
}

func spreadText(median, half float64, decimals int) string {
	text := decimal(median, decimals)
	if half > 0 {
		text += " ±" + decimal(half, decimals)
	}
	return text
}

// decimal writes a number with a number of decimals, and never −0.
func decimal(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// interval writes a share in percent with its range.
func interval(s Spread) string {
	if math.IsNaN(s.Median) {
		return "-"
	}
	if s.Low == s.High {
		return wholePercent(s.Median)
	}
	return fmt.Sprintf("%s (%s to %s)", wholePercent(s.Median), wholePercent(s.Low), wholePercent(s.High))
}

// wholePercent writes a share in whole percent; one far below zero is not worth its digits.
func wholePercent(x float64) string {
	if x < -9.99 {
		return "<-999"
	}
	return decimal(100*x, 0)
}

// unit is a unit in which times are shown.
type unit struct {
	name string
	days float64
}

// timeUnit returns the largest unit of which delays are more than a tenth.
func (c *Comparison) timeUnit() unit {
	longest := 0.0
	for i := range c.Rows {
		longest = max(longest, c.Rows[i].Of(func(m Metrics) float64 { return m.Delay }).Median)
	}
	for _, u := range []unit{{"d", 1}, {"h", 1. / 24}, {"min", 1. / 1440}} {
		if longest > u.days/10 {
			return u
		}
	}
	return unit{"s", 1. / 86400}
}

// wrap breaks a text into lines of about width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
