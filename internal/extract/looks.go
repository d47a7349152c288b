package extract

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Look is what a reader sees in a text and its words do not say: of which kind it is, and what
// is seen.
type Look struct{ Kind, Text string }

// LooksText writes looks for a comparison. What is seen has a line of its own, since that is
// where noise is recognised.
func LooksText(all []Look) string {
	var b strings.Builder
	for _, l := range all {
		b.WriteString(l.Kind + "\n" + l.Text + "\n")
	}
	return b.String()
}

// looks gathers what a reader sees in the main text and its words do not say. Nothing of it
// depends on where it stands in the text, so that noise elsewhere does not move it.
type looks struct {
	all []Look

	rows  []int       // where the cells of the open rows begin
	cells []byte      // for each cell 'x' with something in it, '-' without, and its span
	fills []int       // seen at the beginning of each open cell
	heads []bool      // of each open table: it has heads
	seen  int         // texts and pictures
	parts [3]openPart // open elements whose text is written at their end
	boxes []byte      // of the line: which of them are ticked

	verbatim      int    // open blocks of code
	code          uint64 // hashes its indentation
	begun         bool   // the first line of it was seen
	inLine        bool   // the line has begun
	indent, first int    // of the line, and of the first

	formula []string // what is raised, lowered or divided in an open formula
}

// openPart is an element whose text is written. One within it says nothing new.
type openPart struct{ depth, from int }

// Parts by what they are.
const (
	partStruck = iota
	partHidden
	partDisabled
)

var partNames = [...]string{partStruck: "struck out", partHidden: "not shown", partDisabled: "not available"}

var (
	struck   = set("del s strike")
	pictures = set("img svg input canvas object video audio meter progress")
	// shaping elements of a formula say how its parts stand to each other.
	shaping = set("mfrac msup msub msubsup mover munder munderover msqrt mroot")
)

func (l *looks) say(kind, text string) {
	if text = collapse(text); text != "" {
		l.all = append(l.all, Look{kind, text})
	}
}

// start takes in an element that begins where the text has so many bytes.
func (l *looks) start(n *html.Node, at int) {
	for kind := range l.parts {
		if isPart(n, kind) {
			if l.parts[kind].depth++; l.parts[kind].depth == 1 {
				l.parts[kind].from = at
			}
		}
	}
	sign := signOf(n)
	if sign != 0 {
		l.boxes = append(l.boxes, sign)
	}
	if pictures[n.Data] || sign != 0 {
		l.seen++
	}
	if code, ok := attribute(n.Attr, "data-cfemail"); ok {
		l.say("link", strings.ToLower(coveredMail(code)))
	}
	if isVerbatim(n) {
		l.verbatim++
		l.code, l.begun, l.inLine, l.indent = 0, false, false, 0
	}
	switch n.Data {
	case "table":
		l.heads = append(l.heads, hasHeads(n))
	case "tr":
		l.rows = append(l.rows, len(l.cells))
	case "td", "th":
		l.fills = append(l.fills, l.seen)
	case "a":
		l.address(n)
	case "ol", "li":
		l.numbers(n)
	case "img", "area":
		l.picture(n)
	case "svg", "i", "span", "div":
		l.drawing(n)
	case "input", "textarea":
		l.field(n)
	case "optgroup":
		l.say("option", valueOf(n, "label"))
	case "meter", "progress":
		l.say("scale", valueOf(n, "value"))
	default:
		if shaping[n.Data] {
			l.formula = append(l.formula, n.Data)
		}
	}
}

// end takes in the end of an element; text is what it added to the text since a place.
func (l *looks) end(n *html.Node, text func(from int) string) {
	for kind := range l.parts {
		if isPart(n, kind) {
			if l.parts[kind].depth--; l.parts[kind].depth == 0 {
				for line := range strings.Lines(text(l.parts[kind].from)) {
					l.say(partNames[kind], line)
				}
			}
		}
	}
	if isVerbatim(n) {
		l.endCode()
	}
	switch n.Data {
	case "table":
		l.heads = l.heads[:len(l.heads)-1]
	case "tr":
		l.endRow()
	case "td", "th":
		l.endCell(n)
	case "math":
		l.say("formula", strings.Join(l.formula, " "))
		l.formula = nil
	}
}

func isPart(n *html.Node, kind int) bool {
	switch kind {
	case partStruck:
		return struck[n.Data] || strings.Contains(valueOf(n, "style"), "line-through")
	case partHidden:
		return isUndisplayed(n) || isHiddenByClass(n)
	}
	return isDisabled(n)
}

