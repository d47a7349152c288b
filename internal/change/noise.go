package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/maphash"
	"strings"
	"time"

	"recrawl/internal/crawl"
)

// Rendering is a main text as a page had it at one time.
type Rendering struct {
	// Text has a block a line: a paragraph, a heading, an item, a cell. Without the
	// line feeds much noise is not recognised, and is taken for an edit.
	Text string
	// At is when it was fetched, by which clocks are recognised; zero if it is not known.
	At time.Time
}

// Codes of the reasons of CompareRenderings. They are stored; never change them.
const (
	// CodeOnlyNoise: only parts that change by themselves differ. Numbers: of each
	// kind that differs, how many there are: ages ("3 minutes ago"), stamps ("Last
	// updated: 4 March"), clocks, counters ("1,234 views"), timings ("made in 0.12 s")
	// and ids of requests.
	CodeOnlyNoise = "noise-only"
	// CodeBeyondNoise: more than noise differs. Numbers: words in the text that are no
	// noise; words_delta to the text before; same_words before the first difference.
	CodeBeyondNoise = "beyond-noise"
)

// CompareRenderings distinguishes an edit from noise: the parts of a page that show when it
// was made, and how often it was read. Noise is recognised by its form and its
// surroundings, in many languages, in lines that are no running text: a sentence that says
// that a bank was founded 20 years ago, or has a million visitors, is edited if it says 21,
// or two millions. Everything else is an edit, however small: no difference is too small to
// be one. The one exception: if only several past dates remain that all moved by the same
// amount, as between time zones, that is noise too.
//
// Its time is linear in the texts' length, and its memory does not grow with it.
func CompareRenderings(prev, next Rendering) (noise bool, reasons []crawl.Reason) {
	p, n := newCore(prev.Text), newCore(next.Text)
	p.joins, n.joins = true, true
	same, moved := 0, shift{}
	for {
		a, more := p.word()
		b, moreToo := n.word()
		if !more && !moreToo && moved.holds() {
			return true, []crawl.Reason{{Code: CodeOnlyNoise, Num: differing(p.seen, n.seen)}}
		}
		equal, clocks := p.words.sameWord(a, b, prev.At, next.At)
		if more != moreToo || !more || !equal && !moved.takes(a, b, prev.At, next.At) {
			break
		}
		if clocks || !equal {
			p.note(clock, a)
			n.note(clock, b)
		} else {
			moved.stays(a)
		}
		if moved.moved == 0 {
			same++
		}
	}
	words := n.drain()
	return false, []crawl.Reason{{Code: CodeBeyondNoise, Num: map[string]float64{
		"words": float64(words), "words_delta": float64(words - p.drain()), "same_words": float64(same),
	}}}
}

// CoreDigest returns the SHA-256 in hex of a text without its noise, except for
// clocks, which only a comparison can distinguish from other times. Two texts with
// the same one differ only by noise, and the text before need not be at hand.
func CoreDigest(text string) string {
	core, _ := CoreDigests(text)
	return core
}

// CoreDigests returns CoreDigest, and the digest of the text without its clocks too; ""
// if it has none. Two texts with the same one differ by clocks at most, among which
// CompareRenderings recognises those that show when the page was made.
func CoreDigests(text string) (core, timeless string) {
	with, without := newWordSum(), newWordSum()
	clocks, words := false, newCore(text)
	for word, ok := words.word(); ok; word, ok = words.word() {
		with.add(word)
		if strings.HasPrefix(word, clockMark) {
			clocks, word = true, clockMark
		}
		without.add(word)
	}
	if !clocks {
		return with.hex(), ""
	}
	return with.hex(), without.hex()
}

// wordSum hashes words, a block of them at a time.
type wordSum struct {
	sum    hash.Hash
	buffer []byte
}

// wordBlock is how many bytes of words are hashed at a time.
const wordBlock = 8 << 10

func newWordSum() *wordSum { return &wordSum{sum: sha256.New(), buffer: make([]byte, 0, wordBlock)} }

func (s *wordSum) add(word string) {
	if len(s.buffer)+len(word) > wordBlock {
		s.sum.Write(s.buffer) // a hash never fails
		s.buffer = s.buffer[:0]
	}
	s.buffer = append(append(s.buffer, word...), ' ')
}

func (s *wordSum) hex() string {
	s.sum.Write(s.buffer)
	s.buffer = s.buffer[:0]
	return hex.EncodeToString(s.sum.Sum(nil))
}

// NoiseWord words a reason of CompareRenderings plainly; false if it is none.
func NoiseWord(r crawl.Reason) (string, bool) {
	switch r.Code {
	case CodeOnlyNoise:
		var kinds []string
		for _, kind := range kindNames {
			if n := r.Num[kind]; n > 0 {
				kinds = append(kinds, fmt.Sprintf("%.0f %s", n, kind))
			}
		}
		if len(kinds) == 0 {
			return "the same text but for white space", true
		}
		return "the same text but for " + strings.Join(kinds, ", "), true
	case CodeBeyondNoise:
		if delta := r.Num["words_delta"]; delta != 0 {
			return fmt.Sprintf("edited (%+.0f words)", delta), true
		}
		return "edited", true
	}
	return "", false
}

