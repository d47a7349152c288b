package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// formulaTeX is our name of an element that has a formula's source in TeX. As a custom element's
// it is in no selector of a crawl's.
const formulaTeX = "math-tex"

// Bounds of a formula that is written anew. A larger one stays as it is.
const (
	maxFormulaNodes = 2000
	maxFormulaBytes = 4000
)

// formulaElements are the elements of which formulas are made.
var formulaElements = set(`maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow
	ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics annotation annotation-xml`)

// readTree makes the tree of a document, as parseTree does, with formulas and quotation marks
// as a reader sees them.
func readTree(decoded []byte, xml bool) (*html.Node, error) {
	root, err := parseTree(decoded, xml)
	if err == nil {
		spellOut(root, 0)
	}
	return root, err
}

// spellOut puts into the texts of a tree what browsers show by an element's name alone. Its
// depth is bounded by the parser's limit of open elements.
func spellOut(n *html.Node, quotes int) {
	switch {
	case n.Type == html.ElementNode && n.Data == "math":
		spellFormula(n)
		return
	case n.Type == html.ElementNode && n.Data == "q" && spellQuote(n, quotes):
		quotes++
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		spellOut(child, quotes)
	}
}

// spellFormula replaces the parts of a formula by its source in TeX, if it has that, and
// otherwise by a line of text. MathML that has its source too would say everything twice, and
// the text of its parts alone does not tell a fraction from a product.
func spellFormula(math *html.Node) {
	nodes, bytes := 0, 0
	var tex string
	for d := range math.Descendants() {
		nodes++
		switch {
		case d.Type == html.TextNode:
			bytes += len(d.Data)
		case !formulaElements[d.Data] && !isAnnotated(d, math):
			return // it has a link, a picture or another text
		case tex == "" && d.Data == "annotation" && d.Parent.Data == "semantics" && isTeX(d):
			tex = texOf(d)
		}
		if nodes > maxFormulaNodes {
			return
		}
	}
	spelled := &html.Node{Type: html.TextNode, Data: tex}
	switch {
	case tex != "":
		element := &html.Node{Type: html.ElementNode, Data: formulaTeX}
		element.AppendChild(spelled)
		spelled = element
	case bytes > maxFormulaBytes:
		return
	default:
		spelled.Data = rowOf(math)
	}
	for math.FirstChild != nil {
		math.RemoveChild(math.FirstChild)
	}
	math.AppendChild(spelled)
}

// isAnnotated reports whether an element is in an annotation, such as one of what a formula means.
func isAnnotated(n, math *html.Node) bool {
	for n = n.Parent; n != nil && n != math; n = n.Parent {
		if n.Data == "annotation-xml" {
			return true
		}
	}
	return false
}

// isTeX reports whether an annotation is in TeX or LaTeX.
func isTeX(annotation *html.Node) bool {
	encoding, _ := attribute(annotation.Attr, "encoding")
	return strings.HasSuffix(strings.ToLower(strings.TrimSpace(encoding)), "tex")
}

// texOf returns the TeX of an annotation, without the style that a program puts around all of it.
func texOf(annotation *html.Node) string {
	var b strings.Builder
	for child := annotation.FirstChild; child != nil; child = child.NextSibling {
		if child.Type == html.TextNode {
			b.WriteString(child.Data)
		}
	}
	tex := collapse(b.String())
	for _, style := range [...]string{`{\displaystyle `, `{\textstyle `} {
		if inner, ok := strings.CutPrefix(tex, style); ok && strings.HasSuffix(inner, "}") {
			return strings.TrimSpace(inner[:len(inner)-1])
		}
	}
	return tex
}

