package search

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func wordsOf(text string) []string { return WordsOf(Document{Text: text}).Text }

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                        nil,
		"  … ☃ --- ":              nil,
		"The RETRY-policy, v2.10": {"the", "retry", "policy", "v2", "10"},
		"snake_case doesn't":      {"snake", "case", "doesn", "t"},
		"Crème BRÛLÉE":            {"creme", "brulee"},
		"e\u0301tude":             {"etude"},
		"Straße ŒUVRE Łódź Ørsted": {
			"strasse", "oeuvre", "lodz", "orsted",
		},
		"ＡＢＣ ﬁx ①":         {"abc", "fix", "1"},
		"東京都":              {"東京", "京都", "都"},
		"東":                {"東"},
		"東京 tower東":        {"東京", "京", "tower", "東"},
		"コーヒー":             {"コー", "ーヒ", "ヒー", "ー"},
		"ｺｰﾋｰ":             {"コー", "ーヒ", "ヒー", "ー"},
		"が\u3000ガ":         {"が", "ガ"},
		"か\u3099":          {"が"},
		"서울":               {"서울", "울"},
		"ไทย":              {"ไท", "ทย", "ย"},
		"हिन्दी":           {"हिन्दी"},
		"كِتَابٌ":          {"كتاب"},
		"soft\u00adhyphen": {"softhyphen"},
		"zero\u200bwidth":  {"zerowidth"},
		"a\xffb\x00c":      {"a", "b", "c"},
		"ΣΊΣΥΦΟΣ":          {"σισυφοσ"},
		"Σίσυφος":          {"σισυφοσ"},
		"İstanbul":         {"istanbul"},
		"日本語です":            {"日本", "本語", "語で", "です", "す"},
	} {
		if got := wordsOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := wordsOf(strings.Repeat("x", 1000)); len(got) != 1 || len(got[0]) != longestWord {
		t.Errorf("a long word: %q", got)
	}
}

