// Package sheet shows the Markdown of documents as HTML in which nothing runs, nothing is
// loaded, and nothing leads to the server that shows it.
//
// It reads what extract writes, which is a part of GitHub Flavored Markdown, in time that is
// proportional to its length. Parsers of all of Markdown take minutes for some texts of a
// hundred kilobytes, which a site may well have.
package sheet

import (
	"html/template"
	"strconv"
	"strings"

	"recrawl/internal/crawl"
)

// Heading is a heading of a document. ID is the id of its element.
type Heading struct {
	Level int
	Text  string
	ID    string
}

// Sheet is a document as HTML.
type Sheet struct {
	HTML template.HTML
	// Outline lists its headings, in their order.
	Outline []Heading
	// Cut: there is more of the document than is shown.
	Cut bool
}

// mostShown bounds the bytes of a document that are shown: browsers, and people, do badly
// with more.
const mostShown = 500_000

// Of shows the Markdown of a document.
func Of(markdown string) Sheet {
	s := sheet{notes: map[string]int{}}
	cut := len(markdown) > mostShown
	if cut {
		markdown = markdown[:mostShown]
		markdown = markdown[:strings.LastIndexByte(markdown, '\n')+1]
	}
	markdown = strings.Map(crawl.Visible, strings.ToValidUTF8(markdown, "\uFFFD"))
	s.blocks(strings.Split(strings.TrimSuffix(markdown, "\n"), "\n"), 0, false)
	return Sheet{HTML: template.HTML(s.out.String()), Outline: s.outline, Cut: cut} //nolint:gosec // FuzzOf: of listed elements only
}

// sheet is a document that is being written.
type sheet struct {
	out     strings.Builder
	outline []Heading
	notes   map[string]int // numbers of footnotes by their labels
}

// deepest is how deeply nested quotes and lists are read. Deeper ones are text.
const deepest = 20

// blocks writes the blocks of some lines. In a tight list, paragraphs have no element of
// their own.
func (s *sheet) blocks(lines []string, depth int, tight bool) {
	for i := 0; i < len(lines); {
		line := lines[i]
		if strings.TrimSpace(line) == "" {
			i++
			continue
		}
		if n := s.leaf(lines[i:]); n > 0 {
			i += n
			continue
		}
		if depth < deepest {
			if n := s.container(lines[i:], depth); n > 0 {
				i += n
				continue
			}
		}
		i += s.paragraph(lines[i:], depth, tight)
	}
}

// leaf writes a block that has no blocks in it, if the lines begin with one, and returns how
// many lines it has.
func (s *sheet) leaf(lines []string) int {
	line := lines[0]
	if fence := fenceOf(line); fence != "" {
		return s.code(lines, fence)
	}
	if level, title := headingOf(line); level > 0 {
		s.heading(level, title)
		return 1
	}
	if isRule(line) {
		s.out.WriteString("<hr>\n")
		return 1
	}
	if strings.HasPrefix(line, "|") && len(lines) > 1 && isTableMark(lines[1]) {
		return s.table(lines)
	}
	return 0
}

// container writes a block that has blocks in it, if the lines begin with one.
func (s *sheet) container(lines []string, depth int) int {
	switch line := lines[0]; {
	case strings.HasPrefix(line, ">"):
		return s.quote(lines, depth)
	case markOf(line) != (listMark{}):
		return s.list(lines, depth)
	case noteOf(line) != "":
		return s.note(lines, depth)
	}
	return 0
}

// fenceOf returns the marks that begin or end a block of code, "" if the line has none.
func fenceOf(line string) string {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return ""
	}
	rest := strings.TrimLeft(line, line[:1])
	if marks := line[:len(line)-len(rest)]; len(marks) >= 3 && (marks[0] == '~' || !strings.Contains(rest, "`")) {
		return marks
	}
	return ""
}

func (s *sheet) code(lines []string, fence string) int {
	s.out.WriteString(`<pre tabindex="0"><code>`)
	n := 1
	for ; n < len(lines); n++ {
		if end := strings.TrimRight(lines[n], " "); strings.HasPrefix(end, fence) && strings.Trim(end, fence[:1]) == "" {
			n++
			break
		}
		s.text(lines[n] + "\n")
	}
	s.out.WriteString("</code></pre>\n")
	return n
}

