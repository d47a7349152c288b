package tsvector

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"recrawl/internal/search"
)

func TestVectorOf(t *testing.T) {
	t.Parallel()
	w := search.Words{
		Title: []string{"kiwi"}, Headings: []string{"kiwi", "pie"},
		Text: append([]string{"kiwi", "lemon", "once", "lemon"}, slices.Repeat([]string{"the"}, 40)...),
	}
	got := vectorOf(w, []string{"\x01key"}).String()
	const most = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"
	if want := "'\x01key' 'kiwi':1A,2B,3 'lemon':1,2 'once' 'pie':1B 'the':" + most; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	titles := times{title: 40, headings: 3, text: 5}.positions()
	if len(titles) != mostCounted || slices.ContainsFunc(titles, func(p pgtype.TSVectorPosition) bool { return p.Weight != pgtype.TSVectorWeightA }) {
		t.Errorf("%v", titles)
	}
}

func TestFoldersOf(t *testing.T) {
	t.Parallel()
	for url, want := range map[string][]string{
		"https://a.test/":                  {"https://a.test/"},
		"https://a.test/docs/b":            {"https://a.test/", "https://a.test/docs/"},
		"https://a.test/docs//b/?c=/d/#/e": {"https://a.test/", "https://a.test/docs/", "https://a.test/docs//", "https://a.test/docs//b/"},
		"https://a.test/1/2/3/4/5/6/":      {"https://a.test/", "https://a.test/1/", "https://a.test/1/2/", "https://a.test/1/2/3/", "https://a.test/1/2/3/4/"},
		"https://a.test":                   nil,
		"https:/":                          nil,
		"":                                 nil,
	} {
		if got := foldersOf(url); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// Whatever beginning of a URL is asked for, the page has the keys of the query.
func TestKeysOfEachPrefix(t *testing.T) {
	t.Parallel()
	const url = "https://a.test:8080/1/2/x.html/3//4/5/6?a=/b/#/c/"
	keys := keysOf(search.Document{URL: url, Host: "a.test:8080"})
	for i := range len(url) + 1 {
		c := choiceOf(search.Query{Prefix: url[:i], Host: "a.test:8080"})
		for _, key := range c.keys {
			if !slices.Contains(keys, key) {
				t.Errorf("%s: the page lacks a key", url[:i])
			}
		}
		if c.prefix == "" && i > 0 && !strings.HasSuffix(url[:i], "/") {
			t.Errorf("%s is not compared with the URL", url[:i])
		}
	}
	if got := choiceOf(search.Query{Prefix: "https://a.test/1/"}); got.prefix != "" || len(got.keys) != 1 {
		t.Errorf("a folder: %+v", got)
	}
}
