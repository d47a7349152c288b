package rank

import (
	"fmt"
	"math"
	"slices"
)

// Graph holds the links between the pages of a crawl. It takes 4 bytes a link and
// 20 a page; computations on it take at most 40 more a page.
type Graph struct {
	ids     []int64 // of the pages, rising
	hosts   []int32 // of each page, as an index into hostIDs
	hostIDs []int64
	first   []int   // page i links to targets[first[i]:first[i+1]]
	targets []int32 // pages by index, rising within a page
}

// Pages is the number of pages.
func (g *Graph) Pages() int { return len(g.ids) }

// Links is the number of links from one page to another.
func (g *Graph) Links() int { return len(g.targets) }

// ID returns the id of the i-th page, in order of ids.
func (g *Graph) ID(i int) int64 { return g.ids[i] }

// links are the pages that page i links to.
func (g *Graph) links(i int) []int32 { return g.targets[g.first[i]:g.first[i+1]] }

// find returns the index of a page.
func (g *Graph) find(id int64) (int32, bool) {
	i, ok := slices.BinarySearch(g.ids, id)
	return int32(i), ok
}

// Builder makes a Graph of a stream: first all pages by rising id, then all links
// by rising source.
type Builder struct {
	graph  Graph
	byHost map[int64]int32
	source int64 // of the last link
	at     int32 // the page of source, -1 if there is none
}

// NewBuilder returns a builder with room for the given numbers of pages and links;
// there may be more of both, for up to twice the memory while they are added.
func NewBuilder(pages, links int) *Builder {
	return &Builder{
		graph: Graph{
			ids: make([]int64, 0, pages), hosts: make([]int32, 0, pages),
			first: make([]int, 0, pages+1), targets: make([]int32, 0, links),
		},
		byHost: map[int64]int32{}, source: math.MinInt64, at: -1,
	}
}

// Page adds a page. Ids must rise, and come before all links.
func (b *Builder) Page(id, host int64) error {
	g := &b.graph
	n := len(g.ids)
	switch {
	case n > 0 && id <= g.ids[n-1]:
		return fmt.Errorf("page %d comes after page %d", id, g.ids[n-1])
	case b.source != math.MinInt64:
		return fmt.Errorf("page %d comes after links", id)
	case n == math.MaxInt32:
		return fmt.Errorf("more than %d pages", math.MaxInt32)
	}
	number, ok := b.byHost[host]
	if !ok {
		number = int32(len(g.hostIDs))
		b.byHost[host] = number
		g.hostIDs = append(g.hostIDs, host)
	}
	g.ids, g.hosts = append(g.ids, id), append(g.hosts, number)
	return nil
}

// Source returns the id of the first page from id on, or false after the last: the
// reader of the links may go on there.
func (b *Builder) Source(id int64) (int64, bool) {
	i, _ := slices.BinarySearch(b.graph.ids, id)
	if i == len(b.graph.ids) {
		return 0, false
	}
	return b.graph.ids[i], true
}

// Link adds a link. Sources must not fall, nor the targets of one source; the same
// link twice counts as one. Links from a page to itself, and from or to an id that
// is no page, are left out.
func (b *Builder) Link(src, dst int64) error {
	g := &b.graph
	if src < b.source {
		return fmt.Errorf("a link from page %d comes after one from page %d", src, b.source)
	}
	if src != b.source {
		b.source, b.at = src, -1
		if i, ok := g.find(src); ok {
			b.at = i
			b.close(int(i))
		}
	}
	to, ok := g.find(dst)
	if b.at < 0 || !ok || to == b.at {
		return nil
	}
	if n := len(g.targets); n > g.first[b.at] {
		last := g.targets[n-1]
		if to < last {
			return fmt.Errorf("a link from page %d to page %d comes after one to page %d", src, dst, g.ids[last])
		}
		if to == last {
			return nil
		}
	}
	g.targets = append(g.targets, to)
	return nil
}

// close records for all pages up to i that their links begin here, which for those
// before i means that they have no more.
func (b *Builder) close(i int) {
	for len(b.graph.first) <= i {
		b.graph.first = append(b.graph.first, len(b.graph.targets))
	}
}

// Graph ends the building and returns the graph.
func (b *Builder) Graph() *Graph {
	b.close(len(b.graph.ids))
	return &b.graph
}
