package change

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// naive is MIN_s of a text's shingles by the definition.
func naive(text string, w, size int) Sketch {
	all := slices.Collect(words(text))
	set := map[uint64]bool{}
	for i := range all {
		if i+w <= len(all) {
			set[fingerprint(all[i:i+w])] = true
		}
	}
	if n := len(all); n > 0 && n < w {
		set[fingerprint(all)] = true
	}
	var sorted Sketch
	for v := range set {
		sorted = append(sorted, v)
	}
	slices.Sort(sorted)
	return sorted[:min(size, len(sorted))]
}

// numbered is a text of the words first to first+n-1 of a vocabulary, all
// different.
func numbered(vocabulary string, first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d ", vocabulary, first+i)
	}
	return b.String()
}

// The example of the slide "Shingling".
func TestRose(t *testing.T) {
	t.Parallel()
	if s := NewSketch("a rose is a rose is a rose"); len(s) != 3 {
		t.Errorf("%d shingles, want 3", len(s))
	}
}

// The example of the slides "Example" and "Corner case": |S(A)| = |S(B)| = 100,
// |S(A) ∩ S(B)| = 80, so r = 80/120. With s = 1 that is the mean over the
// permutations; with s > 120 it is every estimate.
func TestSlidesExample(t *testing.T) {
	t.Parallel()
	const trials, want = 1500, 80.0 / 120
	sum := 0.0
	for trial := range trials {
		vocabulary := fmt.Sprintf("trial%dword", trial) // as good as another permutation
		a := numbered(vocabulary, 0, 100+ShingleWords-1)
		b := numbered(vocabulary, 20, 100+ShingleWords-1)
		sum += resemblance(sketch(words(a), ShingleWords, 1), sketch(words(b), ShingleWords, 1), 1)
		if got := NewSketch(a).Resemblance(NewSketch(b)); got != want {
			t.Fatalf("documents of fewer than s shingles: %v, want %v", got, want)
		}
	}
	sigma := math.Sqrt(want * (1 - want) / trials)
	if got := sum / trials; math.Abs(got-want) > 4*sigma {
		t.Errorf("mean resemblance with s = 1: %.4f, want %.4f ± %.4f", got, want, sigma)
	}
}

func TestCornerCases(t *testing.T) {
	t.Parallel()
	long := numbered("w", 0, 1000)
	for _, c := range []struct {
		name, a, b string
		want       float64
	}{
		{"nothing and nothing", "", "", 0},
		{"nothing and something", "", "a", 0},
		{"punctuation is nothing", "… – !", "… – !", 0},
		{"one word", "a", "A!", 1},
		{"other words", "a", "b", 0},
		{"fewer than w words", "one two three", "one, two; three", 1},
		{"fewer than w words, one more", "one two three", "one two three four", 0},
		{"w words", "one two three four", "one two three four", 1},
		{"one shingle of two", "one two three four", "one two three four five", 0.5},
		{"the order counts", "one two three four", "one two four three", 0},
		{"repetitions do not", "a b c d a b c d a", "a b c d a b c d a b c d a", 1},
		{"few in many", "w0 w1 w2 w3", long, 0}, // one of about a thousand, which is not among the smallest
		{"equal long texts", long, long, 1},
		{"other long texts", long, numbered("v", 0, 1000), 0},
	} {
		if got := NewSketch(c.a).Resemblance(NewSketch(c.b)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"case", "Straße ΣΊΣΥΦΟΣ", []string{"straße", "σίσυφοσ"}},
		{"punctuation and symbols", "3.50€ a—b e-mail@x", []string{"3", "50", "a", "b", "e", "mail", "x"}},
		{"white space of all kinds", "a\u00a0b\u2003c\td", []string{"a", "b", "c", "d"}},
		{"combining marks", "e\u0301te\u0301 न\u0940", []string{"e\u0301te\u0301", "न\u0940"}},
		{"marks of nothing", "\u2764\ufe0f ok", []string{"ok"}},
		{"unseen characters", "hy\u00adphen می\u200cخواهم", []string{"hyphen", "میخواهم"}},
		{"Chinese", "今天，天气", []string{"今", "天", "天", "气"}},
		{"Japanese", "東京タワーはbig", []string{"東", "京", "タ", "ワ", "ー", "は", "big"}},
		{"Korean has spaces", "안녕 세상", []string{"안녕", "세상"}},
		{"Thai", "กิน ข้าว", []string{"กิ", "น", "ข้", "า", "ว"}},
		{"scripts meet", "iPhone手机15", []string{"iphone", "手", "机", "15"}},
		{"not UTF-8", "a\xffb", []string{"a", "b"}},
		{"not assigned", "a\u0378b", []string{"a\u0378b"}},
	} {
		want := make([]uint64, len(c.want))
		for i, word := range c.want {
			h := fnv.New64a()
			h.Write([]byte(word))
			want[i] = h.Sum64()
		}
		if got := slices.Collect(words(c.text)); !slices.Equal(got, want) {
			t.Errorf("%s: %q has %d words, or others than %q", c.name, c.text, len(got), c.want)
		}
	}
}