// text writes a text unchanged.
func (s *sheet) text(text string) { s.out.WriteString(template.HTMLEscapeString(text)) }

func headingOf(line string) (level int, title string) {
	title = strings.TrimLeft(line, "#")
	if level = len(line) - len(title); level < 1 || level > 6 || title != "" && title[0] != ' ' {
		return 0, ""
	}
	return level, strings.TrimSpace(title)
}

// deeper is the number of levels by which headings are lower than in the document, below
// those of the page.
const deeper = 2

func (s *sheet) heading(level int, title string) {
	id := "sheet-" + strconv.Itoa(len(s.outline)+1)
	shown, words := s.inline(title, false)
	s.outline = append(s.outline, Heading{Level: level, Text: words, ID: id})
	name := "h" + strconv.Itoa(min(level+deeper, 6))
	s.out.WriteString("<" + name + ` id="` + id + `">` + shown + "</" + name + ">\n")
}

func isRule(line string) bool {
	line = strings.TrimRight(line, " ")
	return len(line) >= 3 && strings.Trim(line, line[:1]) == "" && strings.Contains("-*_", line[:1])
}

func (s *sheet) quote(lines []string, depth int) int {
	n := 0
	var inner []string
	for ; n < len(lines) && strings.HasPrefix(lines[n], ">"); n++ {
		inner = append(inner, strings.TrimPrefix(lines[n][1:], " "))
	}
	s.out.WriteString("<blockquote>\n")
	s.blocks(inner, depth+1, false)
	s.out.WriteString("</blockquote>\n")
	return n
}

// listMark is the mark at the beginning of a list's item.
type listMark struct {
	kind   byte // - * + . )
	number string
	width  int
}

// same reports whether an item goes on with a list.
func (m listMark) same(other listMark) bool { return m.kind == other.kind }

func markOf(line string) listMark {
	digits := 0
	for digits < len(line) && digits < 9 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if digits+1 >= len(line) || line[digits+1] != ' ' {
		return listMark{}
	}
	m := listMark{kind: line[digits], number: line[:digits], width: digits + 2}
	if digits > 0 && strings.IndexByte(".)", m.kind) < 0 || digits == 0 && strings.IndexByte("-*+", m.kind) < 0 {
		return listMark{}
	}
	return m
}

func (s *sheet) list(lines []string, depth int) int {
	first := markOf(lines[0])
	var items [][]string
	n, loose := 0, false
	for n < len(lines) {
		m := markOf(lines[n])
		if !m.same(first) {
			break
		}
		item, used, gap := hanging(lines[n:], lines[n][m.width:], m.width)
		items = append(items, item)
		n += used
		loose = loose || gap
		if next := skipEmpty(lines[n:]); next > 0 && n+next < len(lines) && markOf(lines[n+next]).same(first) {
			n, loose = n+next, true
		}
	}
	name, start := "ul", ""
	if first.number != "" {
		name = "ol"
		start = ` start="` + first.number + `"`
	}
	s.out.WriteString("<" + name + start + ">\n")
	for _, item := range items {
		s.out.WriteString("<li>")
		s.blocks(item, depth+1, !loose)
		s.out.WriteString("</li>\n")
	}
	s.out.WriteString("</" + name + ">\n")
	return n
}

func skipEmpty(lines []string) int {
	n := 0
	for n < len(lines) && strings.TrimSpace(lines[n]) == "" {
		n++
	}
	return n
}

// hanging returns the lines of a block whose first line follows its mark and whose others
// are indented by indent spaces. used is the number of these lines, and gap whether an
// empty one is among them.
func hanging(lines []string, first string, indent int) (inner []string, used int, gap bool) {
	margin := strings.Repeat(" ", indent)
	inner = []string{first}
	for used = 1; used < len(lines); {
		empty := skipEmpty(lines[used:])
		if used+empty == len(lines) || !strings.HasPrefix(lines[used+empty], margin) {
			break
		}
		for range empty {
			inner = append(inner, "")
		}
		inner = append(inner, lines[used+empty][indent:])
		used += empty + 1
		gap = gap || empty > 0
	}
	return inner, used, gap
}

// longestLabel bounds the label of a footnote in bytes.
const longestLabel = 60

