package sheet

import (
	"html"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"

	"recrawl/internal/crawl"
)

// inline is the text of one block while it is being written. Characters that may begin a
// mark are kept as a piece of their own, which becomes an element when its end is found.
type inline struct {
	of     *sheet
	cell   bool // the text is that of a table's cell
	source string
	at     int
	pieces []piece
	open   []opener
	// brackets are the places in open of brackets of links and pictures. Those before idle
	// are around a link, and cannot be links themselves.
	brackets []int
	idle     int
	// unclosed are the lengths of code marks that have no end after the place where one was
	// looked for.
	unclosed map[int]bool
}

// piece is a part of what is written, and its text without marks.
type piece struct{ html, words string }

// opener is a mark that may begin an element.
type opener struct {
	mark  byte // * ~ [ !
	size  int  // how many of its characters begin no element yet
	inner string
	piece int
}

// inline returns the text of a block with its marks as HTML, and without them.
func (s *sheet) inline(source string, cell bool) (shown, words string) {
	in := inline{of: s, cell: cell, source: source, unclosed: map[int]bool{}}
	for in.at < len(source) {
		in.next()
	}
	return in.joined(0)
}

// joined returns the text written from a piece on.
func (in *inline) joined(from int) (shown, words string) {
	var a, b strings.Builder
	for _, p := range in.pieces[from:] {
		a.WriteString(p.html)
		b.WriteString(p.words)
	}
	return a.String(), b.String()
}

func (in *inline) write(shown, words string) { in.pieces = append(in.pieces, piece{shown, words}) }

// text writes characters of the source as they are.
func (in *inline) text(n int) {
	text := in.source[in.at : in.at+n]
	in.write(template.HTMLEscapeString(text), text)
	in.at += n
}

// special are the characters that may be more than text.
const special = "\\&`<![]*~"

func (in *inline) next() {
	rest := in.source[in.at:]
	if n := strings.IndexAny(rest, special); n != 0 {
		if n < 0 {
			n = len(rest)
		}
		in.text(n)
		return
	}
	switch rest[0] {
	case '\\':
		in.escape(rest)
	case '&':
		in.entity(rest)
	case '`':
		in.code(rest)
	case '*', '~':
		in.emphasis(rest)
	case '[':
		in.bracket(rest)
	case ']':
		in.end(rest)
	case '!':
		if strings.HasPrefix(rest, "![") {
			in.push('!', 2)
			return
		}
		in.text(1)
	default: // <
		if in.cell && strings.HasPrefix(rest, "<br>") {
			in.write("<br>", " ")
			in.at += len("<br>")
			return
		}
		in.text(1)
	}
}

// push keeps a mark that may begin an element.
func (in *inline) push(mark byte, size int) {
	in.open = append(in.open, opener{mark: mark, size: size, piece: len(in.pieces)})
	if mark == '[' || mark == '!' {
		in.brackets = append(in.brackets, len(in.open)-1)
	}
	in.text(size)
}

func (in *inline) escape(rest string) {
	switch {
	case strings.HasPrefix(rest, "\\\n"):
		in.write("<br>\n", " ")
		in.at += 2
	case len(rest) > 1 && rest[1] < utf8.RuneSelf && (unicode.IsPunct(rune(rest[1])) || unicode.IsSymbol(rune(rest[1]))):
		in.at++
		in.text(1)
	default:
		in.text(1)
	}
}

// longestEntity bounds the name of a character entity in bytes.
const longestEntity = 34

func (in *inline) entity(rest string) {
	end := strings.IndexByte(rest[:min(len(rest), longestEntity)], ';')
	if end < 0 {
		in.text(1)
		return
	}
	named := rest[:end+1]
	if text := html.UnescapeString(named); text != named {
		in.write(template.HTMLEscapeString(text), text)
		in.at += len(named)
		return
	}
	in.text(1)
}

// run counts the characters like the first with which a text begins.
func run(text string) int { return len(text) - len(strings.TrimLeft(text, text[:1])) }

func (in *inline) code(rest string) {
	n := run(rest)
	end := -1
	for at := n; !in.unclosed[n] && at < len(rest); {
		i := strings.IndexByte(rest[at:], '`')
		if i < 0 {
			break
		}
		at += i
		m := run(rest[at:])
		if m == n {
			end = at
			break
		}
		at += m
	}
	if end < 0 {
		in.unclosed[n] = true
		in.text(n)
		return
	}
	text := strings.ReplaceAll(rest[n:end], "\n", " ")
	if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' {
		text = text[1 : len(text)-1]
	}
	if in.cell {
		text = strings.ReplaceAll(text, `\|`, "|")
	}
	in.write("<code>"+template.HTMLEscapeString(text)+"</code>", text)
	in.at += end + n
}

// longestRun is the largest number of characters in a mark. Longer runs are text.
const longestRun = 3

