package robots

import (
	"slices"
	"sort"
	"strings"
)

// pieces are the distinct strings between the stars of a file's patterns, kept so
// that those which begin at some place of a URL are found together, and those that
// no pattern waits for are skipped 64 at a time.
//
// All pieces that begin there are prefixes of each other. A hostile file has a
// thousand such pieces ("a", "aa", …), too many to visit at each place. Therefore
// the forest in which each piece hangs on the longest shorter one that it begins
// with is cut into paths, heaviest child first: from any piece to its root lead at
// most log2(len) + 1 paths. The pieces of one path have consecutive slots, from
// the shortest to the longest.
type pieces struct {
	// text holds the pieces in the order of their bytes, slot their slots.
	text []string
	slot []int32
	// text[first[c]:first[c+1]] begin with the byte c.
	first [257]int32
	// size, by slot, is the length of a piece, and top the first slot of its path.
	size, top []int32
	// above, by the slot of a top, is the slot on which the path hangs, -1 if none.
	above []int32
}

// newPieces makes pieces of distinct strings, none of them empty. It returns the
// slot of each, in the order in which they are given.
func newPieces(distinct []string) (pieces, []int32) {
	order := make([]int32, len(distinct))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(distinct[a], distinct[b]) })
	p := pieces{text: make([]string, len(distinct))}
	for i, n := range order {
		p.text[i] = distinct[n]
		p.first[int(p.text[i][0])+1]++
	}
	for c := range 256 {
		p.first[c+1] += p.first[c]
	}
	p.cut(p.parents())
	slots := make([]int32, len(distinct))
	for i, n := range order {
		slots[n] = p.slot[i]
	}
	return p, slots
}

// parents returns for each text the index of the longest shorter one that it
// begins with, -1 if there is none.
func (p *pieces) parents() []int32 {
	parent := make([]int32, len(p.text))
	var open []int32 // the texts with which the last one begins, and the last one
	for i, text := range p.text {
		for len(open) > 0 && !strings.HasPrefix(text, p.text[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		parent[i] = -1
		if len(open) > 0 {
			parent[i] = open[len(open)-1]
		}
		open = append(open, int32(i))
	}
	return parent
}

// cut cuts the forest into paths and gives out the slots.
func (p *pieces) cut(parent []int32) {
	heavy := heaviest(parent)
	n := len(p.text)
	p.slot, p.size, p.top, p.above = make([]int32, n), make([]int32, 0, n), make([]int32, 0, n), make([]int32, 0, n)
	for i := range p.text {
		if parent[i] >= 0 && heavy[parent[i]] == int32(i) {
			continue // it lies on the path of its parent
		}
		top, above := int32(len(p.size)), int32(-1)
		if parent[i] >= 0 {
			above = p.slot[parent[i]]
		}
		for on := int32(i); on >= 0; on = heavy[on] {
			p.slot[on] = int32(len(p.size))
			p.size, p.top, p.above = append(p.size, int32(len(p.text[on]))), append(p.top, top), append(p.above, above)
		}
	}
}

// heaviest returns for each node of a forest its child with the most
// descendants, -1 if it has none. Parents come before their children.
func heaviest(parent []int32) []int32 {
	heavy, weight := make([]int32, len(parent)), make([]int32, len(parent))
	for i := range heavy {
		heavy[i] = -1
	}
	for i := int32(len(parent)) - 1; i >= 0; i-- {
		weight[i]++
		if up := parent[i]; up >= 0 {
			weight[up] += weight[i]
			if heavy[up] < 0 || weight[i] > weight[heavy[up]] {
				heavy[up] = i
			}
		}
	}
	return heavy
}

// below returns the index of the last text that does not sort after rest in the
// order of bytes and begins with its first byte, -1 if there is none. Every piece
// with which rest begins is that text or one with which that text begins.
func (p *pieces) below(rest string, steps *int) int {
	from, to := int(p.first[rest[0]]), int(p.first[int(rest[0])+1])
	found := sort.Search(to-from, func(i int) bool {
		*steps += stride(len(p.text[from+i]), len(rest))
		return p.text[from+i] > rest
	})
	if found == 0 {
		return -1
	}
	return from + found - 1
}

// stride is the number of steps that comparing two strings counts as: one for
// each 64 bytes begun.
func stride(a, b int) int { return 1 + min(a, b)/64 }
