package extract

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// choice says what a reading keeps of a surveyed document. The zero choice keeps all.
type choice struct {
	// out are the numbers of the elements that are left out with all their contents.
	out map[int32]bool
	// pieces has the fate of each piece outside of these, in the order of the document.
	// Pieces are texts and the elements of isPiece.
	pieces []fate
	// changed has what stays of pieces of which the crawl ignores a part.
	changed map[int32]string
}

// fate says what becomes of a piece.
type fate uint8

const (
	fateStays  fate = 1 << iota
	fateBegins      // a line of the text
)

// keep returns the choice of a reading of a document. main has the choice of the main text,
// which is also used for the article if there is none, or if the crawl selects what is
// read.
func (s *survey) keep(root *html.Node, reading Reading, rules Rules, main *recorder) choice {
	switch {
	case reading == ReadAll:
		return choice{}
	case reading == ReadArticle && !main.selected:
		var article recorder
		if articleText(root, s, rules, &article) != "" {
			return article.choice
		}
	}
	return main.choice
}

// isPiece reports whether an element without text is shown: a picture, a rule, a box to
// tick.
func isPiece(n *html.Node) bool { return n.Data == "img" || n.Data == "hr" || n.Data == "input" }

// stays reports whether a piece stays.
func (c *choice) stays(piece int32) bool {
	return int(piece) >= len(c.pieces) || c.pieces[piece]&fateStays != 0
}

// begins reports whether a piece begins a line.
func (c *choice) begins(piece int32) bool {
	return int(piece) < len(c.pieces) && c.pieces[piece]&fateBegins != 0
}

// recorder notes what a walk over a document writes, so that others can write the same in
// another form.
type recorder struct {
	choice
	line     []piece // of the open line
	picked   *recorder
	selected bool // the choice is of the elements that the crawl selects
}

// piece is one of a line.
type piece struct {
	text string
	at   int  // where it begins in the line
	own  bool // it stays if the line has no text
	gone bool // it goes, whatever becomes of the line
}

// restart forgets everything, for another walk.
func (r *recorder) restart() {
	if r != nil {
		*r = recorder{picked: r.picked}
	}
}

// other returns a second recorder, for the elements that the crawl selects.
func (r *recorder) other() *recorder {
	if r == nil {
		return nil
	}
	r.picked = &recorder{}
	return r.picked
}

// useOther takes the second recorder's choice.
func (r *recorder) useOther() {
	if r != nil {
		*r = *r.picked
		r.selected = true
	}
}

func (r *recorder) leaveOut(element int32) {
	if r.out == nil {
		r.out = map[int32]bool{}
	}
	r.out[element] = true
}

// text notes a text that begins where the line has the length at.
func (r *recorder) text(text string, at int) { r.line = append(r.line, piece{text: text, at: at}) }

// skip notes a text that is not written.
func (r *recorder) skip() { r.line = append(r.line, piece{gone: true}) }

// element notes an element, which stays by itself or with the text of its line.
func (r *recorder) element(n *html.Node, stays bool) {
	if isPiece(n) {
		r.line = append(r.line, piece{own: stays})
	}
}

// endLine notes the fate of the line's pieces; text is the part of whole that stays.
func (r *recorder) endLine(whole, text []byte, rules Rules) {
	if len(text) > 0 && !bytes.Equal(whole, text) {
		r.change(whole, rules)
	}
	begins := fateBegins
	for _, p := range r.line {
		if p.gone {
			r.pieces = append(r.pieces, 0)
			continue
		}
		f := begins
		if len(text) > 0 || len(whole) == 0 && p.own {
			f |= fateStays
		}
		r.pieces = append(r.pieces, f)
		begins = 0
	}
	r.line = r.line[:0]
}

// change notes what stays of each text of a line of which patterns match a part.
func (r *recorder) change(whole []byte, rules Rules) {
	if r.changed == nil {
		r.changed = map[int32]string{}
	}
	stays := rules.staying(whole)
	for i, p := range r.line {
		if p.text != "" {
			r.changed[int32(len(r.pieces)+i)] = cutOut(p, whole, stays)
		}
	}
}

// staying reports for each byte of a line whether the patterns leave it.
func (r Rules) staying(whole []byte) []bool {
	line := bytes.Clone(whole)
	origins := make([]int, len(line))
	for i := range origins {
		origins[i] = i
	}
	for _, pattern := range r.patterns {
		line, origins = withoutMatches(line, origins, pattern.FindAllIndex(line, -1))
	}
	stays := make([]bool, len(whole))
	for _, i := range origins {
		if i >= 0 {
			stays[i] = true
		}
	}
	return stays
}

// withoutMatches is Rules.clean for one pattern and a line whose bytes have origins. Spaces
// that it inserts have the origin -1.
func withoutMatches(line []byte, origins []int, found [][]int) ([]byte, []int) {
	if len(found) == 0 {
		return line, origins
	}
	var kept []byte
	var from []int
	space := func() {
		if len(kept) > 0 && kept[len(kept)-1] != ' ' {
			kept, from = append(kept, ' '), append(from, -1)
		}
	}
	at := 0
	for _, match := range append(found, []int{len(line), len(line)}) {
		for ; at < match[0]; at++ {
			if line[at] == ' ' {
				space()
			} else {
				kept, from = append(kept, line[at]), append(from, origins[at])
			}
		}
		space()
		at = match[1]
	}
	if n := len(kept); n > 0 && kept[n-1] == ' ' {
		kept, from = kept[:n-1], from[:n-1]
	}
	return kept, from
}

// cutOut returns a text of a line as it stands in the document, with a space for each part
// that does not stay.
func cutOut(p piece, whole []byte, stays []bool) string {
	out := make([]byte, 0, len(p.text))
	at, gone := p.at, false
	for i := 0; i < len(p.text); {
		r, size := utf8.DecodeRuneInString(p.text[i:])
		i += size
		switch {
		case isInvisible(r):
		case unicode.IsSpace(r):
			if at > 0 && at < len(whole) && whole[at] == ' ' {
				at++
			}
			out, gone = append(out, string(r)...), false
		case at < len(stays) && stays[at]:
			out, gone = utf8.AppendRune(out, r), false
			at += size
		default:
			if !gone {
				out = append(out, ' ')
			}
			at, gone = at+size, true
		}
	}
	return string(out)
}
