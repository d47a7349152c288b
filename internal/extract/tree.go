package extract

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The algorithm by which browsers make a tree, html.Parse, is not safe for strangers'
// pages: a hundred kilobytes can cost it gigabytes (each paragraph opens again all
// formatting that the one before left open) or half a minute (each <body> is compared with
// the attributes of all before it). parseTree takes time and memory in proportion to the
// page. It leaves out the steps that repair wrongly nested formatting, except links and forms, and that move
// misplaced content out of tables. No text and no link is lost by that.

// Limits of a tree. A node takes about a hundred bytes and an attribute fifty, so the
// largest tree takes about fifty megabytes.
const (
	maxNodes      = 250_000
	maxAttributes = 500_000
	maxOwn        = 256 // attributes of an element that are kept: they are looked through for each of its neighbours
	maxDepth      = 512 // of open elements; walks over a tree may rely on it
	// maxSteps bounds the looks at open elements. Pages that are not made to reach it take
	// less than a hundredth.
	maxSteps = 100_000_000
)

// errNoTree: the page is too large or too deep for a tree.
var errNoTree = errors.New("too large for a tree")

// parseTree makes the tree of a document, without scripts: the contents of
// <noscript> are elements. It has no comments. For xml see tokens. The only error is
// errNoTree.
func parseTree(decoded []byte, xml bool) (*html.Node, error) {
	b := treeBuilder{tokens: tokensOf(decoded, xml), document: &html.Node{Type: html.DocumentNode}}
	b.root = b.add(b.document, "html", "")
	b.head = b.add(b.root, "head", "")
	for b.next() {
		if b.nodes > maxNodes || b.attributes > maxAttributes || len(b.open) > maxDepth || b.steps > maxSteps {
			return nil, errNoTree
		}
	}
	b.needBody()
	b.streamed.finish()
	return b.document, nil
}

// treeBuilder builds a tree from tags in their order.
type treeBuilder struct {
	tokens               tokens
	document, root, head *html.Node
	body                 *html.Node // or the <frameset>; nil until it begins
	open                 []openElement
	// The used parts of the limits.
	nodes, attributes, steps int
	// paragraphs, pictures and templates count open elements.
	paragraphs, pictures, templates int
	streamed                        streamed
}

type openElement struct {
	*html.Node
	kind kind
	// ended: it is a form that ended before what is open in it, and that no tag ends any more.
	ended bool
}

// next takes in one token and reports whether there are more.
func (b *treeBuilder) next() bool {
	b.tokens.AllowCDATA(b.tokens.xml || b.foreign())
	switch t := b.tokens.Next(); t {
	case html.ErrorToken:
		return false // the end: the reader has no other error
	case html.TextToken:
		b.text(b.tokens.text())
	case html.StartTagToken, html.SelfClosingTagToken:
		tag, attributes := b.tokens.TagName()
		b.start(atom.String(tag), attributes, t == html.SelfClosingTagToken)
	case html.EndTagToken:
		tag, _ := b.tokens.TagName()
		b.end(atom.String(tag))
	case html.CommentToken:
		b.comment(b.tokens.Text())
	}
	return true
}

// add makes an element.
func (b *treeBuilder) add(parent *html.Node, name, namespace string) *html.Node {
	n := &html.Node{Type: html.ElementNode, DataAtom: atom.Lookup([]byte(name)), Data: name, Namespace: namespace}
	parent.AppendChild(n)
	b.nodes++
	return n
}

// place returns the node to which the next one belongs.
func (b *treeBuilder) place() *html.Node {
	if len(b.open) > 0 {
		return b.open[len(b.open)-1].Node
	}
	b.needBody()
	return b.body
}

func (b *treeBuilder) needBody() {
	if b.body == nil {
		b.body = b.add(b.root, "body", "")
	}
}

// leaveHead ends a <noscript> of the head when content of the body begins.
func (b *treeBuilder) leaveHead() {
	if b.body == nil && len(b.open) == 1 && b.open[0].Data == "noscript" {
		b.cut(0)
	}
}

func (b *treeBuilder) text(text []byte) {
	if len(b.open) == 0 && b.body == nil {
		text = bytes.TrimLeft(text, " \t\n\f\r")
	}
	if len(bytes.TrimSpace(text)) > 0 {
		b.leaveHead()
	}
	if text = bytes.ReplaceAll(text, []byte{0}, nil); len(text) > 0 {
		if n := b.place(); n.Data == "script" {
			b.streamed.script(text)
		}
		b.place().AppendChild(&html.Node{Type: html.TextNode, Data: string(text)})
		b.nodes++
	}
}