// Sketches are stored: these values must be the same in every release.
func TestSketchesAreForEver(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Sketch{
		"a rose is a rose is a rose": {0x90239a9961d0633, 0x4121a800d58c6233, 0xfebe2528661997d9},
		numbered("w", 0, 21): {
			0x48fd96cb48de672, 0x1c9412f4e2a25b41, 0x47ef5add84b5d49b, 0x4e49b9c6022e6be0, 0x6ec6efa7e34e9a59,
			0x75f91e177887956c, 0x80873b2a86bffda0, 0x82d3b35117a5e2ec, 0x847b5e316835291a, 0x8845d5ea90f9b08b,
			0x8c8b15daf35153a5, 0x985e478714a670fa, 0xa68fd13e8fed5ee0, 0xa9bbe6d08057e54f, 0xaf87d671621fa7e1,
			0xb9a69c998db03038, 0xc14c355ee1000000, 0xe16c38f631000000,
		},
		"Wörter": {0xeda2796c83c60d86},
		"今天天气很好": {0x1e2b8232e3bb61bf, 0x720a8daeb0bed4fe, 0xe48d6df1e97da83b},
	} {
		if got := NewSketch(text); !slices.Equal(got, want) {
			t.Errorf("%q: %#x, want %#x", text, got, want)
		}
	}
}

// A changed character in a thousand resembles as much as a changed word in a
// thousand.
func TestOneChangeOfAThousand(t *testing.T) {
	t.Parallel()
	spaced := strings.Fields(numbered("w", 0, 1000))
	unspaced := make([]string, 1000)
	for i := range unspaced {
		unspaced[i] = string(rune('一' + i))
	}
	for name, c := range map[string]struct {
		text []string
		gap  string
	}{"words": {spaced, " "}, "characters": {unspaced, ""}} {
		before := NewSketch(strings.Join(c.text, c.gap))
		c.text[500] = "鷗"
		after := NewSketch(strings.Join(c.text, c.gap))
		// 993 shingles stay, four go and four come.
		if got, want := before.Resemblance(after), 993.0/1001; math.Abs(got-want) > 0.03 {
			t.Errorf("%s: %.3f, want about %.3f", name, got, want)
		}
	}
}

// pairOf returns two texts without repetitions whose resemblance is exactly
// common / (common + 2·own), in shingles.
func pairOf(seed, common, own int) (a, b string) {
	vocabulary := fmt.Sprintf("s%dw", seed)
	shared := numbered(vocabulary, 0, common+ShingleWords-1)
	return shared + numbered(vocabulary+"a", 0, own), shared + numbered(vocabulary+"b", 0, own)
}

// The estimates of many pairs are unbiased, and as near as s independent draws
// would be.
func TestErrorIsBinomial(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ common, own int }{{980, 10}, {900, 50}, {800, 100}, {500, 250}, {200, 400}, {2000, 1000}} {
		const pairs = 300
		r := float64(c.common) / float64(c.common+2*c.own)
		sigma := math.Sqrt(r * (1 - r) / SketchSize)
		var sum, squares, worst float64
		for seed := range pairs {
			a, b := pairOf(seed, c.common, c.own)
			off := NewSketch(a).Resemblance(NewSketch(b)) - r
			sum, squares, worst = sum+off, squares+off*off, max(worst, math.Abs(off))
		}
		bias, rms := sum/pairs, math.Sqrt(squares/pairs)
		t.Logf("r %.3f: bias %+.5f, root mean square error %.4f (binomial %.4f), worst %.3f", r, bias, rms, sigma, worst)
		if math.Abs(bias) > 4*sigma/math.Sqrt(pairs) || rms > 1.1*sigma || worst > 6*sigma {
			t.Errorf("r %.3f: the error is larger than chance", r)
		}
	}
}

