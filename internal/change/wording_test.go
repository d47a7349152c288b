package change

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWording(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, a, b string
		without    string // of b
		own        int    // phrases of b that are not in a
	}{
		{"the same", "No events in May", "no events, in may!", "", 0},
		{"a word", "no events in may", "no events in June", "", 1},
		{"a word in the middle costs two", "it is 101 and late", "it is 102 and late", "", 2},
		{"but not if it is left out", "it is and late", "it is 102 and late", "/home?time=102", 0},
		{"another order", "a b c d", "d c b a", "", 4},
		{"lines begin anew", "a b\nc d", "a b c d", "", 1},
		{"empty lines", "a\n\n b", "b\na\n", "", 0},
		{"no words", "a b", "", "", 0},
		{"none before", "", "a b a b", "", 3},
		{"without spaces", "日本語", "日本人", "", 1},
	} {
		a, b := NewWording(c.a), NewWording(c.b, c.without)
		if own := b.Without(a.Sample); own != c.own {
			t.Errorf("%s: %d of %d phrases are its own, want %d", c.name, own, b.Phrases, c.own)
		}
	}
	if (Wording{}).Known || !NewWording("").Known || (Wording{Known: true, Phrases: 9}).Without(nil) != 9 {
		t.Error("what is not known, or only counted, is taken for something else")
	}
}

// Long texts are sampled: their phrases, and those that they share, are about right.
func TestWordingOfLongTexts(t *testing.T) {
	t.Parallel()
	for _, own := range []int{0, 100, 500, 1000} {
		sum, phrases := 0.0, 0.0
		const texts = 60
		for i := range texts {
			seed := fmt.Sprintf("t%d", i)
			a := NewWording(numbered(seed+"w", 0, 1000))
			b := NewWording(numbered(seed+"w", 0, 1000-own) + "\n" + numbered(seed+"v", 0, own))
			sum += float64(b.Without(a.Sample))
			phrases += float64(b.Phrases)
		}
		// Phrases beyond the sample are not known: Reads says so.
		if mean := phrases / texts; math.Abs(mean-1000) > 100 {
			t.Errorf("%v phrases, want about 1000", mean)
		}
		if mean := sum / texts; mean < float64(own)*0.8-1 || mean > float64(own)*1.2+150 {
			t.Errorf("%v own phrases, want about %d", mean, own)
		}
	}
}

func TestWordingReads(t *testing.T) {
	t.Parallel()
	long, short := NewWording(numbered("w", 0, 1000)), NewWording("a b c")
	last := long.Sample[len(long.Sample)-1]
	for _, c := range []struct {
		name   string
		w      Wording
		phrase uint32
		want   bool
	}{
		{"a short text", short, math.MaxUint32, true},
		{"within a sample", long, last, true},
		{"beyond a sample", long, last + 1, false},
		{"only counted", Wording{Known: true, Phrases: 5}, 0, false},
		{"no words", NewWording(""), 7, true},
		{"not known", Wording{}, 7, false},
	} {
		if got := c.w.Reads(c.phrase); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestWordingIsStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}`), 0, 200).Draw(t, "words"), " ")
		w := NewWording(text)
		got, err := DecodeWording(w.Phrases, w.Encode())
		if err != nil || got.Phrases != w.Phrases || !slices.Equal(got.Sample, w.Sample) || !got.Known {
			t.Fatalf("%+v, %v, want %+v", got, err, w)
		}
	})
	for _, c := range []struct {
		phrases int
		b       []byte
	}{{1, []byte{1, 2, 3}}, {2, []byte{0, 0, 0, 2, 0, 0, 0, 1}}, {0, []byte{0, 0, 0, 1}}, {500, make([]byte, 4*phrasesKept+4)}} {
		if w, err := DecodeWording(c.phrases, c.b); err == nil {
			t.Errorf("%d phrases, %v: %+v", c.phrases, c.b, w)
		}
	}
	// Stored: the same in every release.
	if got := NewWording("No events in May").Sample; !slices.Equal(got, []uint32{0x56d5b47a, 0x6370771d, 0x888ad1a7, 0xa002ac68}) {
		t.Errorf("%#x", got)
	}
}
