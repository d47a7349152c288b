package extract

import (
	"bytes"
	"regexp"
	"sync"

	"golang.org/x/net/html"
)

// React sends a page before all of its parts are ready. In the place of a late part stands, between
// two comments, a <template> with what is shown until then. The part follows at the end of the page
// in a hidden element, and a short script calls $RC to move it to its place. Whether a part is late
// depends on how busy the server is. streamed notes the places, parts and calls, so that they are
// moved as browsers do.
type streamed struct {
	open   []fallback
	holes  map[string]*html.Node // the templates by their ids
	shown  map[string]*html.Node // the last node that is shown instead of a part, by the template's id
	parts  map[string]*html.Node // hidden, by their ids
	moves  []streamMove
	looked int // nodes that were counted for the depth of parts
}

// fallback is an open pair of comments.
type fallback struct {
	parent, before *html.Node // where it begins: after a child, nil for none
	late           bool
}

// streamMove is a call: the part of one id takes the place of another.
type streamMove struct {
	part, hole string
	boundary   bool // what is shown instead goes with the template
}

// The marks of React's comments.
const (
	lateBegins = "$?"
	partEnds   = "/$"
)

// comment takes in a comment.
func (b *treeBuilder) comment(text []byte) {
	s := &b.streamed
	switch mark := string(text); mark {
	case "$", "$!", "$~", lateBegins:
		if b.body != nil && len(s.open) < maxDepth {
			place := b.place()
			s.open = append(s.open, fallback{place, place.LastChild, mark == lateBegins})
		}
	case partEnds:
		last := len(s.open) - 1
		if last < 0 {
			return
		}
		f := s.open[last]
		s.open = s.open[:last]
		if f.late && f.parent == b.place() {
			s.note(f)
		}
	}
}

// note notes what is shown instead of a part.
func (s *streamed) note(f fallback) {
	first := f.parent.FirstChild
	if f.before != nil {
		first = f.before.NextSibling
	}
	if first == nil || first.Data != "template" {
		return
	}
	if id := valueOf(first, "id"); id != "" && s.holes[id] == first {
		if s.shown == nil {
			s.shown = map[string]*html.Node{}
		}
		s.shown[id] = f.parent.LastChild
	}
}

// element takes in an element that begins.
func (s *streamed) element(n *html.Node) {
	if n.Data == "template" {
		put(&s.holes, valueOf(n, "id"), n)
	} else if _, hidden := attribute(n.Attr, "hidden"); hidden && len(s.holes) > 0 {
		put(&s.parts, valueOf(n, "id"), n)
	}
}

func put(to *map[string]*html.Node, id string, n *html.Node) {
	if id == "" || (*to)[id] != nil {
		return
	}
	if *to == nil {
		*to = map[string]*html.Node{}
	}
	(*to)[id] = n
}

// streamCalls are the calls that move a part: $RC and $RR(boundary, part), $RS(part, template).
var streamCalls = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$R([CRS])\("([A-Za-z0-9_:.-]{1,60})","([A-Za-z0-9_:.-]{1,60})"`)
})

// script takes in the text of a script.
func (s *streamed) script(text []byte) {
	if len(s.parts) == 0 || !bytes.Contains(text, []byte("$R")) {
		return
	}
	for _, call := range streamCalls().FindAllSubmatch(text, len(s.parts)) {
		m := streamMove{part: string(call[3]), hole: string(call[2]), boundary: true}
		if string(call[1]) == "S" {
			m = streamMove{part: string(call[2]), hole: string(call[3])}
		}
		if s.parts[m.part] != nil && s.holes[m.hole] != nil {
			s.moves = append(s.moves, m)
		}
	}
}

// finish moves the parts to their places.
func (s *streamed) finish() {
	for _, m := range s.moves {
		part, hole := s.parts[m.part], s.holes[m.hole]
		last := hole
		if m.boundary {
			last = s.shown[m.hole]
		}
		if part == nil || hole == nil || last == nil || last.Parent != hole.Parent || !s.fits(part, hole) {
			continue
		}
		delete(s.parts, m.part)
		delete(s.holes, m.hole)
		parent, after := hole.Parent, last.NextSibling
		for hole != after {
			next := hole.NextSibling
			parent.RemoveChild(hole)
			hole = next
		}
		for child := part.FirstChild; child != nil; child = part.FirstChild {
			part.RemoveChild(child)
			parent.InsertBefore(child, after)
		}
		part.Parent.RemoveChild(part)
	}
}

// fits reports whether a part may move to a place: this is in the tree and outside of the part,
// and the tree does not get too deep.
func (s *streamed) fits(part, hole *html.Node) bool {
	depth := 0
	top := hole
	for n := hole.Parent; n != nil; n = n.Parent {
		if n == part {
			return false
		}
		top = n
		depth++
	}
	return top.Type == html.DocumentNode && part.Parent != nil && depth+s.heightOf(part, maxDepth-depth) <= maxDepth
}

// heightOf returns how many elements are nested below a node; more than most if it would take too
// long to count.
func (s *streamed) heightOf(n *html.Node, most int) int {
	if s.looked++; most < 0 || s.looked > maxNodes {
		return maxDepth + 1
	}
	height := 0
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type == html.ElementNode {
			height = max(height, 1+s.heightOf(child, most-1))
		}
	}
	return height
}
