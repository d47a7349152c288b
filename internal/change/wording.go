package change

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
)

// phrasesKept is how many of a text's phrases its wording keeps. A text of fewer is
// kept whole.
const phrasesKept = 32

// Wording is a sample of a text that shows how much of it other texts say too. A
// phrase is a word with the word before it on its line, or the first word of a line:
// texts of the same words in another order share few. The zero Wording is that of an
// unknown text.
type Wording struct {
	Known bool
	// Phrases is the number of different phrases, estimated if there are many.
	Phrases int
	// Sample is the hashes of all phrases, or of phrasesKept that do not depend on the
	// text: of two texts that say the same phrase both have it in their samples, or one
	// has only phrases of smaller hashes. In ascending order. It is empty beside
	// phrases if only their number is kept.
	Sample []uint32
}

// NewWording reads a text, line by line, without the words that are in the other texts.
func NewWording(text string, without ...string) Wording {
	left := map[uint64]bool{}
	for _, other := range without {
		for word := range words(other) {
			left[word] = true
		}
	}
	least := minima{size: phrasesKept, limit: math.MaxUint64}
	for line := range strings.Lines(text) {
		before := uint64(0)
		for word := range words(line) {
			if left[word] {
				continue
			}
			least.add(mix(mix(before) ^ word))
			before = word
		}
	}
	return wordingOf(least.sorted())
}

// wordingOf counts the phrases whose smallest hashes are given: n numbers drawn from
// a range lie evenly in it, so n can be estimated from the k-th smallest.
func wordingOf(smallest []uint64) Wording {
	w := Wording{Known: true, Phrases: len(smallest)}
	for _, v := range smallest {
		w.Sample = append(w.Sample, uint32(v>>32))
	}
	w.Sample = slices.Compact(w.Sample)
	if len(smallest) == phrasesKept {
		span := float64(smallest[phrasesKept-1]) / math.MaxUint64
		w.Phrases = max(int(min((phrasesKept-1)/span, math.MaxInt32)), phrasesKept+1)
	}
	return w
}

// Without returns how many of the phrases are none of those, given in ascending order;
// an estimate, if they are many.
func (w Wording) Without(known []uint32) int {
	if len(w.Sample) == 0 {
		return w.Phrases
	}
	own := 0
	for _, phrase := range w.Sample {
		if _, ok := slices.BinarySearch(known, phrase); !ok {
			own++
		}
	}
	return own * w.Phrases / len(w.Sample)
}

// Reads reports whether the sample would have the phrase if the text had it.
func (w Wording) Reads(phrase uint32) bool {
	return w.Known && (w.Phrases == len(w.Sample) || len(w.Sample) > 0 && phrase <= w.Sample[len(w.Sample)-1])
}

// Encode returns the sample as it is stored, four bytes a phrase.
func (w Wording) Encode() []byte {
	b := make([]byte, 0, 4*len(w.Sample))
	for _, phrase := range w.Sample {
		b = binary.BigEndian.AppendUint32(b, phrase)
	}
	return b
}

// DecodeWording is the inverse of Encode, for a wording with a number of phrases.
func DecodeWording(phrases int, b []byte) (Wording, error) {
	if len(b)%4 != 0 || len(b) > 4*phrasesKept || phrases < len(b)/4 {
		return Wording{}, errors.New("a damaged wording")
	}
	w := Wording{Known: true, Phrases: phrases}
	for ; len(b) > 0; b = b[4:] {
		w.Sample = append(w.Sample, binary.BigEndian.Uint32(b))
	}
	if !slices.IsSorted(w.Sample) {
		return Wording{}, errors.New("a damaged wording: not in ascending order")
	}
	return w, nil
}
