package directive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// reader reads a list word by word.
type reader struct {
	text string // what is left
	// within: the last word and the next belong to one item.
	within bool
	// first: the next word begins an item in spite of within.
	first bool
}

// word is a piece of a list between separators.
type word struct {
	text string
	// first: it begins an item of the list.
	first bool
	// valued: a colon or an equals sign follows it.
	valued bool
}

// mark is the function of a character in a list.
type mark int

const (
	inWord mark = iota
	space
	itemEnd
	assign
)

func markOf(r rune) mark {
	switch r {
	case ',', ';', '|', '，', '；', '、', '｜':
		return itemEnd
	case ':', '=', '：', '＝':
		return assign
	case '`', '\'', '"', '\\', '\u200b':
		return space
	}
	if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Quotation_Mark, unicode.Ps, unicode.Pe) {
		return space
	}
	return inWord
}

// next reads a word; false at the end.
func (in *reader) next() (word, bool) {
	if !in.skip() {
		return word{}, false
	}
	w := word{text: in.text, first: in.first || !in.within}
	in.first, in.within = false, true
	if end := strings.IndexFunc(in.text, func(r rune) bool { return markOf(r) != inWord }); end >= 0 {
		w.text = in.text[:end]
	}
	in.text = in.text[len(w.text):]
	w.valued = in.assigned()
	return w, true
}

// skip passes over separators. It reports whether a word comes after them.
func (in *reader) skip() bool {
	for i, r := range in.text {
		switch markOf(r) {
		case inWord:
			in.text = in.text[i:]
			return true
		case itemEnd:
			in.within = false
		}
	}
	in.text = ""
	return false
}

// assigned reports whether a colon or an equals sign comes next, and passes over
// it.
func (in *reader) assigned() bool {
	for i, r := range in.text {
		switch markOf(r) {
		case space:
			continue
		case assign:
			in.text = in.text[i+utf8.RuneLen(r):]
			return true
		}
		return false
	}
	return false
}

// value reads the next word of the same item if it is wanted, and leaves it
// otherwise.
func (in *reader) value(wanted func(string) bool) (string, bool) {
	before := *in
	if w, ok := in.next(); ok && !w.first && wanted(fold(w.text)) {
		return fold(w.text), true
	}
	*in = before
	return "", false
}

// fold writes a word in the form in which directives are known: in lower case,
// without hyphens and invisible characters.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, word)
}