func (b *treeBuilder) start(name string, attributes, selfClosing bool) {
	if b.documentPart(name, attributes) {
		return
	}
	k := kinds[name]
	if k&metadata == 0 {
		b.leaveHead()
	}
	if k&unpictured != 0 {
		b.leavePictures()
	}
	namespace := b.namespace(name)
	if namespace != "" {
		if k &= picture; framedNames[name] {
			k = framed
		}
	}
	if namespace == "" { // an <a> of a picture does not end the link around it
		b.imply(name, k)
	}
	parent := b.head
	if k&metadata == 0 || b.body != nil || len(b.open) > 0 {
		parent = b.place()
	}
	n := b.add(parent, name, namespace)
	b.readAttributes(n, attributes)
	if name == "template" && isShadow(n.Attr) {
		n.Data, n.DataAtom = shadow, 0
	}
	b.streamed.element(n)
	switch {
	case namespace != "":
		// In a picture, a <title> or <style> is an element like others.
		b.tokens.NextIsNotRawText()
	case name == "noscript":
		b.tokens.NextIsNotRawText()
		selfClosing = selfClosing && b.tokens.xml
	default:
		selfClosing = k&void != 0 || selfClosing && b.tokens.xml
	}
	if !selfClosing {
		b.push(n, k)
	}
}

// documentPart takes in the tags of the elements that every document has once, whether
// their tags are there or not. The attributes of each come from its first tag.
func (b *treeBuilder) documentPart(name string, attributes bool) bool {
	var n *html.Node
	switch {
	case name == "html":
		n = b.root
	case name == "head":
		n = b.head
	case name == "body":
		b.needBody()
		n = b.body
	case name == "frameset" && b.body == nil:
		b.body = b.add(b.root, name, "")
		n = b.body
	default:
		return false
	}
	if len(n.Attr) == 0 {
		b.readAttributes(n, attributes)
	}
	return true
}

// readAttributes reads the current tag's attributes. For equal names the tokenizer returns
// the first.
func (b *treeBuilder) readAttributes(n *html.Node, more bool) {
	for more && b.attributes <= maxAttributes {
		var key, value []byte
		key, value, more = b.tokens.TagAttr()
		b.attributes++
		if len(n.Attr) == maxOwn {
			continue
		}
		a := html.Attribute{Key: atom.String(key), Val: string(value)}
		if prefix, local, ok := strings.Cut(a.Key, ":"); ok && n.Namespace != "" && (prefix == "xlink" || prefix == "xml" || prefix == "xmlns") {
			a.Namespace, a.Key = prefix, local
		}
		n.Attr = append(n.Attr, a)
	}
}

func (b *treeBuilder) push(n *html.Node, k kind) {
	e := openElement{Node: n, kind: k}
	b.open = append(b.open, e)
	b.count(e, 1)
}

func (b *treeBuilder) count(e openElement, n int) {
	switch {
	case e.kind&picture != 0:
		b.pictures += n
	case e.Data == "p":
		b.paragraphs += n
	case isTemplate(e):
		b.templates += n
	}
}

// cut ends the elements from the i-th on.
func (b *treeBuilder) cut(i int) {
	for i > 0 && b.open[i-1].ended {
		i--
	}
	for _, e := range b.open[i:] {
		b.count(e, -1)
	}
	b.open = b.open[:i]
}

// cutTo ends the innermost element for which is holds, unless one for which stop holds
// comes first.
func (b *treeBuilder) cutTo(is, stop func(openElement) bool) bool {
	for i := len(b.open) - 1; i >= 0; i-- {
		b.steps++
		switch e := b.open[i]; {
		case is(e):
			b.cut(i)
			return true
		case stop(e):
			return false
		}
	}
	return false
}

// shadow is our name of a <template> whose contents browsers show inside the element around
// it, without any script. As a custom element's name it ends a word, and not a line.
const shadow = "shadow-root"

// isShadow reports whether a <template> with these attributes is one.
func isShadow(attributes []html.Attribute) bool {
	mode, _ := attribute(attributes, "shadowrootmode")
	return strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed")
}

func isTemplate(e openElement) bool { return e.Data == "template" || e.Data == shadow }

func named(name string) func(openElement) bool {
	return func(e openElement) bool { return e.Data == name }
}

// of reports whether an element is of any of the kinds.
func of(k kind) func(openElement) bool { return func(e openElement) bool { return e.kind&k != 0 } }

// imply ends the elements that a start tag ends, and starts those that it needs around it.
func (b *treeBuilder) imply(name string, k kind) {
	if k&block != 0 {
		b.endParagraph()
	}
	if last := len(b.open) - 1; k&heading != 0 && last >= 0 && b.open[last].kind&heading != 0 {
		b.cut(last)
	}
	rule := implied[name]
	for rule.ends != nil && b.cutTo(func(e openElement) bool { return rule.ends[e.Data] }, rule.stop) {
	}
	if name == "a" {
		b.endLink()
	}
	for range 2 { // at most a <tbody> and a <tr>
		if len(b.open) == 0 {
			return
		}
		needed := rule.within[b.open[len(b.open)-1].Data]
		if needed == "" {
			return
		}
		b.push(b.add(b.place(), needed, ""), kinds[needed])
	}
}

