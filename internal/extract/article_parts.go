package extract

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/net/html"
)

// hasTwin reports whether a sibling like an element also has running text: some articles are cut into pieces,
// and a page of several posts or answers is none of them alone.
func (a *articleChoice) hasTwin(parent, i int32) bool {
	n, found := a.nodes[i], false
	level, asks := headingLevel(n), isOfQuestions(n)
	class, _ := attribute(n.Attr, "class")
	kinds := kindNames(class)
	a.eachChild(parent, func(child int32) {
		if child == i || a.gone[child] || found {
			return
		}
		other := a.nodes[child]
		found = a.left(child) >= leastRunning && n.Data == other.Data && isClassAlike(class, kinds, other) ||
			a.hasWords(child) && (asks && isOfQuestions(other) || level > '1' && level == headingLevel(other))
	})
	return found
}

// hasWords reports whether an element has a few words of its own that are left, and few links.
func (a *articleChoice) hasWords(i int32) bool {
	const least = 20
	units, own := a.said(i)
	return own >= least && 2*own >= units
}

// isOfQuestions reports whether an element's name says that it is a question or holds answers.
func isOfQuestions(n *html.Node) bool {
	found := false
	for _, a := range n.Attr {
		if a.Key == "class" || a.Key == "id" {
			for name := range strings.FieldsSeq(a.Val) {
				eachWord(name, func(word string, _ int) {
					found = found || questionNames[strings.ToLower(word)]
				})
			}
		}
	}
	return found
}

var questionNames = set("question questions answer answers")

// headingLevel returns the last character of the name of the heading that an element begins with, 0 if it begins with something else.
func headingLevel(n *html.Node) byte {
	looked := 0
	for d := range n.Descendants() {
		switch looked++; {
		case looked > mostLooked, d.Type == html.TextNode && strings.TrimSpace(d.Data) != "":
			return 0
		case d.Type == html.ElementNode && isHeading(d.Data):
			return d.Data[1]
		}
	}
	return 0
}

// isClassAlike reports whether an element has a class or, apart from numbers and from what says where it is filed, more than
// half of the kinds in it: "post-12 post hentry category-news".
func isClassAlike(class string, kinds names, other *html.Node) bool {
	with, _ := attribute(other.Attr, "class")
	if class == with {
		return class != ""
	}
	others, both := kindNames(with), 0
	for name := range kinds {
		if others[name] {
			both++
		}
	}
	return 2*both > max(len(kinds), len(others))
}

// kindNames returns the classes that say what an element is, not which one.
func kindNames(class string) names {
	kinds := names{}
	for name := range strings.FieldsSeq(class) {
		first, _, _ := strings.Cut(name, "-")
		if len(kinds) < mostLooked && !strings.ContainsAny(name, "0123456789") && (first == name || !filing[first]) {
			kinds[name] = true
		}
	}
	return kinds
}

// marked returns the one element that the page marks as its article, for articles without running text such as
// poems, and for short ones: -1 if there is none or there are several.
func (a *articleChoice) marked() int32 {
	const least = 40 // units of its own
	var bodies, articles []int32
	beside := int32(0) // units of what is no article, whatever it has
	for i, end := int32(0), int32(len(a.elements)); i < end; i++ {
		e := &a.elements[i]
		units, own := a.said(i)
		switch {
		case a.gone[i]:
			if a.isBeside(i) || a.isFoot(i) {
				beside += e.units - e.linked
			}
			i += e.size - 1
		case own < least || 2*own < units:
		case a.hints[i]&hintBody != 0:
			bodies = append(bodies, i)
			i += e.size - 1
		case e.hints&(hintArticle|hintEntry) != 0 && (e.heading || a.title() < 0):
			articles = append(articles, i)
		}
	}
	found := bodies
	if len(found) == 0 {
		found = articles
	}
	if len(found) != 1 || a.isTeasers(found[0]) {
		return -1
	}
	if _, own := a.said(found[0]); 4*own < a.total.units-a.total.linked-beside {
		return -1
	}
	return found[0]
}