func TestWordsAreBounded(t *testing.T) {
	t.Parallel()
	d := Document{Title: "kiwi", Headings: []string{"lemon"}, Text: strings.Repeat("word ", 1_000_000)}
	w := WordsOf(d)
	if !slices.Equal(w.Title, []string{"kiwi"}) || !slices.Equal(w.Headings, []string{"lemon"}) || len(w.Text) != (mostWords-12-13)/12 {
		t.Errorf("%q, %q, %d words", w.Title, w.Headings, len(w.Text))
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	for words, want := range map[string][]Term{
		"":              nil,
		"retry RETRY":   {{Word: "retry"}},
		"東京":            {{Word: "東京"}},
		"東京都":           {{Word: "東京"}, {Word: "京都"}},
		"都":             {{Word: "都", Prefix: true}},
		"都 東京 x":        {{Word: "都", Prefix: true}, {Word: "東京"}, {Word: "x"}},
		`"exact" -not*`: {{Word: "exact"}, {Word: "not"}},
	} {
		if got := TermsOf(words); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
	var many strings.Builder
	for i := range 100 {
		many.WriteString(" w" + strings.Repeat("x", i))
	}
	if got := TermsOf(many.String()); len(got) != mostTerms {
		t.Errorf("%d terms", len(got))
	}
}

func TestRare(t *testing.T) {
	t.Parallel()
	terms := []Term{{Word: "how"}, {Word: "retry"}, {Word: "never"}, {Word: "do"}}
	for _, c := range []struct {
		pages []int
		all   int
		want  []string
	}{
		{[]int{900, 20, 0, 800}, 1000, []string{"retry"}},
		{[]int{900, 0, 0, 800}, 1000, []string{"do"}},
		{[]int{3, 2, 0, 1}, 4, []string{"how", "retry", "do"}},
		{[]int{0, 0, 0, 0}, 1000, nil},
	} {
		var got []string
		for _, term := range Rare(terms, c.pages, c.all) {
			got = append(got, term.Word)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v of %d: %q, want %q", c.pages, c.all, got, c.want)
		}
	}
}

func TestBoost(t *testing.T) {
	t.Parallel()
	if Boost(1) != 1 || Boost(0) != 1 || Boost(-1) != 1 {
		t.Errorf("%v, %v, %v", Boost(1), Boost(0), Boost(-1))
	}
	if a, b, c := Boost(0.1), Boost(10), Boost(1000); a >= 1 || a < 0.5 || b <= 1 || b > 3 || c > 6 {
		t.Errorf("%v, %v, %v", a, b, c)
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	var found []Found
	for i, digest := range []string{"a", "b", "a", "", "", "c", "b", "d"} {
		found = append(found, Found{Hit{Page: int64(i)}, digest})
	}
	for _, c := range []struct {
		q            Query
		pages        []int64
		more, enough bool
	}{
		{Query{}, []int64{0, 1, 3, 4, 5, 7}, false, false},
		{Query{Limit: 2}, []int64{0, 1}, true, true},
		{Query{Limit: 6}, []int64{0, 1, 3, 4, 5, 7}, false, false},
		{Query{Limit: 2, Offset: 2}, []int64{3, 4}, true, true},
		{Query{Limit: 2, Offset: 4}, []int64{5, 7}, false, false},
		{Query{Offset: 100}, nil, false, false},
	} {
		hits, more, enough := Fold(c.q, found)
		var pages []int64
		for _, h := range hits {
			pages = append(pages, h.Page)
		}
		if !slices.Equal(pages, c.pages) || more != c.more || enough != c.enough {
			t.Errorf("%+v: %v, %t, %t", c.q, pages, more, enough)
		}
	}
	if offset, limit := (Query{Offset: 995, Limit: 50}).Window(); offset != 995 || limit != 5 {
		t.Errorf("%d, %d", offset, limit)
	}
}

// marked returns a snippet with brackets around its marks.
func marked(s Snippet) string {
	for _, m := range slices.Backward(s.Marks) {
		s.Text = s.Text[:m[0]] + "[" + s.Text[m[0]:m[1]] + "]" + s.Text[m[1]:]
	}
	return s.Text
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Some words that nobody looks for. ", 40)
	for _, c := range []struct{ text, words, want string }{
		{"", "kiwi", ""},
		{"A kiwi\n is  a Kiwi.", "kiwi", "A [kiwi] is a [Kiwi]."},
		{"Nothing of it", "kiwi", "Nothing of it"},
		{"東京都に住む", "東京都", "[東京都]に住む"},
		{"京の都", "都", "京の[都]"},
		{"Cre\u0300me brûlée", "CREME", "[Crème] brûlée"},
		{"a \u202eb\x1b[2J kiwi\u200b", "kiwi", "a b[2J [kiwi]"},
		{long + "A kiwi. " + long, "kiwi", "… that nobody looks for. Some words that nobody looks for. A [kiwi]. "},
		{"kiwi " + long + " lemon pie and kiwi " + long, "lemon kiwi", "looks for. [lemon] pie and [kiwi] Some"},
	} {
		got := marked(SnippetOf(c.text, TermsOf(c.words)))
		if len(c.text) < 200 && got != c.want || !strings.Contains(got, c.want) || len(got) > snippetLength+100 {
			t.Errorf("%q in %.40q: %q, want %q", c.words, c.text, got, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	p := Progress{Filled: true, Looked: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Pages: 7, Looking: &Look{After: 3}, Rendering: "x"}
	got := ParseProgress(p.String())
	if !got.Filled || !got.Looked.Equal(p.Looked) || got.Pages != 7 || got.Looking.After != 3 || got.Rendering != "x" {
		t.Errorf("%+v", got)
	}
	if ParseProgress("{").Filled || Filled("") || !Filled(p.String()) {
		t.Error("what cannot be read is taken for filled")
	}
	if !json.Valid([]byte(p.String())) {
		t.Error(p.String())
	}
}

// Whatever the text: words are whole and bounded, and each finds its text; marks are in
// order within the snippet.
func FuzzWords(f *testing.F) {
	for _, text := range []string{"東京都 kiwi", "a\u0301\u0301 ß", "ไทย\xff\x00", "İ ﬁ ㈱ ｶﾞ", "\u1100\u1161\u11a8", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "ﷺ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := wordsOf(text)
		size := 0
		for _, w := range words {
			size += len(w)
			if w == "" || !utf8.ValidString(w) || strings.ContainsAny(w, " \"'\\:&|!()*\x00\n") || utf8.RuneCountInString(w) > longestWord {
				t.Errorf("%q has the word %q", text, w)
			}
			for _, again := range wordsOf(w) {
				if !strings.HasPrefix(w, again) && !strings.HasSuffix(w, again) {
					t.Errorf("%q, a word of %q, has the words %q", w, text, wordsOf(w))
				}
			}
		}
		if size > 12*len(text)+100 {
			t.Errorf("%d bytes of words of %d bytes", size, len(text))
		}
		for _, term := range TermsOf(text) {
			if !slices.ContainsFunc(words, func(w string) bool { return w == term.Word || term.Prefix && strings.HasPrefix(w, term.Word) }) {
				t.Errorf("%q does not find itself: it has no %q", text, term.Word)
			}
		}
		s := SnippetOf(text, TermsOf(text))
		last := 0
		for _, m := range s.Marks {
			if m[0] < last || m[1] <= m[0] || m[1] > len(s.Text) || !utf8.ValidString(s.Text[m[0]:m[1]]) {
				t.Errorf("%q: marks %v", s.Text, s.Marks)
			}
			last = m[1]
		}
		if !utf8.ValidString(s.Text) {
			t.Errorf("%q", s.Text)
		}
	})
}
