package extract

import (
	"golang.org/x/net/html"
)

// markdownWalk writes the parts of a surveyed document that a choice keeps, in step with
// the composer that may have made the choice.
type markdownWalk struct {
	*survey
	choice
	plan  plan
	w     *markdownWriter
	next  int32 // the numbers of the next element and the next piece
	piece int32
	mute  int          // open elements whose text is not written
	left  func(string) // gets text that stays but is not written; may be nil
}

func (k *markdownWalk) text(n *html.Node) {
	i := k.piece
	k.piece++
	if k.begins(i) {
		k.w.separate()
	}
	if !k.stays(i) {
		k.w.space()
		return
	}
	text := n.Data
	if changed, ok := k.changed[i]; ok {
		text = changed
	}
	if k.mute == 0 {
		k.w.add(text)
	} else if k.left != nil {
		k.left(text)
	}
}

func (k *markdownWalk) element(n *html.Node) {
	i := k.next
	if k.out[i] {
		k.breakText(breakOf(n.Data), n)
		k.w.space()
		k.next += k.elements[i].size
		return
	}
	k.next++
	stays := true
	if isPiece(n) {
		stays = k.stays(k.piece)
		k.piece++
	}
	if before := breakBefore(n); before == '\n' || k.w.verbatim == 0 { // code has all its spaces
		k.breakText(before, n)
	}
	silent := k.isSilent(n, i)
	if silent {
		k.mute++
	}
	opens := k.mute == 0 && stays && k.open(n, i)
	k.visitBelow(n, k)
	if n.Data != "br" {
		k.breakText(breakOf(n.Data), n)
	}
	if opens {
		k.w.close()
	}
	if silent {
		k.mute--
	}
}

// isSilent reports whether nothing of an element's text is written. The link to a note is
// written as its label.
func (k *markdownWalk) isSilent(n *html.Node, i int32) bool {
	if k.mute == 0 {
		if label := k.plan.references[n]; label != "" {
			k.w.addMarkdown("[^" + label + "]")
			return true
		}
	}
	if !k.isUndisplayed(n, i) && !k.plan.isLeftOut(n) {
		return false
	}
	if n.Data == "a" {
		k.w.permalink(n.Attr)
	}
	return true
}

// breakText ends a word, a line or a block.
func (k *markdownWalk) breakText(space byte, n *html.Node) {
	switch {
	case space == 0: // a word may go on
	case k.mute > 0:
		k.w.space()
	case space == '\n' && n.Data == "br":
		k.w.breakLine()
	case space == '\n':
		k.w.endBlock()
	case space == ' ':
		k.w.space()
	}
}

// open begins an element, and reports whether it must be closed.
func (k *markdownWalk) open(n *html.Node, i int32) bool {
	if label := k.plan.notes[n]; label != "" {
		return k.w.openNote(label)
	}
	if k.plan.layouts[i] {
		return k.w.openLayout(n.Data, n.Attr)
	}
	if n == k.titled {
		return k.w.open("h1", n.Attr)
	}
	switch n.Data {
	case "img":
		k.w.picture(n.Attr)
		return false
	case "hr":
		k.w.rule()
		return false
	case "input":
		k.w.box(n.Attr)
		return false
	case formulaTeX:
		return k.w.openFormula()
	case "pre":
		k.w.language = languageOf(n)
	case "code":
		if k.w.verbatim > 0 && k.w.language == "" {
			k.w.language = languageOfClass(n)
		}
	case "div", "aside", "p", "section", "details":
		switch {
		case isAdmonition(n):
			return k.w.open("blockquote", n.Attr)
		case isListing(n):
			return k.w.open("pre", n.Attr)
		}
		if isAdmonitionTitle(n) {
			return k.w.open("strong", n.Attr)
		}
	}
	return k.w.open(n.Data, n.Attr)
}