func (b *treeBuilder) endParagraph() bool {
	return b.paragraphs > 0 && b.cutTo(named("p"), func(e openElement) bool { return e.kind&scope != 0 || e.Data == "button" })
}

// foreign reports whether a tag here would belong to a picture.
func (b *treeBuilder) foreign() bool {
	if b.pictures > 0 {
		for i := len(b.open) - 1; i >= 0; i-- {
			b.steps++
			if k := b.open[i].kind; k&(picture|framed) != 0 {
				return k&picture != 0
			}
		}
	}
	return false
}

// namespace returns the name space of an element that starts here.
func (b *treeBuilder) namespace(name string) string {
	switch {
	case kinds[name]&picture != 0:
		return name
	case b.foreign():
		return b.open[len(b.open)-1].Namespace
	}
	return ""
}

// leavePictures ends pictures whose end tags are missing.
func (b *treeBuilder) leavePictures() {
	for b.foreign() {
		b.cutTo(of(picture), of(0))
	}
}

// end takes in an end tag.
func (b *treeBuilder) end(name string) {
	k := kinds[name]
	switch {
	case name == "p":
		if !b.endParagraph() {
			b.add(b.place(), name, "")
		}
	case name == "br":
		if !b.tokens.xml {
			b.add(b.place(), name, "")
		}
	case name == "template":
		if b.templates > 0 {
			b.cutTo(isTemplate, of(0))
		}
	case k&heading != 0:
		b.cutTo(of(heading), of(scope))
	case k&tablePart != 0:
		b.cutTo(named(name), of(table))
	case name == "li":
		b.cutTo(named(name), func(e openElement) bool { return e.kind&scope != 0 || e.Data == "ul" || e.Data == "ol" })
	case name == "form" && !b.foreign():
		b.endForm()
	case k&special != 0 && !b.foreign():
		b.cutTo(named(name), of(scope))
	case name == "a" && !b.foreign():
		if !b.cutTo(named(name), of(special)) {
			b.endLink()
		}
	default:
		b.cutTo(named(name), of(special))
	}
}

// endForm ends a form, but not what is still open in it: the last tag of <form><div></form></div> is that of the <div> in
// the form, as in browsers. It would end one around the form otherwise, with all that this still has.
func (b *treeBuilder) endForm() {
	at := len(b.open) - 1
	for ; at >= 0 && (b.open[at].Data != "form" || b.open[at].ended); at-- {
		if b.steps++; b.open[at].kind&(scope|framed) != 0 {
			return
		}
	}
	if at < 0 {
		return
	}
	last := len(b.open) - 1
	for last > at && endless[b.open[last].Data] {
		last--
	}
	if b.cut(last + 1); at == len(b.open)-1 {
		b.cut(at)
	} else {
		b.open[at].kind, b.open[at].ended = 0, true
	}
}

// endless are the elements that need no end tag where the element around them ends.
var endless = set("dd dt li optgroup option p rb rp rt rtc")

// endLink ends a link within a block that began in it, as in <a><h3>Title</a></h3>, or where another link begins there. As
// in browsers, the block moves out of the link, and what it has so far is in a copy of the link. Otherwise all that follows
// would be in it.
func (b *treeBuilder) endLink() {
	const most = 8 // elements within the link, of which each may need a copy
	at := len(b.open) - 1
	for ; at >= 0 && b.open[at].Data != "a"; at-- {
		if b.steps++; b.open[at].kind&(scope|framed) != 0 {
			return
		}
	}
	if at < 0 || len(b.open)-at > most+1 {
		return
	}
	link, blocks := b.open[at].Node, b.open[at+1:]
	link.RemoveChild(blocks[0].Node)
	link.Parent.AppendChild(blocks[0].Node) // an open element is the last child
	for i, e := range blocks {
		var end *html.Node // of what the element has so far
		if i+1 < len(blocks) {
			end = blocks[i+1].Node
		}
		if first := e.FirstChild; first != end {
			inner := &html.Node{Type: html.ElementNode, DataAtom: link.DataAtom, Data: link.Data, Attr: link.Attr}
			for next := first; next != end; next = e.FirstChild {
				e.RemoveChild(next)
				inner.AppendChild(next)
			}
			e.InsertBefore(inner, end)
			b.nodes++
			b.attributes += len(link.Attr)
		}
	}
	b.open = slices.Delete(b.open, at, at+1)
}