// kind is a kind of noise.
type kind uint8

const (
	noNoise kind = iota
	age
	stamp
	clock
	counter
	timing
	requestID
	kinds
)

// kindNames are the kinds as the numbers of CodeOnlyNoise name them.
var kindNames = [...]string{age: "ages", stamp: "stamps", clock: "clocks", counter: "counters", timing: "timings", requestID: "ids"}

// census counts the noise of one kind, with a hash of it.
type census struct {
	count int
	sum   uint64
}

// differing returns the numbers of CodeOnlyNoise.
func differing(prev, next [kinds]census) map[string]float64 {
	num := map[string]float64{}
	for k := age; k < kinds; k++ {
		if prev[k] != next[k] {
			num[kindNames[k]] = float64(max(prev[k].count, next[k].count))
		}
	}
	return num
}

// core reads the words of a text that are no noise.
type core struct {
	rest  string // of the text
	line  string // the rest of the line
	ahead string // the line after it, if it was read
	count int    // words read
	seen  [kinds]census
	words scanner
	// joins: marks that stand alone belong to the word beside them. Digests of texts, which
	// are stored, are made without.
	joins bool
	parts []string // of a joined word
	bare  bool     // the line before was a number
}

func newCore(text string) *core { return &core{rest: text} }

// word returns the next word, false at the end.
func (c *core) word() (string, bool) {
	for {
		c.line = c.line[spacesAt(c.line):]
		if c.line != "" {
			end := wordEnd(c.line)
			word := c.line[:end]
			c.line = c.line[end:]
			if c.joins && isUnseenWord(word) {
				continue
			}
			c.count++
			if c.joins {
				word = c.joined(word)
			}
			return word, true
		}
		if !c.next() {
			return "", false
		}
	}
}

// next goes to the next line with something beside noise; false at the end.
func (c *core) next() bool {
	if c.line, c.ahead = c.ahead, ""; c.line == "" {
		c.line = c.nextLine()
	}
	if c.joins && c.line != "" {
		c.dropLabelled()
	}
	return c.line != "" || c.ahead != "" || c.rest != ""
}

// nextLine returns the next line that has something left without its noise, "" at the end.
func (c *core) nextLine() string {
	for c.rest != "" {
		var line string
		line, c.rest, _ = strings.Cut(c.rest, "\n")
		if len(line) <= maxNoisyLine {
			line = c.withoutNoise(line)
		}
		if spacesAt(line) < len(line) {
			return line
		}
	}
	return ""
}

// joined returns a word with the marks after it that white space separates from it, or, if it is
// marks that open something, with the word after them: "Report ." says what "Report." does. Tools that
// write markup put line feeds there and take them away, and between the characters of scripts
// without spaces.
func (c *core) joined(word string) string {
	const opening, closing = "([{«“‘„", ".,;:!?)]}»”’…。，、；：！？）」』"
	if strings.HasPrefix(word, clockMark) {
		return word
	}
	opens := strings.Trim(word, opening) == ""
	parts := append(c.parts[:0], word)
	for {
		from := spacesAt(c.line)
		end := from + wordEnd(c.line[from:])
		next := c.line[from:end]
		if next == "" || strings.HasPrefix(next, clockMark) || !opens && strings.Trim(next, closing) != "" && !runsOn(parts[len(parts)-1], next) {
			break
		}
		opens = opens && strings.Trim(next, opening) == ""
		parts, c.line = append(parts, next), c.line[end:]
	}
	c.parts = parts
	if len(parts) == 1 {
		return word
	}
	return strings.Join(parts, "")
}

// spaceAt is the length of the white space at i, 0 if there is none. Extract leaves
// only blanks, tabs, carriage returns and U+00A0.
func spaceAt(line string, i int) int {
	switch c := line[i]; {
	case c == ' ' || c == '\t' || c == '\r':
		return 1
	case c == 0xC2 && i+1 < len(line) && line[i+1] == 0xA0:
		return 2
	}
	return 0
}

// spacesAt is the length of the white space that a line begins with.
func spacesAt(line string) int {
	i := 0
	for i < len(line) {
		n := spaceAt(line, i)
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// wordEnd is the length of the word that a line begins with.
func wordEnd(line string) int {
	for i := range len(line) {
		if line[i] <= ' ' || line[i] == 0xC2 {
			if spaceAt(line, i) > 0 {
				return i
			}
		}
	}
	return len(line)
}

// drain reads to the end and returns how many words there were.
func (c *core) drain() int {
	for _, ok := c.word(); ok; _, ok = c.word() {
	}
	return c.count
}

// seed hashes noise within one process; hashes are never stored.
var seed = maphash.MakeSeed()

// note counts one piece of noise.
func (c *core) note(k kind, text string) {
	s := &c.seen[k]
	s.count++
	s.sum = s.sum*31 + maphash.String(seed, text)
}