// noteOf returns the label of the footnote that a line begins, "" if it begins none.
func noteOf(line string) string {
	if !strings.HasPrefix(line, "[^") {
		return ""
	}
	i := strings.Index(line[:min(len(line), longestLabel)], "]: ")
	if i < 3 {
		return ""
	}
	return line[2:i]
}

// noteNumber returns the number of a footnote, since labels may contain anything.
func (s *sheet) noteNumber(label string) string {
	if s.notes[label] == 0 {
		s.notes[label] = len(s.notes) + 1
	}
	return strconv.Itoa(s.notes[label])
}

func (s *sheet) note(lines []string, depth int) int {
	label := noteOf(lines[0])
	inner, used, _ := hanging(lines, lines[0][len(label)+5:], 4)
	s.out.WriteString(`<div class="footnote" id="sheet-note-` + s.noteNumber(label) + `"><p class="label">` + template.HTMLEscapeString(label) + "</p>\n")
	s.blocks(inner, depth+1, false)
	s.out.WriteString("</div>\n")
	return used
}

// isTableMark reports whether a line stands between the head of a table and its rows.
func isTableMark(line string) bool {
	return strings.HasPrefix(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|-: ") == ""
}

func (s *sheet) table(lines []string) int {
	s.out.WriteString(`<div class="scroll" role="region" tabindex="0" aria-label="Table"><table>` + "\n")
	columns := len(cells(lines[1]))
	if head := cells(lines[0]); strings.Join(head, "") != "" {
		s.row("th", head, columns)
	}
	n := 2
	for ; n < len(lines) && strings.HasPrefix(lines[n], "|"); n++ {
		s.row("td", cells(lines[n]), columns)
	}
	s.out.WriteString("</table></div>\n")
	return n
}

// row writes the cells of a row; missing ones are left out.
func (s *sheet) row(name string, cells []string, most int) {
	s.out.WriteString("<tr>")
	for _, cell := range cells[:min(most, len(cells))] {
		shown, _ := s.inline(cell, true)
		s.out.WriteString("<" + name + ">" + shown + "</" + name + ">")
	}
	s.out.WriteString("</tr>\n")
}

// cells splits a row into its cells. A bar within a cell is escaped.
func cells(line string) []string {
	var all []string
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimRight(line, " "), "|"), "|")
	from := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			all = append(all, strings.TrimSpace(line[from:i]))
			from = i + 1
		}
	}
	return append(all, strings.TrimSpace(line[from:]))
}

// paragraph writes lines up to an empty one, or to one that begins another block. If a
// definition follows, they are its terms.
func (s *sheet) paragraph(lines []string, depth int, tight bool) int {
	n := 1
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && !begins(lines[n:]) {
		n++
	}
	if n < len(lines) && isDefinition(lines[n]) && depth < deepest {
		return n + s.definitions(lines[:n], lines[n:], depth)
	}
	shown, _ := s.inline(strings.TrimSpace(strings.Join(lines[:n], "\n")), false)
	if tight {
		s.out.WriteString(shown + "\n")
		return n
	}
	s.out.WriteString("<p>" + shown + "</p>\n")
	return n
}

// begins reports whether a block begins here, within a paragraph.
func begins(lines []string) bool {
	line := lines[0]
	level, _ := headingOf(line)
	return level > 0 || fenceOf(line) != "" || strings.HasPrefix(line, ">") || markOf(line) != (listMark{}) || isDefinition(line) ||
		noteOf(line) != "" || strings.HasPrefix(line, "|") && len(lines) > 1 && isTableMark(lines[1])
}

func isDefinition(line string) bool { return strings.HasPrefix(line, ": ") }

func (s *sheet) definitions(terms, lines []string, depth int) int {
	s.out.WriteString("<dl>\n")
	for _, term := range terms {
		shown, _ := s.inline(strings.TrimSpace(term), false)
		s.out.WriteString("<dt>" + shown + "</dt>\n")
	}
	n := 0
	for n < len(lines) && isDefinition(lines[n]) {
		inner, used, gap := hanging(lines[n:], lines[n][2:], 2)
		s.out.WriteString("<dd>")
		s.blocks(inner, depth+1, !gap)
		s.out.WriteString("</dd>\n")
		n += used
		if next := skipEmpty(lines[n:]); n+next < len(lines) && isDefinition(lines[n+next]) {
			n += next
		}
	}
	s.out.WriteString("</dl>\n")
	return n
}
