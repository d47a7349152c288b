package change

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"unicode"
	"unicode/utf8"
)

// The numbers of a sketch. Sketches are stored, and two can be compared only if the first
// two are the same.
const (
	// ShingleWords is w: a shingle is this many consecutive words.
	ShingleWords = 4
	// SketchSize is s: a sketch holds the smallest s shingles of a text. The
	// standard error of a resemblance r is √(r(1−r)/s): 0.012 at 0.98, 0.044 at 0.5.
	SketchSize = 128
	// placeBits is how many of a value's 64 bits say its place among all shingles: two
	// values are the same if these are. With 40, two texts of 100 000 words have one in
	// common by chance in one pair of 80 000, and a value of a text of 500 words is in any of
	// a million others with a probability of 1 to 2000.
	placeBits = 40
)

// Place is the part of a sketch's value by which two sketches are compared.
func Place(value uint64) uint64 { return value >> (64 - placeBits) }

// Sketch is a sample of a text from which its resemblance to other texts can be
// estimated: MIN_s(π(S(A))) of Sizov's slides 5 ("Random permutations", "Corner
// case"), after Broder. S(A) is the set of the text's shingles, π orders them by a
// hash of 64 bits, MIN_s takes the smallest s, or all if there are fewer. The
// values are in ascending order, each place once. The first 16 have all their bits, and
// the others those of their Place and 0 below. A text of fewer than w words, but at least
// one, has a single shingle of all its words; a text without words has an empty sketch.
type Sketch []uint64

// NewSketch sketches a text in time that is linear in its length and memory that
// does not depend on it.
//
// A word is the text between white space, punctuation and symbols, whatever its
// case. Scripts that put no space between words (Chinese, Japanese, Thai, Lao,
// Khmer, Burmese) are read character by character, so that there a shingle is a
// 4-gram of characters: finding their words takes a dictionary, which would have to
// stay the same for ever.
func NewSketch(text string) Sketch {
	return SketchOf(sketch(words(text), ShingleWords, SketchSize))
}

// SketchOf makes a sketch of the smallest SketchSize shingles of a text, or of all, given in
// ascending order. It leaves what is stored of each, in the place of values.
func SketchOf(values []uint64) Sketch {
	kept := values[:0]
	for _, v := range values {
		if len(kept) > 0 && Place(v) == Place(kept[len(kept)-1]) {
			continue
		}
		if len(kept) >= wholeValues {
			v = Place(v) << (64 - placeBits)
		}
		kept = append(kept, v)
	}
	return kept
}

// sketch takes the size smallest of the shingles of w words each.
func sketch(words iter.Seq[uint64], w, size int) []uint64 {
	least := minima{size: size, limit: ^uint64(0)}
	window := make([]uint64, 0, w) // the last w words
	for word := range words {
		if len(window) == w {
			copy(window, window[1:])
			window = window[:w-1]
		}
		if window = append(window, word); len(window) == w {
			least.add(fingerprint(window))
		}
	}
	if n := len(window); n > 0 && n < w {
		least.add(fingerprint(window))
	}
	return least.sorted()
}

// fingerprint is the shingle of the words, given by their hashes. It stands for
// the shingle's place in a random order of all shingles, so every bit of it
// depends on every bit of every word.
func fingerprint(shingle []uint64) uint64 {
	var f uint64
	for _, word := range shingle {
		f = mix(f ^ word)
	}
	return f
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014, with Stafford's
// constants), a permutation of the 64-bit numbers. It is stored in every sketch:
// never change it.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// minima collects the smallest distinct values of a stream.
type minima struct {
	size   int
	values []uint64 // the smallest so far, and newer ones of which some may be
	limit  uint64   // the size-th smallest value when values were last sorted
}

func (m *minima) add(v uint64) {
	if v > m.limit {
		return
	}
	if m.values = append(m.values, v); len(m.values) == 4*m.size {
		m.settle()
	}
}

// settle drops repetitions and values that are too large. It sorts 4s values for
// each 3s that were added, so it costs the stream a constant for each value.
func (m *minima) settle() {
	slices.Sort(m.values)
	m.values = slices.Compact(m.values)
	if len(m.values) >= m.size {
		m.values = m.values[:m.size]
		m.limit = m.values[m.size-1]
	}
}

func (m *minima) sorted() []uint64 {
	m.settle()
	return slices.Clip(m.values)
}

// FNV-1a of 64 bits, as package hash/fnv has it.
const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

// words yields a hash of each word of a text: FNV-1a over its letters in lower
// case.
func words(text string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		hash, open := uint64(fnvOffset), noWord
		for _, r := range text {
			kind := kindOf(r)
			if open != noWord && (kind == betweenWords || kind == wordAlone || kind == inWord && open == wordAlone) {
				if !yield(hash) {
					return
				}
				hash, open = fnvOffset, noWord
			}
			switch {
			case kind == inWord, kind == wordAlone:
				hash, open = hashRune(hash, r), kind
			case kind == onWord && open != noWord:
				hash = hashRune(hash, r)
			}
		}
		if open != noWord {
			yield(hash)
		}
	}
}

// hashRune goes on with the hash of a word by one character.
func hashRune(hash uint64, r rune) uint64 {
	if r < utf8.RuneSelf {
		return (hash ^ uint64(lower[r])) * fnvPrime
	}
	var buf [utf8.UTFMax]byte
	for _, b := range buf[:utf8.EncodeRune(buf[:], unicode.ToLower(r))] {
		hash = (hash ^ uint64(b)) * fnvPrime
	}
	return hash
}

// lower has the ASCII letters and digits in lower case, and 0 for the rest of
// ASCII, which is between words.
var lower = func() (table [utf8.RuneSelf]byte) {
	for _, r := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		table[r], table[unicode.ToUpper(r)] = byte(r), byte(r)
	}
	return table
}()

