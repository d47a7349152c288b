package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// names is a set of element names.
type names map[string]bool

func set(list string) names {
	words := strings.Fields(list)
	s := make(names, len(words))
	for _, name := range words {
		s[name] = true
	}
	return s
}

var (
	// unseen elements have no visible text.
	unseen = set("head script style template noframes noembed iframe title")
	// replaced elements have text for browsers that cannot show them, or for a script.
	replaced = set("audio video datalist")
	// inline elements do not end a word. Some of them show nothing, such as microdata within a sentence.
	inline = set(`a abbr acronym b bdi bdo big blink cite code data del dfn em font i ins kbd label mark nobr output q rb rp rt rtc
		ruby s samp slot small span strike strong sub sup time tt u var wbr base link meta param math math-tex mjx-container mjx-math mjx-assistive-mml`)
	// spaced elements end a word, but not a line of text: pictures and formulas, which stand in sentences, and
	// their parts. All others, and those with names of their own, end both.
	spaced = set(`area audio button canvas embed img input map meter object picture progress source svg track video
		animate animatetransform circle clippath defs ellipse filter g image line lineargradient marker mask path pattern polygon
		polyline radialgradient rect stop switch symbol text textpath tspan use
		annotation apply ci cn csymbol maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom
		mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics`)
)

// isUnseen reports whether an element has no visible text, by its name. A drawing shows neither what describes it
// nor what the program that made it noted: "Created with Sketch."
func isUnseen(n *html.Node) bool {
	return unseen[n.Data] || replaced[n.Data] || n.Namespace == "svg" && (n.Data == "desc" || n.Data == "metadata")
}

// breakOf returns what an element puts before and after its text, by its name: nothing, a
// space or a line feed.
func breakOf(name string) byte {
	switch {
	case inline[name], strings.IndexByte(name, ':') > 0: // a mark of a word processor's, as in <st1:City>
		return 0
	case spaced[name], strings.IndexByte(name, '-') > 0: // a custom element
		return ' '
	}
	return '\n'
}

// glued elements are inline ones that are often parts of a word.
var glued = set("sub sup wbr code kbd samp var tt ruby rb rt rp rtc")

// breakBefore is breakOf, with a space between two inline elements that directly follow
// each other, as in a menu or a byline: there the style sets them apart. In code it does
// not.
func breakBefore(n *html.Node) byte {
	space, prev := breakOf(n.Data), n.PrevSibling
	if space == 0 && prev != nil && prev.Type == html.ElementNode && !glued[n.Data] && !glued[prev.Data] && !inCode(n) {
		return ' '
	}
	return space
}

func inCode(n *html.Node) bool {
	for depth := 0; n != nil && depth < 4; n, depth = n.Parent, depth+1 {
		if n.Data == "pre" || n.Data == "code" {
			return true
		}
	}
	return false
}

// isHidden reports whether the hidden attribute is set; "until-found" marks text that a
// search within the page opens. A page that is hidden as a whole waits for a script to show it, and
// so does a panel with tabs.
func isHidden(n *html.Node) bool {
	value, ok := attribute(n.Attr, "hidden")
	if !ok || strings.EqualFold(value, "until-found") || n.Data == "html" || n.Data == "body" {
		return false
	}
	role, _ := attribute(n.Attr, "role")
	return !strings.EqualFold(strings.TrimSpace(role), "tabpanel")
}

// collapse turns each run of white space into one space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// line gathers the text between two line breaks.
type line struct {
	text   []byte
	most   int // bytes of text that are kept, 0 for all
	units  int // see unitsOf
	linked int // the units within links
	links  int // that begin in it
	// spans are the parts of text in links, in bytes, one after the other.
	spans []span
}

type span struct{ from, to int }

// unitsOf returns the length of a character as a reader sees it: letters and digits count,
// and those of scripts that need about half as many for the same text (Chinese, Japanese,
// Korean) count twice. It goes by blocks of Unicode, for speed.
func unitsOf(r rune) int {
	const (
		firstLetter = 0x00C0 // of Latin, Greek, Cyrillic, Arabic, the scripts of India and so on
		firstSign   = 0x2000 // punctuation, symbols
		firstDense  = 0x2E80 // Chinese, Japanese, Korean
		lastDense   = 0xD7FF
		firstKana   = 0x3040 // before it, their punctuation
	)
	switch {
	case r < firstLetter, r >= firstSign && r < firstDense, r >= 0x3000 && r < firstKana:
		return 0
	case r >= firstDense && r <= lastDense:
		return 2
	}
	return 1
}

// add appends a text, each run of its white space as one space, and returns its
// length in units.
func (l *line) add(s string, inLink bool) int {
	n, before := 0, len(l.text)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == ' ' || c >= '\t' && c <= '\r':
				l.space()
				continue
			case isDigit(c) || isSmall(c|' '):
				n++
			}
			if l.most == 0 || len(l.text) < l.most {
				l.text = append(l.text, c)
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n += unitsOf(r)
		switch {
		case isInvisible(r):
		case unicode.IsSpace(r):
			l.space()
		case l.most == 0 || len(l.text) < l.most:
			l.text = utf8.AppendRune(l.text, r)
		}
	}
	l.units += n
	if inLink {
		l.linked += n
		l.link(before)
	}
	return n
}

// link notes that the text added after the first bytes stands in a link.
func (l *line) link(first int) {
	switch last := len(l.spans) - 1; {
	case len(l.text) == first:
	case last >= 0 && l.spans[last].to == first:
		l.spans[last].to = len(l.text)
	default:
		l.spans = append(l.spans, span{first, len(l.text)})
	}
}

// withoutLinks returns the text outside links.
func (l *line) withoutLinks() []byte {
	text := l.trimmed()
	if len(l.spans) == 0 {
		return text
	}
	own := make([]byte, 0, len(text))
	at := 0
	for _, s := range l.spans {
		own = append(append(own, text[at:min(s.from, len(text))]...), ' ')
		at = min(s.to, len(text))
	}
	return bytes.Join(bytes.Fields(append(own, text[at:]...)), []byte{' '})
}

// space ends a word.
func (l *line) space() {
	if len(l.text) > 0 && l.text[len(l.text)-1] != ' ' {
		l.text = append(l.text, ' ')
	}
}

// trimmed returns the text without space at its end; it never begins with one.
func (l *line) trimmed() []byte {
	if n := len(l.text); n > 0 && l.text[n-1] == ' ' {
		return l.text[:n-1]
	}
	return l.text
}

func (l *line) reset() { *l = line{text: l.text[:0], most: l.most, spans: l.spans[:0]} }

// leastRunning is the least length of a line of running text: about ten words. Headings,
// menus and labels are shorter.
const leastRunning = 60

// isRunning reports whether the line is running text: long enough, and no list
// of links.
func (l *line) isRunning() bool { return l.units-l.linked >= leastRunning && 2*l.linked <= l.units }

// isMostlyLinks reports whether nearly all of the line leads elsewhere.
func (l *line) isMostlyLinks() bool { return l.linked > 0 && 10*l.linked >= 8*l.units }

// isMenu reports whether the line is made of links of a word or two.
func (l *line) isMenu() bool {
	const most = 15 // units a link
	return l.isMostlyLinks() && l.linked <= most*max(l.links, 1)
}

// isInvisible reports whether a character only marks where a word may break.
func isInvisible(r rune) bool {
	return r == '\u00AD' || r == '\u200B' || r == '\u2060' || r == '\uFEFF'
}
