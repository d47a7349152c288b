package search

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// longestWord is the number of characters of a word that count: nobody types the rest
	// of a hash.
	longestWord = 64
	// mostWords bounds the bytes of the words of one document, with eight more for each, as
	// both engines need. It is the size of a book, and keeps a tsvector below its limit.
	mostWords = 900_000
)

// Words are the words of a document, by where they stand.
type Words struct {
	Title, Headings, Text []string
}

// WordsOf makes the words of a document. If it is too long, its end is left out.
func WordsOf(d Document) Words {
	left := mostWords
	take := func(texts ...string) (words []string) {
		for _, text := range texts {
			for t := range tokens(normal(text)) {
				if left -= len(t.word) + 8; left < 0 {
					return words
				}
				words = append(words, t.word)
			}
		}
		return words
	}
	return Words{Title: take(d.Title), Headings: take(d.Headings...), Text: take(d.Text)}
}

// token is a word as it is compared, and where it stands in a normal text.
type token struct {
	word     string
	from, to int
	// last: a single character at the end of a run without spaces, there so that it can be
	// found by itself.
	last bool
}

// normal brings a text into the form from which tokens are made.
func normal(text string) string { return norm.NFC.String(strings.ToValidUTF8(text, " ")) }

// tokens yields the words of a normal text: of letters, digits and their marks, NFKC, in
// lower case, and without diacritics where an alphabet adds them to letters. Scripts
// without spaces between words, such as Chinese and Japanese, come as overlapping pairs of
// characters, and the last character also by itself. So a search finds two characters
// wherever they stand, and a single one as the beginning of a pair.
func tokens(text string) iter.Seq[token] {
	return func(yield func(token) bool) {
		c := cutter{yield: yield}
		for from := 0; from < len(text) && !c.done; {
			to := from + 1
			if b := text[from]; b < utf8.RuneSelf && (to == len(text) || text[to] < utf8.RuneSelf) {
				c.take(lowerASCII(b), from, to)
				from = to
				continue
			}
			to = from + segment(text[from:])
			for _, r := range folded(text[from:to]) {
				c.take(r, from, to)
			}
			from = to
		}
		c.endWord()
		c.endRun()
	}
}

func lowerASCII(b byte) rune {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return rune(b)
}

// segment returns the length of the first character with its marks.
func segment(text string) int {
	if n := norm.NFC.NextBoundaryInString(text, true); n > 0 {
		return n
	}
	return len(text)
}

// likeLetters are letters that Unicode does not decompose, and that people type as others.
var likeLetters = strings.NewReplacer("æ", "ae", "œ", "oe", "ß", "ss", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ς", "σ")

// folded returns a character in the form that is compared.
func folded(character string) string {
	apart := norm.NFKD.String(character)
	plain := strings.Map(func(r rune) rune {
		if isDiacritic(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, apart)
	return likeLetters.Replace(norm.NFC.String(plain))
}

// isDiacritic: a mark that changes no word, or that many leave out. Marks of other scripts
// are parts of words.
func isDiacritic(r rune) bool {
	switch {
	case r >= 0x0300 && r <= 0x036F: // Latin, Greek, Cyrillic
		return true
	case r >= 0x0591 && r <= 0x05BD, r == 0x05BF, r == 0x05C1, r == 0x05C2, r == 0x05C4, r == 0x05C5, r == 0x05C7: // Hebrew points
		return true
	case r >= 0x064B && r <= 0x065F, r == 0x0670, r == 0x0640: // Arabic vowels, and the stretcher of lines
		return true
	case r == 0x00AD, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2064, r == 0xFEFF, r >= 0xFE00 && r <= 0xFE0F:
		return true // soft hyphens, invisible characters
	}
	return false
}

// cutter makes tokens of characters that come one by one.
type cutter struct {
	yield func(token) bool
	done  bool

	word     []byte // of a word with spaces around it
	runes    int
	from, to int

	prior            rune // of a run without spaces, 0 if there is none
	priorAt, priorTo int
}

func (c *cutter) take(r rune, from, to int) {
	switch {
	case isUnspaced(r):
		c.endWord()
		if c.prior != 0 {
			c.emit(token{word: string([]rune{c.prior, r}), from: c.priorAt, to: to})
		}
		c.prior, c.priorAt, c.priorTo = r, from, to
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		c.endRun()
		if len(c.word) == 0 {
			c.from = from
		}
		if c.runes++; c.runes <= longestWord {
			c.word = utf8.AppendRune(c.word, r)
		}
		c.to = to
	default:
		c.endWord()
		c.endRun()
	}
}

func (c *cutter) endWord() {
	if len(c.word) > 0 {
		c.emit(token{word: string(c.word), from: c.from, to: c.to})
		c.word, c.runes = c.word[:0], 0
	}
}

func (c *cutter) endRun() {
	if c.prior != 0 {
		c.emit(token{word: string(c.prior), from: c.priorAt, to: c.priorTo, last: true})
		c.prior = 0
	}
}

func (c *cutter) emit(t token) {
	if !c.done && !c.yield(t) {
		c.done = true
	}
}

// isUnspaced: a character of a script in which no spaces stand between words, or, of Korean,
// in which words are joined to others.
func isUnspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	switch {
	case r == 0x30FC, r >= 0x3005 && r <= 0x3007: // the long vowel, repeated characters
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) &&
		(unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}