// rowOf writes the parts of a formula one after the other.
func rowOf(n *html.Node) string {
	var b strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		text := partOf(child)
		if text == "" {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(b.String())
		if first, _ := utf8.DecodeRuneInString(text); b.Len() > 0 && !strings.ContainsRune("([{", last) && !strings.ContainsRune(")]},;′", first) {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}

// partOf writes a part of a formula.
func partOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return collapse(strings.Map(func(r rune) rune {
			if r >= '\u2061' && r <= '\u2064' || isInvisible(r) { // a function's or a product's sign that nobody sees
				return -1
			}
			return r
		}, n.Data))
	}
	switch n.Data {
	case "annotation", "annotation-xml", "mphantom", "mprescripts", "none":
		return ""
	case "mfrac":
		parts := operands(n, 2)
		if thickness, _ := attribute(n.Attr, "linethickness"); strings.HasPrefix(thickness, "0") { // one over the other
			return "(" + parts[0] + " over " + parts[1] + ")"
		}
		return grouped(parts[0]) + "/" + grouped(parts[1])
	case "msqrt":
		return "√" + grouped(rowOf(n))
	case "mroot":
		parts := operands(n, 2)
		return "√[" + parts[1] + "]" + grouped(parts[0])
	case "msub", "munder":
		return scripted(operands(n, 2), "_")
	case "msup", "mover":
		return scripted(operands(n, 2), "^")
	case "msubsup", "munderover":
		return scripted(operands(n, 3), "_", "^")
	case "mfenced":
		return fenced(n)
	case "mtr":
		return strings.Join(operands(n, 0), ", ")
	case "mtable":
		return "[" + strings.Join(operands(n, 0), "; ") + "]"
	}
	return rowOf(n)
}

// operands writes the child elements of an element, and adds empty ones up to the least number.
func operands(n *html.Node, least int) []string {
	var parts []string
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type == html.ElementNode {
			parts = append(parts, partOf(child))
		}
	}
	for len(parts) < least {
		parts = append(parts, "")
	}
	return parts
}

// scripted writes what stands above and below something. Accents and primes need no sign.
func scripted(parts []string, signs ...string) string {
	text := grouped(parts[0])
	for i, sign := range signs {
		switch script := parts[i+1]; {
		case script == "":
		case sign == "^" && strings.Trim(script, "′″‴'¯ˉ^~˜˙¨→*∗†") == "":
			text += script
		default:
			text += sign + grouped(script)
		}
	}
	return text
}

// grouped puts brackets around a text unless it is one letter, number or word.
func grouped(text string) string {
	isWord := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune(".,′", r)
	}
	if strings.IndexFunc(text, func(r rune) bool { return !isWord(r) }) < 0 || utf8.RuneCountInString(text) == 1 {
		return text
	}
	return "(" + text + ")"
}

// fenced writes parts in brackets.
func fenced(n *html.Node) string {
	sign := func(name, otherwise string) string {
		if value, ok := attribute(n.Attr, name); ok {
			return strings.TrimSpace(value)
		}
		return otherwise
	}
	separator, _ := utf8.DecodeRuneInString(sign("separators", ","))
	between := " "
	if separator != utf8.RuneError {
		between = string(separator) + " "
	}
	return sign("open", "(") + strings.Join(operands(n, 0), between) + sign("close", ")")
}

// isFormulaAgain reports whether an element only shows a formula that stands beside it for other
// programs, as KaTeX and MathJax write it: once in MathML, and once for the eye.
func isFormulaAgain(n *html.Node, ignored map[*html.Node]bool) bool {
	if value, _ := attribute(n.Attr, "aria-hidden"); !strings.EqualFold(value, "true") {
		return false
	}
	return hasFormula(sibling(n, false), ignored) || hasFormula(sibling(n, true), ignored)
}

// sibling returns the element right before or after another one, nil if there is text between.
func sibling(n *html.Node, before bool) *html.Node {
	const most = 3 // nodes on the way
	for range most {
		if before {
			n = n.PrevSibling
		} else {
			n = n.NextSibling
		}
		if n == nil || n.Type == html.ElementNode || strings.TrimSpace(n.Data) != "" {
			break
		}
	}
	return n
}

// hasFormula reports whether an element is a formula in MathML, or has nothing else.
func hasFormula(n *html.Node, ignored map[*html.Node]bool) bool {
	const deepest = 3
	for range deepest {
		switch {
		case n == nil || n.Type != html.ElementNode || ignored[n] || isHidden(n):
			return false
		case n.Data == "math":
			return true
		}
		n = n.FirstChild
		for n != nil && n.Type == html.TextNode && strings.TrimSpace(n.Data) == "" { // the parser joins texts
			n = n.NextSibling
		}
	}
	return false
}
