package bench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// Spread is the least, the middle and the greatest of some figures.
type Spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// SpreadOf returns the zero Spread for no figures.
func SpreadOf(figures ...float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	return Spread{Min: sorted[0], Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Max: sorted[n-1]}
}

// Noise returns how much equal measurements differ: the greatest as a multiple of the
// least, 1 if they agree, 0 if there are none.
func (s Spread) Noise() float64 {
	if s.Min <= 0 {
		return 0
	}
	return s.Max / s.Min
}

// String writes the median, and the extremes if they differ from it.
func (s Spread) String() string {
	if s.Min == s.Max {
		return Figure(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", Figure(s.Median), Figure(s.Min), Figure(s.Max))
}

// Figure writes a number with about three digits.
func Figure(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return Unknown
	case x == 0:
		return "0"
	case size < 10:
		return fmt.Sprintf("%.2f", x)
	case size < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// Unknown stands in a table for figures that were not measured.
const Unknown = "–"

// Table is a table of texts; the first column is aligned left, the others right.
type Table struct {
	Head []string
	Rows [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Text writes the table for a terminal.
func (t *Table) Text() string {
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// Markdown writes the table for a page.
func (t *Table) Markdown() string {
	var b strings.Builder
	write := func(row []string) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	write(t.Head)
	rule := make([]string, len(t.Head))
	for i := range rule {
		rule[i] = "---:"
	}
	rule[0] = "---"
	write(rule)
	for _, row := range t.Rows {
		write(row)
	}
	return b.String()
}

// Replace puts text between the marks of a name in a page:
// <!-- NAME: begin --> and <!-- NAME: end -->, each on a line of its own.
func Replace(page, name, text string) (string, error) {
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
	before, rest, ok := strings.Cut(page, begin)
	if !ok {
		return "", fmt.Errorf("the page has no line %q", strings.TrimSpace(begin))
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("the page has no line %q after the begin", strings.TrimSpace(end))
	}
	if strings.Contains(text, "<!-- "+name+":") {
		return "", errors.New("the text holds the marks itself")
	}
	return before + begin + "\n" + strings.Trim(text, "\n") + "\n\n" + end + after, nil
}

// ReplaceInFile is Replace in a file.
func ReplaceInFile(path, name, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	changed, err := Replace(string(page), name, text)
	if err != nil {
		return fmt.Errorf("write the figures into %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}
