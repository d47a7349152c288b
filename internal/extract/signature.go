package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// describes reports whether an element is a list of links with their descriptions: each link, or each few
// of them, is directly followed by a text about it. "Read also" in an article stands between paragraphs
// of their own. An element with one such pair alone is one if others like it stand beside it.
func (a *articleChoice) describes(i int32) bool {
	pairs, others := 0, 0
	links := int32(-1) // the last block of links, if nothing came since
	a.eachChild(i, func(child int32) {
		e := &a.elements[child]
		switch {
		case e.units == 0 || a.gone[child]:
		case breakOf(a.nodes[child].Data) != '\n':
			others++
			links = -1
		case e.isLinkList(1):
			links = child
		case links >= 0 && a.isAbout(child, links):
			pairs++
			links = -1
		default:
			if links = -1; pairs > 0 || e.running > 0 { // what comes before may be the heads of columns
				others++
			}
		}
	})
	if pairs == 1 && others == 0 {
		return a.pairs.areItems(a.nodes[i])
	}
	return pairs > 1 && others <= pairs
}

// isAbout reports whether an element may be the description of links before it: mostly text of its own,
// and not of the same kind.
func (a *articleChoice) isAbout(i, links int32) bool {
	const least = 6 // letters
	e, text, link := &a.elements[i], a.nodes[i], a.nodes[links]
	if e.units < least || 2*e.linked > e.units || isHeading(text.Data) {
		return false
	}
	return text.Data != link.Data || text.Data != "p" && firstClass(text) != firstClass(link)
}

func firstClass(n *html.Node) string {
	classes, _ := attribute(n.Attr, "class")
	for class := range strings.FieldsSeq(classes) {
		return class
	}
	return ""
}

// isDeclaration reports whether a block of links is a line of a program: all of it is code, its class says
// so, or the signs between its links do. What it is made of is often linked: "take :: Int -> [a] -> [a]".
func isDeclaration(n *html.Node) bool {
	if hasClass(n, "src", "signature", "member-signature", "method-signature", "declaration", "synopsis", "memproto") {
		return true
	}
	code, looked, text := true, 0, false
	var own strings.Builder // with a letter for each link
	for d := range n.Descendants() {
		if looked++; looked > mostLooked || d.Type == html.ElementNode && breakOf(d.Data) == '\n' {
			return false
		}
		switch {
		case d.Type != html.TextNode || strings.TrimSpace(d.Data) == "":
			continue
		case inLink(d, n):
			own.WriteByte('x')
		default:
			own.WriteString(d.Data)
		}
		text = true
		code = code && isInCode(d, n)
	}
	return text && (code || hasSigns(own.String()))
}

// isInCode reports whether a text is in code within a block.
func isInCode(n, block *html.Node) bool {
	for n = n.Parent; n != nil && n != block; n = n.Parent {
		if n.Data == "code" || n.Data == "samp" || n.Data == "kbd" {
			return true
		}
	}
	return false
}

// hasSigns reports whether a text has signs of a program: an arrow, a double colon, or a bracket right after
// a name.
func hasSigns(text string) bool {
	for _, sign := range [...]string{"::", "->", "=>", "∷", "→", "⇒"} {
		if at := strings.Index(text, sign); at > 0 && at+len(sign) < len(text) {
			return true
		}
	}
	at := strings.IndexByte(text, '(')
	last, _ := utf8.DecodeLastRuneInString(text[:max(at, 0)])
	return at > 0 && strings.ContainsRune(text[at:], ')') && (unicode.IsLetter(last) || unicode.IsDigit(last))
}