func TestSketchProperties(t *testing.T) {
	t.Parallel()
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abAB1é今ก\u0301.-\u00ad")), 1, 3, -1)
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 60).Draw(t, "words"), " ")
	})
	rapid.Check(t, func(t *rapid.T) {
		one, two := text.Draw(t, "one"), text.Draw(t, "two")
		w, size := rapid.IntRange(1, 5).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "s")
		a, b := sketch(words(one), w, size), sketch(words(two), w, size)
		if want := naive(one, w, size); !slices.Equal(a, want) {
			t.Fatalf("MIN_%d is %x, want %x", size, a, want)
		}
		r := resemblance(a, b, size)
		if back := resemblance(b, a, size); r != back || r < 0 || r > 1 {
			t.Fatalf("resemblance %v one way, %v the other", r, back)
		}
		if len(a) > 0 && resemblance(a, a, size) != 1 {
			t.Fatal("a text does not resemble itself")
		}
		// The rest of a text cannot make its sketch larger.
		longer := sketch(words(one+" "+two), w, size)
		if len(a) == size && w == 1 && longer[size-1] > a[size-1] {
			t.Fatal("a longer text has larger minima")
		}
	})
}

func TestSketchMemoryIsBounded(t *testing.T) {
	measure := func(n int) float64 {
		text := numbered("w", 0, n)
		return testing.AllocsPerRun(3, func() { NewSketch(text) })
	}
	if short, long := measure(1000), measure(200_000); long > short {
		t.Errorf("%v allocations for a short text, %v for a long one", short, long)
	}
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	if head, rest := (Sketch{}).Encode(); len(head)+len(rest) != 0 {
		t.Errorf("nothing is %x and %x", head, rest)
	}
	want := []byte{1, 0, 0, 0, 0, 0, 0, 0, 7, 255, 255, 255, 255, 255, 255, 255, 255}
	if head, rest := (Sketch{7, math.MaxUint64}).Encode(); !bytes.Equal(head, want) || len(rest) != 0 {
		t.Errorf("got %x and %x, want %x", head, rest, want)
	}
	var values []uint64
	for i := range uint64(18) {
		values = append(values, i<<56|0xabcdef)
	}
	head, rest := SketchOf(values).Encode()
	if end, others := []byte{15, 0, 0, 0, 0, 0xab, 0xcd, 0xef}, []byte{16, 0, 0, 0, 0, 17, 0, 0, 0, 0}; !bytes.HasSuffix(head, end) || !bytes.Equal(rest, others) {
		t.Errorf("18 values are %x and %x; want %x at the end, and %x", head, rest, end, others)
	}
	if head, rest := NewSketch(numbered("w", 0, 1000)).Encode(); len(head) != HeadBytes || len(rest) != 5*(SketchSize-16) {
		t.Errorf("a full sketch has %d and %d bytes", len(head), len(rest))
	}
}

