package robots

import "strings"

// pattern is a normalised pattern, cut at its stars. A URL matches if it begins
// with the head, has the pieces behind it one after the other, and, if the
// pattern is anchored at its end, ends with the tail behind them all.
type pattern struct {
	// head stands before the first star; without a star it is the whole pattern.
	head string
	// tail stands behind the last star of an anchored pattern.
	tail string
	// File.sequence[from:to] are the pieces between, by their slots.
	from, to int32
	// least is the number of bytes of head, pieces and tail.
	least int32
	// star and end: the pattern has a star; it ends with "$".
	star, end bool
}

// frames reports whether a URL is long enough, begins with the head and, if it
// must, ends with the tail. A pattern without pieces asks for no more.
func (p *pattern) frames(url string) bool {
	switch {
	case len(url) < int(p.least) || !strings.HasPrefix(url, p.head):
		return false
	case p.end && p.star:
		return strings.HasSuffix(url, p.tail)
	case p.end:
		return len(url) == len(p.head)
	}
	return true
}

// pattern cuts a normalised pattern at its stars and notes its pieces.
func (p *parser) pattern(text string) pattern {
	var cut pattern
	text, cut.end = strings.CutSuffix(text, "$")
	cut.head, text, cut.star = strings.Cut(text, "*")
	if cut.star && cut.end {
		last := strings.LastIndexByte(text, '*')
		cut.tail, text = text[last+1:], text[:max(last, 0)]
	}
	cut.from = int32(len(p.file.sequence))
	cut.least = int32(len(cut.head) + len(cut.tail))
	for piece := range strings.SplitSeq(text, "*") {
		if piece != "" {
			p.file.sequence = append(p.file.sequence, p.number(piece))
			cut.least += int32(len(piece))
		}
	}
	cut.to = int32(len(p.file.sequence))
	return cut
}

// number returns the number of a piece in the order in which they were first seen.
func (p *parser) number(piece string) int32 {
	n, ok := p.numbers[piece]
	if !ok {
		if p.numbers == nil {
			p.numbers = map[string]int32{}
		}
		n = int32(len(p.distinct))
		p.numbers[piece] = n
		p.distinct = append(p.distinct, piece)
	}
	return n
}