// threadNames are how pages call what readers have said, after or before its number.
var threadNames = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.SplitSeq(`comment, comments, reader comments, user comments, kommentar, kommentare, leserkommentare, commentaire, commentaires,
		comentario, comentarios, comentário, comentários, commento, commenti, reactie, reacties, kommentarer, kommentaarit, komentarz, komentarze,
		komentarzy, komentář, komentáře, komentářů, yorum, yorumlar, комментарий, комментария, комментариев, комментарии, коментар, коментарі,
		коментарів, σχόλια, תגובות, تعليق, تعليقات, التعليقات, コメント, 件のコメント, 评论, 条评论, 評論, 則評論, 댓글, 개의 댓글, bình luận`, ",") {
		all[strings.ReplaceAll(collapse(name), " ", "")] = true
	}
	return all
})

// findThreads finds comments that no name shows, by the heading that counts them.
func (a *articleChoice) findThreads() {
	for i, end := int32(0), int32(len(a.elements)); i < end; i++ {
		// A heading that is a link leads to the comments from elsewhere.
		e, n := &a.elements[i], a.nodes[i]
		if !isHeading(n.Data) || n.Data == "h1" || e.linked == e.units || !isThreadHeading(shortText(n)) {
			continue
		}
		at := i
		for up := a.elements[at].parent; up > 0 && a.startsWith(up, at) && !a.elements[up].heading && !a.elements[up].article; up = a.elements[at].parent {
			at = up
		}
		a.hints[at] |= hintThread
		if at == i {
			a.endThread(i)
		}
	}
}

// endThread marks what follows a heading in the same element, up to one of its rank.
func (a *articleChoice) endThread(i int32) {
	level, parent := a.nodes[i].Data, a.elements[i].parent
	if parent < 0 {
		return
	}
	for next, end := i+a.elements[i].size, parent+a.elements[parent].size; next < end; next += a.elements[next].size {
		if name := a.nodes[next].Data; isHeading(name) && name <= level {
			return
		}
		a.hints[next] |= hintThread
	}
}

// startsWith reports whether an element has no text before one of its children, and little else.
func (a *articleChoice) startsWith(outer, child int32) bool {
	looked := 0
	for i := outer + 1; i < child; i += a.elements[i].size {
		if looked++; a.elements[i].units > 0 || looked > mostLooked {
			return false
		}
	}
	for n := a.nodes[child].PrevSibling; n != nil; n = n.PrevSibling {
		if looked++; n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" || looked > mostLooked {
			return false
		}
	}
	return true
}

// isThreadHeading reports whether a heading has a number of comments and nothing else.
func isThreadHeading(text string) bool {
	digits := false
	letters := strings.Map(func(r rune) rune {
		digits = digits || unicode.IsDigit(r)
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	return digits && threadNames()[letters]
}

// findLead notes a lead between the headline and an element that holds the text, both in one element.
func (a *articleChoice) findLead(title, parent, text int32) {
	if title < 0 || title >= text {
		return
	}
	a.eachChild(parent, func(child int32) {
		e := &a.elements[child]
		if child < text && title < child+e.size && !a.gone[child] && a.left(child) >= leastRunning && e.paragraphs <= 2 && 2*e.running >= e.units {
			a.leads = append(a.leads, child)
		}
	})
}

// headline returns the first <h1> that stays, or else the first heading; -1 if there is none.
func (a *articleChoice) headline() int32 {
	for i, end := int32(0), int32(len(a.elements)); i < end; i++ {
		if a.gone[i] {
			i += a.elements[i].size - 1
			continue
		}
		if a.isHeadline(a.nodes[i]) {
			return i
		}
	}
	return a.title()
}

// keepLead keeps the running text of the lead before the article's text, if there is one.
func (a *articleChoice) keepLead(kept []bool) {
	for _, lead := range a.leads {
		a.keepRunning(kept, lead)
	}
}

// keepRunning keeps the running text of an element.
func (a *articleChoice) keepRunning(kept []bool, lead int32) {
	for i, end := lead, lead+a.elements[lead].size; i < end; i++ {
		if a.gone[i] {
			i += a.elements[i].size - 1
			continue
		}
		kept[i] = true
	}
	blocks := a.blocks(kept, lead)
	a.drop(kept, slices.DeleteFunc(blocks, func(b textBlock) bool { return b.running > 0 }))
}
