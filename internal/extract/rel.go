package extract

import (
	"slices"
	"strings"
	"unicode"

	"recrawl/internal/crawl"
)

// maxRel bounds the relations that are kept of a link in bytes.
const maxRel = 100

var (
	// follow are the relations of <link> that lead to pages.
	follow = set("alternate amphtml author canonical help license next prev previous search shortlink")
	// noFollow are the relations that forbid counting or following a link.
	noFollow = set("nofollow ugc sponsored")
)

// relations writes a rel attribute in one form.
func relations(rel string) string {
	if rel == "" {
		return ""
	}
	words := strings.FieldsFunc(strings.ToLower(crawl.Clean(rel, maxRel)), isRelSpace)
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// isRelSpace reports whether a character separates relations: white space, or a character
// that people write for it. A relation may be a URL, so not all punctuation separates.
func isRelSpace(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(",;|'\"`，；｜", r) || unicode.Is(unicode.Quotation_Mark, r)
}

// hasAny reports whether a list of relations has one of a set, whatever its case.
func hasAny(list string, words names) bool {
	for word := range strings.FieldsFuncSeq(list, isRelSpace) {
		if words[strings.ToLower(word)] {
			return true
		}
	}
	return false
}

// forbids reports whether relations say not to follow a link, whatever stands between them,
// even as two words ("no-follow").
func forbids(rel string) bool {
	before := ""
	for word := range strings.FieldsFuncSeq(rel, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		word = strings.ToLower(word)
		if noFollow[word] || before == "no" && word == "follow" {
			return true
		}
		before = word
	}
	return false
}
