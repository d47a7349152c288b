package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// displayedWalk writes the text that a choice keeps of a surveyed document, without
// elements that nobody sees, in step with the composer that made the choice.
type displayedWalk struct {
	*survey
	choice
	next, piece int32 // the numbers of the next element and the next piece
	hidden      int   // open elements that are not displayed
	found       bool  // a text that is kept and not displayed
	line        line
	written     strings.Builder
}

// displayedText returns the main text of a document without what its own styles hide.
func displayedText(root *html.Node, s *survey, kept choice, main string) string {
	w := displayedWalk{survey: s, choice: kept}
	w.visit(root, &w)
	w.endLine()
	if !w.found {
		return main
	}
	return w.written.String()
}

func (w *displayedWalk) text(n *html.Node) {
	i := w.piece
	w.piece++
	if w.begins(i) {
		w.endLine()
	}
	switch changed, ok := w.changed[i]; {
	case !w.stays(i):
		w.line.space()
	case w.hidden > 0:
		w.found = true
	case ok:
		w.line.add(changed, false)
	default:
		w.line.add(n.Data, false)
	}
}

func (w *displayedWalk) element(n *html.Node) {
	i := w.next
	if w.out[i] {
		w.breakText(breakOf(n.Data))
		w.line.space()
		w.next += w.elements[i].size
		return
	}
	w.next++
	w.breakText(breakBefore(n))
	if isPiece(n) {
		w.piece++
	}
	undisplayed := w.isUndisplayed(n, i)
	if undisplayed {
		w.hidden++
	}
	w.visitBelow(n, w)
	if undisplayed {
		w.hidden--
	}
	w.breakText(breakOf(n.Data))
}

func (w *displayedWalk) breakText(space byte) {
	switch space {
	case '\n':
		w.endLine()
	case ' ':
		w.line.space()
	}
}

func (w *displayedWalk) endLine() {
	writeLine(&w.written, w.line.trimmed())
	w.line.reset()
}
