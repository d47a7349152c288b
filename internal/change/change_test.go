package change

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

func TestVerdict(t *testing.T) {
	old := Digests{Raw: "r1", Text: "t1", Links: "l1", Bytes: 100, TextBytes: 40}
	cases := []struct {
		name       string
		prev, next Digests
		want       crawl.Outcome
		reasons    []crawl.Reason
	}{
		{
			"first",
			Digests{},
			old, crawl.OutcomeNew,
			[]crawl.Reason{{Code: CodeFirst, Num: map[string]float64{"bytes": 100, "text_bytes": 40}}},
		},
		{"same bytes", old, old, crawl.OutcomeUnchanged, []crawl.Reason{{Code: CodeSameBytes}}},
		{
			"same text", old,
			Digests{Raw: "r2", Text: "t1", Links: "l1", Bytes: 110, TextBytes: 40},
			crawl.OutcomeCosmetic,
			[]crawl.Reason{{Code: CodeSameText, Num: map[string]float64{"bytes": 110, "bytes_delta": 10}}},
		},
		{
			"same text, other links", old,
			Digests{Raw: "r2", Text: "t1", Links: "l2", Bytes: 90, TextBytes: 40},
			crawl.OutcomeCosmetic,
			[]crawl.Reason{{Code: CodeSameText, Num: map[string]float64{"bytes": 90, "bytes_delta": -10}}, {Code: CodeLinks}},
		},
		{
			"a version without a body, same text",
			Digests{Text: "t1", Links: "l1", Bytes: 100, TextBytes: 40},
			old,
			crawl.OutcomeCosmetic,
			[]crawl.Reason{{Code: CodeSameText, Num: map[string]float64{"bytes": 100, "bytes_delta": 0}}},
		},
		{
			"other text", old,
			Digests{Raw: "r2", Text: "t2", Links: "l2", Bytes: 120, TextBytes: 30},
			crawl.OutcomeChanged,
			[]crawl.Reason{
				{Code: CodeText, Num: map[string]float64{"bytes": 120, "bytes_delta": 20, "text_bytes": 30, "text_delta": -10}},
				{Code: CodeLinks},
			},
		},
		{
			"no text, same links",
			Digests{Raw: "r1", Text: "t0", Links: "l1", Bytes: 10, TextBytes: 0},
			Digests{Raw: "r2", Text: "t0", Links: "l1", Bytes: 12, TextBytes: 0},
			crawl.OutcomeCosmetic,
			[]crawl.Reason{{Code: CodeNoText, Num: map[string]float64{"bytes": 12, "bytes_delta": 2}}},
		},
		{
			"no text, other links",
			Digests{Raw: "r1", Text: "t0", Links: "l1", Bytes: 10, TextBytes: 0},
			Digests{Raw: "r2", Text: "t0", Links: "l2", Bytes: 12, TextBytes: 0},
			crawl.OutcomeChanged,
			[]crawl.Reason{{Code: CodeNoText, Num: map[string]float64{"bytes": 12, "bytes_delta": 2}}, {Code: CodeLinks}},
		},
		{
			"a type that is not read, same links",
			Digests{Raw: "r1", Text: "t0", Links: "l1", Bytes: 10},
			Digests{Raw: "r2", Text: "t0", Links: "l1", Bytes: 12, Unread: true},
			crawl.OutcomeChanged,
			[]crawl.Reason{{Code: CodeNoText, Num: map[string]float64{"bytes": 12, "bytes_delta": 2}}},
		},
		{
			"unknown text digests",
			Digests{Raw: "r1", TextBytes: 1},
			Digests{Raw: "r2", TextBytes: 1},
			crawl.OutcomeChanged,
			[]crawl.Reason{{Code: CodeText, Num: map[string]float64{"bytes": 0, "bytes_delta": 0, "text_bytes": 1, "text_delta": 0}}},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, reasons := Verdict(c.prev, c.next, Rule{})
			if got != c.want || !reflect.DeepEqual(reasons, c.reasons) {
				t.Errorf("got %s %+v, want %s %+v", got, reasons, c.want, c.reasons)
			}
		})
	}
}

