package change

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestContentOf(t *testing.T) {
	t.Parallel()
	long := seen(numbered("w", 0, 100))
	otherBytes := long
	otherBytes.Raw = "other"
	short := seen("Loading, please wait…")
	shortOther := short
	shortOther.Raw = "other"
	for _, c := range []struct {
		name string
		a, b Digests
		same bool
	}{
		{"the same text in other bytes", long, otherBytes, true},
		{"another text", long, seen(numbered("v", 0, 100)), false},
		{"a short text in the same bytes", short, short, true},
		{"a short text in other bytes", short, shortOther, false},
		{"no text in the same bytes", Digests{Raw: "r"}, Digests{Raw: "r"}, true},
		{"a text is not a body", Digests{Raw: "x"}, Digests{Text: "x", Sketch: long.Sketch}, false},
	} {
		if got := ContentOf(c.a).Exact == ContentOf(c.b).Exact; got != c.same {
			t.Errorf("%s: the same content: %v", c.name, got)
		}
	}
	for _, c := range []struct {
		name    string
		content Content
		keys    int
	}{
		{"a text", ContentOf(long), 1 + SketchKeys},
		{"a short text", ContentOf(short), 1},
		{"a short text of a body that is not known", ContentOf(Digests{Text: "t", Sketch: short.Sketch}), 0},
		{"just long enough", ContentOf(seen(numbered("w", 0, MinShingles+ShingleWords-1))), 1 + SketchKeys},
		{"just too short", ContentOf(seen(numbered("w", 0, MinShingles+ShingleWords-2))), 1},
		{"nothing", ContentOf(Digests{}), 0},
	} {
		keys := c.content.Keys()
		if len(keys) != c.keys {
			t.Errorf("%s has %d keys, want %d", c.name, len(keys), c.keys)
		}
		if len(keys) > 1 && (keys[0] != c.content.Exact || !slices.Equal(keys[1:], c.content.Sketch[:SketchKeys])) {
			t.Errorf("%s: other keys", c.name)
		}
	}
	// Stored: the same in every release.
	if got := ContentOf(Digests{Raw: strings.Repeat("0", 64)}).Exact; got != 0x5bdcf8d9f674c96c {
		t.Errorf("the key of a body is %#x", got)
	}
}

// overlapping returns the sketches of two contents with a number of common
// shingles, those from mix(seed·2³²) on, and a number of their own each.
func overlapping(seed, common, own int) (a, b Sketch) {
	base := uint64(seed) << 32
	one, two := minima{size: SketchSize, limit: math.MaxUint64}, minima{size: SketchSize, limit: math.MaxUint64}
	for i := range common {
		v := mix(base + uint64(i))
		one.add(v)
		two.add(v)
	}
	for i := range own {
		one.add(mix(base + 1<<20 + uint64(i)))
		two.add(mix(base + 1<<21 + uint64(i)))
	}
	return one.sorted(), two.sorted()
}

// TestKeyRecall counts how many pairs have a common key, and how many have one
// that is not of the site's boilerplate, by resemblance.
func TestKeyRecall(t *testing.T) {
	t.Parallel()
	const pairs, shingles = 1000, 1000
	for _, c := range []struct {
		r, boilerplate float64
		least          float64 // of the pairs are found
	}{
		{0.98, 0, 1},
		{0.95, 0, 1},
		{0.9, 0, 1},
		{0.8, 0, 0.999},
		{0.7, 0, 0.999},
		{0.5, 0, 0.998},
		{0.98, 0.25, 0.998},
		{0.9, 0.25, 0.998},
		{0.8, 0.25, 0.997},
		{0.5, 0.25, 0.97},
		{0.98, 0.5, 0.99},
		{0.9, 0.5, 0.98},
		{0.8, 0.5, 0.965},
		{0.75, 0.5, 0.95},
		{0.8, 0.75, 0.63},
	} {
		own := int(shingles * (1 - c.r) / (1 + c.r))
		site := uint64(c.boilerplate * shingles)
		found := 0
		for seed := range pairs {
			a, b := overlapping(seed, shingles-own, own)
			of := map[uint64]bool{}
			for i := range site {
				of[mix(uint64(seed)<<32+i)] = true
			}
			keys := Content{Sketch: b}.Keys()
			if slices.ContainsFunc(Content{Sketch: a}.Keys(), func(k uint64) bool { return !of[k] && slices.Contains(keys, k) }) {
				found++
			}
		}
		recall := float64(found) / pairs
		t.Logf("r %.2f, boilerplate %2.0f %%: recall %.2f %%", c.r, 100*c.boilerplate, 100*recall)
		if recall < c.least {
			t.Errorf("r %.2f, boilerplate %2.0f %%: recall %.2f %%, want at least %.2f %%", c.r, 100*c.boilerplate, 100*recall, 100*c.least)
		}
	}
}