// endCode writes how the lines of a block of code are indented.
func (l *looks) endCode() {
	if l.verbatim--; l.code != 0 {
		l.say("indentation", fmt.Sprintf("%08x", uint32(l.code^l.code>>32)))
	}
	l.code = 0
}

// valueOf returns an attribute's value, "" if it is missing.
func valueOf(n *html.Node, name string) string {
	value, _ := attribute(n.Attr, name)
	return value
}

// endRow writes which cells of a row are filled, if not all are alike.
func (l *looks) endRow() {
	row := l.cells[l.rows[len(l.rows)-1]:]
	if cells := string(row); strings.Contains(cells, "x") && strings.ContainsAny(cells, "-0123456789") {
		l.say("cells", cells)
	}
	l.cells = l.cells[:len(l.cells)-len(row)]
	l.rows = l.rows[:len(l.rows)-1]
}

// endCell notes whether a cell is filled and, in a table with heads, how many columns and rows
// it takes. Tables without heads are often there for the layout only.
func (l *looks) endCell(n *html.Node) {
	filled := byte('-')
	if l.seen > l.fills[len(l.fills)-1] {
		filled = 'x'
	}
	l.fills = l.fills[:len(l.fills)-1]
	if len(l.rows) == 0 {
		return
	}
	l.cells = append(l.cells, filled)
	if len(l.heads) == 0 || !l.heads[len(l.heads)-1] {
		return
	}
	const longest = 3 // digits
	for _, name := range [...]string{"colspan", "rowspan"} {
		if span := strings.TrimSpace(valueOf(n, name)); span != "" && span != "1" && len(span) <= longest && strings.Trim(span, "0123456789") == "" {
			l.cells = append(l.cells, name[0])
			l.cells = append(l.cells, span...)
		}
	}
}

// address notes where a link leads that is a mail's address or a telephone's number.
func (l *looks) address(n *html.Node) {
	href := strings.TrimSpace(valueOf(n, "href"))
	if _, code, ok := strings.Cut(href, coveredMails+"#"); ok {
		l.say("link", strings.ToLower(coveredMail(code)))
		return
	}
	scheme, address, ok := strings.Cut(href, ":")
	if !ok {
		return
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "mailto", "tel", "sms":
		address, _, _ = strings.Cut(address, "?")
		l.say("link", strings.ToLower(address))
	}
}

// numbers notes how the items of a list are numbered.
func (l *looks) numbers(n *html.Node) {
	if n.Data == "li" {
		l.say("number", valueOf(n, "value"))
		return
	}
	var said []string
	if start := strings.TrimSpace(valueOf(n, "start")); start != "" && start != "1" {
		said = append(said, "from "+start)
	}
	if style := strings.TrimSpace(valueOf(n, "type")); style != "" && style != "1" {
		said = append(said, "as "+style)
	}
	if _, reversed := attribute(n.Attr, "reversed"); reversed {
		said = append(said, "backwards")
	}
	l.say("numbers", strings.Join(said, ", "))
}

// picture notes what a picture is said to show. One within a link may be an advert, as it comes
// with each visit, and the name of a file says nothing.
func (l *looks) picture(n *html.Node) {
	alt := strings.TrimSpace(valueOf(n, "alt"))
	if alt == "" || isFileName(alt) || n.Data == "img" && withinLink(n) || valueOf(n, "width") == "1" || valueOf(n, "height") == "1" {
		return
	}
	l.shows(alt)
}

// shows notes what a picture is said to show. One that says the same as the one before it is its
// copy: the picture for readers without scripts, beside one that a script loads late.
func (l *looks) shows(what string) {
	same := Look{"picture", collapse(what)}
	if last := len(l.all) - 1; last < 0 || l.all[last] != same {
		l.say(same.Kind, same.Text)
	}
}

func withinLink(n *html.Node) bool {
	const most = 8 // elements up
	for i := 0; n != nil && i < most; n, i = n.Parent, i+1 {
		if n.Data == "a" {
			return true
		}
	}
	return false
}

// isFileName reports whether a description is the name of a picture's file, or a part of it.
func isFileName(alt string) bool {
	if strings.ContainsFunc(alt, unicode.IsSpace) {
		return false
	}
	switch strings.ToLower(path.Ext(alt)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp":
		return true
	}
	return isToken(alt)
}

// isToken reports whether a word looks like one that a machine made up: long, with digits among
// letters.
func isToken(word string) bool {
	const least = 16
	return len(word) >= least && !strings.ContainsFunc(word, unicode.IsSpace) &&
		strings.ContainsFunc(word, unicode.IsDigit) && strings.ContainsFunc(word, unicode.IsLetter)
}