// seen are the digests of a page with a main text, as a visit sees it.
func seen(text string) Digests {
	return Digests{Raw: "raw " + text, Text: "text " + text, Links: "l", Bytes: int64(len(text)) + 100, TextBytes: int64(len(text)), Sketch: NewSketch(text)}
}

func TestVerdictByResemblance(t *testing.T) {
	t.Parallel()
	page := numbered("w", 0, 2000)
	number := strings.Replace(page, " w1000 ", " w7777 ", 1) // about 0.996
	few := strings.ReplaceAll(page, "77 ", "seventy-seven ") // about 0.92
	rewritten := numbered("w", 400, 2000)
	clock := func(now string) string { return "It is " + now + " in this short text, and you are welcome." }
	without := func(d Digests) Digests {
		d.Sketch = nil
		return d
	}
	for _, c := range []struct {
		name       string
		prev, next Digests
		rule       Rule
		want       crawl.Outcome
		codes      []string
	}{
		{"one word, nobody looked", seen(page), seen(number), Rule{}, crawl.OutcomeCosmetic, []string{CodeResembles}},
		{"one word, a clock", seen(page), seen(number), Rule{Difference: DifferenceNoise}, crawl.OutcomeCosmetic, []string{CodeNoise}},
		{"one word, a price", seen(page), seen(number), Rule{Difference: DifferenceEdit}, crawl.OutcomeChanged, []string{CodeText, CodeEdit}},
		{"a strict threshold", seen(page), seen(few), Rule{Threshold: 1}, crawl.OutcomeChanged, []string{CodeText}},
		{"rewritten", seen(page), seen(rewritten), Rule{}, crawl.OutcomeChanged, []string{CodeText}},
		{"a lax threshold", seen(page), seen(rewritten), Rule{Threshold: 0.5}, crawl.OutcomeCosmetic, []string{CodeResembles}},
		{"a clock in a short text", seen(clock("12:03")), seen(clock("12:04")), Rule{Difference: DifferenceNoise}, crawl.OutcomeCosmetic, []string{CodeNoise}},
		{"the same, nobody looked", seen(clock("12:03")), seen(clock("12:04")), Rule{}, crawl.OutcomeChanged, []string{CodeText}},
		{"a sketch is not known", without(seen(page)), seen(number), Rule{}, crawl.OutcomeChanged, []string{CodeText}},
		{"neither is known", without(seen(page)), without(seen(number)), Rule{}, crawl.OutcomeChanged, []string{CodeText}},
		{"no words", seen("… !"), seen("… ?"), Rule{}, crawl.OutcomeChanged, []string{CodeText}},
		{"the same shingles", seen("a b c d a b c d a"), seen("a b c d a b c d a b c d a"), Rule{}, crawl.OutcomeCosmetic, []string{CodeResembles}},
		{"the text is gone", seen(page), seen(""), Rule{Difference: DifferenceNoise}, crawl.OutcomeChanged, []string{CodeText}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, reasons := Verdict(c.prev, c.next, c.rule)
			var codes []string
			for _, r := range reasons {
				codes = append(codes, r.Code)
			}
			if got != c.want || !slices.Equal(codes, c.codes) {
				t.Fatalf("got %s %q, want %s %q", got, codes, c.want, c.codes)
			}
			first := reasons[0].Num
			if first["text_delta"] != float64(c.next.TextBytes-c.prev.TextBytes) || first["bytes_delta"] != float64(c.next.Bytes-c.prev.Bytes) {
				t.Errorf("sizes %v", first)
			}
			known := len(c.prev.Sketch) > 0 && len(c.next.Sketch) > 0
			if resemblance, told := first["resemblance"]; told != known || resemblance != c.prev.Sketch.Resemblance(c.next.Sketch) {
				t.Errorf("resemblance %v, told: %v", resemblance, told)
			}
		})
	}
}

