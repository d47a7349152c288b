package extract

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// Limits of tables.
const (
	maxSpan    = 20   // columns or rows of a cell
	maxColumns = 1000 // a table with more is written as lines
)

// cellTable is an open table whose cells are gathered. A layout gathers none: the contents
// of its cells are ordinary blocks.
type cellTable struct {
	outer  *cellTable
	layout bool
	text   []byte // of all cells, one after the other
	ends   []int  // where each ends
	rows   []int  // how many cells there are up to the end of each row
	inRow  bool
	inCell bool
	start  int // where the open cell begins
	// carried is the number of further rows for which each column belongs to a cell above.
	carried []int
	columns int
	// headed: the first row is a head; heads: all cells of the open row so far are head
	// cells.
	headed, heads bool
	inHead        bool // within a <thead>
	across, down  int  // the span of the open cell
	base          int  // the containers within the cell begin here
}

// spanOf reads a span.
func spanOf(attributes []html.Attribute, name string) int {
	value, _ := attribute(attributes, name)
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil && len(value) < 9 || n < 1 {
		return 1
	}
	return min(n, maxSpan)
}

func (t *cellTable) startRow() {
	t.endRow()
	t.inRow, t.heads = true, true
}

func (t *cellTable) endRow() {
	if !t.inRow {
		return
	}
	t.inRow = false
	first := t.rowStart()
	n := len(t.ends) - first
	if n == 0 {
		return
	}
	for column := n; column < len(t.carried); column++ {
		t.carried[column] = max(0, t.carried[column]-1)
	}
	if len(t.rows) == 0 {
		t.headed = t.heads || t.inHead
	}
	t.columns = max(t.columns, n)
	t.rows = append(t.rows, len(t.ends))
}

// rowStart returns the number of the first cell of the open row.
func (t *cellTable) rowStart() int {
	if len(t.rows) == 0 {
		return 0
	}
	return t.rows[len(t.rows)-1]
}

// empty adds a cell without text.
func (t *cellTable) empty() { t.ends = append(t.ends, len(t.text)) }

// startCell begins a cell, after the cells of rows above that span this row.
func (t *cellTable) startCell(attributes []html.Attribute, head bool) {
	if !t.inRow {
		t.startRow()
	}
	for column := len(t.ends) - t.rowStart(); column < len(t.carried) && t.carried[column] > 0; column++ {
		t.carried[column]--
		t.empty()
	}
	t.heads = t.heads && head
	t.inCell, t.start = true, len(t.text)
	t.across, t.down = spanOf(attributes, "colspan"), spanOf(attributes, "rowspan")
}

// add adds a block to the open cell.
func (t *cellTable) add(first string, text []byte) {
	if len(t.text) > t.start {
		t.text = append(t.text, cellBreak)
	}
	t.text = append(append(t.text, first...), text...)
}

// endCell ends the open cell. The budget pays for the cells that its span adds.
func (t *cellTable) endCell(afford func(int) bool) {
	if !t.inCell {
		return
	}
	t.inCell = false
	column := len(t.ends) - t.rowStart()
	t.empty()
	const price = 3 // bytes of an empty cell
	if t.across > 1 && afford(price*(t.across-1)) {
		for range t.across - 1 {
			t.empty()
		}
	} else {
		t.across = 1
	}
	if t.down < 2 || column+t.across > maxColumns || !afford(price*t.across*(t.down-1)) {
		return
	}
	for len(t.carried) < column+t.across {
		t.carried = append(t.carried, 0)
	}
	for i := range t.across {
		t.carried[column+i] = t.down - 1
	}
}

// cells calls do with the cells of a row.
func (t *cellTable) cells(row int, do func(cell []byte)) {
	first, start := 0, 0
	if row > 0 {
		first = t.rows[row-1]
		start = t.ends[first-1]
	}
	for _, end := range t.ends[first:t.rows[row]] {
		do(t.text[start:end])
		start = end
	}
}

// markdown writes the table, or its lines if it is too wide.
func (t *cellTable) markdown(afford func(int) bool) []byte {
	const price, mark = 4, 6 // bytes around a cell, and those of a column's mark
	if t.columns > maxColumns || !afford(t.columns*(price+mark)+len(t.ends)*price) {
		return t.lines()
	}
	out := make([]byte, 0, len(t.text)+len(t.ends)*price+t.columns*(price+mark)+64)
	if !t.headed {
		out = append(out, strings.Repeat("| ", t.columns)+"|\n"...)
		out = t.marks(out)
	}
	for row := range t.rows {
		n := 0
		t.cells(row, func(cell []byte) {
			n++
			out = append(out, "| "...)
			if len(cell) > 0 {
				out = append(appendCell(out, cell, "<br>"), ' ')
			}
		})
		if row == 0 && t.headed {
			out = append(out, strings.Repeat("| ", t.columns-n)...)
		}
		out = append(out, "|\n"...)
		if row == 0 && t.headed {
			out = t.marks(out)
		}
	}
	return bytes.TrimSuffix(out, []byte{'\n'})
}

func (t *cellTable) marks(out []byte) []byte {
	return append(out, strings.Repeat("| --- ", t.columns)+"|\n"...)
}

// lines writes each row as a line.
func (t *cellTable) lines() []byte {
	var out []byte
	for row := range t.rows {
		start := len(out)
		t.cells(row, func(cell []byte) {
			if len(cell) == 0 {
				return
			}
			if len(out) > start {
				out = append(out, " | "...)
			}
			out = appendCell(out, cell, " ")
		})
		if len(out) > start {
			out = append(escapeStart(out, start), "\\\n"...)
		}
	}
	return bytes.TrimSuffix(out, []byte("\\\n"))
}

// appendCell writes a cell's text with its line breaks.
func appendCell(out, cell []byte, lineBreak string) []byte {
	for _, c := range cell {
		if c == cellBreak {
			out = append(out, lineBreak...)
		} else {
			out = append(out, c)
		}
	}
	return out
}