// field notes what a field of a form shows: the words on a button, the hint in an empty field,
// what is filled in, and whether a box is ticked. Days and searches are filled in by the
// visit, and tokens by machines.
func (l *looks) field(n *html.Node) {
	kind := strings.ToLower(strings.TrimSpace(valueOf(n, "type")))
	if n.Data == "textarea" {
		kind = "textarea"
	}
	value := strings.TrimSpace(valueOf(n, "value"))
	_, disabled := attribute(n.Attr, "disabled")
	switch kind {
	case "hidden", "password", "file", "color", "date", "datetime-local", "month", "week", "time":
		return
	case "submit", "button", "reset", "image":
		if kind == "image" {
			value = valueOf(n, "alt")
		}
		l.say("button", value)
		if disabled {
			l.say(partNames[partDisabled], value)
		}
		return
	case "checkbox", "radio":
		if _, checked := attribute(n.Attr, "checked"); checked {
			l.boxes = append(l.boxes, 'x')
		} else {
			l.boxes = append(l.boxes, '-')
		}
		if disabled {
			l.boxes = append(l.boxes, 'd')
		}
		return
	}
	l.say("hint", valueOf(n, "placeholder"))
	if kind != "search" && n.Data == "input" && !isToken(value) && !isDay(value) {
		l.say("field", value)
	}
}

// isDay reports whether a text is a day in digits: "2026-03-04", "4.3.2026".
func isDay(text string) bool {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-./", r) })
	year := false
	for _, part := range parts {
		if strings.Trim(part, "0123456789") != "" || len(part) > len("2026") {
			return false
		}
		year = year || len(part) == len("2026")
	}
	return len(parts) == 3 && year
}

// text takes in a text.
func (l *looks) text(text string) {
	if strings.TrimSpace(text) != "" {
		l.seen++
	}
	if l.verbatim == 0 {
		return
	}
	const tab = 1 << 16 // unlike any number of spaces
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			l.inLine, l.indent = false, 0
		case l.inLine, c == '\r':
		case c == ' ':
			l.indent++
		case c == '\t':
			l.indent += tab
		default:
			l.codeLine()
		}
	}
}

// codeLine notes by how much a line of code is indented, beside the first one, by FNV-1a.
func (l *looks) codeLine() {
	const prime = 1099511628211
	l.inLine = true
	if !l.begun {
		l.begun, l.first = true, l.indent
		return
	}
	l.code = (l.code ^ uint64(l.indent-l.first) ^ 1<<63) * prime
}

// endLine takes in the end of a line of text: the boxes in it are ticked or not.
func (l *looks) endLine(text []byte) {
	if len(l.boxes) > 0 {
		l.all = append(l.all, Look{"ticked " + string(l.boxes), string(text)})
		l.boxes = l.boxes[:0]
	}
}

// raised takes in text above or below its line, as exponents are, with the line before it. What
// only ends a number's name, as in "1st", says nothing.
func (l *looks) raised(name, before, text string) {
	last, _ := utf8.DecodeLastRuneInString(before)
	text = collapse(text)
	letters := !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if !unicode.IsLetter(last) && !unicode.IsDigit(last) && last != ')' || text == "" ||
		letters && unicode.IsDigit(last) || !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return
	}
	mark := map[string]string{"sup": "^", "sub": "_"}[name]
	word := before[strings.LastIndexByte(before, ' ')+1:]
	l.say("raised", strings.ToValidUTF8(word, "")+mark+text)
}

// at returns the place in the text, as if the line ended here.
func (c *composer) at() int { return c.lineAt() + len(c.line.text) }

// lineAt returns the place where the line will begin.
func (c *composer) lineAt() int { return c.text.Len() + min(c.text.Len(), len("\n")) }

// since returns the text from a place on.
func (c *composer) since(from int) string {
	if from >= c.lineAt() {
		return string(c.line.text[min(from-c.lineAt(), len(c.line.text)):])
	}
	return c.text.String()[min(from, c.text.Len()):] + "\n" + string(c.line.text)
}

// raised notes an exponent or an index, which begins where the line has so many bytes.
func (c *composer) raised(n *html.Node, from int) {
	const word, longest = 40, 100 // bytes before it, and of it
	if n.Data != "sup" && n.Data != "sub" || from > len(c.line.text) || len(c.line.text)-from > longest {
		return
	}
	c.looks.raised(n.Data, string(c.line.text[max(0, from-word):from]), string(c.line.text[from:]))
}