func (in *inline) emphasis(rest string) {
	n := run(rest)
	if n > longestRun || rest[0] == '~' && n != 2 {
		in.text(n)
		return
	}
	before, _ := utf8.DecodeLastRuneInString(in.source[:in.at])
	after, _ := utf8.DecodeRuneInString(rest[n:])
	left := n
	if in.at > 0 && !unicode.IsSpace(before) {
		left = in.close(rest[0], n)
	}
	in.at += n - left
	switch {
	case left == 0:
	case len(rest) > n && !unicode.IsSpace(after):
		in.push(rest[0], left)
	default:
		in.text(left)
	}
}

// close ends elements with n characters of a mark, and returns how many are left.
func (in *inline) close(mark byte, n int) (left int) {
	within := 0 // marks do not reach out of the text of a link
	if len(in.brackets) > 0 {
		within = in.brackets[len(in.brackets)-1] + 1
	}
	for n > 0 && len(in.open) > within {
		top := &in.open[len(in.open)-1]
		if top.mark != mark {
			return n
		}
		name, size := "em", 1
		if n >= 2 && top.size >= 2 {
			name, size = "strong", 2
		}
		if mark == '~' {
			name = "del"
		}
		top.inner = "<" + name + ">" + top.inner
		top.size -= size
		n -= size
		in.write("</"+name+">", "")
		marks := strings.Repeat(string(mark), top.size)
		in.pieces[top.piece] = piece{marks + top.inner, marks}
		if top.size == 0 {
			in.open = in.open[:len(in.open)-1]
		}
	}
	return n
}

// bracket begins the text of a link, or names a footnote.
func (in *inline) bracket(rest string) {
	if !strings.HasPrefix(rest, "[^") {
		in.push('[', 1)
		return
	}
	end := strings.IndexByte(rest[:min(len(rest), longestLabel)], ']')
	if end < 3 {
		in.text(2)
		return
	}
	label := rest[2:end]
	in.write(`<sup><a href="#sheet-note-`+in.of.noteNumber(label)+`">`+template.HTMLEscapeString(label)+"</a></sup>", "")
	in.at += end + 1
}

// end ends the text of a link or of a picture, if its address follows.
func (in *inline) end(rest string) {
	if len(in.brackets) == 0 {
		in.text(1)
		return
	}
	index := len(in.brackets) - 1
	at := in.brackets[index]
	begun := in.open[at]
	in.brackets, in.open = in.brackets[:index], in.open[:at]
	to, n := addressOf(rest[1:])
	if n == 0 || begun.mark == '[' && index < in.idle {
		in.idle = min(in.idle, index)
		in.text(1)
		return
	}
	in.at += 1 + n
	if begun.mark == '!' {
		in.idle = min(in.idle, index)
		in.picture(begun, to)
		return
	}
	in.idle = index
	if !leadsElsewhere(to) {
		in.pieces[begun.piece] = piece{}
		return
	}
	in.pieces[begun.piece] = piece{linkTo(to), ""}
	in.write("</a>", "")
}

// linkTo begins a link to another server, which does not learn where it was followed from.
func linkTo(address string) string {
	return `<a href="` + template.HTMLEscapeString(address) + `" rel="noopener noreferrer nofollow">`
}

// longestWords bounds the words of a picture in bytes.
const longestWords = 300

// picture shows a picture by its words, and leads to it: nothing is loaded from sites.
func (in *inline) picture(begun opener, to string) {
	_, words := in.joined(begun.piece + 1)
	words = crawl.Clean(words, longestWords)
	in.pieces = in.pieces[:begun.piece]
	shown := `<span class="picture">Picture` + template.HTMLEscapeString(colon(words)) + "</span>"
	if leadsElsewhere(to) && len(in.brackets) == 0 {
		shown = linkTo(to) + shown + "</a>"
	}
	in.write(shown, words)
}

func colon(words string) string {
	if words == "" {
		return ""
	}
	return ": " + words
}

// longestAddress bounds an address in bytes.
const longestAddress = 8192

// addressOf returns the address in the brackets at the beginning of a text, and their
// length in bytes; 0 if there are none.
func addressOf(text string) (address string, n int) {
	if !strings.HasPrefix(text, "(") {
		return "", 0
	}
	var b strings.Builder
	for i := 1; i < min(len(text), longestAddress); i++ {
		switch c := text[i]; {
		case c == ')':
			return html.UnescapeString(b.String()), i + 1
		case c <= ' ' || c == '(':
			return "", 0
		case c == '\\' && i+1 < len(text) && text[i+1] < utf8.RuneSelf && unicode.IsPunct(rune(text[i+1])):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0
}

// leadsElsewhere reports whether an address is on another server, or opens a letter. All
// others would lead to a place here, or run.
func leadsElsewhere(address string) bool {
	lower := strings.ToLower(address[:min(len(address), 8)])
	return strings.HasPrefix(lower, "http://") || lower == "https://" || strings.HasPrefix(lower, "mailto:")
}