// runeKind is the role of a character in the words of its text.
type runeKind uint8

const (
	betweenWords runeKind = iota // ends a word
	inWord                       // continues a word, or begins one
	wordAlone                    // begins a word that only marks continue
	onWord                       // a mark: continues a word, and is ignored elsewhere
	unseen                       // not there: a soft hyphen, a joiner
	noWord       = betweenWords
)

// kindOf distinguishes words from the text between them by exclusion. A character
// that a later Unicode assigns is most likely a letter, and already counts as one:
// a sketch should not depend on the tables of a Go release.
func kindOf(r rune) runeKind {
	switch {
	case r < utf8.RuneSelf:
		if lower[r] != 0 {
			return inWord
		}
		return betweenWords
	case unicode.IsLetter(r):
		if r >= firstUnspaced && unicode.In(r, unspaced...) {
			return wordAlone
		}
		return inWord
	case unicode.IsMark(r):
		return onWord
	case unicode.Is(unicode.Cf, r):
		return unseen
	case unicode.In(r, unicode.White_Space, unicode.P, unicode.S, unicode.Cc, unicode.Co, unicode.Cs):
		return betweenWords
	}
	return inWord
}

// unspaced are the scripts that are written without spaces between words, the
// most frequent first; firstUnspaced is the first character of any.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer,
}

const firstUnspaced = '\u0e00'

// Resemblance estimates |S(A) ∩ S(B)| / |S(A) ∪ S(B)|, in [0, 1], from the
// sketches of A and B as the slides do ("Corner case"): the share of
// M(AB) = MIN_s(M(A) ∪ M(B)) that is in both M(A) and M(B). It is exact when the
// texts have no more than s shingles together. 1 does not mean that the texts are
// equal. An empty sketch is no evidence: it resembles nothing, not even itself.
func (a Sketch) Resemblance(b Sketch) float64 { return resemblance(a, b, SketchSize) }

func resemblance(a, b Sketch, size int) float64 {
	both, either := 0, 0
	for i, j := 0, 0; either < size && (i < len(a) || j < len(b)); either++ {
		switch {
		case j == len(b) || i < len(a) && Place(a[i]) < Place(b[j]):
			i++
		case i == len(a) || Place(b[j]) < Place(a[i]):
			j++
		default:
			i, j, both = i+1, j+1, both+1
		}
	}
	if either == 0 {
		return 0
	}
	return float64(both) / float64(either)
}

// sketchScheme is the first byte of an encoded sketch. It stands for everything that makes
// sketches comparable: w, s, the definition of a word, and the hash.
const sketchScheme = 1

const (
	// wholeValues is how many values are stored with all their bits: the keys, and as many as
	// make a text one that can be told from others.
	wholeValues = max(SketchKeys, MinShingles)
	// Bytes of a value that is stored whole, and of the place of one.
	wholeBytes, placeBytes = 8, placeBits / 8
	// HeadBytes is the size of the first part of a sketch that has a second one.
	HeadBytes = 1 + wholeBytes*wholeValues
)

// Encode returns the sketch as it is stored, at most 689 bytes in two parts: the head has the
// scheme and the first 16 values, in eight bytes each, most significant first, and the rest the
// places of the others in five bytes each. (Differences as varints would take as much space: they
// are numbers of 55 bits, or 31, for a text of 500 words.) An empty sketch has no bytes.
//
// Up to release 0.2 the head had all values. To workers of these releases a head is a sketch
// that resembles few others, and has the same keys.
func (a Sketch) Encode() (head, rest []byte) {
	if len(a) == 0 {
		return []byte{}, []byte{}
	}
	whole, others := a[:min(len(a), wholeValues)], a[min(len(a), wholeValues):]
	head = make([]byte, 1, 1+wholeBytes*len(whole))
	head[0] = sketchScheme
	for _, v := range whole {
		head = binary.BigEndian.AppendUint64(head, v)
	}
	rest = make([]byte, 0, placeBytes*len(others))
	for _, v := range others {
		var value [wholeBytes]byte
		binary.BigEndian.PutUint64(value[:], v)
		rest = append(rest, value[:placeBytes]...)
	}
	return head, rest
}

// DecodeSketch is the inverse of Encode, also for sketches of earlier releases. It returns an
// error for anything that no release's Encode returned.
func DecodeSketch(head, rest []byte) (Sketch, error) {
	damaged := func() (Sketch, error) {
		return nil, fmt.Errorf("a damaged sketch: of %d and %d bytes", len(head), len(rest))
	}
	switch {
	case len(head) == 0 && len(rest) == 0:
		return nil, nil
	case len(head) == 0:
		return damaged()
	case head[0] != sketchScheme:
		return nil, fmt.Errorf("a sketch of scheme %d, not %d", head[0], sketchScheme)
	case len(head) == 1 || (len(head)-1)%wholeBytes != 0, len(rest)%placeBytes != 0, len(rest) > 0 && len(head) != HeadBytes:
		return damaged()
	}
	a := make(Sketch, 0, SketchSize)
	for left := head[1:]; len(left) > 0; left = left[wholeBytes:] {
		a = append(a, binary.BigEndian.Uint64(left))
	}
	for left := rest; len(left) > 0; left = left[placeBytes:] {
		var value [wholeBytes]byte
		copy(value[:], left[:placeBytes])
		a = append(a, binary.BigEndian.Uint64(value[:]))
	}
	if len(a) > SketchSize {
		return damaged()
	}
	for i := range a {
		if i > 0 && (a[i] <= a[i-1] || len(rest) > 0 && Place(a[i]) == Place(a[i-1])) {
			return nil, errors.New("a damaged sketch: not in ascending order")
		}
	}
	return SketchOf(a), nil
}
