package crawl

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	cases := []struct {
		name, in string
		limit    int
		want     string
	}{
		{"plain", "hello", 10, "hello"},
		{"nul and controls become spaces", "a\x00b\tc\x7fd\u0085e", 20, "a b c d e"},
		{"invalid bytes", "a\xffb", 10, "a\uFFFDb"},
		{"direction overrides", "abc\u202Egpj.exe", 20, "abcgpj.exe"},
		{"line separators", "a\u2028b", 10, "a b"},
		{"cut between runes", "ééé", 5, "éé"},
		{"no space at the cut", "ab cd", 3, "ab"},
		{"space at the ends", "  x \n", 10, "x"},
		{"nothing left", "abc", 0, ""},
		{"very long", strings.Repeat("é", 100_000), 7, "ééé"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Clean(c.in, c.limit); got != c.want {
				t.Errorf("Clean(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00b\xff\u202E", 4)
	f.Add(strings.Repeat(" é", 30), 11)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit &= 0xfff
		got := Clean(s, limit)
		if len(got) > limit {
			t.Errorf("%d bytes, limit %d", len(got), limit)
		}
		if !utf8.ValidString(got) {
			t.Errorf("invalid UTF-8: %q", got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return r != cleanRune(r) }); i >= 0 {
			t.Errorf("unclean rune at %d of %q", i, got)
		}
		if again := Clean(got, limit); again != got {
			t.Errorf("not idempotent: %q, then %q", got, again)
		}
	})
}