func TestLikely(t *testing.T) {
	t.Parallel()
	site := make([]int64, 64) // of a key that is on every page
	for i := range site {
		site[i] = int64(i + 1)
	}
	for _, c := range []struct {
		name  string
		found [][]int64
		limit int
		want  []int64
	}{
		{"none", nil, 3, []int64{}},
		{"rare before common keys", [][]int64{site, {70}, site}, 3, []int64{70, 1, 2}},
		{"many keys before few", [][]int64{{5, 6}, {6, 7}, {6}}, 3, []int64{6, 5, 7}},
		{"older before newer", [][]int64{{9, 8, 7}}, 2, []int64{7, 8}},
	} {
		if got := Likely(c.found, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	text := numbered("w", 0, 500)
	content := ContentOf(seen(text))
	near := ContentOf(seen(strings.Replace(text, "w250 ", "edited ", 1)))
	other := ContentOf(seen(numbered("v", 0, 500)))
	short := ContentOf(seen("a few words"))
	for _, c := range []struct {
		name       string
		content    Content
		candidates []Candidate
		page       int64
		exact      bool
	}{
		{"none", content, nil, 0, false},
		{"another content", content, []Candidate{{Page: 7, Content: other}}, 0, false},
		{"the same content", content, []Candidate{{Page: 7, Content: other}, {Page: 8, Content: content}}, 8, true},
		{"the oldest of the same", content, []Candidate{{Page: 9, Content: content}, {Page: 8, Content: content}}, 8, true},
		{"the same before the older near one", content, []Candidate{{Page: 7, Content: near}, {Page: 8, Content: content}}, 8, true},
		{"the best claim of the same", content, []Candidate{{Page: 7, Content: content, Claim: NewClaim("http://a/b", "")}, {Page: 9, Content: content, Claim: NewClaim("http://a/", "")}}, 9, true},
		{"the same, though it is near another", content, []Candidate{{Page: 8, Content: content, Member: true}}, 8, true},
		{"near", content, []Candidate{{Page: 7, Content: other}, {Page: 9, Content: near}}, 9, false},
		{"the oldest that is near", content, []Candidate{{Page: 9, Content: near}, {Page: 8, Content: near}}, 8, false},
		{"near one that is near another", content, []Candidate{{Page: 8, Content: near, Member: true}, {Page: 9, Content: near}}, 9, false},
		{"short texts", short, []Candidate{{Page: 8, Content: Content{Exact: 1, Sketch: short.Sketch}}}, 0, false},
		{"nothing is known", Content{}, []Candidate{{Page: 8, Content: Content{}}}, 0, false},
	} {
		m, ok := c.content.Match(c.candidates, 0.9)
		if m.Page != c.page || m.Exact != c.exact || ok != (c.page != 0) {
			t.Errorf("%s: %+v, %v; want %d, exact %v", c.name, m, ok, c.page, c.exact)
		}
		if m, ok := c.content.Match(c.candidates, 0); ok && m.Resemblance < DefaultThreshold {
			t.Errorf("%s: without a threshold %+v", c.name, m)
		}
		if ok && (m.Resemblance < 0.9 || m.Exact && m.Resemblance != 1) {
			t.Errorf("%s: resemblance %v", c.name, m.Resemblance)
		}
	}
}

// The order of the candidates does not matter, and lifting the threshold never
// finds more.
func TestMatchProperties(t *testing.T) {
	t.Parallel()
	content := rapid.Custom(func(t *rapid.T) Content {
		a, _ := overlapping(0, rapid.IntRange(0, 40).Draw(t, "common"), rapid.IntRange(0, 3).Draw(t, "own"))
		return Content{Exact: rapid.Uint64Range(0, 3).Draw(t, "exact"), Sketch: a}
	})
	rapid.Check(t, func(t *rapid.T) {
		c := content.Draw(t, "content")
		var candidates []Candidate
		for i := range rapid.IntRange(0, 6).Draw(t, "candidates") {
			candidates = append(candidates, Candidate{
				Page: int64(i + 1), Content: content.Draw(t, "candidate"), Member: rapid.Bool().Draw(t, "member"),
				Claim: Claim{grade: rapid.Uint64Range(0, 1).Draw(t, "grade")},
			})
		}
		threshold := rapid.Float64Range(0.01, 1).Draw(t, "threshold")
		m, ok := c.Match(candidates, threshold)
		if again, found := c.Match(rapid.Permutation(candidates).Draw(t, "order"), threshold); again != m || found != ok {
			t.Fatalf("%+v in one order, %+v in another", m, again)
		}
		if _, found := c.Match(candidates, min(1, threshold*1.5)); found && !ok {
			t.Fatal("a higher threshold finds more")
		}
		if ok && !m.Exact && m.Resemblance < threshold {
			t.Fatalf("%+v is below %v", m, threshold)
		}
	})
}
