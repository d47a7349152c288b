package change

import (
	"reflect"
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
			Digests{"r2", "t1", "l1", 110, 40},
			crawl.OutcomeCosmetic,
			[]crawl.Reason{{Code: CodeSameText, Num: map[string]float64{"bytes": 110, "bytes_delta": 10}}},
		},
		{
			"same text, other links", old,
			Digests{"r2", "t1", "l2", 90, 40},
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
			Digests{"r2", "t2", "l2", 120, 30},
			crawl.OutcomeChanged,
			[]crawl.Reason{
				{Code: CodeText, Num: map[string]float64{"bytes": 120, "bytes_delta": 20, "text_bytes": 30, "text_delta": -10}},
				{Code: CodeLinks},
			},
		},
		{
			"no text, same links",
			Digests{"r1", "t0", "l1", 10, 0},
			Digests{"r2", "t0", "l1", 12, 0},
			crawl.OutcomeCosmetic,
			[]crawl.Reason{{Code: CodeNoText, Num: map[string]float64{"bytes": 12, "bytes_delta": 2}}},
		},
		{
			"no text, other links",
			Digests{"r1", "t0", "l1", 10, 0},
			Digests{"r2", "t0", "l2", 12, 0},
			crawl.OutcomeChanged,
			[]crawl.Reason{{Code: CodeNoText, Num: map[string]float64{"bytes": 12, "bytes_delta": 2}}, {Code: CodeLinks}},
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
			got, reasons := Verdict(c.prev, c.next)
			if got != c.want || !reflect.DeepEqual(reasons, c.reasons) {
				t.Errorf("got %s %+v, want %s %+v", got, reasons, c.want, c.reasons)
			}
		})
	}
}

func TestDigests(t *testing.T) {
	if Digest(" a\n b\u00a0c ") != Digest("a b c") {
		t.Error("white space counts")
	}
	if Digest("ab c") == Digest("a bc") {
		t.Error("word borders do not count")
	}
	if got := Digest(""); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("digest of nothing: %s", got)
	}
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

// TestVerdictProperties: the comparison is reflexive, and without a change of
// direction: what is new stays new, sameness is symmetric.
func TestVerdictProperties(t *testing.T) {
	digests := rapid.Custom(func(t *rapid.T) Digests {
		return Digests{
			Raw: rapid.SampledFrom([]string{"r1", "r2", "r3"}).Draw(t, "raw"), Text: rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "text"),
			Links: rapid.SampledFrom([]string{"l1", "l2"}).Draw(t, "links"), Bytes: rapid.Int64Range(0, 9).Draw(t, "bytes"), TextBytes: rapid.Int64Range(0, 2).Draw(t, "text bytes"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := digests.Draw(t, "a"), digests.Draw(t, "b")
		there, reasons := Verdict(a, b)
		back, _ := Verdict(b, a)
		if there != back {
			t.Errorf("%s one way, %s the other", there, back)
		}
		if (there == crawl.OutcomeUnchanged) != (a.Raw == b.Raw) {
			t.Errorf("%s for %s and %s", there, a.Raw, b.Raw)
		}
		if !there.Observes() || len(reasons) == 0 {
			t.Errorf("%s with %d reasons", there, len(reasons))
		}
		if first, _ := Verdict(Digests{}, b); first != crawl.OutcomeNew {
			t.Errorf("first: %s", first)
		}
	})
}

func BenchmarkDigest(b *testing.B) {
	text := strings.Repeat("some words of a page ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Digest(text)
	}
}