// Texts that drift apart by cosmetic steps change in the end: each is compared
// with the last version. A text that returns to its earlier form changes twice.
func TestVerdictsInARow(t *testing.T) {
	t.Parallel()
	words := strings.Fields(numbered("w", 0, 2000))
	last := seen(strings.Join(words, " "))
	outcomes := map[crawl.Outcome]int{}
	for i := range 20 {
		words[100*i] = "edited"
		next := seen(strings.Join(words, " "))
		outcome, _ := Verdict(last, next, Rule{})
		if outcomes[outcome]++; outcome == crawl.OutcomeChanged {
			last = next
		}
	}
	if outcomes[crawl.OutcomeCosmetic] < 10 || outcomes[crawl.OutcomeChanged] == 0 {
		t.Errorf("20 steps: %v", outcomes)
	}
	a, b := seen(numbered("a", 0, 100)), seen(numbered("b", 0, 100))
	for _, step := range [][2]Digests{{a, b}, {b, a}} {
		if outcome, _ := Verdict(step[0], step[1], Rule{}); outcome != crawl.OutcomeChanged {
			t.Errorf("there and back is %s", outcome)
		}
	}
}

func TestLinkDigest(t *testing.T) {
	if LinkDigest([]string{"b", "a", "b"}) != LinkDigest([]string{"a", "b"}) {
		t.Error("order or repetition of links counts")
	}
	if LinkDigest([]string{"a", "b"}) == LinkDigest([]string{"a"}) {
		t.Error("a link does not count")
	}
}

func TestLinkDigestLeavesItsInput(t *testing.T) {
	links := []string{"b", "a"}
	LinkDigest(links)
	if links[0] != "b" {
		t.Error("the caller's links were sorted")
	}
}

// TestVerdictProperties: the comparison is reflexive, and independent of direction:
// a new page stays new, sameness is symmetric.
func TestVerdictProperties(t *testing.T) {
	digests := rapid.Custom(func(t *rapid.T) Digests {
		return Digests{
			Raw: rapid.SampledFrom([]string{"r1", "r2", "r3"}).Draw(t, "raw"), Text: rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "text"),
			Links: rapid.SampledFrom([]string{"l1", "l2"}).Draw(t, "links"), Bytes: rapid.Int64Range(0, 9).Draw(t, "bytes"), TextBytes: rapid.Int64Range(0, 2).Draw(t, "text bytes"),
			Sketch: Sketch(rapid.SampledFrom([][]uint64{nil, {1}, {1, 2}, {1, 3}}).Draw(t, "sketch")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := digests.Draw(t, "a"), digests.Draw(t, "b")
		rule := Rule{
			Threshold:  rapid.Float64Range(0, 1).Draw(t, "threshold"),
			Difference: rapid.SampledFrom([]Difference{DifferenceUnknown, DifferenceNoise, DifferenceEdit}).Draw(t, "difference"),
		}
		there, reasons := Verdict(a, b, rule)
		back, _ := Verdict(b, a, rule)
		if there != back {
			t.Errorf("%s one way, %s the other", there, back)
		}
		if (there == crawl.OutcomeUnchanged) != (a.Raw == b.Raw) {
			t.Errorf("%s for %s and %s", there, a.Raw, b.Raw)
		}
		if !there.Observes() || len(reasons) == 0 {
			t.Errorf("%s with %d reasons", there, len(reasons))
		}
		looked, _ := Verdict(a, b, Rule{Threshold: rule.Threshold})
		if !NeedsLook(a, b) && looked != there {
			t.Errorf("%s, and %s after a look that was not needed", looked, there)
		}
		if first, _ := Verdict(Digests{}, b, rule); first != crawl.OutcomeNew {
			t.Errorf("first: %s", first)
		}
	})
}