// encodeBefore encodes values as releases up to 0.2 did.
func encodeBefore(values []uint64) []byte {
	b := []byte{1}
	for _, v := range values {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// Sketches of earlier releases are those that are made of the same texts today.
func TestSketchesOfEarlierReleases(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a rose is a rose is a rose", numbered("w", 0, 30), numbered("w", 0, 1000)} {
		before := encodeBefore(naive(text, ShingleWords, SketchSize))
		if got, err := DecodeSketch(before, nil); err != nil || !slices.Equal(got, NewSketch(text)) {
			t.Errorf("%.20q: %x, %v; want %x", text, got, err, NewSketch(text))
		}
	}
}

// Earlier releases read the head of a sketch alone. Its keys are those of the whole, so that they
// find and remove them, and it resembles no long text.
func TestHeadIsASketchForEarlierReleases(t *testing.T) {
	t.Parallel()
	whole := NewSketch(numbered("w", 0, 1000))
	head, _ := whole.Encode()
	alone, err := DecodeSketch(head, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := (Content{Exact: 1, Sketch: alone}).Keys(), (Content{Exact: 1, Sketch: whole}).Keys(); !slices.Equal(got, want) {
		t.Errorf("keys %x, want %x", got, want)
	}
	if r := alone.Resemblance(whole); r > 0.2 {
		t.Errorf("it resembles the whole by %v", r)
	}
}

func TestDamagedSketches(t *testing.T) {
	t.Parallel()
	text := numbered("w", 0, 1000)
	head, rest := NewSketch(text).Encode()
	before := encodeBefore(naive(text, ShingleWords, SketchSize))
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	for name, damaged := range map[string][2][]byte{
		"another scheme":          {join([]byte{3}, head[1:]), rest},
		"no values":               {[]byte{1}, nil},
		"no head":                 {nil, rest},
		"a short head":            {head[:9], rest},
		"half a value":            {head[:13], nil},
		"half a place":            {head, rest[:13]},
		"too many values":         {head, join(rest, []byte{255, 255, 255, 255, 255})},
		"out of order":            {join([]byte{1}, head[9:17], head[1:9]), nil},
		"twice the same":          {join([]byte{1}, head[1:9], head[1:9]), nil},
		"places out of order":     {head, join(rest[5:10], rest[:5])},
		"twice the same place":    {head, join(rest[:5], rest[:5])},
		"before: half a value":    {before[:13], nil},
		"before: too many values": {join(before, []byte{255, 255, 255, 255, 255, 255, 255, 255}), nil},
		"before: with places":     {before, rest[len(rest)-5:]},
	} {
		if s, err := DecodeSketch(damaged[0], damaged[1]); err == nil {
			t.Errorf("%s is a sketch: %x", name, s)
		}
	}
}

// Of values that have the same place one is left, the smallest.
func TestSketchOfSamePlaces(t *testing.T) {
	t.Parallel()
	var values []uint64
	for i := range uint64(16) {
		values = append(values, (i+1)<<32)
	}
	last := values[15]
	got := SketchOf(append(slices.Clone(values), last+1, last+1<<24, last+1<<24+1, last+2<<24+5))
	if want := append(values, last+1<<24, last+2<<24); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if back, err := DecodeSketch(got.Encode()); err != nil || !slices.Equal(back, got) {
		t.Errorf("decoded %x, %v", back, err)
	}
}

func FuzzDecodeSketch(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 7}, []byte{})
	f.Add(encodeBefore(naive(numbered("w", 0, 200), ShingleWords, SketchSize)), []byte{})
	head, rest := NewSketch(numbered("w", 0, 200)).Encode()
	f.Add(head, rest)
	f.Fuzz(func(t *testing.T, head, rest []byte) {
		s, err := DecodeSketch(head, rest)
		if err != nil {
			return
		}
		first, others := s.Encode()
		if len(rest) > 0 && !(bytes.Equal(first, head) && bytes.Equal(others, rest)) {
			t.Errorf("%x and %x are encoded again as %x and %x", head, rest, first, others)
		}
		if again, err := DecodeSketch(first, others); err != nil || !slices.Equal(again, s) {
			t.Errorf("%x is decoded again as %x, %v", s, again, err)
		}
		if len(s) > 0 && s.Resemblance(s) != 1 {
			t.Error("a decoded sketch does not resemble itself")
		}
	})
}

func FuzzSketch(f *testing.F) {
	f.Add("a rose is a rose is a rose")
	f.Add("今天天气很好 e\u0301 \u00ad 3.50€ \xff")
	f.Fuzz(func(t *testing.T, text string) {
		s := NewSketch(text)
		if !slices.Equal(s, SketchOf(naive(text, ShingleWords, SketchSize))) {
			t.Errorf("not the smallest shingles: %x", s)
		}
		if back, err := DecodeSketch(s.Encode()); err != nil || !slices.Equal(back, s) {
			t.Errorf("decoded %x, %v", back, err)
		}
		// White space and the case of what folds to one letter do not count.
		if utf8.ValidString(text) && !slices.Equal(s, NewSketch(" \n"+text+"\t ")) {
			t.Error("white space counts")
		}
	})
}

func BenchmarkSketch(b *testing.B) {
	for name, text := range map[string]string{
		"English":  strings.Repeat("the quick brown fox jumps over the lazy dog and runs away from it; ", 200) + numbered("word", 0, 12_000),
		"Cyrillic": numbered("слово", 0, 12_000),
		"Chinese":  strings.Repeat("今天天气很好我们去公园散步", 4_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				NewSketch(text)
			}
		})
	}
}

func BenchmarkResemblance(b *testing.B) {
	one, two := pairOf(1, 900, 50)
	x, y := NewSketch(one), NewSketch(two)
	for b.Loop() {
		x.Resemblance(y)
	}
}
