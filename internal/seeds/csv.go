package seeds

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// column is where a CSV file has its URLs.
type column struct {
	comma  rune
	index  int
	header string // the column's name, "" if the file has no header
}

// urlNames are names of columns with URLs, the best first.
var urlNames = []string{"url", "uri", "seed", "seed_url", "page_url", "loc", "location", "address", "link", "href", "page"}

// columnOf finds the column with the URLs in the first lines of a file. Without a
// header, a line that starts with a URL is split only if all lines have the same
// number of fields: commas and semicolons are characters of URLs too.
func columnOf(lines []string) (column, bool) {
	for _, comma := range []rune{'\t', ',', ';'} {
		if c, ok := columnBy(comma, lines); ok {
			return c, true
		}
	}
	return column{}, false
}

func columnBy(comma rune, lines []string) (column, bool) {
	const enough = 3
	if len(lines) == 0 {
		return column{}, false
	}
	first := fields(lines[0], comma)
	if c, ok := named(first, comma); ok && (len(first) > 1 || len(lines) > 1) {
		return c, true
	}
	at := slices.IndexFunc(first, isWeb)
	switch {
	case len(first) < 2:
		return column{}, false
	case at < 0 && len(lines) > 1: // a header of other names
		second := fields(lines[1], comma)
		if at = slices.IndexFunc(second, isWeb); at < 0 || len(second) != len(first) {
			return column{}, false
		}
		return column{comma, at, first[at]}, true
	case at == 0 && !strings.HasPrefix(lines[0], `"`) && comma != '\t':
		alike := !slices.ContainsFunc(lines, func(l string) bool { return len(fields(l, comma)) != len(first) })
		return column{comma, at, ""}, alike && len(lines) >= enough
	}
	return column{comma, at, ""}, at >= 0
}

// named finds the column in a header.
func named(header []string, comma rune) (column, bool) {
	for _, name := range urlNames {
		if i := slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) }); i >= 0 {
			return column{comma, i, header[i]}, true
		}
	}
	return column{}, false
}

// fields splits one line.
func fields(line string, comma rune) []string {
	r := csv.NewReader(strings.NewReader(line))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, true, -1
	all, err := r.Read()
	if err != nil {
		return nil
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// wanted finds the column that a person names, by its name or number.
func wanted(name string, lines []string) (column, error) {
	if len(lines) == 0 {
		return column{}, errors.New("it is empty")
	}
	c := column{comma: ','}
	for _, comma := range []rune{'\t', ';', ','} {
		if len(fields(lines[0], comma)) > len(fields(lines[0], c.comma)) {
			c.comma = comma
		}
	}
	header := fields(lines[0], c.comma)
	if i := slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) }); i >= 0 {
		c.index, c.header = i, header[i]
		return c, nil
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || n > len(header) {
		return column{}, fmt.Errorf("it has no column %q: name one of %s, or give its number, 1 to %d", name, strings.Join(header, ", "), len(header))
	}
	c.index = n - 1
	if !isWeb(header[c.index]) {
		c.header = header[c.index]
	}
	return c, nil
}

func readCSV(in *bufio.Reader, head []byte, name string) (*Reader, error) {
	lines := wholeLines(head)
	c, ok := columnOf(lines)
	if name != "" {
		var err error
		if c, err = wanted(name, lines); err != nil {
			return nil, err
		}
	} else if !ok {
		c = column{comma: ','}
	}
	guard := &bounded{r: in, left: maxEntry}
	r := csv.NewReader(guard)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord, r.Comment = c.comma, true, -1, true, '#'
	what := fmt.Sprintf("CSV, column %d", c.index+1)
	if c.header != "" {
		what += fmt.Sprintf(" (%s)", c.header)
	}
	header := c.header != ""
	return &Reader{what: what, next: func() (Entry, error) {
		for {
			guard.rest()
			record, err := r.Read()
			switch {
			case errors.Is(err, io.EOF):
				return Entry{}, io.EOF
			case err != nil:
				return Entry{}, err
			case header:
				header = false
			case c.index >= len(record) || strings.TrimSpace(record[c.index]) == "":
				return Entry{Text: strings.Join(record, string(c.comma)), Refused: ReasonNoURL}, nil
			default:
				return Entry{Text: strings.TrimSpace(record[c.index])}, nil
			}
		}
	}}, nil
}
